r"""Every number the paper may print, as a LaTeX macro, so that no digit of the paper is typed by hand.

Names hold letters only: `\UR`, the metric or count in lower case, then parts that each begin with a capital.

- `\URcrsrPostBzero`: metric, boundary (`Pre`, `Post`), method (`None`, `Bzero`, `Btwo`, `Bsix`): a percentage with
  its sign, or `undefined`. With `CI` added: its 95 % interval in percent, `[20.8, 72.8]`; with `Num`, `Den` and
  `Dropped`: the counts behind it and the bootstrap replicates without a value. Metrics are those of `stats.metrics`.
- `\URsizePostBzeroExposed`: a size of a cell (`N`, `Exposed`, `D`, `R`, `F`);
  `\URsumPostBzeroReplays`: a total over its fault arms; `\URfailurePostBzeroAgentFailure`: arms of a failure class.
- `\URtaskPostBzeroDBfourD`: a size of one task's cell, the task without its `RB`; likewise its metrics
  `\URtaskcrsrPostBzeroDBfour`.
- `\URdiffcrsrPostBtwoBzero`: a contrast of methods in percentage points; `\URdiffcrsrBzeroPrePost`: of boundaries.
  With `CI`, `P` (as `p = 0.012`, in math mode), `PHolm` and `Shown` added: its interval, p-value, adjusted p-value, and
  `shown` or `not shown` by the plan's rule (adjusted p below 0.05).
- `\URallcrsrPostBzero` (also `CI`, `Num`, `Den`) and `\URallsizePostBzeroExposed`: the first model, its frameworks together;
  another model has `At<Model>` after the metric.
- `\URcountWorkflows`, `\URcountPairs`, ...: sizes of the study; `\URbootstrapB`, `\URmodelName`, ...: what was run.
- `\URcaptionTableOne`, `\URcaptionFigureTwo`, ...: captions.
- `\URsideDevcrsrPostBzero`, `\URsideDevcountPairs`: the same of a side study; what else is told is in `sources`.
- `\UR<prefix>...`: leaves of other JSON values, named by their path.

A digit is spelled (`zero` ... `nine`), any other character ends a part. In a study of several models or frameworks the
first has these names, and the others have `At<Model><Framework>` after the metric.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.model.verdict import FailureClass
from undolab.report.captions import captions
from undolab.report.pool import pool, total
from undolab.report.tex import escape
from undolab.report.view import View
from undolab.report.words import UNDEFINED, interval, listed, percent, scopes
from undolab.stats.metrics import METRICS
from undolab.stats.rows import CellRow, ContrastRow, MetricsFile, read_contrasts, read_metrics

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PLACE = {
    "PRE_MUTATION": "Pre",
    "DURING_MUTATION": "During",
    "POST_MUTATION_PRE_ACK": "Post",
    "POST_ACK_PRE_CHECKPOINT": "PostAck",
    "POST_ACK_PRE_CHECKPOINT_TOLD": "PostAckTold",
    "DURING_COMPENSATION": "Compensation",
}
_SMALLEST_P = 0.001
_SHOWN_BELOW = 0.05


def write(
    stats_dir: Path, out_file: Path, *, json_files: Mapping[str, Path] | None = None,
    values: Mapping[str, Any] | None = None, tex: Mapping[str, str] | None = None,
) -> Path:  # fmt: skip
    """Write all macros, sorted by name, and return the file.

    Args:
        stats_dir: holds `metrics.json` and `contrasts.json`.
        out_file: the TeX file.
        json_files: prefix to a JSON file whose leaves become macros.
        values: prefix to a JSON value whose leaves become macros.
        tex: name to text that is TeX already.

    Raises:
        UndolabError: a file is missing, or two values would have one name.
    """
    macros = collect(stats_dir)
    extra: dict[str, Any] = dict(values or {})
    for prefix, path in (json_files or {}).items():
        extra[prefix] = _load(path)
    for prefix, value in extra.items():
        _add(macros, from_value(prefix, value))
    _add(macros, (tex or {}).items())
    lines = [f"\\newcommand{{\\UR{name}}}{{{text}}}\n" for name, text in sorted(macros.items())]
    write_bytes(out_file, "".join(lines).encode("ascii"))
    return out_file


def collect(stats_dir: Path) -> dict[str, str]:
    """Return the macros of the statistics: name without `UR`, and TeX source."""
    stats = read_metrics(stats_dir)
    main, *_ = scopes(stats)
    macros: dict[str, str] = {}
    _add(macros, _study(stats))
    for cell in stats.cells:
        if cell.N:
            _add(macros, _cell(cell, main))
    _add(macros, _together(View(stats)))
    for row in read_contrasts(stats_dir):
        _add(macros, _contrast(row, main))
    _add(macros, [(f"caption{name}", escape(text)) for name, text in captions(stats).items()])
    return macros


def pooled_cells(stats_dir: Path) -> list[tuple[str, str]]:
    """Return the macros of a study's cells over all tasks, named as those of the main study.

    Raises:
        UndolabError: `metrics.json` is missing or has another shape.
    """
    stats = read_metrics(stats_dir)
    main, *_ = scopes(stats)
    held = [cell for cell in stats.cells if cell.scope.task == "all" and cell.N]
    return [item for cell in held for item in _cell(cell, main)] + _study(stats)


def letters(text: str) -> str:
    """Return text as one part of a macro name: digits spelled, each word capitalised, all else dropped."""
    words = re.findall(r"[A-Za-z]+|[0-9]+", text)
    return "".join(_part(word) for word in words)


def from_value(prefix: str, value: Any) -> list[tuple[str, str]]:
    """Return (name, TeX source) of each leaf of a JSON value; floats keep six decimals at most, null is `undefined`."""
    if isinstance(value, Mapping):
        return [item for key in sorted(value) for item in from_value(prefix + letters(str(key)), value[key])]
    if isinstance(value, list):
        parts = enumerate(value, start=1)
        return [item for index, part in parts for item in from_value(prefix + letters(str(index)), part)]
    if value is None:
        return [(prefix, UNDEFINED)]
    if isinstance(value, bool):
        return [(prefix, "yes" if value else "no")]
    if isinstance(value, int):
        return [(prefix, f"{value:,}")]
    if isinstance(value, float):
        return [(prefix, f"{value:.6f}".rstrip("0").rstrip("."))]
    return [(prefix, escape(str(value)))]


def _part(word: str) -> str:
    if word.isdigit():
        return "".join(_DIGITS[int(digit)] for digit in word)
    return word[0].upper() + word[1:]


def _study(stats: MetricsFile) -> list[tuple[str, str]]:
    study = stats.study
    controls = len(study.workflows) * len(study.seeds) * len(scopes(stats))
    pooled = [cell for cell in stats.cells if cell.scope.task == "all" and cell.N]
    faults = sum(cell.N for cell in pooled)
    counts = {
        "Workflows": len(study.workflows),
        "Domains": len({name.split("-")[1] for name in study.workflows if "-" in name}),
        "Seeds": len(study.seeds),
        "Boundaries": len(study.boundaries),
        "Methods": len(study.methods),
        "Models": len(study.models),
        "Controls": controls,
        "Pairs": faults,
        "Arms": controls + faults,
        "Cells": len(pooled),
        "N": len(study.workflows) * len(study.seeds),
        "D": stats.cells[0].D,
    }
    words = {
        "bootstrapB": f"{study.replicates:,}",
        "bootstrapSeed": str(study.bootstrap_seed),
        "modelName": escape(study.models[0]),
        "modelNames": escape(listed(study.models)),
        "frameworkName": escape(study.frameworks[0]),
        "promptMode": escape(study.prompt),
        "examplesVariant": escape(study.examples),
        "seedFirst": str(study.seeds[0]),
        "seedLast": str(study.seeds[-1]),
        "verdictRules": str(study.rules),
    }
    return [(f"count{name}", f"{number:,}") for name, number in counts.items()] + list(words.items())


def _cell(cell: CellRow, main: tuple[str, str]) -> list[tuple[str, str]]:
    scope = cell.scope
    where = _at(scope.model, scope.framework, main) + place_letters(scope.boundary) + letters(scope.method)
    sizes = {"N": cell.N, "Exposed": cell.exposed, "D": cell.D, "R": cell.R, "F": cell.F}
    if scope.task != "all":
        where += letters(scope.task.removeprefix("RB-"))
        crsr = _percent(cell.metrics["crsr"].value)
        return [(f"task{where}{name}", str(size)) for name, size in sizes.items()] + [
            (f"taskcrsr{where}", crsr)
        ]
    found = [(f"size{where}{name}", str(size)) for name, size in sizes.items()]
    found += [(f"sum{where}{letters(name)}", f"{total:,}") for name, total in cell.sums.items()]
    found += [
        (f"failure{where}{letters(name.lower())}", str(cell.failures.get(name, 0))) for name in FailureClass
    ]
    for name, estimate in cell.metrics.items():
        stem = _metric(name) + where
        found += [
            (stem, _percent(estimate.value)),
            (f"{stem}CI", interval(estimate)),
            (f"{stem}Num", str(estimate.num)),
            (f"{stem}Den", str(estimate.den)),
            (f"{stem}Dropped", f"{estimate.dropped:,}"),
        ]
    return found


def _together(view: View) -> list[tuple[str, str]]:
    """Return the macros of a model's frameworks together, as Table 1 prints them."""
    found = []
    for model in view.models:
        at = at_model(model, view.models[0])
        for place in view.places:
            for method in view.methods(place):
                cells = view.task_cells(place, method, scopes=view.scopes_of(model))
                where = at + place_letters(place) + letters(method)
                found += [
                    (f"allsize{where}{name[0].upper()}{name[1:]}", f"{total(cells, name):,}")
                    for name in ("N", "exposed", "D", "R", "F")
                ]
                for name in METRICS:
                    estimate = pool(cells, name, view.study)
                    stem = f"all{_metric(name)}{where}"
                    found += [(stem, _percent(estimate.value)), (f"{stem}CI", interval(estimate))]
                    found += [(f"{stem}Num", f"{estimate.num:,}"), (f"{stem}Den", f"{estimate.den:,}")]
    return found


