"""Every number that a person typed into the README, the paper's source or a page, and where it comes from.

A number in a document is generated (a macro, a table, a filled block), or it stands here: as a constant with a reason, or
as a value with the released file that it must equal. A number that is neither fails, and so does an entry whose words are
no longer there; so a number changed by hand is found by the words around it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.load import read_yaml
from undolab.release.claims import measured
from undolab.release.find import Find, Reader, find, near
from undolab.release.find import number as as_number

CONSTANTS = "data/constants.yaml"

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_SPELLED = {word: value for value, word in enumerate(_WORDS) if value > 3} | _TENS
"""Words from `four` on; smaller ones are grammar more often than counts."""
_NUMBER = re.compile(
    rf"(?<![\w#.\\])(?:\d+(?:,\d{{3}})+|\d+)(?:\.\d+)?(?![\w])|\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE
)
"""A digit that is glued to a letter, as in `B6`, `F1` or `table1.csv`, belongs to a name."""


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a typed number comes from."""

    file: str = ""
    find: Find


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Typed words with numbers in them."""

    document: str
    """Path, or a pattern such as `paper/*`, of the documents that hold the words."""
    text: str
    """The words, with every number in them; a space matches any white space."""
    reason: str = ""
    """Why they are constants; or else …"""
    equal: list[Source] = []
    """… what each number in them must equal, in order."""


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A number in a document."""

    document: str
    line: int
    start: int
    end: int
    text: str
    around: str


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the typed numbers."""

    numbers: dict[str, int]
    """Document to how many typed numbers it has."""
    problems: list[str]
    """One sentence each."""


def documents(root: Path) -> list[str]:
    """Return the documents whose numbers are traced: the README, the paper's sources, the page for artifact review."""
    found = [path.relative_to(root).as_posix() for path in sorted((root / "paper").rglob("*.tex"))]
    return [name for name in ("README.md", "docs/artifact-evaluation.md") if (root / name).is_file()] + found


def audit(root: Path, read: Reader, covered: Mapping[str, str]) -> Audit:
    """Trace every typed number of every document.

    Raises:
        UndolabError: the constants cannot be read.
    """
    entries = load(root)
    problems: list[str] = []
    counts: dict[str, int] = {}
    used: set[int] = set()
    minutes = measured(root)
    for name in documents(root):
        text = (root / name).read_text(encoding="utf-8")
        numbers = typed(name, text, minutes)
        counts[name] = len(numbers)
        spans: list[tuple[int, int]] = []
        for index, entry in enumerate(entries):
            if Path(name).match(entry.document):
                places = [match.span() for match in _pattern(entry.text).finditer(text)]
                spans += places
                used |= {index} if places else set()
        problems += [
            f"{one.document} line {one.line} has the number {one.text} (… {one.around} …), which is neither generated nor "
            f"explained in {CONSTANTS}."
            for one in numbers
            if not any(start <= one.start and one.end <= end for start, end in spans)
        ]
    for index, entry in enumerate(entries):
        if index not in used:
            problems.append(f"{CONSTANTS}: {entry.document} no longer says {entry.text!r}.")
        problems += _unequal(entry, read, covered)
    return Audit(numbers=counts, problems=problems)


def load(root: Path) -> list[Entry]:
    """Return the entries.

    Raises:
        UndolabError: the file is missing or malformed, or an entry is neither a constant nor traced.
    """
    try:
        entries = msgspec.convert(read_yaml(root / CONSTANTS), type=list[Entry])
    except msgspec.ValidationError as error:
        raise UndolabError(f"{CONSTANTS}: {error}; mend it there") from error
    for entry in entries:
        if bool(entry.reason) == bool(entry.equal):
            raise UndolabError(f"{CONSTANTS}: {entry.text!r} needs either a reason or what it equals")
    return entries


