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
from undolab.oracle.fold.store import Handler, Refused, Store, Table

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
                elif table != "git_commits":
                    self._store.seed_row(table, row)
        self._git = git.Repository(fixture.get("git_commits", ()), self._store).handlers()
        self._answered: dict[tuple[str, str], tuple[str, dict[str, Any], str]] = {}

    def apply(
        self, tool: str, arguments: dict[str, Any], key: str | None = None, *, attempt: str = ""
    ) -> Outcome:
        """Run one call and return what the world must have answered.

        Args:
            tool: Name of the tool.
            arguments: Its arguments.
            key: Idempotency key, ignored where the tool honours none.
            attempt: Id that `replay_of` gives if a later call with the same key is answered from this one.
        """
        spec = self._tools.get(tool)
        handler = _HANDLERS.get(tool) or self._git.get(tool)
        if spec is None or handler is None:
            return _refusal("not_found", f"no tool {tool}")
        wrong = first_problem(spec.parameters, arguments)
        if wrong:
            return _refusal("invalid_arguments", wrong)
        keyed = key is not None and spec.idempotency_key
        place, fingerprint = (tool, key or ""), digest(arguments) if keyed else ""
        if keyed and place in self._answered:
            first_fingerprint, output, first = self._answered[place]
            if fingerprint != first_fingerprint:
                return _refusal("key_conflict", f"key {key} was used with other arguments")
            return Outcome(ok=True, output=output, replay_of=first)
        try:
            output = handler(self._store, arguments)
        except Refused as refused:
            return Outcome(ok=False, output=refused.output)
        if keyed:
            self._answered[place] = (fingerprint, output, attempt)
        return Outcome(ok=True, output=output, effects=self._store.take_effects())

    def state(self) -> State:
        """Return all rows, as a snapshot of the world does: tables without rows are left out."""
        return self._store.state()


def _refusal(code: str, message: str) -> Outcome:
    return Outcome(ok=False, output={"code": code, "message": message})
