"""Runs others' validators over what was exported, without a network: the crate of a run, and the metadata of the data.

    .cache/validators-venv/bin/python envs/validate.py --vocabulary FILE [--crate DIR] [--croissant FILE]

The RO-Crate validator reads RO-Crate's vocabulary from the network. Here it gets a copy: that of the locked package
`rocrate` (`--vocabulary`), which is of version 1.3, with the four terms of Bioschemas at the addresses that version 1.1
gives them. All other terms that our crates use have the same address in both. The validator itself runs unchanged, in
its offline mode.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import requests
import urllib3
from requests_cache import CachedSession

ADDRESS = "https://w3id.org/ro/crate/1.1/context"
OLDER = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
}
PROFILE = "provenance-run-crate"
BIN = Path(sys.executable).parent


def main() -> int:
    """Validate what is named; return 0 if every validator accepts it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--crate", type=Path)
    parser.add_argument("--croissant", type=Path)
    arguments = parser.parse_args()
    codes = []
    if arguments.crate:
        codes.append(crate(arguments.crate, arguments.vocabulary))
    if arguments.croissant:
        codes.append(croissant(arguments.croissant))
    return max(codes, default=0)


def crate(folder: Path, vocabulary: Path) -> int:
    """Validate a crate against the profile, whatever must hold."""
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place) / "vocabularies"
        remember(cache, json.loads(vocabulary.read_bytes()))
        command = [
            BIN / "rocrate-validator", "--no-interactive", "--disable-color", "validate", "--offline", "--cache-path", cache,
            "--profile-identifier", PROFILE, "--no-paging", "--verbose", folder,
        ]  # fmt: skip
        return run("RO-Crate", command)


def remember(cache: Path, vocabulary: dict) -> None:
    """Put the vocabulary into the validator's cache of pages."""
    vocabulary["@context"] |= OLDER
    body = json.dumps(vocabulary).encode()
    headers = {"Content-Type": "application/ld+json"}
    answer = requests.Response()
    answer.status_code, answer.url, answer.encoding = 200, ADDRESS, "utf-8"
    answer.headers.update(headers)
    answer.request = requests.Request("GET", ADDRESS).prepare()
    answer.raw = urllib3.HTTPResponse(
        body=io.BytesIO(body), headers=headers, status=200, preload_content=False
    )
    CachedSession(cache_name=str(cache), backend="sqlite", expire_after=-1).cache.save_response(answer)


def croissant(path: Path) -> int:
    """Validate Croissant metadata."""
    return run("Croissant", [BIN / "mlcroissant", "validate", "--jsonld", path])


def run(name: str, command: list) -> int:
    """Run a validator; print its last words, and whether it accepts."""
    environment = {**os.environ, "COLUMNS": "120", "GIT_PYTHON_REFRESH": "quiet"}
    done = subprocess.run(
        list(map(str, command)),
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        print("\n".join(lines[-80:]))
    print(f"{name}: {'accepted' if done.returncode == 0 else 'NOT accepted'} by {Path(command[0]).name}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
