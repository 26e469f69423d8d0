"""`undolab models`: a stranger's model by three lines of configuration and one command."""

import importlib.util
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from undolab.cli import main
from undolab.model.errors import UndolabError
from undolab.models.config import find_model_file, load_models
from undolab.models.store import HttpStore, RecordStore

ROOT = Path(__file__).parents[2]
SERVER = ROOT / ".cache/server-venv/bin/python"
SERVED = ROOT / ".models/smollm2-135m-instruct-q4_1.gguf"
DEFAULT = ROOT / ".models/gemma3-270m-q4_k_m.gguf"

pytest.importorskip("openai")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Serve the example on a free port; return the start of a command that knows it."""
    spec = importlib.util.spec_from_file_location("openai_service", ROOT / "examples/openai_service.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = ThreadingHTTPServer(("127.0.0.1", 0), module.Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    text = (ROOT / "examples/models.yaml").read_text().replace(":8123", f":{server.server_port}")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) == 3
    (tmp_path / "models.yaml").write_text("\n".join(lines) + "\n")
    shutil.copytree(ROOT / "data/tools", tmp_path / "data/tools")
    shutil.copytree(ROOT / "data/workflows", tmp_path / "data/workflows")
    monkeypatch.chdir(tmp_path)
    yield ["models", "--models", "models.yaml"]
    server.shutdown()
    thread.join()
    server.server_close()


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_three_lines_and_one_command_run_a_strangers_model(served: list[str], capsys: Any) -> None:
    """The example model passes every control of the smoke suite; its records replay without the service."""
    assert main([*served, "run", "my-model", "--out", "out"]) == 0
    first = said(capsys)
    assert (first["controls"], first["controls_passed"], first["on_test"]) == (3, 3, False)
    assert first["answers_asked"] == first["http_attempts"] > 0
    assert len(HttpStore(Path("out/records.jsonl.zst"))) == first["http_attempts"]
    Path("models.yaml").write_text("my-model:\n  url: http://127.0.0.1:9/v1\n  model: my-model\n")
    assert main([*served, "run", "my-model", "--out", "out"]) == 0
    again = said(capsys)
    assert again == {**first, "answers_asked": 0}
    assert main(["reconstruct", *map(str, Path("out/wire").iterdir()), "--against", "out"]) == 0
    assert "0 problems" in capsys.readouterr().out


def test_a_service_that_dies_loses_nothing(served: list[str], capsys: Any, monkeypatch: Any) -> None:
    """INFRA_ERROR ends the run with a sentence and no verdict; the same command goes on from what is recorded."""
    text = Path("models.yaml").read_text()
    workflow = ["--workflow", "RB-DB-001", "--out", "out"]
    Path("models.yaml").write_text(
        "my-model:\n  url: http://127.0.0.1:9/v1\n  model: my-model\n  attempts: 1\n"
    )
    assert main([*served, "run", "my-model", *workflow]) == 2
    assert "INFRA_ERROR" in capsys.readouterr().err
    assert not list(Path("out").glob("trials/*"))
    Path("models.yaml").write_text(text)
    assert main([*served, "run", "my-model", *workflow]) == 0
    done = said(capsys)
    assert done["http_attempts"] == done["answers_asked"] + 1


def test_test_workflows_need_a_word(served: list[str], capsys: Any) -> None:
    """The frozen split is run on purpose alone, and the result says so."""
    assert main([*served, "run", "my-model", "--workflow", "RB-DB-005"]) == 2
    assert "--test" in capsys.readouterr().err
    assert main([*served, "run", "my-model", "--workflow", "RB-DB-005", "--test"]) == 0
    assert said(capsys)["on_test"] is True
    assert json.loads(Path("build/models/my-model/summary.json").read_text())["on_test"] is True


def test_a_workflow_named_twice_is_run_once(served: list[str], capsys: Any) -> None:
    """No arm is counted twice."""
    assert main([*served, "run", "my-model", *["--workflow", "RB-DB-001"] * 2]) == 0
    assert said(capsys)["controls"] == 1


@pytest.mark.parametrize("action", ["run", "check"])
@pytest.mark.parametrize(
    ("pilot", "words"),
    [
        ("data/records/x/dev.jsonl.zst", "is among the study's records"),
        ("pilot.jsonl", "must end in .jsonl.zst"),
    ],
)
def test_a_pilot_has_a_file_of_its_own(
    served: list[str], capsys: Any, action: str, pilot: str, words: str
) -> None:
    """Pilot records go neither among the study's nor into a file that nothing reads."""
    assert main([*served, action, "my-model", "--pilot", pilot]) == 2
    assert words in capsys.readouterr().err