def _contrast(row: ContrastRow, main: tuple[str, str]) -> list[tuple[str, str]]:
    at = _at(row.model, row.framework, main)
    if row.boundary:
        where = at + place_letters(row.boundary) + letters(row.a) + letters(row.b)
    else:
        where = at + letters(row.method) + place_letters(row.a) + place_letters(row.b)
    stem = f"diff{_metric(row.metric)}{where}"
    bounds = UNDEFINED
    if row.lo is not None and row.hi is not None:
        bounds = f"[{_points(row.lo)}, {_points(row.hi)}]"
    value = UNDEFINED if row.value is None else rf"{_points(row.value)}\,pp"
    return [
        (stem, value),
        (f"{stem}CI", bounds),
        (f"{stem}P", _p(row.p)),
        (f"{stem}PHolm", _p(row.p_holm)),
        (f"{stem}Shown", _shown(row.p_holm)),
    ]


def _at(model: str, framework: str, main: tuple[str, str]) -> str:
    return "" if (model, framework) == main else f"At{letters(model)}{letters(framework)}"


def at_model(model: str, first: str) -> str:
    """Return what stands in a name for a model: nothing for the study's first one, else `At<Model>`."""
    return "" if model == first else f"At{letters(model)}"


def place_letters(boundary: str) -> str:
    """Return a boundary as one part of a macro name."""
    return _PLACE.get(boundary, letters(boundary.lower()))


def _metric(name: str) -> str:
    return letters(name).lower()


def _percent(value: float | None) -> str:
    return UNDEFINED if value is None else rf"{percent(value)}\,\%"


def _points(value: float) -> str:
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", r"\ensuremath{-}")


def _p(value: float | None) -> str:
    if value is None:
        return UNDEFINED
    return f"p < {_SMALLEST_P}" if value < _SMALLEST_P else f"p = {value:.3f}"


def _shown(p: float | None) -> str:
    """Return the plan's word for a contrast: `shown` below 0.05 after correction."""
    return UNDEFINED if p is None else "shown" if p < _SHOWN_BELOW else "not shown"


def _add(macros: dict[str, str], new: Iterable[tuple[str, str]]) -> None:
    for name, text in new:
        if not re.fullmatch("[A-Za-z]+", name):
            raise UndolabError(f"{name!r} cannot be the name of a TeX macro; use letters only.")
        if name in macros:
            raise UndolabError(f"Two numbers would have the macro name UR{name}; rename one of them.")
        macros[name] = text


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UndolabError(f"Numbers in {path} cannot be read ({error}); compute that file again.") from error
