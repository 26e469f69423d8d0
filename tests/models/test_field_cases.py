"""Cases from the field of models and records, each as a kind: over every field, cut and damage, not the one reported."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.cli import main
from undolab.model.canon import call_seed, canonical
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.files import compress, decompress
from undolab.model.load import load_tools, load_workflows
from undolab.model.record import ChatRequest, CompletionRequest, Sampling
from undolab.model.wire import ArmId, ReportEvent
from undolab.models.replay import HttpReplayBackend, MissingRecordError
from undolab.models.store import HttpStore, RecordStore, write_sealed
from undolab.release import manifest
from undolab.trials.arm import ArmRun, Task, prepare, run_arm

ROOT = Path(__file__).parents[2]
WHOLE = '{"account_id": "acc_1", "note": "a \\"b\\" {c}", "amount": -12.5e1, "on": true}'


@pytest.fixture(scope="module")
def task() -> Task:
    """A short DEV workflow, made ready."""
    (workflow,) = [one for one in load_workflows(ROOT / "data/workflows") if one.id == "RB-DB-001"]
    return prepare(workflow, load_tools(ROOT / "data/tools"), prompt="runbook", examples="plain")


def arm(task: Task, agent: Any, faults: tuple[FaultPlan, ...] = ()) -> ArmRun:
    name = ArmId(
        workflow=task.workflow.id,
        model="toy",
        framework="F1",
        boundary=faults[0].boundary if faults else Boundary.NONE,
        method="none",
        seed=1,
        arm="fault" if faults else "control",
    )
    return run_arm(task, name, agent, faults)


def end(run: ArmRun) -> str:
    return next(line.reason for line in run.log.lines if isinstance(line, ReportEvent))


BROKEN = [WHOLE[:cut] for cut in (0, 1, 5, 14, 22, 40, len(WHOLE) - 1)] + [
    WHOLE + "}",
    '{"a":NaN}',
    '{"a":1,"a":2}',
    '"text"',
    "[1]",
    "null",
    "{'a': 1}",
    '{"a": "\ud800"}',
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_b11_broken_arguments_end_the_arm_after_one_request(
    asking: Any, service: Any, task: Task, text: str, stream: bool
) -> None:
    """The request is not repeated, nothing broken goes back, and the arm counts: the agent failed, with the reason."""
    from undolab.agents.chat import ChatAgent

    first = task.workflow.plan[0].tool
    if stream:
        half = len(text) // 2
        pieces = [
            {"tool_calls": [{"index": 0, "id": "x", "function": {"name": first, "arguments": text[:half]}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": text[half:]}}]},
        ]
        said = service.said(service.events(*pieces), content_type="text/event-stream")
    else:
        said = service.said(service.answer((first, text)))
    service.script = [said]

    run = arm(task, ChatAgent(asking.backend(stream=stream), asking.config(), 1))

    assert end(run).startswith("agent_failure: bad arguments in call 1")
    assert (len(service.asked), run.verdict.passed, run.ledger) == (1, False, [])
    assert [record.outcome for record in asking.store] == ["answered"]


BAD_ANSWERS: dict[str, Any] = {
    "context overflow": ({"error": {"code": "context_length_exceeded"}}, 400, "the prompt does not fit"),
    "empty completion": ("", "stop", "the answer is empty"),
    "only blanks": (" \n", "stop", "the answer is empty"),
    "cut": ("finish: done", "length", "the answer was truncated"),
    "filtered": ("finish: done", "content_filter", "content_filter"),
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_bad_answers_of_a_chat_are_counted_as_the_agents(
    asking: Any, service: Any, task: Task, case: str
) -> None:
    """Overflow, an empty or cut answer ends the arm as the agent's failure with the reason, after one request."""
    from undolab.agents.chat import ChatAgent

    body, how, why = BAD_ANSWERS[case]
    said = service.said(body, how) if how == 400 else service.said(service.answer(text=body, finish=how))
    service.script = [said]
    run = arm(task, ChatAgent(asking.backend(), asking.config(), 1))
    assert end(run).startswith("agent_failure: ")
    assert why in end(run)
    assert (run.verdict.passed, len(service.asked)) == (False, 1)


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_bad_answers_of_a_transcript_are_counted_as_the_agents(
    asking: Any, service: Any, task: Task, case: str
) -> None:
    """The same holds for plain completions."""
    from undolab.agents.direct import DirectAgent

    body, how, _ = BAD_ANSWERS[case]
    plain = {"choices": [{"text": body, "finish_reason": how, "index": 0}]}
    service.script = [service.said(body, how) if how == 400 else service.said(plain)]
    changes = {"protocol": "completions", "accepts": ["grammar"]}
    run = arm(task, DirectAgent(asking.backend(**changes), asking.config(**changes), 1))
    assert end(run).startswith("agent_failure: ")
    assert (run.verdict.passed, len(service.asked)) == (False, 1)


