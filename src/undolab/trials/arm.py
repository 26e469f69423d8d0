"""One arm: an agent, a method, a proxy and a fresh world, from the first turn to the report."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from undolab.agents.base import Agent, Exchange, PublicTool, TaskView, ToolCall, Turn
from undolab.faults import FaultProxy
from undolab.model.calls import INTERRUPTED, Call, FinalReport, LedgerRow, Phase, Reply
from undolab.model.canon import canonical, digest
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.play import COMPENSATING, KEYS_EVERYWHERE, tools_in_play
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, ReportEvent, TurnEvent
from undolab.model.workflow import State, Workflow
from undolab.oracle import judge
from undolab.recovery import STANDARD, Method, Retry, make_method
from undolab.wire import LogWriter
from undolab.world import World


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow made ready to run: its tools and digests, worked out once."""

    workflow: Workflow
    tools: Mapping[str, ToolSpec]
    """The tools that the agent may call."""
    catalogue: Mapping[str, ToolSpec]
    view: TaskView
    prompt: str
    examples: str
    workflow_digest: str
    tools_digest: str

    def in_play(self, method: str) -> tuple[Mapping[str, ToolSpec], str]:
        """Return the tools of an arm's world and their digest."""
        if method not in COMPENSATING | KEYS_EVERYWHERE:
            return self.tools, self.tools_digest
        tools = tools_in_play(self.workflow.tools, self.catalogue, method)
        return tools, digest(list(tools.values()))


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
        catalogue=tools,
        view=TaskView(objective=workflow.objective, steps=steps, tools=public, max_turns=workflow.max_turns),
        prompt=prompt,
        examples=examples,
        workflow_digest=digest(workflow),
        tools_digest=digest(list(allowed.values())),
    )


class MakeAgent(Protocol):
    """Makes the agent of an arm."""

    def __call__(self, task: Task, arm: ArmId, resume: int = 0) -> Agent:
        """Return a fresh agent, or one that resumes after its process has died `resume` times."""
        ...


def run_arm(
    task: Task,
    arm: ArmId,
    agent: Agent,
    faults: Sequence[FaultPlan] = (),
    *,
    revive: Callable[[int], Agent] | None = None,
    retry: Retry = STANDARD,
) -> ArmRun:
    """Run one arm in a world of its own and judge it.

    Args:
        task: the workflow made ready.
        arm: its name.
        agent: who acts.
        faults: the arm's schedule.
        revive: makes the agent that goes on after its process has died so many times; without it `agent` does, which must
            then keep nothing between turns.
        retry: budget and back-off of the method.
    """
    workflow, log = task.workflow, LogWriter()
    tools, tools_digest = task.in_play(arm.method)
    log.add(
        ArmStart,
        arm=arm,
        workflow_digest=task.workflow_digest,
        tools_digest=tools_digest,
        world_seed=arm.seed,
        prompt=task.prompt,
        examples=task.examples,
        faults=list(faults),
    )
    world = World(workflow.fixture, tools, seed=arm.seed)
    try:
        proxy = FaultProxy(world, tools, log, faults)
        disk: dict[str, Any] = {}

        def method() -> Method:
            run = f"{arm.model}/{arm.framework}/{arm.seed}"
            return make_method(arm.method, proxy, tools, task=workflow.id, run=run, disk=disk, retry=retry)

        talk = _Conversation(task, log, proxy, agent, revive or (lambda _: agent), method)
        report, reason, turns = talk.run()
        proxy.drain()
        state, ledger = world.snapshot(), world.ledger()
    finally:
        world.close()
    log.add(ReportEvent, report=report, reason=reason, turns=turns, final_state=digest(state))
    verdict = judge(workflow, tools, log.lines, ledger, state)
    return ArmRun(arm=arm, log=log, ledger=ledger, state=state, verdict=verdict)


class _Conversation:
    """An agent's turns, over as many lives of its process as the faults leave it."""

    def __init__(
        self,
        task: Task,
        log: LogWriter,
        proxy: FaultProxy,
        agent: Agent,
        revive: Callable[[int], Agent],
        make_method: Callable[[], Method],
    ) -> None:
        self._task = task
        self._log = log
        self._proxy = proxy
        self._agent = agent
        self._revive = revive
        self._make_method = make_method
        self._method = make_method()
        self._history: list[Exchange] = []
        self._resume = 0

    def run(self) -> tuple[FinalReport, str, int]:
        """Return the report, why the conversation ended, and the number of completions."""
        limit = self._task.view.max_turns
        for count in range(1, limit + 1):
            number = len(self._history) + 1
            turn = self._ask(number)
            if turn.report is not None:
                return turn.report, "finished", count
            if not turn.calls:
                return (
                    FinalReport.NONE,
                    f"agent_failure: {turn.error or 'it neither called nor finished'}",
                    count,
                )
            self._act(turn, number)
        return FinalReport.NONE, "turn_limit", limit

    def _ask(self, number: int) -> Turn:
        view = self._task.view
        turn = _sound(self._agent.act(view, self._history))
        self._log.add(
            TurnEvent,
            turn=number,
            seen=self._agent.seen(view, self._history),
            said=turn.said,
            error=turn.error,
            record=turn.record,
            resume=self._resume,
        )
        return turn

    def _act(self, turn: Turn, number: int) -> None:
        replies: list[Reply] = []
        for position, call in enumerate(turn.calls, start=1):
            replies.append(_reply(self._task, self._method, call, number, position))
            died = self._proxy.death()
            if died is not None:
                self._resume += 1
                self._agent = self._revive(self._resume)
                self._method = self._make_method()
                if died is Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
                    told = msgspec.structs.replace(turn, calls=turn.calls[:position])
                    replies[-1] = Reply(phase=Phase.UNKNOWN, output=INTERRUPTED)
                    self._history.append(Exchange(turn=told, replies=replies))
                return
        self._method.checkpoint()
        self._history.append(Exchange(turn=turn, replies=replies))


def _sound(turn: Turn) -> Turn:
    """Take a turn's calls away if their arguments are no JSON that a wire can carry: the agent's failure."""
    try:
        canonical(turn.calls)
    except (ValueError, RecursionError) as error:
        return msgspec.structs.replace(
            turn, calls=[], error=f"the arguments have no canonical JSON form: {error}"
        )
    return turn


def _reply(task: Task, method: Method, wanted: ToolCall, turn: int, position: int) -> Reply:
    if wanted.tool not in task.tools:
        output = {"code": "unknown_tool", "message": f"no tool {wanted.tool}"}
        return Reply(phase=Phase.FAIL, output=output)
    return method.call(Call(tool=wanted.tool, arguments=wanted.arguments, turn=turn, position=position))
