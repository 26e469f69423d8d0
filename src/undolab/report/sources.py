"""Numbers of the paper from outside of the main study's metrics: side studies, further tests, undo, published figures, times.

Each reader takes one file or folder of a build (or committed evidence) and gives macros by the same rules as `macros`; what a
study lacks has no macro, and a sentence that wants one stops the paper.
"""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from undolab.model.errors import UndolabError
from undolab.report.macros import at_model, letters, place_letters, pooled_cells
from undolab.report.words import UNDEFINED, percent
from undolab.stats.rows import read_metrics

_PUBLISHED = {
    "Control": "rb3c-005",
    "Recovered": "rb3c-017",
    "Capable": "rb3c-018",
    "Crsr": "rb3c-019",
    "CrsrLow": "rb3c-022",
    "CrsrHigh": "rb3c-023",
    "CrsrRetry": "rb3c-038",
    "Der": "rb3c-025",
    "Eor": "rb3c-024",
    "KeyP": "rb3c-063",
    "KeyPHolm": "rb3c-064",
    "Mer": "rb3c-033",
    "VerifyPaper": "boundaries-005",
    "VerifyScript": "boundaries-006",
    "VerifyHalf": "boundaries-003",
    "RetryPre": "boundaries-002",
    "RetryPreLowest": "boundaries-016",
    "RetryPreHighest": "boundaries-017",
    "RetryPrePost": "boundaries-007",
    "RetryPostApi": "boundaries-021",
    "GapClosure": "boundaries-013",
}
"""Name in a macro to the row of `published/undobench.csv` that the paper speaks of."""
_UNITS = {"count": "{:,.0f}", "percent": r"{:.1f}\,\%", "pp": r"{:+.1f}\,pp", "ratio": "{:.3f}"}
_WHOLE = 100
_LEFT_OUT = ("machine", "code", "parameters", "problems", "microseconds")
"""What evidence and measurements hold beside the numbers of the paper."""


def values(build: Path, evidence: Path, measurements: Path) -> dict[str, Any]:
    """Return prefix to values for `macros.write`, from a build, `data/evidence` and `data/measurements`.

    Raises:
        UndolabError: a file is missing or has not the form of its kind.
    """
    return {
        "evidence": {path.stem: _evidence(path) for path in sorted(evidence.glob("*.json"))},
        "histories": _histories(build / "undo" / "histories-summary.json"),
        "planner": _load(build / "undo" / "study-summary.json"),
        "measured": {path.stem: _kept(_load(path)) for path in sorted(measurements.glob("*.json"))},
        "published": {name: _recomputed(build, name) for name in ("undobench", "undoscope")},
    }


def raw(build: Path) -> dict[str, str]:
    """Return macros that are TeX already: equivalence, power, behaviour, published figures, cells of side studies."""
    found: dict[str, str] = {}
    first = read_metrics(build / "stats").study.models[0]
    for row in _rows(build / "stats" / "equivalence.csv"):
        stem = f"equivalence{at_model(row['model'], first)}{place_letters(row['boundary'])}"
        stem += letters(row["method"]) + letters(row["metric"])
        found[stem] = _points(row["value"])
        found[f"{stem}CI"] = f"[{_points(row['lo90'], '')}, {_points(row['hi90'], '')}]"
        found[f"{stem}P"] = f"{float(row['p']):.3f}" if row["p"] else UNDEFINED
        found[f"{stem}Shown"] = row["equivalent"]
    for row in _rows(build / "stats" / "power.csv"):
        where = f"power{at_model(row['model'], first)}"
        where += "".join(letters(row[name]) for name in ("framework", "effect", "test", "tasks"))
        found[where] = _points(row["detectable"]).removeprefix("+")
    for row in _rows(build / "tables" / "tablebehaviour.csv"):
        scope = "".join(letters(row[name]) for name in ("model", "framework", "examples"))
        stem = f"behaviour{scope}{place_letters(row['boundary'])}"
        names = [name for name in row if name not in ("model", "framework", "prompt", "examples", "boundary")]
        found.update((stem + letters(name), f"{int(row[name]):,}") for name in names)
    found |= _published(build / "published" / "undobench.csv")
    for path in sorted(build.glob("side/*/stats/metrics.json")):
        stem = "side" + letters(path.parent.parent.name)
        found.update((stem + name, text) for name, text in pooled_cells(path.parent))
    return found


