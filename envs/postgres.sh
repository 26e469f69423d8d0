#!/usr/bin/env bash
# PostgreSQL's server for the tests: the machine's own where it has one, else Debian's packages unpacked under .tools/postgres.
# Nothing is installed and no root is needed; UNPACK=yes unpacks them even where the machine has a server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=.tools/postgres

have() { compgen -G "$1/usr/lib/postgresql/*/bin/initdb" >/dev/null; }
if have "$target" || { [ "${UNPACK:-no}" != yes ] && have ""; }; then exit 0; fi
for program in apt-get apt-cache dpkg; do
    command -v "$program" >/dev/null || { echo "  PostgreSQL: no $program here; install PostgreSQL's server" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,debs,unpacked}
# A private state, so that neither root nor an earlier update is needed.
settings=(-o "Dir::State=$work/state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$work/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=60)
echo "  PostgreSQL: fetching the package lists"
apt-get -qq "${settings[@]}" update
server=$(apt-cache "${settings[@]}" depends postgresql | awk '$2 ~ /^postgresql-[0-9]+$/ {print $2; exit}')
packages=("$server" "postgresql-client-${server##*-}")
# What they need and this machine lacks: their libraries.
mapfile -t missing < <(apt-get "${settings[@]}" -s install --no-install-recommends "${packages[@]}" 2>/dev/null |
    awk '$1 == "Inst" {print $2}' | grep -E '^lib' || true)
echo "  PostgreSQL: fetching ${packages[*]} ${missing[*]}"
(cd "$work/debs" && apt-get -qq "${settings[@]}" download "${packages[@]}" "${missing[@]}")
for archive in "$work"/debs/*.deb; do dpkg -x "$archive" "$work/unpacked"; done
mkdir -p .tools
rm -rf "$target"
mv "$work/unpacked" "$target"
chmod 755 "$target"
