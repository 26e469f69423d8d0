"""Replays the attempts of a log on the fold, one line at a time, and names what the fold does not agree with."""

from collections.abc import Collection, Mapping

from undolab.model.calls import REFUSED, LedgerRow, Outcome, Phase
from undolab.model.tools import ToolSpec
from undolab.model.wire import WireEffectEvent, WorldEvent
from undolab.model.workflow import State
from undolab.oracle.fold import Fold

_NOTHING = Outcome(ok=False, output={})


class Replay:
    """The fold of one arm and the attempts that are still open."""

    def __init__(self, tools: Mapping[str, ToolSpec], fold: Fold, refused: Collection[str] = ()) -> None:
        """Start with a fold of the fixture; `refused` are the attempts that the service never saw."""
        self._refused = refused
        self._tools = tools
        self._fold = fold
        self._open: dict[str, WireEffectEvent] = {}
        self._seen: set[str] = set()
        self._calls: dict[str, int] = {}
        self._clock = 0
        self.commits: list[LedgerRow] = []
        """One row an effect, as the world's ledger has them."""

    def state(self) -> State:
        """Return the folded state."""
        return self._fold.state()

    def unfinished(self) -> list[tuple[int, str]]:
        """Return a problem for each attempt that never ended."""
        return [(event.seq, f"attempt {event.attempt} never ends") for event in self._open.values()]

    def check(self, event: WireEffectEvent) -> list[str]:
        """Take the next event and return what is wrong with it."""
        spec = self._tools.get(event.tool_name)
        if spec is None:
            return [f"there is no tool {event.tool_name} in this workflow"]
        problems = []
        if event.op_type is not spec.op:
            problems.append(f"op_type is {event.op_type}, the tool's is {spec.op}")
        if event.at_ms < self._clock:
            problems.append(f"the clock runs back from {self._clock} to {event.at_ms} ms")
        self._clock = event.at_ms
        if (event.origin == "method") != event.attempt.endswith("m"):
            problems.append(f"origin {event.origin} does not fit attempt {event.attempt}")
        if event.phase is Phase.INVOKE:
            return problems + self._invoke(event)
        return problems + self._complete(event)

    def happen(self, event: WorldEvent) -> list[str]:
        """Take something that the service did by itself and return what is wrong with it."""
        if event.tool_name not in self._tools:
            return [f"there is no tool {event.tool_name} in this workflow"]
        problems = []
        if event.at_ms < self._clock:
            problems.append(f"the clock runs back from {self._clock} to {event.at_ms} ms")
        self._clock = event.at_ms
        run = self._fold.finish if event.cause == "finish" else self._fold.apply
        outcome = run(event.tool_name, event.arguments, event.key, attempt=event.attempt)
        self._commit(event, outcome)
        if event.output != outcome.output:
            problems.append(f"output differs from the fold's: {event.output} against {outcome.output}")
        if event.replay_of != outcome.replay_of:
            problems.append(f"replay_of is {event.replay_of}, the fold's is {outcome.replay_of}")
        return problems + _effect_problems(event, outcome)

    def _invoke(self, event: WireEffectEvent) -> list[str]:
        problems = []
        number = self._calls[event.tool_name] = self._calls.get(event.tool_name, 0) + 1
        if event.call_index != number:
            problems.append(f"call_index is {event.call_index}, this is call {number} of {event.tool_name}")
        if event.attempt in self._seen:
            problems.append(f"attempt {event.attempt} begins twice")
        if event.committed_externally or event.acknowledged_to_agent or event.effects or event.target:
            problems.append("an invoke can neither commit nor be acknowledged")
        if event.output is not None or event.replay_of is not None or event.parts is not None:
            problems.append("an invoke has no output")
        self._seen.add(event.attempt)
        self._open[event.attempt] = event
        return problems

    def _complete(self, event: WireEffectEvent) -> list[str]:
        invoke = self._open.pop(event.attempt, None)
        if invoke is None:
            return [f"attempt {event.attempt} ends without having begun"]
        problems = [
            f"{field} differs between the two ends of attempt {event.attempt}"
            for field in ("tool_name", "arguments", "key", "origin", "call_index")
            if getattr(event, field) != getattr(invoke, field)
        ]
        outcome = self._run(event)
        problems += _answer_problems(event, outcome)
        if event.committed_externally != bool(outcome.effects):
            problems.append(
                f"committed_externally is {event.committed_externally}, the fold finds {len(outcome.effects)} effects"
            )
        return problems + _effect_problems(event, outcome)

    def _run(self, event: WireEffectEvent) -> Outcome:
        if event.attempt in self._refused:
            return Outcome(ok=False, output=REFUSED)
        if event.output is None and event.parts is None:
            return _NOTHING
        outcome = self._fold.apply(
            event.tool_name, event.arguments, event.key, attempt=event.attempt, stop_after=event.parts
        )
        self._commit(event, outcome)
        return outcome

    def _commit(self, event: WireEffectEvent | WorldEvent, outcome: Outcome) -> None:
        for effect in outcome.effects:
            self.commits.append(
                LedgerRow(
                    seq=len(self.commits) + 1,
                    attempt=event.attempt,
                    tool=event.tool_name,
                    arguments=event.arguments,
                    effect=effect,
                    key=event.key if self._tools[event.tool_name].idempotency_key else None,
                )
            )


def _answer_problems(event: WireEffectEvent, outcome: Outcome) -> list[str]:
    problems = []
    if event.phase is not Phase.UNKNOWN:
        if event.output is None:
            return ["an answered attempt has no output"]
        if (event.phase is Phase.OK) != outcome.ok:
            problems.append(
                f"phase is {event.phase}, the fold's call {'succeeds' if outcome.ok else 'fails'}"
            )
    if event.parts is not None and outcome.output:
        problems.append(
            f"the call ended after {event.parts} parts, the fold's has an answer: {outcome.output}"
        )
    if event.output is not None and event.output != outcome.output:
        problems.append(f"output differs from the fold's: {event.output} against {outcome.output}")
    if event.acknowledged_to_agent is (event.phase is Phase.UNKNOWN):
        problems.append(f"acknowledged_to_agent is {event.acknowledged_to_agent} at phase {event.phase}")
    if event.replay_of != outcome.replay_of:
        problems.append(f"replay_of is {event.replay_of}, the fold's is {outcome.replay_of}")
    return problems


def _effect_problems(event: WireEffectEvent | WorldEvent, outcome: Outcome) -> list[str]:
    problems = []
    if event.effects != outcome.effects:
        problems.append(f"effects differ from the fold's: {_words(event)} against {_words(outcome)}")
    if event.target != [effect.entity for effect in outcome.effects]:
        problems.append(f"target {event.target} does not name the fold's entities")
    return problems


def _words(holder: WireEffectEvent | WorldEvent | Outcome) -> str:
    return ", ".join(f"{e.id} {e.op} {e.entity} {e.before}->{e.after}" for e in holder.effects) or "none"
