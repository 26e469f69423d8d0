"""The audit: every row of the study recomputed from the raw records, and judged a second time by the other oracle.

It trusts nothing that a table says. Requests are made anew from the tasks, so a record under another prompt has no place;
each recorded answer is used once and none is left over; what is then found must be what the tables say, cell by cell.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from undolab.model.record import ChatAnswer, Record
from undolab.models.answer import read_attempt
from undolab.models.store import HttpStore, RecordStore
from undolab.planners.branch import BRANCHES, STORE, judge
from undolab.planners.run import Episode, fresh
from undolab.planners.tables import FILES, files
from undolab.planners.tasks import tasks
from undolab.undo.histories.oracles import counterfactual


def audit(found: Sequence[Episode], stores: Mapping[str, RecordStore | HttpStore], folder: Path) -> list[str]:
    """Return what is wrong, in sentences; [] if nothing is.

    Args:
        found: the study as it was just replayed from the stores.
        stores: the raw records by model.
        folder: where the tables to be checked lie.
    """
    problems = [*_ids(found, stores), *_records(found, stores), *_again(found)]
    for name, data in files(found).items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{path} is missing")
        elif path.read_bytes() != data:
            problems += list(_differences(path, data))[:10]
    return problems


def _ids(found: Sequence[Episode], stores: Mapping[str, object]) -> Iterator[str]:
    wanted = [task.ident(model) for model in stores for task in tasks()]
    have = [episode.ident for episode in found]
    if have != wanted:
        yield f"the study has {len(set(have))} tasks in {len(have)} rows, not the {len(wanted)} of its plan in order"
    for episode in found:
        if [item.name for item in episode.branches] != [*BRANCHES, STORE]:
            yield f"{episode.ident}: its branches are not {', '.join([*BRANCHES, STORE])}"


def _records(found: Sequence[Episode], stores: Mapping[str, RecordStore | HttpStore]) -> Iterator[str]:
    for model, store in stores.items():
        used = Counter(
            (answer.key, answer.ordinal)
            for episode in found
            if episode.model == model
            for answer in (episode.first, *(item.answer for item in episode.branches))
            if answer is not None
        )
        twice = [place for place, times in used.items() if times > 1]
        if twice:
            yield f"{model}: record {twice[0][0][:12]}#{twice[0][1]} stands for two answers"
        there = {(record.key, record.ordinal) for record in store}
        for key, ordinal in sorted(there - used.keys()):
            yield f"{store.path}: record {key[:12]}#{ordinal} belongs to no task of the study"
        names = Counter(_response_ids(store))
        for name, times in names.items():
            if times > 1:
                yield f"{store.path}: the service's id {name} stands for {times} answers"


def _response_ids(store: RecordStore | HttpStore) -> Iterator[str]:
    """Yield the ids that a service gave its answers; a model in this process gives none."""
    for record in store:
        if not isinstance(record, Record) and isinstance(read_attempt(record), ChatAnswer):
            yield str(json.loads(record.raw())["id"])


def _again(found: Iterable[Episode]) -> Iterator[str]:
    """Judge each branch by replay without the effect, which names no entry of the effect's own."""
    for episode in found:
        place = fresh(episode.task)
        truth = counterfactual(place.kind, place.walk, place.own)
        for item in episode.branches:
            said = item.result
            again = judge(
                place, episode.call, said.status, said.after, truth, victim_changed=said.victim_changed
            )
            if (again.eligible, again.collateral, again.recovered) != (
                said.eligible,
                said.collateral,
                said.recovered,
            ):
                yield f"{episode.ident}, branch {item.name}: the two oracles do not agree"


def _differences(path: Path, data: bytes) -> Iterator[str]:
    if path.name == FILES[-1]:
        yield f"{path}: is not what the records give"
        return
    have, want = (
        list(csv.reader(io.StringIO(text))) for text in (path.read_text(encoding="utf-8"), data.decode())
    )
    for number, (left, right) in enumerate(zip(have, want, strict=False), 1):
        for column, old, new in zip(want[0], left, right, strict=False):
            if old != new:
                yield f"{path}: line {number}, {column}: {old!r}, but the records give {new!r}"
    if len(have) != len(want):
        yield f"{path}: has {len(have)} lines, but the records give {len(want)}"
