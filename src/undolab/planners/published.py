"""Raw records of the published study (`models.jsonl`), read strictly and replayed here, branch by branch.

Whoever has that file can see whether our policies do to it what theirs did, and what the same choices would have done
without a scope check and in our store. A row that is not of the form is an error that names line and field; a row whose
stored result is not what a replay gives is a finding.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from undolab.model.errors import UndolabError
from undolab.planners.branch import BRANCHES, STORE, Fixture, Result, execute, fixture, in_store
from undolab.planners.prompt import Call
from undolab.planners.tasks import peer_events
from undolab.undo.policies.resource import Resource

_POLICIES = ("mapped", "undoscope")
_LONGEST_GENERATION = 64


class _Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: str
    head: str


class _State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    generation: str
    rev: int
    fields: dict[str, _Cell]
    credits: dict[str, int]
    grants: dict[str, str]
    component_rev: dict[str, int]


class _Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    eligible: bool
    collateral: bool
    recovered: bool
    changed: bool
    status: str
    victim_changed: bool
    wrong_receipt_selected: bool


class _Status(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    status: str


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    response: dict[str, Any] | None
    seconds: float
    error: dict[str, Any] | None


class _Branch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    policy: Literal["mapped", "undoscope"]
    tool_result: _Status
    outcome: _Outcome
    before: _State | None
    after: _State | None
    expected: _State | None
    second: _Asked


class _Selected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any]


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    model: str
    kind: Literal["set", "add", "grant", "create"]
    condition: Literal["clean", "concurrent", "injected"]
    seed: int
    hardened: bool
    timestamp_utc: str
    request: dict[str, Any]
    first: _Asked
    branches: list[_Branch]
    selected: _Selected | None = None


class Imported(NamedTuple):
    """One row replayed: its id, model and prompt, the four branches in the study's order, and what does not agree."""

    ident: str
    model: str
    hardened: bool
    results: tuple[tuple[str, Result], ...]
    findings: tuple[str, ...]


