"""The world of one arm: it answers calls, each in its own transaction, and remembers what they did."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from undolab.model.calls import LedgerRow, Outcome
from undolab.model.canon import bytes_digest, canonical
from undolab.model.errors import UndolabError
from undolab.model.schema import first_problem
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Row, State
from undolab.world import keys, ledger
from undolab.world.domains import HANDLERS
from undolab.world.errors import ToolError
from undolab.world.git.export import export
from undolab.world.git.repo import Repo
from undolab.world.store import Store
from undolab.world.tx import Tx


class Snapshot(msgspec.Struct, frozen=True):
    """Everything a world is made of, as `World.save` took it."""

    image: bytes
    """The SQLite database: rows, git objects, ledger, keys and id counters."""


class World:
    """Eight domains of services over one SQLite store.

    Args:
        fixture: initial rows of each table; git is the table `git_commits`.
        tools: the tools that can be called, by name.
        seed: what the ids that services choose are made from.
        path: `:memory:`, or a new file, to look at with other programs.

    Raises:
        UndolabError: the fixture does not fit the tables, a tool has no code here, or the file exists.
    """

    def __init__(
        self,
        fixture: Mapping[str, Sequence[Row]],
        tools: Mapping[str, ToolSpec],
        *,
        seed: int,
        path: str = ":memory:",
    ) -> None:
        strange = tools.keys() - HANDLERS.keys()
        if strange:
            raise UndolabError(
                f"tool {min(strange)} has no code in undolab.world.domains: remove or write it"
            )
        self._tools = tools
        self._seed = seed
        self._store = Store(fixture, {spec.domain for spec in tools.values()}, path)

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        attempt: str,
        key: str | None = None,
        stop_after: int | None = None,
    ) -> Outcome:
        """Run one request and return what came of it; a refusal changes nothing.

        Args:
            tool: name of the tool.
            arguments: as the caller gave them.
            attempt: id of the attempt, for ledger and replays.
            key: idempotency key; a tool that does not honour keys never sees it.
            stop_after: the service dies once so many parts of the call are committed. The outcome then has their effects, no
                output, and is not ok; a key stays in flight. 0: it has only begun, see `finish`. A call that is refused, is
                replayed or has no more parts than that ends as ever.
        """
        return self._request(tool, arguments, attempt, key, stop_after, running=False)

    def finish(
        self, tool: str, arguments: dict[str, Any], *, attempt: str, key: str | None = None
    ) -> Outcome:
        """Run a request to its end that a call with `stop_after=0` had begun; its key, if it has one, is its own."""
        return self._request(tool, arguments, attempt, key, None, running=True)

    def _request(
        self,
        tool: str,
        arguments: dict[str, Any],
        attempt: str,
        key: str | None,
        stop_after: int | None,
        *,
        running: bool,
    ) -> Outcome:
        spec = self._tools.get(tool)
        if spec is None:
            return _refusal("not_found", f"no tool {tool}")
        problem = first_problem(spec.parameters, arguments)
        if problem:
            return _refusal("invalid_arguments", problem)
        honoured = key if spec.idempotency_key else None
        # Only the ledger and the key's fingerprint need the arguments' bytes.
        data = canonical(arguments) if spec.writes or honoured is not None else b""
        store = self._store
        tx = Tx(store.db, self._seed, (attempt, tool, data.decode(), honoured))
        store.begin()
        try:
            if honoured is None:
                outcome = self._run(tool, arguments, tx, stop_after)
            else:
                claim = None if running else (honoured, bytes_digest(data), attempt)
                outcome = self._run_once(tool, arguments, tx, honoured, claim, stop_after)
        except ToolError as error:
            store.rollback()
            return _refusal(error.code, error.message)
        except BaseException:
            store.rollback()
            raise
        if spec.writes:
            store.commit()
        else:
            store.rollback()
        return outcome

    def snapshot(self) -> State:
        """Return the rows of every table that has any."""
        state: State = {}
        for table in self._store.tables:
            rows = self._store.db.execute(table.select_all).fetchall()
            if rows:
                state[table.name] = {table.row_id(values): table.decode(values) for values in rows}
        if self._store.has_git:
            repo = Repo(self._store.db)
            branches = {name: repo.branch(name) for name in repo.names("heads")}
            tags = {name: repo.tag(name) for name in repo.names("tags")}
            for name, found in (("git_branches", branches), ("git_tags", tags)):
                if found:
                    state[name] = {key: row for key, row in found.items() if row is not None}
        return state

    def ledger(self) -> list[LedgerRow]:
        """Return every committed effect in order."""
        return ledger.read(self._store.db)

    def save(self) -> Snapshot:
        """Return everything this world is made of."""
        return Snapshot(self._store.image())

    def restore(self, s: Snapshot) -> None:
        """Become what a world with the same tools was when it was saved."""
        self._store.load(s.image)

    def export_git(self, path: Path) -> None:
        """Write the repository as a bare one to `path`, which must not exist yet, for git's own tools."""
        export(self._store.db, path)

    def close(self) -> None:
        """Give the store back; the world cannot be used after."""
        self._store.close()

    def _run(self, tool: str, arguments: dict[str, Any], tx: Tx, stop_after: int | None) -> Outcome:
        if stop_after == 0:
            return _DIED
        answer = HANDLERS[tool](tx, arguments)
        output = answer if isinstance(answer, dict) else self._in_parts(answer, stop_after)
        return Outcome(ok=output is not None, output=output or {}, effects=tx.effects)

    def _run_once(
        self,
        tool: str,
        arguments: dict[str, Any],
        tx: Tx,
        key: str,
        claim: tuple[str, str, str] | None,
        stop_after: int | None,
    ) -> Outcome:
        """Run a call under its key; `claim` is key, fingerprint and attempt, None for a call that runs and holds the key."""
        if claim is not None:
            stored = keys.look_up(self._store.db, tool, *claim[:2])
            if stored is not None:
                return stored
            keys.claim(self._store.db, tool, *claim)
        outcome = self._run(tool, arguments, tx, stop_after)
        if outcome.ok:
            keys.settle(self._store.db, tool, key, outcome)
        return outcome

    def _in_parts(self, parts: Iterator[Row], stop_after: int | None) -> Row | None:
        """Commit after each part; the first part's answer is the call's, None if the service died before the last."""
        output = next(parts)
        done = 0
        while True:
            self._store.commit()
            self._store.begin()
            done += 1
            if done == stop_after:
                return None
            if next(parts, None) is None:
                return output


_DIED = Outcome(ok=False, output={})


def _refusal(code: str, message: str) -> Outcome:
    return Outcome(ok=False, output={"code": code, "message": message})
