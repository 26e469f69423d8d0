r"""Text for TeX: anything may stand in a model's answer, and none of it may act as a command.

The result is printable ASCII. Specials become commands; a bracket or star cannot be taken for an argument of what
stands before it; two hyphens, commas or angles in a row do not join to a ligature; a newline, another control
character and any character outside ASCII are shown as escapes (`\n`, `\x1b`, `[U+00E9]`).
"""

from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\n": r"\textbackslash{}n",
    "\r": r"\textbackslash{}r",
    "\t": r"\textbackslash{}t",
}


# XeTeX forms ligatures across braces, but not across a kern.
_APART = r"{\kern0pt}"


def escape(text: str) -> str:
    """Return TeX source that prints `text` and does nothing else."""
    parts = []
    before = ""
    for char in text:
        if char == before and char in "-,<>":
            parts.append(_APART)
        parts.append(_SPECIAL.get(char) or _plain(char))
        before = char
    return "".join(parts)


def tabular(columns: str, header: Sequence[Sequence[str]], blocks: Sequence[Sequence[Sequence[str]]]) -> str:
    """Return a booktabs `tabular`: header rows, then blocks with a rule between them. Cells are TeX source already."""
    body = "\\midrule\n".join("".join(_line(row) for row in block) for block in blocks)
    head = "".join(_line(row) for row in header)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"
    )


def _line(row: Sequence[str]) -> str:
    # A lone cell that is a command of its own (a rule between header rows) ends without a line break.
    if len(row) == 1 and row[0].startswith("\\cmidrule"):
        return row[0] + "\n"
    return " & ".join(row) + " \\\\\n"


def _plain(char: str) -> str:
    code = ord(char)
    if char == "\u00a0":
        return "~"
    if 0x20 <= code < 0x7F:
        return char
    if code < 0x20 or code == 0x7F:
        return rf"\textbackslash{{}}x{code:02x}"
    return f"{{[}}U+{code:04X}{{]}}"
