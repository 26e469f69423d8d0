"""Judging a shard again from the wire alone, and comparing with what was judged live."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import zstandard

from undolab.model.calls import LedgerRow
from undolab.model.errors import UndolabError
from undolab.model.files import decompress
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.workflow import Workflow
from undolab.oracle import reconstruct
from undolab.trials.labels import label_problems
from undolab.wire import heads, read_arms, side_of


class _Ledger(msgspec.Struct, frozen=True):
    arm: str
    rows: list[LedgerRow]


_verdict = msgspec.json.Decoder(Verdict)
_ledger = msgspec.json.Decoder(_Ledger)


def reconstruct_shard(
    log: Path,
    workflows: Mapping[str, Workflow],
    tools: Mapping[str, ToolSpec],
    live: Path | None = None,
    ledger: Path | None = None,
) -> tuple[list[Verdict], list[str]]:
    """Return the verdict of each arm and every problem, each naming its arm.

    Args:
        log: a shard of wire logs.
        workflows: by id; each is read for its fixture and its rules, never for a result.
        tools: the catalogue.
        live: verdicts judged while the trials ran; where given, each must be equal.
        ledger: the world's own account of every arm; where given, the fold must have committed the same.

    Raises:
        UndolabError: the log cannot be read, or it names a workflow that is not there.
    """
    verdicts: list[Verdict] = []
    problems: list[str] = []
    commits: dict[str, list[LedgerRow]] = {}
    for name, lines in read_arms(log):
        workflow = workflows.get(name.split("/")[0])
        if workflow is None:
            raise UndolabError(f"{log}: arm {name} is of a workflow that is not under data/workflows; add it")
        found = reconstruct(workflow, tools, lines)
        problems += found.problems
        problems += [
            f"{name}, seq {seq}: {problem}" for seq, problem in label_problems(workflow, tools, lines)
        ]
        commits[name] = found.commits
        if found.verdict is not None:
            verdicts.append(found.verdict)
    if not commits:
        problems.append(f"{log}: there is no arm in it")
    if ledger is not None:
        problems += _ledger_differences(commits, ledger)
    if live is not None:
        problems += _disagreements(verdicts, live)
    return verdicts, problems


def _disagreements(verdicts: list[Verdict], live: Path) -> list[str]:
    if not live.is_file():
        raise UndolabError(f"{live} is missing; run the trials before comparing with them")
    try:
        judged = {v.arm.name(): v for v in map(_verdict.decode, decompress(live.read_bytes()).splitlines())}
    except (msgspec.DecodeError, zstandard.ZstdError) as error:
        raise UndolabError(f"{live} is not a file of verdicts ({error}); run the trials again") from error
    found = {verdict.arm.name(): verdict for verdict in verdicts}
    problems = [
        f"{name}: in the live verdicts and not in the wire log"
        for name in sorted(judged.keys() - found.keys())
    ]
    problems += [
        f"{name}: in the wire log and not in the live verdicts"
        for name in sorted(found.keys() - judged.keys())
    ]
    for name in sorted(found.keys() & judged.keys()):
        if found[name] != judged[name]:
            fields = [
                f for f in Verdict.__struct_fields__ if getattr(found[name], f) != getattr(judged[name], f)
            ]
            problems.append(
                f"{name}: the wire log says otherwise than the live verdict on {', '.join(fields)}"
            )
    return problems


def _ledger_differences(commits: Mapping[str, list[LedgerRow]], path: Path) -> list[str]:
    try:
        rows = map(_ledger.decode, decompress(path.read_bytes()).splitlines())
        world = {entry.arm: entry.rows for entry in rows}
    except (OSError, msgspec.DecodeError, zstandard.ZstdError) as error:
        raise UndolabError(f"{path} is missing or no ledger ({error}); run the trials again") from error
    return [
        f"{name}: the world's ledger and the wire log do not tell of the same commits"
        for name in sorted(commits.keys() | world.keys())
        if commits.get(name) != world.get(name)
    ]


def head_problems(log: Path, index: Path) -> list[str]:
    """Return where a shard and the index of chain heads do not tell of the same arms and the same last lines.

    Raises:
        UndolabError: the index is missing or is none.
    """
    try:
        rows = [line.split("\t") for line in index.read_text(encoding="utf-8").splitlines()]
        wanted = {name: (int(count), head) for name, count, head in rows}
    except (OSError, ValueError) as error:
        raise UndolabError(
            f"{index} is missing or no index of heads ({error}); `undolab heads` writes one"
        ) from error
    side = side_of(log)
    found = {side + name: head for name, head in heads(read_arms(log)).items()}
    starts = {name[: name.index("/", len(side)) + 1] for name in found}
    wanted = {name: head for name, head in wanted.items() if name.startswith(tuple(starts))}
    return [
        f"{name}: the index of heads and the wire log do not have the same lines of it"
        for name in sorted(found.keys() | wanted.keys())
        if found.get(name) != wanted.get(name)
    ]
