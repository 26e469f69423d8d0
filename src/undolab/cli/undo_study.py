"""`undolab undo study`: the long suites of the undo layer, resumable, with evidence at the end."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from undolab.cli.common import BUILD, Commands
from undolab.model.errors import UndolabError
from undolab.undo.study.suite import run, sampled, write_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undolab.undo.study.children import Children
    from undolab.undo.study.suite import Case

FOLDER = BUILD / "suites"
EVIDENCE = Path("data/evidence")
# `exhaustive`: up to so many writes on their way every subset is tried; `images`: drawn besides, at each moment.
_SIZES: "Mapping[str, Mapping[str, int]]" = {
    "lost": {"exhaustive": 6, "images": 12},
    "processes": {"rounds": 300},
    "schedules": {"ours": 1000},
}


def add_study(actions: Commands) -> None:
    """Add `study` to the actions of `undolab undo`."""
    command = actions.add_parser(
        "study", help="kills, lost writes, several processes, schedules and deep histories, resumable"
    )
    command.add_argument("--only", action="append", choices=tuple(_SUITES), help="one suite; may be repeated")
    command.add_argument("--seed", type=int, default=1, help="seed of all that is drawn (default 1)")
    command.add_argument("--sample", type=int, default=0, metavar="N", help="only N cases of each suite")
    command.add_argument(
        "--record", action="store_true", help=f"put the evidence in {EVIDENCE} too (maintainers)"
    )
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from undolab.undo.study.children import Children

    if arguments.record and arguments.sample:
        raise UndolabError("--record is for whole suites; leave --sample out")
    wrong = 0
    with Children() as children:
        for name in arguments.only or _SUITES:
            cases = sampled(_SUITES[name](children, arguments.seed), arguments.sample, arguments.seed)
            parameters = {"seed": arguments.seed, "sample": arguments.sample, **_SIZES.get(name, {})}
            evidence = run(f"undo-{name}", cases, FOLDER, parameters)
            for folder in (FOLDER, EVIDENCE) if arguments.record else (FOLDER,):
                write_evidence(folder / f"undo-{name}.json", evidence)
            counts = ", ".join(f"{count:,} {what}" for what, count in evidence["counts"].items())
            print(f"{name}: {evidence['cases']} cases in {evidence['seconds']} s; {counts}")
            for line in evidence["problems"]:
                print(f"  wrong: {line}")
            wrong += len(evidence["problems"])
    print(f"Written: {FOLDER}/undo-*.json; {wrong} problems")
    return 1 if wrong else 0


def _kills(children: "Children", seed: int) -> "list[Case]":
    del seed  # every boundary is tried
    from undolab.undo.study import kills

    return kills.cases(children)


def _lost(children: "Children", seed: int) -> "list[Case]":
    del children
    try:
        from undolab.undo.study import lost
    except ModuleNotFoundError as error:
        raise UndolabError(
            f"{error.name} is not installed; run `make dev-env`, or leave this suite out with --only"
        ) from error
    return lost.cases(seed, _SIZES["lost"]["exhaustive"], _SIZES["lost"]["images"])


def _processes(children: "Children", seed: int) -> "list[Case]":
    from undolab.undo.study import processes

    return processes.cases(children, seed, _SIZES["processes"]["rounds"])


def _schedules(children: "Children", seed: int) -> "list[Case]":
    from undolab.undo.study import schedules

    return schedules.cases(children, seed, _SIZES["schedules"]["ours"])


def _histories(children: "Children", seed: int) -> "list[Case]":
    del children, seed
    from undolab.undo.study import deep

    return deep.cases()


_SUITES: "Mapping[str, Callable[[Children, int], list[Case]]]" = {
    "histories": _histories,
    "kills": _kills,
    "schedules": _schedules,
    "processes": _processes,
    "lost": _lost,
}
