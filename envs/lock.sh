#!/usr/bin/env bash
# Writes the locks anew: one resolution for Python 3.11 to 3.13 and every platform, with hashes and without addresses.
# The pinned versions stay where they still fit; `envs/lock.sh --upgrade` takes the newest ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PIP_CONSTRAINT PIP_FIND_LINKS PIP_EXTRA_INDEX_URL
PATH="$PWD/.venv/bin:$PATH"
command -v uv >/dev/null || { echo "uv is missing: run \`make dev-env\` first." >&2; exit 1; }

resolve() {
    local lock=envs/$1.lock
    shift
    echo "$lock"
    [ ! -f "$lock" ] || cp "$lock" "$lock.tmp.lock"
    uv pip compile --no-config --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header --no-annotate "${upgrade[@]}" "$@" -o "$lock.tmp.lock"
    mv "$lock.tmp.lock" "$lock"
}

upgrade=("$@")
trap 'rm -f envs/*.tmp.lock' EXIT
resolve setup envs/setup.in
resolve artifact pyproject.toml --extra study -c envs/setup.lock
resolve dev pyproject.toml --extra study --extra postgres --extra dev -c envs/setup.lock -c envs/artifact.lock
resolve build envs/build.in -c envs/setup.lock
resolve live envs/live.in -c envs/artifact.lock
resolve tectonic envs/tectonic.in
resolve bench envs/bench.in
resolve validators envs/validators.in
resolve server envs/server.in
resolve smollm2 envs/smollm2.in --no-deps
resolve slurm envs/slurm.in -c envs/artifact.lock
if grep -nE '://|--index-url|--find-links' envs/*.lock; then
    echo "An address stands in a lock." >&2
    exit 1
fi
