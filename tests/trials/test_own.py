"""Agents of one's own: in a process of their own, and whatever goes wrong there ends the trial as the agent's failure."""

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.agents.protocol import TYPES, AgentFailureError, AgentRequest, read_answer
from undolab.cli import main
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary, Exposure
from undolab.model.published import type_schema
from undolab.model.schema import problems
from undolab.model.wire import ArmId, ReportEvent, TurnEvent
from undolab.model.workflow import Split
from undolab.trials.arm import ArmRun, prepare, run_arm
from undolab.trials.own import describe, make_own
from undolab.trials.schedule import schedule
from undolab.wire import read_arms

ROOT = Path(__file__).parents[2]
WORKFLOW = "RB-PAY-002"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def go(workflows: Any, tools: Any, here: None) -> Any:
    """Return a function that runs one arm of a small task with an agent."""

    def run(agent: str, boundary: Boundary = Boundary.NONE, seconds: float = 20.0) -> ArmRun:
        workflow = next(one for one in workflows if one.id == WORKFLOW)
        task = prepare(workflow, tools, prompt="runbook", examples="plain")
        make = make_own(agent, seconds)
        arm = ArmId(
            workflow=WORKFLOW,
            model="own:x",
            framework="own",
            boundary=boundary,
            method="none",
            seed=1,
            arm="fault",
        )
        plans = schedule(workflow, tools, boundary, "none") or ()
        return run_arm(task, arm, make(task, arm), plans, revive=lambda resume: make(task, arm, resume))

    return run


def reason(run: ArmRun) -> str:
    (end,) = [line for line in run.log.lines if isinstance(line, ReportEvent)]
    return end.reason


