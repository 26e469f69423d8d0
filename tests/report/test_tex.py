"""Text for TeX: nothing in it may act as a command."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.report.tex import escape, tabular

_NAMED = {
    "textbackslash{}": "\\", "textasciicircum{}": "^", "textasciitilde{}": "~", "textless{}": "<",
    "textgreater{}": ">", "textbar{}": "|", "textquotedbl{}": '"', "textquotesingle{}": "'",
    "textasciigrave{}": "`",
}  # fmt: skip


def _printed(source: str) -> str:
    """Return what TeX would print, from a reader of its own that knows no command but the harmless ones."""
    printed, rest = "", source
    while rest:
        if rest.startswith(r"{\kern0pt}"):
            rest = rest[len(r"{\kern0pt}") :]
        elif rest[0] == "~":
            printed, rest = printed + "\u00a0", rest[1:]
        elif rest[:3] in ("{[}", "{]}", "{*}"):
            printed, rest = printed + rest[1], rest[3:]
        elif rest[0] == "\\" and rest[1] in "{}$&#%_":
            printed, rest = printed + rest[1], rest[2:]
        elif rest[0] == "\\":
            name = next(name for name in _NAMED if rest[1:].startswith(name))
            printed, rest = printed + _NAMED[name], rest[1 + len(name) :]
        else:
            assert rest[0] not in "{}$&#%_^[]*<>|\"'`"
            printed, rest = printed + rest[0], rest[1:]
    return printed


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a_b & 5% #1 {x} $y$", r"a\_b \& 5\% \#1 \{x\} \$y\$"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("^^5c~", r"\textasciicircum{}\textasciicircum{}5c\textasciitilde{}"),
        ("a--b", r"a-{\kern0pt}-b"),
        ("[x]*", r"{[}x{]}{*}"),
        ("95\u00a0%", r"95~\%"),
        ("a\nb\x1b", r"a\textbackslash{}nb\textbackslash{}x1b"),
        ("é\u202e😀", "{[}U+00E9{]}{[}U+202E{]}{[}U+1F600{]}"),
    ],
)
def test_known_texts(text: str, source: str) -> None:
    """Specials, brackets, dashes, control characters and characters outside ASCII come out as shown."""
    assert escape(text) == source


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_printable_text_prints_as_itself(text: str) -> None:
    """A reader that knows only harmless commands gets the text back."""
    assert _printed(escape(text)) == text


@given(st.text())
def test_any_text_becomes_printable_ascii(text: str) -> None:
    """Whatever comes in, the source is one line of printable ASCII with balanced braces and no ligature."""
    source = escape(text)
    assert all(0x20 <= ord(char) < 0x7F for char in source)
    assert not re.search(r"--|,,|<<|>>|``|''", source)
    _printed(source)


def test_a_table_has_rules_and_no_stray_line_break() -> None:
    """Blocks are parted by a rule, and a row of column rules has no line break of its own."""
    text = tabular("lr", [["a", "b"], [r"\cmidrule(lr){1-2}"]], [[["1", "2"]], [["3", "4"]]])
    assert text.splitlines() == [
        r"\begin{tabular}{lr}", r"\toprule", r"a & b \\", r"\cmidrule(lr){1-2}", r"\midrule",
        r"1 & 2 \\", r"\midrule", r"3 & 4 \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