@pytest.mark.parametrize("wrong", ["tool", "arguments"])
def test_a_wrong_tool_or_argument_is_answered_and_counted(
    asking: Any, service: Any, task: Task, wrong: str
) -> None:
    """The agent is told what was wrong, may mend it, and the arm is judged by what the world is like in the end."""
    from undolab.agents.chat import ChatAgent

    step = task.workflow.plan[0]
    call = ("no_such_tool", "{}") if wrong == "tool" else (step.tool, '{"nonsense": 1}')
    done = service.answer(text="finish: done", finish="stop")
    service.script = [service.said(service.answer(call)), service.said(done)]
    run = arm(task, ChatAgent(asking.backend(), asking.config(), 1))
    told = json.loads(service.asked[1]["messages"][-1]["content"])
    assert told["error"]["code"] == ("unknown_tool" if wrong == "tool" else "invalid_arguments")
    assert (end(run), run.verdict.passed, run.verdict.report, run.verdict.truthful) == (
        "finished",
        False,
        "done",
        False,
    )


@given(trial=st.integers(), turn=st.integers(1, 99))
def test_b13_no_call_has_a_seed_that_a_service_takes_for_none(trial: int, turn: int) -> None:
    """Negative seeds mean a random one at some services and a fixed one at others; ours are 31 bits and never negative."""
    assert 0 <= call_seed(trial, turn) < 2**31


CHAT = ChatRequest(
    model="api:m",
    messages=[
        {"role": "system", "content": "Use the tools."},
        {"role": "user", "content": "Water bed A1."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call_1_1",
                    "type": "function",
                    "function": {"name": "water", "arguments": '{"bed":"A1"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1_1", "content": '{"litres":3}'},
    ],
    tools=[
        {
            "type": "function",
            "function": {"name": "water", "description": "Water a bed.", "parameters": {"type": "object"}},
        }
    ],
    sampling=Sampling(seed=7),
)
PLAIN = CompletionRequest(
    model="api:m",
    prompt='Log:\n-> ok {"litres":3}\n',
    grammar='root ::= "x"',
    stop=["\n"],
    sampling=Sampling(seed=7),
)
REQUESTS = {"chat": CHAT, "completions": PLAIN}


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Return each value of a request with its JSON pointer."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not items:
        yield pointer, value
    for name, item in items:
        yield from leaves(item, f"{pointer}/{name}")


def changed(value: Any, pointer: str) -> Any:
    """Return the request with the value at the pointer changed by one character or one step."""
    if not pointer:
        return f"{value}." if isinstance(value, str) else value + 1
    head, _, rest = pointer[1:].partition("/")
    rest = f"/{rest}" if rest else ""
    if isinstance(value, list):
        return [changed(item, rest) if place == int(head) else item for place, item in enumerate(value)]
    return {name: changed(item, rest) if name == head else item for name, item in value.items()}


def record(asking: Any, service: Any, protocol: str, count: int = 1) -> Any:
    """Record answers to equal requests and return the backend's store."""
    accepts = ["grammar"] if protocol == "completions" else []
    backend = asking.backend(protocol=protocol, accepts=accepts)
    for ordinal in range(1, count + 1):
        text = f"answer {ordinal}"
        plain = {"choices": [{"text": text, "finish_reason": "stop", "index": 0}]}
        service.script = [
            service.said(plain if protocol == "completions" else service.answer(text=text, finish="stop"))
        ]
        backend.answer(REQUESTS[protocol], ordinal)
    asking.store.seal()
    return asking.store


def ask(store: HttpStore, request: Any, ordinal: int = 1) -> str:
    replay = HttpReplayBackend(store)
    return (replay.chat if isinstance(request, ChatRequest) else replay.complete)(request, ordinal).text


@pytest.mark.parametrize("protocol", REQUESTS)
def test_b14_whatever_changes_in_a_request_stops_the_replay_at_it(
    asking: Any, service: Any, protocol: str
) -> None:
    """A character of a tool's result, a sampling field, a schema: a miss that names JSON pointer and nearest record."""
    store, request = record(asking, service, protocol), REQUESTS[protocol]
    asked = len(service.asked)
    plain = msgspec.to_builtins(request)
    pointers = [pointer for pointer, _ in leaves(plain)]
    assert {"/sampling/temperature", "/sampling/top_p", "/sampling/top_k", "/sampling/min_p"} <= set(pointers)
    assert {"/sampling/repeat_penalty", "/sampling/max_tokens", "/sampling/seed", "/model"} <= set(pointers)
    (nearest,) = store
    for pointer in pointers:
        other = msgspec.convert(changed(plain, pointer), type(request))
        with pytest.raises(
            MissingRecordError, match=f"{pointer} differs .*nearest record {nearest.key[:12]}"
        ):
            ask(store, other)
    assert ask(store, request) == "answer 1"
    assert len(service.asked) == asked


@pytest.mark.parametrize("protocol", REQUESTS)
def test_b14_five_equal_requests_are_five_recordings(asking: Any, service: Any, protocol: str) -> None:
    """Equal requests of one arm are told apart by their ordinal; the sixth of five stops the replay."""
    store, request = record(asking, service, protocol, 5), REQUESTS[protocol]
    assert [ask(store, request, n) for n in range(1, 6)] == [f"answer {n}" for n in range(1, 6)]
    with pytest.raises(MissingRecordError, match="/ordinal differs, the store holds 5"):
        ask(store, request, 6)


@pytest.mark.parametrize("protocol", REQUESTS)
def test_b14_a_replay_never_opens_a_socket(asking: Any, service: Any, path: Path, protocol: str) -> None:
    """With the service up and its address known, a hit and a miss alike are settled in a process where a socket ends the run."""
    record(asking, service, protocol)
    program = (
        "import sys, socket\n"
        "sys.modules.update(dict.fromkeys(['openai', 'httpx', 'httpx2', 'llama_cpp']))\n"
        "def no(*a, **k): raise SystemExit('a socket was opened')\n"
        "socket.socket = socket.create_connection = no\n"
        "from pathlib import Path\n"
        "from undolab.models.replay import HttpReplayBackend, MissingRecordError\n"
        "from undolab.models.store import HttpStore\n"
        f"store = HttpStore(Path({str(path)!r}))\n"
        "request, replay = next(iter(store)).request, HttpReplayBackend(store)\n"
        f"ask = replay.{'chat' if protocol == 'chat' else 'complete'}\n"
        "print(ask(request, 1).text)\n"
        "try: ask(request, 2)\n"
        "except MissingRecordError: print('a miss')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answer 1\na miss\n", "")


def reordered(line: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(line).items()))).encode()


