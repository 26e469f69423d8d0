"""Verdicts in, pairs out: each fault arm with the one control of its workflow, model, framework and seed."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.verdict import RULES_VERSION, Verdict
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import Pair

_LISTED = 3


def read_verdicts(paths: Iterable[Path]) -> list[Verdict]:
    """Return the verdicts of JSON Lines files.

    Raises:
        UndolabError: a file is missing, or a line is no verdict or was judged by other rules.
    """
    decoder = msgspec.json.Decoder(Verdict)
    found: list[Verdict] = []
    for path in sorted(paths):
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise UndolabError(
                f"Verdicts {path} cannot be read ({error.strerror}); run `undolab reconstruct` first."
            ) from error
        for number, line in enumerate(lines, start=1):
            try:
                verdict = decoder.decode(line)
            except msgspec.DecodeError as error:
                raise UndolabError(
                    f"{path}:{number} is not a verdict ({error}); reconstruct this file again."
                ) from error
            if verdict.rules != RULES_VERSION:
                raise UndolabError(
                    f"{path}:{number} was judged by rules {verdict.rules}, not {RULES_VERSION};"
                    " reconstruct this file again."
                )
            found.append(verdict)
    return found


def join(verdicts: Iterable[Verdict], matrix: Matrix) -> list[Pair]:
    """Return the pairs of the matrix, in its order; rows of `control+method` arms are not part of it.

    Raises:
        UndolabError: a cell is missing, is there twice, is not in the matrix, is invalid, or was not exposed
            although its control passed. All such cells are counted, the first 20 are named.
    """
    arms: dict[tuple[object, ...], Verdict] = {}
    problems: list[str] = []
    for verdict in verdicts:
        arm = verdict.arm
        if arm.arm not in ("control", "fault"):
            continue
        key = _key(verdict)
        if key in arms:
            problems.append(f"twice: {arm.name()}")
        arms[key] = verdict
    wanted = [("control", *key) for key in matrix.controls()] + [("fault", *key) for key in matrix.faults()]
    problems += [f"missing: {_name(key)}" for key in wanted if key not in arms]
    problems += [
        f"not in the matrix: {arms[key].arm.name()}" for key in sorted(set(arms) - set(wanted), key=repr)
    ]
    pairs = []
    for workflow, model, framework, boundary, method, seed in matrix.faults():
        control = arms.get(("control", workflow, model, framework, seed))
        fault = arms.get(("fault", workflow, model, framework, boundary, method, seed))
        if control is None or fault is None:
            continue
        problems += _unfit(control, fault)
        pairs.append(Pair(control, fault))
    _stop(problems)
    return pairs


def _key(verdict: Verdict) -> tuple[object, ...]:
    arm = verdict.arm
    if arm.arm == "control":
        return ("control", arm.workflow, arm.model, arm.framework, arm.seed)
    return ("fault", arm.workflow, arm.model, arm.framework, arm.boundary, arm.method, arm.seed)


def _name(key: Sequence[object]) -> str:
    arm, *parts = key
    return "/".join(map(str, [*parts, arm]))


def _unfit(control: Verdict, fault: Verdict) -> list[str]:
    name = fault.arm.name()
    if fault.exposure in (Exposure.INVALID_INJECTION, Exposure.NO_FAULT):
        return [f"{fault.exposure}: {name}"]
    if control.passed and fault.exposure is Exposure.NOT_EXPOSED:
        return [f"not exposed although the control passed: {name}"]
    return []


def _stop(problems: list[str]) -> None:
    if not problems:
        return
    more = f" and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
    raise UndolabError(
        f"No pooled number can be computed: {len(problems)} cells of the frozen matrix are unfit"
        f" ({'; '.join(problems[:_LISTED])}{more}); run those trials and reconstruct them, or delete build/ and build again."
    )
