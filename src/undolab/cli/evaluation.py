"""The page for artifact review and the README's blocks: filled from files, and held against them afterwards.

What a person typed stays; only what stands between markers is written. `unfilled` names each block that no longer is what
the files say, so that a number changed by hand inside of a block is found too.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from undolab.cli import readme
from undolab.model.errors import UndolabError
from undolab.release import claims, layout
from undolab.release.files import write_if_changed
from undolab.release.find import Value

PAGE = Path("docs/artifact-evaluation.md")
_PATH = re.compile(r"<!-- (path-[a-z]+):begin")


def page(text: str, root: Path) -> str:
    """Return the page with every block filled from the claims and the measured paths.

    Raises:
        UndolabError: a block is missing, or the claims or measurements cannot be read.
    """
    seconds = readme.measured(root / readme.MEASURED)
    text = readme.filled(text, "machine", _machine(root / readme.MEASURED))
    for name in _PATH.findall(text):
        text = readme.filled(text, name, _path(readme.between(text, name), seconds))
    return readme.filled(text, "claims", claims_table(claims.load(root)))


def fill(root: Path) -> bool:
    """Fill the blocks of the page on disk; True if its bytes are new."""
    path = root / PAGE
    return write_if_changed(path, page(path.read_text(encoding="utf-8"), root).encode())


def claims_table(found: list[claims.Claim]) -> str:
    """Return the claims as a table in Markdown."""
    rows = ["| claim | value | where it stands | rule | minutes |", "|---|---|---|---|---|"]
    for one in found:
        where = f"`{one.file}`: {one.find.words()}" if one.find.files is None else one.find.words()
        cells = (
            _cell(f"{one.claim} (`{one.id}`)"),
            _value(one.value, one.tolerance),
            _cell(where),
            f"`{one.rule}`",
        )
        rows.append(f"| {' | '.join(cells)} | {'not measured' if one.minutes is None else one.minutes} |")
    return "\n".join(rows) + "\n"


def checks(covered: Mapping[str, str]) -> str:
    """Return the README's block of checks as the manifest alone foretells it: every file equal."""
    built = [name for name in covered if layout.built_path(name) is not None]
    counts = Counter(name.rpartition("/")[0] for name in built)
    width = max((len(folder) for folder in counts), default=0)
    rows = [f"{folder:<{width}}  {count:>3} equal" for folder, count in sorted(counts.items())]
    closing = [
        f"{len(built)} files checked, and they match what was released: {len(built)} equal.",
        f"All files are as released: {len(covered)} files checked, 0 changed, 0 missing, 0 extra.",
    ]
    return "\n".join(["```text", *rows, *closing, "```"]) + "\n"


def unfilled(root: Path, covered: Mapping[str, str]) -> list[str]:
    """Return one sentence for each filled block of README and page that is not what the files say."""
    text = (root / readme.README).read_text(encoding="utf-8")
    found = []
    if readme.between(text, "checks") != checks(covered):
        found.append(
            f"{readme.README}: the table of checks is not that of {layout.MANIFEST}; run `undolab readme`."
        )
    table = readme.between(text, "minutes")
    if (root / readme.MEASURED).is_file() and readme.minutes(
        table, readme.measured(root / readme.MEASURED)
    ) != table:
        found.append(
            f"{readme.README}: the minutes are not those of {readme.MEASURED}; run `undolab readme`."
        )
    if (root / PAGE).is_file():
        text = (root / PAGE).read_text(encoding="utf-8")
        if page(text, root) != text:
            found.append(f"{PAGE}: a filled block is not what the files say; run `undolab claims --write`.")
    return found


def _path(table: str, seconds: Mapping[str, float]) -> str:
    """Return a path's table with its measured minutes and their sum."""
    commands = readme.commands(table)
    here = {command: seconds[command] for command in commands if command in seconds}
    rows = [line for line in readme.minutes(table, here).splitlines() if line.startswith("|")]
    for command in commands:
        if command not in seconds:
            rows = [re.sub(r"^\|[^|]*(?=\| `" + re.escape(command) + "`)", "| - ", row) for row in rows]
    total = math.ceil(sum(here.values()) / 60)
    words = f"Measured together: {total} minute{'s' * (total != 1)}." if here else "Not measured."
    return "\n".join([*rows, "", words]) + "\n"


def _machine(path: Path) -> str:
    try:
        machine = json.loads(path.read_bytes())["machine"]
        words = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}"
    except (ValueError, KeyError, TypeError) as error:
        raise UndolabError(f"{path} does not say on which machine ({error}); measure again") from error
    return f"Measured on: {words}; commit `{machine['commit'][:12]}`.\n"


def _value(value: Value | None, tolerance: float) -> str:
    if value is None:
        return "-"
    return f"{value} ± {tolerance:g}" if tolerance else f"{value}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
