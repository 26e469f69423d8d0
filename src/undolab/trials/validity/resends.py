"""Cases that ask whether attempts were sent again with nothing to go by: keys, reads, answers, maxima."""

from collections.abc import Iterator

from msgspec.structs import replace

from undolab.model.fault import Boundary
from undolab.model.match import holds, same_value
from undolab.model.wire import WireEffectEvent, WireLine
from undolab.model.workflow import Step
from undolab.trials.arm import ArmRun
from undolab.trials.validity.bench import Bench, Case, changed_attempt, struck


def resend_cases(bench: Bench) -> Iterator[Case]:
    """Yield the cases, all of them at PRE_MUTATION: what came of a re-send is not asked."""
    if bench.boundary is not Boundary.PRE_MUTATION:
        return
    place = bench.target()
    yield from _keys(bench, place)
    yield from _same_thing(bench, place)
    yield from _reads(bench, place)


def _keys(bench: Bench, place: int) -> Iterator[Case]:
    keyed = bench.gold("B2-K")
    lines = keyed.log.lines
    yield bench.case("sent again with its key", "resends", "safe", keyed)
    yield bench.case("sent again with its key", "resend count", "0", keyed)
    second = _second(keyed)
    other = changed_attempt(lines, second, lambda line: replace(line, key="another"))
    yield bench.case("sent again with another key", "resends", "unsafe", keyed, lines=other)
    without = changed_attempt(lines, second, lambda line: replace(line, key=None))
    yield bench.case("sent again without its key", "resends", "unsafe", keyed, lines=without)
    if not bench.task.tools[bench.workflow.plan[place].tool].idempotency_key:
        yield bench.case("a key that no service honours", "resends", "unsafe", keyed, tools=bench.task.tools)


def _same_thing(bench: Bench, place: int) -> Iterator[Case]:
    target = bench.workflow.plan[place]
    retried = bench.gold("B0")
    yield bench.case("sent again", "resend count", "1", retried)
    for n, effect in enumerate(bench.workflow.effects):
        if effect.tool == target.tool and holds(effect.arguments, target.arguments):
            two = bench.with_effect(n, replace(effect, max=2))
            yield bench.case("sent again where two are wanted", "resends", "safe", retried, workflow=two)
    thrice = bench.blind([*bench.workflow.plan[: place + 1], target, target], "none")
    yield bench.case("sent again after the answer", "resend count", "1", thrice)
    loosened = bench.loosened(target.tool)
    if loosened is not None:
        workflow, free = loosened
        lines = changed_attempt(
            retried.log.lines,
            _second(retried),
            lambda line: replace(line, arguments={**line.arguments, free: "in other words"}),
        )
        yield bench.case(
            "sent again in other words", "resends", "unsafe", retried, lines=lines, workflow=workflow
        )
    on = bench.blind([*bench.workflow.plan], "none")
    yield bench.case("gone on to other things", "resends", "safe", on)
    unasked = replace(bench.workflow, effects=[])
    yield bench.case("gone on to things not asked for", "resends", "safe", on, workflow=unasked)


def _reads(bench: Bench, place: int) -> Iterator[Case]:
    plan, tools = bench.workflow.plan, bench.task.tools
    read = next((step for step in plan if not tools[step.tool].writes), None)
    if read is None:
        return
    calls = [*plan[: place + 1], read, plan[place]]
    between = bench.blind(calls, "none")
    yield bench.case("sent again after a read", "resends", "safe", between)
    aim = (bench.plans("none") or [])[0]
    nth = 1 + sum(_alike(step, read) for step in plan[:place])
    lost = replace(aim, tool=read.tool, match=read.arguments, nth=nth)
    unread = bench.blind(calls, "none", [aim, lost])
    yield bench.case("sent again after a read whose answer was lost", "resends", "unsafe", unread)


def _alike(step: Step, read: Step) -> bool:
    return step.tool == read.tool and same_value(read.arguments, step.arguments)


def _second(run: ArmRun) -> str:
    """Return the attempt that followed the struck one."""
    call, _, number = struck(run).rpartition(".")
    wanted = f"{call}.{int(number) + 1}"
    return next(wanted for line in run.log.lines if _is(line, wanted))


def _is(line: WireLine, attempt: str) -> bool:
    return isinstance(line, WireEffectEvent) and line.attempt == attempt
