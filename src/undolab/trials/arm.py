"""One arm: an agent, a method, a proxy and a fresh world, from the first turn to the report."""

from collections.abc import Mapping, Sequence

import msgspec

from undolab.agents.base import Agent, Exchange, PublicTool, TaskView, ToolCall, Turn
from undolab.faults import FaultProxy
from undolab.model.calls import Call, FinalReport, LedgerRow, Phase, Reply
from undolab.model.canon import canonical, digest
from undolab.model.fault import FaultPlan
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, ReportEvent, TurnEvent
from undolab.model.workflow import State, Workflow
from undolab.oracle import judge
from undolab.recovery import Method, make_method
from undolab.wire import LogWriter
from undolab.world import World


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow made ready to run: its tools and digests, worked out once."""

    workflow: Workflow
    tools: Mapping[str, ToolSpec]
    view: TaskView
    prompt: str
    examples: str
    workflow_digest: str
    tools_digest: str


class ArmRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one arm left behind."""

    arm: ArmId
    log: LogWriter
    ledger: list[LedgerRow]
    state: State
    verdict: Verdict


def prepare(workflow: Workflow, tools: Mapping[str, ToolSpec], *, prompt: str, examples: str) -> Task:
    """Make a workflow ready: `tools` is the whole catalogue, the task keeps the allowed ones."""
    allowed = {name: tools[name] for name in workflow.tools}
    public = [
        PublicTool(name=t.name, description=t.description, parameters=t.parameters, reads=not t.writes)
        for t in allowed.values()
    ]
    steps = workflow.plan if prompt != "objective" else []
    return Task(
        workflow=workflow,
        tools=allowed,
        view=TaskView(objective=workflow.objective, steps=steps, tools=public, max_turns=workflow.max_turns),
        prompt=prompt,
        examples=examples,
        workflow_digest=digest(workflow),
        tools_digest=digest(list(allowed.values())),
    )


def run_arm(task: Task, arm: ArmId, agent: Agent, faults: Sequence[FaultPlan] = ()) -> ArmRun:
    """Run one arm in a world of its own and judge it."""
    workflow, log = task.workflow, LogWriter()
    log.add(
        ArmStart,
        arm=arm,
        workflow_digest=task.workflow_digest,
        tools_digest=task.tools_digest,
        world_seed=arm.seed,
        prompt=task.prompt,
        examples=task.examples,
        faults=list(faults),
    )
    world = World(workflow.fixture, task.tools, seed=arm.seed)
    try:
        proxy = FaultProxy(world, task.tools, log, faults)
        run = f"{arm.model}/{arm.framework}/{arm.seed}"
        method = make_method(arm.method, proxy, task.tools, task=workflow.id, run=run)
        report, reason, turns = _converse(task, agent, method, log)
        state, ledger = world.snapshot(), world.ledger()
    finally:
        world.close()
    log.add(ReportEvent, report=report, reason=reason, turns=turns, final_state=digest(state))
    verdict = judge(workflow, task.tools, log.lines, ledger, state)
    return ArmRun(arm=arm, log=log, ledger=ledger, state=state, verdict=verdict)


def _converse(task: Task, agent: Agent, method: Method, log: LogWriter) -> tuple[FinalReport, str, int]:
    history: list[Exchange] = []
    for number in range(1, task.view.max_turns + 1):
        turn = _sound(agent.act(task.view, history))
        log.add(
            TurnEvent,
            turn=number,
            seen=agent.seen(task.view, history),
            said=turn.said,
            error=turn.error,
            record=turn.record,
        )
        if turn.report is not None:
            return turn.report, "finished", number
        if not turn.calls:
            return (
                FinalReport.NONE,
                f"agent_failure: {turn.error or 'it neither called nor finished'}",
                number,
            )
        history.append(Exchange(turn=turn, replies=_replies(task, method, turn, number)))
    return FinalReport.NONE, "turn_limit", task.view.max_turns


def _sound(turn: Turn) -> Turn:
    """Take a turn's calls away if their arguments are no JSON that a wire can carry: the agent's failure."""
    try:
        canonical(turn.calls)
    except ValueError as error:
        return msgspec.structs.replace(
            turn, calls=[], error=f"the arguments have no canonical JSON form: {error}"
        )
    return turn


def _replies(task: Task, method: Method, turn: Turn, number: int) -> list[Reply]:
    return [_reply(task, method, call, number, position) for position, call in enumerate(turn.calls, start=1)]


def _reply(task: Task, method: Method, wanted: ToolCall, turn: int, position: int) -> Reply:
    if wanted.tool not in task.tools:
        output = {"code": "unknown_tool", "message": f"no tool {wanted.tool}"}
        return Reply(phase=Phase.FAIL, output=output)
    return method.call(Call(tool=wanted.tool, arguments=wanted.arguments, turn=turn, position=position))