@pytest.fixture
def server() -> Iterator[str]:
    """Start the HTTP example and return its address."""
    command = [sys.executable, str(ROOT / "examples/http_agent.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().split()[-1]
        yield f"http://127.0.0.1:{port}/"
        process.kill()


def test_the_example_of_a_function_abstains_after_a_lost_answer(go: Any) -> None:
    """It solves the task without a fault; with one it ends with an honest unknown."""
    agent = "examples/careful_agent.py:act"
    assert go(agent).verdict.passed
    assert go(agent, Boundary.POST_MUTATION_PRE_ACK).verdict.report == "unknown"


def test_the_example_behind_http_repeats_after_a_lost_answer(go: Any, server: str) -> None:
    """It solves the task without a fault, and where nothing ran; where the call was committed it makes it twice."""
    assert go(server).verdict.passed
    assert go(server, Boundary.PRE_MUTATION).verdict.passed
    repeated = go(server, Boundary.POST_MUTATION_PRE_ACK)
    assert [line.attempt for line in repeated.log.lines if getattr(line, "phase", "") == "unknown"]
    assert repeated.verdict.report == "done"


BAD = {
    "raise ValueError('no idea')": "it raised ValueError: no idea",
    "import os; os._exit(3)": "its process ended with exit code 3",
    "import time; time.sleep(60)": "it did not answer within 1 s",
    "return {}": "its answer must have either calls or a report",
    "return {'report': 'done', 'calls': [{'tool': 'x', 'arguments': {}}]}": "either calls or a report",
    "return {'report': 'none'}": "its answer is not valid",
    "return {'reprot': 'done'}": "its answer is not valid",
    "return {'calls': [{'tool': 'x', 'arguments': {'a': 2**60}}]}": "no canonical JSON form",
    "return {'report': float('nan')}": "it raised ValueError",
    "return {'report': 'done', 'said': 'x' * 3_000_000}": "longer than",
    "return {'report': 'done', 'said': '\\ud800'}": "its answer is not valid",
    "return [1]": "its answer is not valid",
    "return act(request)": "it raised RecursionError",
    "import undolab.oracle": "an agent cannot import undolab",
    "open(ROOT + '/data/workflows/dev/RB-PAY-002.yaml')": "an agent cannot open",
    "import os; [os.write(n, b'error garbage\\n') for n in (3, 4)]; return {'report': 'done'}": "wrote over its host's answer",
    "import os; [os.write(n, b'what\\n') for n in (3, 4)]; return {'report': 'done'}": "wrote over its host's answer",
    "raise ValueError('\\ud800')": "it raised ValueError: \\ud800",
    "import os; os.fork()": "an agent cannot start programs",
    "import os; os.listdir(ROOT + '/data')": "an agent cannot open",
    "import os; os.symlink(ROOT, HERE + '/link'); open(HERE + '/link/README.md')": "an agent cannot open",
    "open(f'/proc/{__import__(\"os\").getppid()}/environ')": "an agent cannot open",
    "import subprocess; subprocess.run(['cat', ROOT + '/README.md'])": "an agent cannot start programs",
}


@pytest.mark.parametrize("body", BAD)
def test_a_bad_agent_fails_with_its_reason(go: Any, tmp_path: Path, body: str) -> None:
    """Raising, dying, hanging, answering nonsense, and reaching for world, plan or oracle end the trial as its failure."""
    file = tmp_path / "bad.py"
    file.write_text(f"ROOT, HERE = {str(ROOT)!r}, {str(tmp_path)!r}\ndef act(request):\n    {body}\n")
    began = time.monotonic()

    run = go(f"{file}:act", seconds=1.0 if "sleep" in body else 20.0)

    assert reason(run).startswith("agent_failure: ")
    assert BAD[body] in reason(run)
    assert run.verdict.passed is False
    assert time.monotonic() - began < 10


def test_an_agent_may_print_import_its_neighbours_and_read_its_own_folder(go: Any, tmp_path: Path) -> None:
    """What an agent prints is no answer, and its own folder is its own."""
    (tmp_path / "words.py").write_text("REPORT = 'not_done'\n")
    (tmp_path / "note.txt").write_text("x")
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nimport words\n"
        "def act(request):\n    print('hello')\n    Path('note.txt').read_text()\n    return {'report': words.REPORT}\n"
    )
    run = go(f"{tmp_path / 'mine.py'}:act")
    assert (reason(run), run.verdict.report) == ("finished", "not_done")


def test_nothing_of_a_hanging_agent_is_left_behind(go: Any, tmp_path: Path) -> None:
    """After its failure the process is gone."""
    file = tmp_path / "hang.py"
    note = tmp_path / "pid"
    file.write_text(
        f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ndef act(r):\n    time.sleep(60)\n"
    )
    run = go(f"{file}:act", seconds=1.0)
    assert "did not answer" in reason(run)
    assert not Path(f"/proc/{note.read_text()}").exists()


def test_equal_requests_of_a_trial_have_equal_answers(
    go: Any, workflows: Any, tools: Any, tmp_path: Path
) -> None:
    """An agent that never says the same twice is still its own control up to the fault."""
    file = tmp_path / "dice.py"
    file.write_text(
        "import random\nn = 0\ndef act(request):\n"
        "    if len(request['history']) == len(request['steps']):\n        return {'report': 'done'}\n"
        "    step = request['steps'][len(request['history'])]\n"
        "    return {'calls': [{'tool': step['tool'], 'arguments': step['arguments']}], 'said': str(random.random())}\n"
    )
    out = tmp_path / "out"
    command = ["trials", "run", "--agent", f"{file}:act", "--workflow", WORKFLOW, "--out", str(out)]
    assert main(command) == 0
    arms = dict(read_arms(out / "wire" / f"{WORKFLOW}.jsonl.zst"))
    assert len(arms) > 10
    told = json.loads((out / "agent.json").read_text())
    assert (told["model"], told["test"], told["workflows"]) == ("own:dice", False, [WORKFLOW])
    assert {name.split("/")[1] for name in arms} == {"own:dice"}
    assert main(["reconstruct", str(out / "wire" / f"{WORKFLOW}.jsonl.zst"), "--against", str(out)]) == 0


@pytest.mark.parametrize("agent", ["examples/careful_agent.py:act", "http"])
def test_an_agent_that_resumes_after_its_death_sees_what_it_saw(go: Any, server: str, agent: str) -> None:
    """The fault has its witness: the next life is asked the same, with a seed of its own, from the checkpoint."""
    run = go(server if agent == "http" else agent, Boundary.POST_ACK_PRE_CHECKPOINT)
    assert run.verdict.exposure is Exposure.WITNESSED
    turns = [line for line in run.log.lines if isinstance(line, TurnEvent)]
    ((before, after),) = [(a, b) for a, b in pairwise(turns) if b.resume > a.resume]
    assert (before.turn, before.seen) == (after.turn, after.seen)


def test_the_held_out_split_needs_a_word_that_the_results_repeat(workflows: Any, here: None) -> None:
    """TEST is refused without `--test`; with it, the agent's name says so in every line of the results."""
    held_out = [one for one in workflows if one.split is Split.TEST][:1]
    agent = "examples/careful_agent.py:act"
    with pytest.raises(UndolabError, match="held-out TEST split"):
        describe(agent, held_out, test=False, seconds=9)
    run = describe(agent, held_out, test=True, seconds=9)
    assert (run.model, run.test) == ("own:careful_agent+test", True)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("nobody", "no agent 'nobody'"),
        ("examples/none.py:act", "is not here"),
        ("examples/careful_agent.py:none", "it cannot be loaded: AttributeError"),
        ("http://:80/", "is not an agent's address"),
        ("http://127.0.0.1:99999/", "is not an agent's address"),
        ("http://127.0.0.1:1/ä", "is not an agent's address"),
        ("http://ä..b/", "is not an agent's address"),
        ("http://[::1", "is not an agent's address"),
        ("http://name:secret@127.0.0.1:1/", "is not an agent's address"),
    ],
)
def test_an_agent_that_is_not_there_is_named_before_anything_runs(agent: str, words: str, here: None) -> None:
    """A mistyped agent is the person's error, not a failed trial."""
    with pytest.raises(UndolabError, match=re.escape(words)):
        describe(agent, [], test=False, seconds=9)