def read(path: Path) -> list[Imported]:
    """Return every row, replayed.

    Raises:
        UndolabError: the file cannot be read, holds no row, or a row is not of the form; names line and field.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UndolabError(f"{path} cannot be read ({error.strerror}); name a models.jsonl") from error
    rows = [(number, _row(path, number, line)) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UndolabError(f"{path} holds no row; name a models.jsonl")
    seen: dict[str, str] = {}
    for number, row in rows:
        for field, name in _names(row):
            if name in seen:
                raise UndolabError(_at(path, number, field, f"{name!r} stands at {seen[name]} already"))
            seen[name] = f"line {number}, {field}"
    return [_replay(path, number, row) for number, row in rows]


def _row(path: Path, number: int, line: bytes) -> _Row:
    try:
        row = msgspec.convert(msgspec.json.decode(line), _Row)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text, _, where = str(error).partition(" - at `$")
        field = where.rstrip("`").replace("[", "/").replace("]", "").replace(".", "/") or "/"
        raise UndolabError(_at(path, number, field, text)) from error
    for field, fault in _faults(row):
        raise UndolabError(_at(path, number, field, fault))
    return row


def _at(path: Path, number: int, field: str, fault: str) -> str:
    return f"{path}: line {number}, {field}: {fault}; mend the row or leave it out."


def _faults(row: _Row) -> Iterator[tuple[str, str]]:
    """Yield (field, fault) where a row does not hold together."""
    ident = f"{row.model}/{row.kind}/{row.condition}/{row.seed}/{int(row.hardened)}"
    if row.id != ident:
        yield "/id", f"is {row.id!r}, but the row's own fields make {ident!r}"
    if row.request.get("model") != row.model:
        yield "/request/model", f"is not {row.model!r}"
    wanted = list(_POLICIES) if row.selected else []
    if [branch.policy for branch in row.branches] != wanted:
        yield "/branches", f"must hold {' and '.join(wanted) or 'nothing, as no call was selected'}"
    yield from _answer(row, row.first, "/first")
    if row.selected is not None:
        calls = _calls(row.first)
        if calls != [(row.selected.name, row.selected.arguments)]:
            yield "/selected", f"is not the one call of /first/response/output, which has {len(calls)}"
    for place, branch in enumerate(row.branches):
        where = f"/branches/{place}"
        yield from _answer(row, branch.second, f"{where}/second")
        for field in ("before", "after", "expected"):
            state = getattr(branch, field)
            if state is not None and not 0 < len(state.generation) <= _LONGEST_GENERATION:
                yield f"{where}/{field}/generation", f"must have 1 to {_LONGEST_GENERATION} characters"
        if branch.before is None:
            yield f"{where}/before", "is null, but no condition takes the resource away"


def _answer(row: _Row, asked: _Asked, where: str) -> Iterator[tuple[str, str]]:
    if (asked.response is None) == (asked.error is None):
        yield f"{where}/response", "and error: one of them must be null"
    if asked.response is not None:
        if asked.response.get("model") != row.model:
            yield f"{where}/response/model", f"is not {row.model!r}"
        if not isinstance(asked.response.get("id"), str):
            yield f"{where}/response/id", "is missing"
        if not isinstance(asked.response.get("output"), list):
            yield f"{where}/response/output", "is no list"


def _calls(asked: _Asked) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for item in (asked.response or {}).get("output", []):
        if isinstance(item, dict) and item.get("type") == "function_call":
            try:
                arguments = json.loads(item.get("arguments", ""))
            except (TypeError, ValueError):
                arguments = {}
            found.append((str(item.get("name")), arguments))
    return found


def _names(row: _Row) -> Iterator[tuple[str, str]]:
    """Yield the ids that may stand in the file once."""
    yield "/id", row.id
    asked = [("/first", row.first)]
    asked += [(f"/branches/{place}/second", branch.second) for place, branch in enumerate(row.branches)]
    for where, one in asked:
        if one.response is not None:
            yield f"{where}/response/id", str(one.response["id"])


def _replay(path: Path, number: int, row: _Row) -> Imported:
    findings: list[str] = []
    results: list[tuple[str, Result]] = []
    if row.selected is not None:
        place, call = _fixture(row), _call(row.selected)
        peers = peer_events(row.kind, row.condition)
        results = [(name, execute(place, call, name)) for name in BRANCHES]
        results.append((STORE, in_store(place, call, peers)))
        by_name = dict(results)
        for index, branch in enumerate(row.branches):
            for field, have, want in _compare(branch, by_name[branch.policy]):
                said = f"line {number}, /branches/{index}/{field}: the row says {have}, a replay gives {want}"
                findings.append(f"{path}: {said}")
    return Imported(row.id, row.model, row.hardened, tuple(results), tuple(findings))


def _fixture(row: _Row) -> Fixture:
    before = row.branches[0].before
    created = before.generation if row.kind == "create" and before is not None else ""
    own, other = f"effect-{row.seed}", f"other-{row.seed}"
    return fixture(row.kind, peer_events(row.kind, row.condition), own, other, created)


def _call(selected: _Selected) -> Call:
    receipt = selected.arguments.get("receipt_id")
    if selected.name == "recover_effect" and isinstance(receipt, str):
        return Call("recover_effect", receipt)
    return Call("escalate", "")


def _compare(branch: _Branch, found: Result) -> Iterator[tuple[str, Any, Any]]:
    said = branch.outcome
    replayed = {
        "eligible": found.eligible,
        "collateral": found.collateral,
        "recovered": found.recovered,
        "changed": found.changed,
        "status": found.status,
        "victim_changed": found.victim_changed,
        "wrong_receipt_selected": found.wrong_receipt,
    }
    for field, want in replayed.items():
        if getattr(said, field) != want:
            yield f"outcome/{field}", getattr(said, field), want
    if branch.tool_result.status != found.status:
        yield "tool_result/status", branch.tool_result.status, found.status
    for field in ("before", "after", "expected"):
        have, due = getattr(branch, field), _state(getattr(found, field))
        if have != due:
            yield field, "another state", "its own"


def _state(resource: Resource | None) -> _State | None:
    if resource is None:
        return None
    cells = {name: _Cell(cell.value, cell.head) for name, cell in resource.fields.items()}
    return _State(
        resource.generation,
        resource.rev,
        cells,
        dict(resource.credits),
        dict(resource.grants),
        dict(resource.component),
    )


def counts(rows: Sequence[Imported]) -> dict[tuple[str, str, str], dict[str, int]]:
    """Return (model, prompt, branch) to how many choices came to what, in the order of the file."""
    names = ("eligible", "collateral", "recovered", "wrong_receipt", "victim_changed")
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in rows:
        for branch, result in row.results:
            cell = found.setdefault(
                (row.model, "hardened" if row.hardened else "ordinary", branch),
                dict.fromkeys(("tasks", *names, "escalated"), 0),
            )
            cell["tasks"] += 1
            for name in names:
                cell[name] += getattr(result, name)
            cell["escalated"] += result.status == "escalated"
    return found