def test_a_check_prints_what_it_tried(served: list[str], capsys: Any) -> None:
    """The check asks for tools, parallel calls, words, seed and truncation, and keeps the raw answers where told."""
    code = main([*served, "check", "my-model", "--pilot", "pilot.jsonl.zst"])
    found = said(capsys)
    fine = {finding["question"]: finding["fine"] for finding in found["findings"]}
    # The example follows runbooks and cannot read a question.
    assert fine == {
        "tools": False,
        "parallel calls": False,
        "words": True,
        "seed": True,
        "truncation": True,
        "finish reasons": True,
    }
    assert (code, found["http_attempts"], len(HttpStore(Path("pilot.jsonl.zst")))) == (1, 6, 6)
    assert main([*served, "check", "my-model", "--pilot", "pilot.jsonl.zst"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_dry_run_asks_nothing_and_prints_the_cost(served: list[str], capsys: Any) -> None:
    """Calls, tokens and dollars are printed before anything is sent; without a price the dollars are not known."""
    for action in ("check", "run"):
        Path("models.yaml").write_text("my-model:\n  url: http://127.0.0.1:9/v1\n  model: my-model\n")
        assert main([*served, action, "my-model", "--dry-run"]) == 0
        assert said(capsys)["usd_at_most"] is None
        with Path("models.yaml").open("a") as file:
            file.write("  price: {prompt: 1.0, completion: 2.0}\n")
        assert main([*served, action, "my-model", "--dry-run"]) == 0
        plan = said(capsys)
        tokens = plan["prompt_tokens_about"] + 2 * plan["completion_tokens_at_most"]
        assert plan["usd_at_most"] == round(tokens / 1e6, 4)


def test_a_budget_needs_a_price_and_stops(served: list[str], capsys: Any) -> None:
    """A limit in dollars is refused without a price, and stops the run before it is passed."""
    assert main([*served, "run", "my-model", "--max-usd", "1"]) == 2
    assert "price" in capsys.readouterr().err
    with Path("models.yaml").open("a") as file:
        file.write("  price: {prompt: 1.0, completion: 1.0}\n")
    assert main([*served, "run", "my-model", "--max-usd", "0.002"]) == 2
    assert "--max-usd goes on from here" in capsys.readouterr().err


def test_without_the_package_a_replay_works_and_a_question_does_not(
    served: list[str], capsys: Any, monkeypatch: Any
) -> None:
    """Records replay without the openai package; asking says what to install."""
    assert main([*served, "run", "my-model", "--workflow", "RB-DB-001", "--out", "out"]) == 0
    monkeypatch.setitem(sys.modules, "openai", None)
    assert main([*served, "run", "my-model", "--workflow", "RB-DB-001", "--out", "out"]) == 0
    assert main([*served, "check", "my-model"]) == 1
    assert "undolab[study]" in capsys.readouterr().out


def test_the_list_says_what_was_run_here(capsys: Any, monkeypatch: Any) -> None:
    """Models of the published studies are listed, marked as not run here."""
    monkeypatch.chdir(ROOT)
    assert main(["models", "list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "not run here" in lines["llama-3.1-8b"]
    assert "not run here" not in lines["smollm2-135m"] + lines["gemma3-270m"]


def test_three_lines_name_a_gguf_file(tmp_path: Path) -> None:
    """Name, file and digest are enough; a file that is not there or not this one is named before anything is loaded."""
    text = (ROOT / "examples/gguf.yaml").read_text()
    assert len([line for line in text.splitlines() if line and not line.startswith("#")]) == 3
    model = load_models(ROOT / "examples/gguf.yaml")["my-gguf"]
    assert model.digest == load_models(ROOT / "config/models.yaml")["gemma3-270m"].digest
    with pytest.raises(UndolabError, match="the model file of my-gguf is missing"):
        find_model_file(model, tmp_path)
    (tmp_path / model.file).parent.mkdir()
    (tmp_path / model.file).write_bytes(b"GGUF")
    with pytest.raises(UndolabError, match="SHA-256 is"):
        find_model_file(model, tmp_path)


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("llama_cpp") is None or not DEFAULT.is_file(),
    reason="llama.cpp or the model file is not here; `make live` installs them",
)
def test_a_gguf_file_runs_by_three_lines_and_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The example runs in this process; its records replay without the model file."""
    monkeypatch.chdir(ROOT)
    command = ["run", "my-gguf", "--workflow", "RB-STOR-001", "--out", str(tmp_path)]
    assert main(["models", "--models", "examples/gguf.yaml", *command]) == 0
    first = said(capsys)
    assert first["arms"] == 9
    assert len(RecordStore(tmp_path / "records.jsonl.zst")) == first["answers_asked"] > 0
    gone = tmp_path / "gone.yaml"
    gone.write_text((ROOT / "examples/gguf.yaml").read_text().replace(".models/", ".models/none/"))
    assert main(["models", "--models", str(gone), *command]) == 0
    assert {**said(capsys), "served_as": first["served_as"]} == {**first, "answers_asked": 0}


@pytest.fixture
def real() -> Iterator[str]:
    """Serve SmolLM2 by llama-cpp-python's own server, as `make smollm2` does, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = (
        f"--model {SERVED} --model_alias smollm2-135m-instruct --host 127.0.0.1 --port {port} --n_ctx 4096"
    )
    words += " --n_batch 64 --n_threads 1 --n_threads_batch 1 --verbose False"
    command = [str(SERVER), "-m", "llama_cpp.server", *words.split()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 180
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert process.poll() is None, "the server ended"
                    assert time.monotonic() < end, "the server does not listen"
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    not (SERVER.exists() and SERVED.is_file()),
    reason="the model server is not here; `make smollm2` installs it",
)
def test_three_lines_and_one_command_run_a_real_model_behind_a_real_server(
    real: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """By chat with three lines, and by completions under the grammar: all arms have verdicts, and records replay offline."""
    monkeypatch.chdir(ROOT)
    path = tmp_path / "models.yaml"
    path.write_text(f"mine:\n  url: {real}\n  model: smollm2-135m-instruct\n")
    command = [
        "models",
        "--models",
        str(path),
        "run",
        "mine",
        "--workflow",
        "RB-STOR-001",
        "--out",
        str(tmp_path),
    ]
    assert main(command) == 0
    first = said(capsys)
    assert (first["arms"], first["infra_errors"], first["attempts_without_answer"]) == (9, 0, 0)
    path.write_text("mine:\n  url: http://127.0.0.1:9/v1\n  model: smollm2-135m-instruct\n")
    assert main(command) == 0
    assert said(capsys) == {**first, "answers_asked": 0}
    path.write_text((ROOT / "config/models.yaml").read_text().replace("http://127.0.0.1:8135/v1", real))
    assert main(["models", "--models", str(path), "check", "smollm2-135m"]) == 0
    assert said(capsys)["fine"] is True
