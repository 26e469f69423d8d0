"""A small tree with the folders that a release has."""

from pathlib import Path

import pytest

from undolab.release import manifest

FILES = {
    "Snakefile": "rule all:\n",
    "README.md": "not covered\n",
    "config/config.yaml": "seeds: [1]\n",
    "config/models.yaml": "gemma: {}\n",
    "data/tools/payments.yaml": "charge: {}\n",
    "data/workflows/test/RB-PAY-004.yaml": "id: RB-PAY-004\n",
    "docs/protocol/research-plan.md": "# Plan\n",
    "envs/study.lock": "msgspec==1\n",
    "envs/README.md": "not covered\n",
    "results/tables/table1.csv": "a,b\n1,2\n",
    "results/stats/metrics.json": "[]\n",
    "paper/paper.pdf": "%PDF one\n",
    "demo/index.html": "<!doctype html>\n",
    "workflow/rules/study.smk": "rule study:\n",
    "build/tables/table1.csv": "a,b\n1,2\n",
    "build/stats/metrics.json": "[]\n",
    "build/paper/paper.pdf": "%PDF one\n",
    "build/demo/index.html": "<!doctype html>\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return the root of a tree whose manifest is right."""
    for name, text in FILES.items():
        put(tmp_path, name, text)
    manifest.write(tmp_path)
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    """Write a file with its folders."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
