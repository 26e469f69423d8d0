"""Which tests hold which case from the field, read from the tests themselves; fills the last column of the page.

    python tests/field_cases.py    writes docs/reference/field-cases.md anew

A test belongs to a case if its docstring says so, as in "(field case B13)", "field cases B13, B14" or "(B13)", or if its name
starts with the case, as in `test_b13_…`. B0 to B7 are also codes of recovery methods: a name that starts with one of these
is a case's only in a file whose name starts with `test_field_`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/field-cases.md"
_METHODS = 8
"""Below this number a bare code is a method's."""
_SAID = re.compile(r"\bfield cases? ((?:B\d+)(?:(?:, | and )B\d+)*)")
_BARE = re.compile(r"\((B\d+)\)")
_NAME = re.compile(r"^test_b(\d+)_")
_ROW = re.compile(r"^\| (B\d+) \|")


def cases_of(file: Path, function: ast.FunctionDef) -> set[str]:
    """Return the cases that one test holds."""
    text = " ".join((ast.get_docstring(function) or "").split())
    found = set(re.findall(r"B\d+", " ".join(_SAID.findall(text))))
    bare = _BARE.findall(text) + [f"B{number}" for number in _NAME.findall(function.name)]
    return found | {one for one in bare if int(one[1:]) >= _METHODS or file.stem.startswith("test_field_")}


def tests() -> dict[str, list[str]]:
    """Return the tests of each case, as pytest names them, relative to the folder of the tests."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for case in cases_of(file, node):
                    found.setdefault(case, []).append(f"{file.relative_to(ROOT / 'tests')}::{node.name}")
    return found


def rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each case of the page with its cells."""
    for line in text.splitlines():
        match = _ROW.match(line)
        if match:
            yield match[1], [cell.strip() for cell in line.strip("|").split("|")]


def filled(text: str) -> str:
    """Return the page with its last column as the tests have it."""
    held = tests()
    lines = []
    for line in text.splitlines():
        match = _ROW.match(line)
        if match is None:
            lines.append(line)
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")][:4]
        names = " ".join(f"`{name}`" for name in sorted(held.get(match[1], []))) or "none yet"
        lines.append(f"| {' | '.join([*cells, names])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
