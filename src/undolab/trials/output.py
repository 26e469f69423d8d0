"""The files of one workflow's trials: verdicts, wire log, ledger and pair checks, each written in one step."""

from collections.abc import Iterable
from pathlib import Path

from undolab.model.canon import canonical
from undolab.model.files import compress, write_bytes
from undolab.trials.arm import ArmRun
from undolab.trials.run import PairRow
from undolab.wire import write_shard


def write_workflow(out: Path, workflow: str, runs: Iterable[tuple[ArmRun, PairRow | None]]) -> int:
    """Write `trials`, `wire`, `ledger` and `pairs` of one workflow under `out`; return the number of arms."""
    logs: dict[str, bytes] = {}
    verdicts: dict[str, bytes] = {}
    ledgers: dict[str, bytes] = {}
    pairs: dict[str, bytes] = {}
    for run, pair in runs:
        name = run.arm.name()
        logs[name] = run.log.data()
        verdicts[name] = canonical(run.verdict)
        ledgers[name] = canonical({"arm": name, "rows": run.ledger})
        if pair is not None:
            pairs[name] = canonical(pair)
    write_shard(out / "wire" / f"{workflow}.jsonl.zst", logs)
    for kind, rows in (("ledger", ledgers), ("pairs", pairs), ("trials", verdicts)):
        write_bytes(out / kind / f"{workflow}.jsonl.zst", compress(_lines(rows)))
    return len(logs)


def _lines(rows: dict[str, bytes]) -> bytes:
    return b"".join(rows[name] + b"\n" for name in sorted(rows))