@contextmanager
def _serve(handle: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handle)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Bad(BaseHTTPRequestHandler):
    kind = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.kind == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            for _ in range(20):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return
                time.sleep(0.1)
            return
        if self.kind == "endless":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for _ in range(40):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return
                time.sleep(0.1)
            return
        if self.kind == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(int(self.kind))
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("drip", "it did not answer within 1 s"),
        ("endless", "it did not answer within 1 s"),
        ("cut", "its server cut the answer; 99 bytes of it are missing"),
        ("500", "its server answered 500"),
        ("302", "its server answered 302"),
        ("200", "its answer is not valid"),
    ],
)
def test_a_bad_server_is_the_agents_failure(go: Any, kind: str, words: str) -> None:
    """A server that drips, cuts, refuses, redirects or says nothing ends the trial with the reason."""
    with _serve(type("Bad", (_Bad,), {"kind": kind})) as address:
        began = time.monotonic()
        assert words in reason(go(address, seconds=1.0))
        assert time.monotonic() - began < 3


def test_a_server_that_is_not_there_is_the_agents_failure(go: Any) -> None:
    """A refused connection is named."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "its server failed: ConnectionRefusedError" in reason(go(f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize("name", TYPES)
def test_the_protocol_is_published_as_it_is(name: str) -> None:
    """The schemas under docs/reference are made from the types."""
    assert (ROOT / "docs/reference/schemas" / f"{name}.schema.json").read_text() == type_schema(TYPES[name])


def test_a_request_fits_its_schema_and_tells_nothing_that_is_hidden(
    go: Any, tmp_path: Path, workflows: Any
) -> None:
    """What an agent is sent is what the schema says; neither the task's id nor fault, goal or fixture is in it."""
    file = tmp_path / "keep.py"
    file.write_text(
        "import json\ndef act(r):\n    json.dump(r, open('kept.json', 'w'))\n    return {'report': 'done'}\n"
    )
    go(f"{file}:act", Boundary.PRE_MUTATION)
    kept = (tmp_path / "kept.json").read_text()
    assert problems(msgspec.json.schema(AgentRequest), json.loads(kept)) == []
    assert WORKFLOW not in kept
    assert "PRE_MUTATION" not in kept
    assert set(json.loads(kept)) == set(AgentRequest.__struct_fields__)


def test_a_deep_answer_is_refused() -> None:
    """JSON nested beyond reason is no crash."""
    with pytest.raises(AgentFailureError):
        read_answer(b'{"calls":[{"tool":"x","arguments":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}]}")
