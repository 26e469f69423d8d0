"""`undolab trials run --live`: what is spent, where it is kept, and what becomes of arms whose service does not answer."""

import importlib.util
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from undolab.cli import main
from undolab.model.files import decompress
from undolab.models.store import HttpStore

ROOT = Path(__file__).parents[2]
RUN = ["trials", "run", "--workflow", "RB-DB-001"]
STORE = Path("data/records/toy/dev.jsonl.zst")
SMALL = {
    "split": "dev",
    "models": ["toy"],
    "frameworks": ["F1"],
    "boundaries": ["PRE_MUTATION", "POST_MUTATION_PRE_ACK"],
    "methods": ["none", "B0"],
    "seeds": [1],
}

pytest.importorskip("openai")


class Mood:
    """What the service does: `breaks` says of a request whether it is answered by a 503."""

    def __init__(self) -> None:
        self.breaks: Callable[[dict[str, Any]], bool] = lambda _: False
        self.asked = 0


def after_the_error(request: dict[str, Any]) -> bool:
    """Say whether the model has been told of a lost answer: no control arm has."""
    return any('"error"' in (message.get("content") or "") for message in request["messages"])


@pytest.fixture
def mood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mood]:
    """Serve the example as the one model of a small study, in a folder of its own."""
    spec = importlib.util.spec_from_file_location("openai_service", ROOT / "examples/openai_service.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    said, found = module.answer, Mood()

    class Handler(module.Handler):
        def send_response(self, code: int, message: str | None = None) -> None:
            super().send_response(503 if self.broken else code, message)

        broken = False

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found.asked += 1
        Handler.broken = found.breaks(request)
        return {"error": "overloaded"} if Handler.broken else said(request)

    monkeypatch.setattr(module, "answer", answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    shutil.copytree(ROOT / "config", tmp_path / "config")
    for name in ("data/tools/database.yaml", "data/workflows/dev/RB-DB-001.yaml"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    config = yaml.safe_load(Path("config/config.yaml").read_text())
    del config["side_studies"]
    config["study"] |= SMALL
    Path("config/config.yaml").write_text(yaml.safe_dump(config))
    toy = {"url": f"http://127.0.0.1:{server.server_port}/v1", "model": "toy", "attempts": 1}
    Path("config/models.yaml").write_text(yaml.safe_dump({"toy": toy, "other": {**toy, "model": "other"}}))
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def study(**changes: Any) -> None:
    config = yaml.safe_load(Path("config/config.yaml").read_text())
    config["study"] |= changes
    Path("config/config.yaml").write_text(yaml.safe_dump(config))


def price(prompt: float, completion: float) -> None:
    models = yaml.safe_load(Path("config/models.yaml").read_text())
    for model in models.values():
        model["price"] = {"prompt": prompt, "completion": completion}
    Path("config/models.yaml").write_text(yaml.safe_dump(models))


@pytest.mark.parametrize("framework", ["F1", "F2"])
def test_an_arm_without_an_answer_is_counted_never_scored_and_run_again(
    mood: Mood, capsys: Any, framework: str
) -> None:
    """Rate limits and errors of the service are INFRA_ERROR: other arms go on, a replay refuses, the next run mends it.

    A field case B19.
    """
    study(frameworks=[framework], seeds=[1, 2])
    mood.breaks = after_the_error
    assert main([*RUN, "--live"]) == 1
    told = capsys.readouterr()
    assert "4 arms are INFRA_ERROR" in told.out
    assert "status 503" in told.err

    assert main(["trials", "status"]) == 1
    status = capsys.readouterr().out
    assert "4 of the missing are INFRA_ERROR" in status
    failed = [attempt for attempt in HttpStore(STORE) if attempt.outcome == "failed"]
    assert f"{len(HttpStore(STORE))} HTTP attempts, {len(failed)} of them without an answer." in status
    assert len(failed) == 4  # each arm asked once more: none was taken for an answer

    assert main(RUN) == 2
    assert "INFRA_ERROR" in capsys.readouterr().err
    assert not list(Path("build").glob("trials/*"))

    mood.breaks = lambda _: False
    assert main([*RUN, "--live"]) == 0
    assert "none is missing" in capsys.readouterr().out
    assert main(RUN) == 0
    arms = [
        json.loads(line)
        for line in decompress(Path("build/trials/RB-DB-001.jsonl.zst").read_bytes()).splitlines()
    ]
    assert len(arms) == 2 * (1 + 1 + 4)
    assert len([a for a in HttpStore(STORE) if a.outcome == "failed"]) == len(failed)


def test_a_control_without_an_answer_takes_its_trial_along(mood: Mood, capsys: Any) -> None:
    """Every arm of a trial starts with the calls of its control, so none of them is asked for in vain; other trials go on."""
    from undolab.model.canon import call_seed

    study(seeds=[1, 2])
    mood.breaks = lambda request: request["seed"] == call_seed(2, 1)
    assert main([*RUN, "--live"]) == 1
    assert "6 arms are INFRA_ERROR" in capsys.readouterr().out
    assert [attempt.outcome for attempt in HttpStore(STORE)].count("failed") == 1


def test_a_service_that_is_gone_stops_the_run(mood: Mood, capsys: Any) -> None:
    """Three trials in a row without one answer are enough; nothing is sealed, and the attempts stay in the journal."""
    study(seeds=[1, 2, 3, 4])
    mood.breaks = lambda _: True
    assert main([*RUN, "--live"]) == 2
    assert "3 trials one after the other" in capsys.readouterr().err
    assert mood.asked == 3
    assert not STORE.exists()
    assert len(HttpStore(STORE)) == 3


def test_a_run_stops_before_it_would_spend_too_much(mood: Mood, capsys: Any) -> None:
    """The limit needs a price, is never passed, and a higher one goes on from there without asking anything twice."""
    assert main([*RUN, "--live", "--max-usd", "1"]) == 2
    assert "price" in capsys.readouterr().err
    price(1.0, 1.0)
    assert main([*RUN, "--live", "--max-usd", "0.0016"]) == 2
    assert "--max-usd goes on from here" in capsys.readouterr().err
    first = mood.asked
    assert 0 < first * 104 / 1e6 <= 0.0016  # the example says of each answer that it took 104 tokens
    assert main([*RUN, "--live", "--max-usd", "1"]) == 0
    out = capsys.readouterr().out
    assert f"for {(mood.asked - first) * 104 / 1e6:.4f} US dollars" in out
    assert len(HttpStore(STORE)) == mood.asked


def test_a_pilot_is_kept_apart(mood: Mood, capsys: Any) -> None:
    """A pilot records into its own file, of one model, in the study or not; the study's records stay empty."""
    for wrong, words in (
        (["--pilot", "data/records/toy/pilot.jsonl.zst"], "among the study's records"),
        (["--pilot", "pilot.txt"], "must end in .jsonl.zst"),
        (["--pilot", "p.jsonl.zst", "--model", "toy", "--model", "other"], "one model"),
        (["--model", "other"], "no model of the study"),
    ):
        assert main([*RUN, "--live", *wrong]) == 2
        assert words in capsys.readouterr().err
    pilot = ["--pilot", "pilots/other.jsonl.zst", "--model", "other"]
    assert main([*RUN, "--live", *pilot]) == 0
    assert len(HttpStore(Path("pilots/other.jsonl.zst"))) == mood.asked > 0
    assert not Path("data/records").exists()
    capsys.readouterr()
    assert main([*RUN, "--dry-run", *pilot]) == 0
    assert "No model call is needed." in capsys.readouterr().out


def test_a_dry_run_prints_calls_tokens_and_dollars(mood: Mood, capsys: Any) -> None:
    """Nothing is asked; what is missing is told with its cost where there is a price."""
    assert main([*RUN, "--dry-run"]) == 0
    assert "dollars" not in capsys.readouterr().out
    price(1.0, 0.0)
    assert main([*RUN, "--dry-run"]) == 0
    out = capsys.readouterr().out
    tokens = int(out.split(" prompt tokens")[0].rpartition(" ")[2])
    assert f"{tokens / 1e6:.4f} US dollars" in out
    assert mood.asked == 0


def test_what_asks_no_model_takes_no_word_about_asking(mood: Mood, capsys: Any) -> None:
    """A limit, a pilot or a model named for a replay or an agent of one's own is a mistake, and said to be one."""
    for more in (["--max-usd", "1"], ["--pilot", "p.jsonl.zst"], ["--model", "toy"]):
        assert main([*RUN, *more]) == 2
        assert main([*RUN, *more, "--agent", "x.py:act"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_strangers_run_counts_what_it_could_not_score(mood: Mood, capsys: Any) -> None:
    """The summary tells verdicts from INFRA_ERROR, and the exit code is 1 until the service has answered everything."""
    command = ["models", "run", "toy", "--workflow", "RB-DB-001", "--out", "out"]
    mood.breaks = after_the_error
    assert main(command) == 1
    first = json.loads(capsys.readouterr().out)
    assert (first["arms"], first["infra_errors"], first["attempts_without_answer"]) == (7, 2, 2)
    assert (first["controls_passed"], first["faults"]) == (1, 4)
    mood.breaks = lambda _: False
    assert main(command) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["arms"], again["infra_errors"], again["attempts_without_answer"]) == (9, 0, 2)


SCHEMAS: dict[str, tuple[str, dict[str, Any]]] = {
    "too long": ("note", {"type": "string", "maxLength": 20000}),
    "a class in a pattern": ("note", {"type": "string", "pattern": "\\d+"}),
    "a pattern within a list": ("note", {"type": "array", "items": {"type": "string", "pattern": "\\d"}}),
    "a list of numbers": ("note", {"type": "array", "items": {"type": "number"}}),
    "two types": ("note", {"type": ["string", "null"]}),
    "a choice": ("note", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "an escape in a name": ("no\bte", {"type": "string"}),
    "a blank in a name": ("no te", {"type": "string"}),
    "a reference": ("note", {"$ref": "#/$defs/x"}),
}


@pytest.mark.parametrize(
    "command",
    [
        ["trials", "run", "--live"],
        ["trials", "run", "--live", "--model", "local"],
        ["trials", "run"],
        ["trials", "run", "--dry-run"],
        ["trials", "status"],
        ["models", "run", "toy"],
        ["models", "run", "toy", "--dry-run"],
        ["workflows", "lint"],
    ],
    ids=" ".join,
)
def test_b12_a_schema_that_no_grammar_takes_is_refused_before_anything_is_asked(
    mood: Mood, capsys: Any, command: list[str]
) -> None:
    """Whatever the command, tool and property are named, no model is loaded and no service is asked.

    A field case B12.
    """
    models = yaml.safe_load(Path("config/models.yaml").read_text())
    engine = {"context": 512, "batch": 64, "threads": 1}
    models["local"] = {
        "file": "none.gguf",
        "digest": "0" * 64,
        "engine": engine,
        "sampling": {},
        "prompt": {},
    }
    Path("config/models.yaml").write_text(yaml.safe_dump(models))
    study(models=["toy", "local"])
    path = Path("data/tools/database.yaml")
    whole = path.read_text()
    if command[0] == "models":
        command = [*command, "--workflow", "RB-DB-001"]
    every = list(SCHEMAS.values())
    for name, schema in every if command == ["trials", "run", "--live"] else every[:2]:
        tools = yaml.safe_load(whole)
        tools["allocate_dividend"]["parameters"]["properties"][name] = schema
        path.write_text(yaml.safe_dump(tools))
        assert main(command) in (1, 2)
        told = capsys.readouterr()
        said = told.out + told.err
        assert "allocate_dividend" in said
        assert name.replace("\b", "") in said.replace("\b", "")
        assert "none.gguf" not in said
    assert mood.asked == 0


def test_b12_more_arguments_than_a_grammar_takes_are_refused(mood: Mood, capsys: Any) -> None:
    """Optional arguments multiply in a grammar; the first one too many is named (field case B12)."""
    path = Path("data/tools/database.yaml")
    tools = yaml.safe_load(path.read_text())
    properties = tools["allocate_dividend"]["parameters"]["properties"]
    for number in range(len(properties), 34):
        properties[f"more_{number}"] = {"type": "string"}
    path.write_text(yaml.safe_dump(tools, sort_keys=False))
    assert main([*RUN, "--live"]) == 2
    assert (
        "allocate_dividend/parameters/properties/more_32: is one argument too many" in capsys.readouterr().err
    )