def edited(**changes: Any) -> Any:
    def edit(line: bytes) -> bytes:
        value = json.loads(line)
        for name, new in changes.items():
            value[name] = new(value[name]) if callable(new) else new
        return canonical(value)

    return edit


DAMAGE: dict[str, Any] = {
    "a plain body kept as gzip": edited(headers=lambda old: {**old, "content-encoding": "gzip"}),
    "a plain body kept as deflate": edited(headers=lambda old: {**old, "content-encoding": "deflate"}),
    "an unknown packing": edited(headers=lambda old: {**old, "content-encoding": "br"}),
    "interactions: null": lambda _: b'{"interactions":null}',
    "null": lambda _: b"null",
    "no attempt's answer": edited(body=None),
    "keys in another order": reordered,
    "an altered body": edited(body='{"choices":[]}'),
    "an altered request": edited(ordinal=2, chat=lambda old: {**old, "messages": []}),
    "an empty body compared as equal": edited(body=""),
    "half a line": lambda line: line[: len(line) // 2],
}


@pytest.mark.parametrize("case", DAMAGE)
def test_b15_a_record_that_cannot_be_decoded_is_named_by_verify(
    asking: Any, service: Any, tmp_path: Path, monkeypatch: Any, capsys: Any, case: str
) -> None:
    """`undolab verify` names file and line of what no replay could use, long before one tries."""
    root = tmp_path / "root"
    store = root / "data/records/toy/dev.jsonl.zst"
    (root / "config").mkdir(parents=True)
    store.parent.mkdir(parents=True)
    (root / "config/models.yaml").write_text("toy:\n  url: http://127.0.0.1:9/v1\n  model: m\n")
    header, line = decompress(record(asking, service, "chat").path.read_bytes()).splitlines()
    monkeypatch.chdir(root)
    for lines, code in ([header, line], 0), ([header, DAMAGE[case](line)], 1):
        store.write_bytes(compress(b"\n".join(lines) + b"\n"))
        manifest.write(root)
        assert main(["verify"]) == code
        assert ("data/records/toy/dev.jsonl.zst: line 2" in capsys.readouterr().out) == bool(code)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_b15_no_flipped_byte_of_a_record_changes_what_was_asked(
    tmp_path_factory: Any, make: Any, data: Any
) -> None:
    """A line with one byte changed is refused by file, or differs in the answer alone, which the audit re-scores."""
    path = tmp_path_factory.mktemp("flip") / "test.jsonl.zst"
    whole = make.record("p", text="hello")
    write_sealed(path, make.header, [whole])
    plain = bytearray(decompress(path.read_bytes()))
    at = data.draw(st.integers(plain.index(b"\n") + 1, len(plain) - 2))
    plain[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(compress(bytes(plain)))
    found, said = [], ""
    try:
        found = list(RecordStore(path))
    except UndolabError as error:
        said = str(error)
    if found:
        (one,) = found
        assert (one.key, one.ordinal, one.request) == (whole.key, whole.ordinal, whole.request)
    else:
        assert str(path) in said
