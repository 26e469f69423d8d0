"""`undolab models`: a stranger's model by three lines of configuration and one command."""

import importlib.util
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from undolab.cli import main
from undolab.models.store import HttpStore

ROOT = Path(__file__).parents[2]

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
