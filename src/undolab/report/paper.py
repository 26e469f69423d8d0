"""The paper: sources, generated numbers, tables and figures put together, and a build that refuses what would look wrong.

TeX is content with a warning where a line runs into the margin or a reference leads nowhere; a released paper is not.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes

WIDEST = 2.0
"""Points by which a line may be too wide: less is not seen in print."""

_BOX = re.compile(r"Overfull \\hbox \(([\d.]+)pt too wide\) ([^\n]+)")
_PLACED = re.compile(r"^(?:warning|error): ([^\s:]+):\d+: (.+)$", re.MULTILINE)
_REFERENCE = re.compile(r"Warning: (Reference|Citation) `([^']+)' on page \d+ undefined")
_LOST = re.compile(r"Missing character: There is no (\S+)")
_NO_FILE = re.compile(r"(?:File `|Unable to load picture or PDF file ')([^']+)'")
_NO_MACRO = re.compile(r"! Undefined control sequence\.\nl\.\d+ .*?(\\[A-Za-z]+)\s*$", re.MULTILINE)
_ERROR = re.compile(r"^! (.+)$", re.MULTILINE)


def build(paper_dir: Path, build_dir: Path, tectonic: Path, source_date_epoch: int) -> Path:
    """Build `build_dir/paper/paper.pdf` from the sources and the generated parts, and return it.

    Args:
        paper_dir: `paper.tex` with its sections and references.
        build_dir: holds `paper/macros.tex`, `tables/*.tex` and `figures/*.pdf`.
        tectonic: the command that `make artifact` prepares.
        source_date_epoch: seconds since 1970 that stand for the date of the build, so that equal input gives equal bytes.

    Raises:
        UndolabError: TeX is not prepared, a part is missing, TeX fails, a line is too wide, or a reference is undefined.
    """
    if not tectonic.is_file():
        raise UndolabError(f"{tectonic} is missing; `make artifact` prepares it.")
    stage = _stage(paper_dir, build_dir)
    command = [str(tectonic.absolute()), "--keep-logs", "--outdir", ".", "paper.tex"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source_date_epoch)}
    done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True, check=False)
    log = stage / "paper.log"
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    if done.returncode:
        raise UndolabError(f"The paper cannot be built: {failure(text, done.stderr)}")
    found = problems(text, done.stderr)
    if found:
        raise UndolabError(
            f"The paper has {len(found)} faults ({'; '.join(found)}); mend them in {paper_dir}."
        )
    pdf = build_dir / "paper" / "paper.pdf"
    write_bytes(pdf, (stage / "paper.pdf").read_bytes())
    return pdf


def problems(log: str, messages: str) -> list[str]:
    """Return what is wrong with a paper that TeX has built, each in a few words.

    Args:
        log: the log of TeX's last run.
        messages: what Tectonic printed; only this says in which file a line stands.
    """
    places = {text: name for name, text in _PLACED.findall(messages)}
    found = []
    for width, where in _BOX.findall(log):
        if float(width) > WIDEST:
            name = places.get(f"Overfull \\hbox ({width}pt too wide) {where}", "paper")
            found.append(f"{name}: a line is {float(width):.1f} pt too wide {where}")
    # TeX breaks the lines of its log at a fixed width, also within a name.
    flat = log.replace("\n", "")
    found += [f"{kind.lower()} {name} is undefined" for kind, name in _REFERENCE.findall(flat)]
    found += [f"no font has the character {char}" for char in _LOST.findall(log)]
    return list(dict.fromkeys(found))


def failure(log: str, messages: str) -> str:
    """Return in one sentence why TeX stopped."""
    text = log + "\n" + messages
    if missing := _NO_FILE.search(text):
        if re.match(r"macros|sections/|tables/|figures/", missing[1]):
            return f"{missing[1]} is missing; `snakemake paper` makes tables, figures and numbers first."
        return f"{missing[1]} is not in the TeX bundle; `make tex` fetches it anew."
    if macro := _NO_MACRO.search(text):
        return f"{macro[1]} is no macro; the numbers of this study do not have it."
    if error := _ERROR.search(text):
        return f"{error[1].rstrip('.')}; mend the source named in the log beside it."
    last = messages.strip().splitlines()[-1:]
    return f"{last[0] if last else 'TeX said nothing'}; see envs/README.md."


def _stage(paper_dir: Path, build_dir: Path) -> Path:
    macros = build_dir / "paper" / "macros.tex"
    for needed in (paper_dir / "paper.tex", macros):
        if not needed.is_file():
            raise UndolabError(
                f"{needed} is missing; `snakemake paper` makes it, or check out the repository again."
            )
    stage = build_dir / "paper" / "tex"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(paper_dir, stage, ignore=shutil.ignore_patterns("*.pdf"))
    shutil.copyfile(macros, stage / "macros.tex")
    for folder, pattern in (("tables", "*.tex"), ("figures", "*.pdf")):
        (stage / folder).mkdir(exist_ok=True)
        for part in sorted((build_dir / folder).glob(pattern)):
            shutil.copyfile(part, stage / folder / part.name)
    return stage