def _histories(path: Path) -> dict[str, Any]:
    """Return the counts of the bounded histories that the paper tells, with totals over kinds."""
    data = _load(path)
    try:
        agents: dict[str, Counter[str]] = {}
        for kinds in data["agents"]["by_kind"].values():
            for name, counts in kinds.items():
                agents.setdefault(name, Counter()).update(counts)
        parted = Counter[str]()
        for kinds in data["oracles"].values():
            for name, count in kinds.items():
                one, other = name.split("/")
                parted["agree" if one == other else "differ"] += count
        return {
            **{name: data[name] for name in ("depth", "histories", "rows", "policies", "damage", "ablation")},
            "kernelWrong": sum(counts["wrong"] for counts in data["kernel"].values()),
            "agents": agents,
            "agentsDepth": data["agents"]["depth"],
            "oracles": parted,
            "withoutIncarnation": data["create_without_incarnation"],
        }
    except (KeyError, TypeError, ValueError) as error:
        raise UndolabError(
            f"{path} has not the right form ({error}); `undolab undo histories` makes it"
        ) from error


def _recomputed(build: Path, name: str) -> dict[str, int]:
    """Return how many published figures were worked out again, and how many of these come out as published."""
    rows = _rows(build / "published" / f"{name}.csv")
    return {
        "figures": len(rows),
        "again": sum(bool(row["agrees"]) for row in rows),
        "equal": sum(row["agrees"] == "yes" for row in rows),
        "other": sum(row["agrees"] == "no" for row in rows),
        "corrected": sum(bool(row["corrected"]) for row in rows),
    }


def _published(path: Path) -> dict[str, str]:
    """Return the few published figures that the paper speaks of: as published, recomputed, corrected."""
    rows = {row["id"]: row for row in _rows(path)}
    if absent := sorted(set(_PUBLISHED.values()) - set(rows)):
        raise UndolabError(f"{path} lacks the rows {', '.join(absent)}; restore data/published/undobench")
    return {
        f"published{name}{letters(part)}": _figure(rows[key], part)
        for name, key in _PUBLISHED.items()
        for part in ("published", "recomputed", "corrected")
    }


def _figure(row: Mapping[str, str], part: str) -> str:
    """Return a published figure as it is printed, a share as a percentage."""
    text = row[part]
    if text in ("", UNDEFINED):
        return UNDEFINED
    value = float(text)
    if row["unit"] == "ratio" and row["stat"] not in ("p", "p_holm"):
        return rf"{percent(value)}\,\%"
    return _UNITS[row["unit"]].format(value)


def _evidence(path: Path) -> dict[str, Any]:
    data = _load(path)
    return {**_kept(data), "problems": len(data.get("problems", ()))}


def _kept(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _rounded(value) for name, value in data.items() if name not in _LEFT_OUT}


def _rounded(value: Any) -> Any:
    """Return a measured value as it is printed: from a hundred on without decimals."""
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    return round(value) if isinstance(value, float) and value >= _WHOLE else value


def _points(text: str, unit: str = r"\,pp") -> str:
    if not text:
        return UNDEFINED
    value = f"{100 * float(text):+.1f}"
    return ("0.0" if float(value) == 0 else value.replace("-", r"\ensuremath{-}")) + unit


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))
    except OSError as error:
        raise UndolabError(
            f"{path} is missing ({error.strerror}); `snakemake paper` makes it first"
        ) from error


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UndolabError(f"Numbers in {path} cannot be read ({error}); make that file again") from error