def typed(name: str, text: str, measured: Collection[str] = ()) -> list[Number]:
    """Return the numbers that a person typed: those in prose, outside of filled blocks, markup and generated parts.

    Args:
        name: path of the document.
        text: what it holds.
        measured: commands whose minutes a filled block takes from a file; in such a block the others were typed.
    """
    prose = _tex(text) if name.endswith(".tex") else _markdown(text, measured)
    return [
        Number(
            document=name,
            line=text.count("\n", 0, match.start()) + 1,
            start=match.start(),
            end=match.end(),
            text=match[0],
            around=" ".join(text[max(0, match.start() - 30) : match.end() + 30].split()),
        )
        for match in _NUMBER.finditer(prose)
    ]


def value(text: str) -> int | float | str | bool:
    """Return the value of a number as it is typed: digits, with commas or not, or a word."""
    return _SPELLED.get(text.lower(), as_number(text.replace(",", "")))


def _unequal(entry: Entry, read: Reader, covered: Mapping[str, str]) -> Iterator[str]:
    if not entry.equal:
        return
    numbers = [match[0] for match in _NUMBER.finditer(entry.text)]
    if len(numbers) != len(entry.equal):
        yield f"{CONSTANTS}: {entry.text!r} has {len(numbers)} numbers and {len(entry.equal)} sources."
        return
    for text, source in zip(numbers, entry.equal, strict=True):
        try:
            found = find(source.find, source.file, read, covered)
        except UndolabError as error:
            yield f"{CONSTANTS}: {entry.text!r}: {error}."
            continue
        if not near(value(text), found, 0):
            where = f"{source.file}: " if source.file else ""
            yield f"{entry.document} says {entry.text!r}, but {where}{source.find.words()} is {found}."


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


# What is no prose is blanked, character by character, so that places and lines stay.


def _blank(text: str, pattern: str, flags: int = 0) -> str:
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=flags)


def _filled(block: str, measured: Collection[str]) -> str:
    """Return a filled block without its numbers, except a row's first cell where its command was not measured."""
    lines = []
    for line in block.splitlines(keepends=True):
        row = re.match(r"\| *[\d.]+ *\| `([^`]+)` \|", line)
        kept = row.end() if row is not None and row[1] not in measured else 0
        lines.append(line[:kept] + re.sub(r"[^\n]", " ", line[kept:]))
    return "".join(lines)


def _markdown(text: str, measured: Collection[str]) -> str:
    text = re.sub(
        r"<!-- ([\w-]+):begin.*?<!-- \1:end -->",
        lambda block: _filled(block[0], measured),
        text,
        flags=re.DOTALL,
    )
    text = _blank(text, r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    text = _blank(text, r"`[^`\n]*`")
    return _blank(text, r"\]\([^)\n]*\)")


_UNIT = r"(?:mm|cm|pt|em|ex|in|\\(?:text|column|line)width|\\textheight)"
_ARGUMENTS = (
    r"\\(?:input|includegraphics|label|[cC]?ref|eqref|pageref|cite[tp]?|citep|val|est|contrast|shown|url|usepackage|vspace|hspace"
    r"|bibliographystyle|bibliography|begin|end|setlength|definecolor|color|textcolor|newcommand|renewcommand|usetikzlibrary)\*?"
)


def _tex(text: str) -> str:
    head = text.find(r"\begin{document}")
    if head >= 0:
        text = _blank(text[:head], r"\A.*\Z", re.DOTALL) + text[head:]
    text = _blank(text, r"(?<!\\)%[^\n]*")
    text = _blank(text, r"\\(?:re)?newcommand\b[^\n]*")
    for drawing in re.findall(r"\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}", text, re.DOTALL):
        plain = _blank(_blank(_blank(drawing, r"!\d+"), r"\[(?:[^\[\]{}]|\{[^{}]*\})*\]"), r"\([^()]*\)")
        text = text.replace(drawing, plain)
    text = _blank(text, _ARGUMENTS + r"(?:\[[^\]]*\])*(?:\{[^{}]*\})+")
    text = _blank(text, r"\\[A-Za-z]+\*?\[[^\]]*\]")
    return _blank(text, rf"-?\d*\.?\d+{_UNIT}(?![A-Za-z])")
