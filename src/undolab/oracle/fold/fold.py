"""The fold: calls in, outcomes out, over plain dictionaries; it shares no code with the world that it checks."""

from collections.abc import Mapping, Sequence
from typing import Any

from undolab.model.calls import Outcome
from undolab.model.canon import digest
from undolab.model.errors import UndolabError
from undolab.model.schema import first_problem
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Row, State
from undolab.oracle.fold import cloud, crm, database, git, messaging, payments, storage, ticketing
from undolab.oracle.fold.store import Died, Handler, Refused, Store, Table

_DOMAINS = (database, payments, ticketing, cloud, crm, messaging, storage)
_TABLES: dict[str, Table] = {
    name: table for domain in (*_DOMAINS, git) for name, table in domain.TABLES.items()
}
_HANDLERS: dict[str, Handler] = {name: tool for domain in _DOMAINS for name, tool in domain.HANDLERS.items()}


class Fold:
    """One folded world."""

    def __init__(
        self, fixture: Mapping[str, Sequence[Row]], tools: Mapping[str, ToolSpec], seed: int
    ) -> None:
        """Start from the fixture's rows.

        Raises:
            UndolabError: the fixture has a table that no domain knows.
        """
        self._tools = tools
        self._store = Store(_TABLES, seed)
        for table, rows in fixture.items():
            if table not in _TABLES and table != "git_commits":
                raise UndolabError(
                    f"the fixture has a table {table!r} that no domain knows; mend the workflow"
                )
            for row in rows:
                if table == "objects":
                    full = storage.object_row(row["bucket_name"], row["key"], row["content"])
                    self._store.seed_row(table, full)
                elif table == "upload_parts":
                    full = storage.part_row(row["upload_id"], row["part_number"], row["data"])
                    self._store.seed_row(table, full)
                elif table != "git_commits":
                    self._store.seed_row(table, row)
        self._git = git.Repository(fixture.get("git_commits", ()), self._store).handlers()
        self._answered: dict[tuple[str, str], tuple[str, dict[str, Any] | None, str]] = {}
        """Of each used key: fingerprint of the request, answer (None: the call has not ended), attempt."""

    def apply(
        self,
        tool: str,
        arguments: dict[str, Any],
        key: str | None = None,
        *,
        attempt: str = "",
        stop_after: int | None = None,
    ) -> Outcome:
        """Run one call and return what the world must have answered.

        Args:
            tool: Name of the tool.
            arguments: Its arguments.
            key: Idempotency key, ignored where the tool honours none.
            attempt: Id that `replay_of` gives if a later call with the same key is answered from this one.
            stop_after: The service dies once so many parts of the call are committed. The outcome then has their effects, no
                output, and is not ok, and a key stays in flight. 0: it has only begun. A call that is refused, replayed or has
                no more parts than that ends as ever.
        """
        return self._request(tool, arguments, key, attempt, stop_after, running=False)

    def finish(
        self, tool: str, arguments: dict[str, Any], key: str | None = None, *, attempt: str = ""
    ) -> Outcome:
        """Run a call to its end that `apply` with `stop_after=0` had begun; its key, if it has one, is its own."""
        return self._request(tool, arguments, key, attempt, None, running=True)

    def _request(
        self,
        tool: str,
        arguments: dict[str, Any],
        key: str | None,
        attempt: str,
        stop_after: int | None,
        *,
        running: bool,
    ) -> Outcome:
        spec = self._tools.get(tool)
        handler = _HANDLERS.get(tool) or self._git.get(tool)
        if spec is None or handler is None:
            return _refusal("not_found", f"no tool {tool}")
        wrong = first_problem(spec.parameters, arguments)
        if wrong:
            return _refusal("invalid_arguments", wrong)
        keyed = key is not None and spec.idempotency_key
        place, fingerprint = (tool, key or ""), digest(arguments) if keyed else ""
        if keyed and not running and place in self._answered:
            first_fingerprint, output, first = self._answered[place]
            if fingerprint != first_fingerprint:
                return _refusal("key_conflict", f"key {key} was used with other arguments")
            if output is None:
                return _refusal("key_in_flight", f"a call with key {key} is in progress")
            return Outcome(ok=True, output=output, replay_of=first)
        if stop_after == 0:
            if keyed:
                self._answered[place] = (fingerprint, None, attempt)
            return Outcome(ok=False, output={})
        self._store.begin(stop_after)
        try:
            output = handler(self._store, arguments)
        except Refused as refused:
            return Outcome(ok=False, output=refused.output)
        except Died:
            if keyed:
                self._answered[place] = (fingerprint, None, attempt)
            return Outcome(ok=False, output={}, effects=self._store.take_effects())
        if keyed:
            self._answered[place] = (fingerprint, output, attempt)
        return Outcome(ok=True, output=output, effects=self._store.take_effects())

    def state(self) -> State:
        """Return all rows, as a snapshot of the world does: tables without rows are left out."""
        return self._store.state()


def _refusal(code: str, message: str) -> Outcome:
    return Outcome(ok=False, output={"code": code, "message": message})
