"""Side studies: cells, records, files and statistics of their own, by the rules of the main one."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from undolab.agents.line import TASK_LABEL, start
from undolab.agents.prompt import RULE
from undolab.cli import main
from undolab.model.canon import call_seed, resumed_seed
from undolab.model.files import compress, decompress
from undolab.model.record import Completion, CompletionRequest, StoreHeader
from undolab.model.wire import TurnEvent
from undolab.models.store import RecordStore
from undolab.trials.source import store_path
from undolab.wire import read_arms

ROOT = Path(__file__).parents[2]
MODEL = "gemma3-270m"
DIGEST = yaml.safe_load((ROOT / "config/models.yaml").read_text())[MODEL]["digest"]
KEPT = {"dev": ["RB-DB-001", "RB-STOR-001"], "test": ["RB-DB-005"]}
SIDE = {
    "split": "dev",
    "models": [MODEL],
    "frameworks": ["F1"],
    "boundaries": ["PRE_MUTATION", "POST_MUTATION_PRE_ACK"],
    "methods": ["none", "B6"],
    "seeds": [1, 2],
    "prompt": "runbook",
    "examples": "plain",
}


RESUMED = {call_seed(resumed_seed(1, 1), turn) for turn in range(1, 20)}


class Runbook:
    """In the place of llama.cpp: says the next line of the runbook, or, `moody`, gives up once its process has died."""

    moody = False

    def __init__(self, *_: Any) -> None:
        pass

    def header(self) -> StoreHeader:
        return StoreHeader(
            model_name=MODEL, model_file="m.gguf", model_digest=DIGEST, tensor_types={}, engines={"e": {}}
        )

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        assert ordinal == 1
        task = request.prompt.rsplit("Runbook:\n", 1)[1]
        steps, _, log = task.partition("[ai]\n" if "[ai]\n" in task else RULE)
        lines = steps.splitlines()
        said = sum(line in lines for line in log.splitlines())
        text = lines[said]
        if self.moody and request.sampling.seed in RESUMED:
            text = start(TASK_LABEL, said) + "finish: unknown"
        return Completion(
            text=text, finish_reason="stop", tokens=[said], logprobs=[-0.5], prompt_tokens=len(task)
        )

    def close(self) -> None:
        pass


def with_sides(sides: Any) -> str:
    """Return the study's configuration with these side studies in the place of its own; as YAML without aliases."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    return yaml.safe_dump(json.loads(json.dumps({**config, "side_studies": sides})))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tree of three workflows with two side studies, made the current folder; its model is the runbook."""
    for name in ("config", "data/tools", "data/splits"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for split, names in KEPT.items():
        (tmp_path / "data/workflows" / split).mkdir(parents=True)
        for name in names:
            shutil.copy(ROOT / f"data/workflows/{split}/{name}.yaml", tmp_path / f"data/workflows/{split}")
    config = tmp_path / "config/config.yaml"
    sides = {"small": SIDE, "no-method": {**SIDE, "methods": ["none"], "boundaries": ["PRE_MUTATION"]}}
    config.write_text(with_sides(sides))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("undolab.models.sources.LlamaBackend", Runbook)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Run the command and return what it printed on either stream."""
    assert main(list(words)) == code
    out = capsys.readouterr()
    return out.out + out.err


def test_a_side_study_is_recorded_replayed_judged_indexed_and_counted(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step of the main study's way is taken with `--study`, into folders of the side study alone."""
    # 2 workflows, 2 seeds: 1 control, 1 with the method on, 2 boundaries by 2 methods.
    before = said(capsys, "trials", "status", "--study", "small", code=1)
    assert "study small: 24 arms: 0 recorded, 24 missing, 0 invalid" in before
    assert "study small" in said(capsys, "trials", "run", "--live", "--study", "small")
    assert "24 recorded, 0 missing, 0 invalid" in said(capsys, "trials", "status", "--study", "small")

    said(capsys, "trials", "run", "--study", "small", "--out", "build")
    here = tree / "build/side/small"
    logs = sorted(str(path) for path in (here / "wire").glob("*.jsonl.zst"))
    assert [Path(log).name.split(".")[0] for log in logs] == KEPT["dev"]
    assert not (tree / "build/wire").exists()
    judged = said(capsys, "reconstruct", *logs, "--verdicts", str(here / "verdicts"), "--against", str(here))
    assert judged.count("0 problems") == 2
    said(capsys, "heads", *logs, "--out", "build/wire/heads.tsv")
    assert "0 problems" in said(capsys, "reconstruct", *logs, "--heads", "build/wire/heads.tsv")
    said(capsys, "stats", "--study", "small", "--build", "build")
    contrasts = (here / "stats/contrasts.csv").read_text()
    assert "B6" in contrasts
    assert "B2" not in contrasts


def test_studies_share_records_and_an_index_keeps_their_arms_apart(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A study whose calls another one made needs none; equal arms of two studies are two rows of the index."""
    said(capsys, "trials", "run", "--live", "--study", "small")
    records = (tree / store_path(MODEL, "dev")).read_bytes()
    assert "study no-method: 0 completions" in said(capsys, "trials", "run", "--live", "--study", "no-method")
    assert (tree / store_path(MODEL, "dev")).read_bytes() == records

    said(capsys, "trials", "run", "--study", "small", "--out", "build")
    said(capsys, "trials", "run", "--study", "no-method", "--out", "build")
    logs = sorted(str(path) for path in (tree / "build/side").glob("*/wire/*.jsonl.zst"))
    said(capsys, "heads", *logs, "--out", "build/wire/heads.tsv")
    rows = [row.split("\t")[0] for row in (tree / "build/wire/heads.tsv").read_text().splitlines()]
    arms = sum(len(list(read_arms(Path(log)))) for log in logs)
    assert len(set(rows)) == arms == 24 + 8
    assert {"/".join(row.split("/")[:2]) for row in rows} == {"side/small", "side/no-method"}
    assert "0 problems" in said(capsys, "reconstruct", *logs, "--heads", "build/wire/heads.tsv")
    (tree / "build/wire/heads.tsv").write_text("".join(f"{row}\t1\tx\n" for row in rows[:-1]))
    assert "do not have the same lines" in said(
        capsys, "reconstruct", logs[-1], "--heads", "build/wire/heads.tsv", code=1
    )
    bare = [log for log in logs if "no-method" in log]
    said(capsys, "reconstruct", *bare, "--verdicts", "build/side/no-method/verdicts")
    said(capsys, "stats", "--study", "no-method", "--build", "build")


def test_without_a_name_all_studies_are_meant(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status and dry run have a line for each study; a workflow or a split alone means the main one's cells."""
    lines = said(capsys, "trials", "status", code=1).splitlines()
    assert [line.split(":")[0] for line in lines] == ["study main", "study no-method", "study small"]
    assert said(capsys, "trials", "run", "--dry-run").count("study ") == 3
    assert said(capsys, "trials", "run", "--dry-run", "--split", "dev").startswith("study main: ")
    assert "no study 'big' in config/config.yaml; it has main, no-method, small" in said(
        capsys, "trials", "status", "--study", "big", code=2
    )


def test_the_variant_of_the_examples_is_the_studys(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One model under two variants has two sets of requests in one store; an unknown variant or one in models.yaml is refused."""
    from undolab.agents.examples import PLAIN, VARIANTS

    config = tree / "config/config.yaml"
    monkeypatch.setitem(VARIANTS, "short", PLAIN[:1])
    plain = config.read_text()
    config.write_text(plain.replace("examples: plain\n    frameworks", "examples: short\n    frameworks", 1))
    said(capsys, "trials", "run", "--live", "--study", "small")
    said(capsys, "trials", "run", "--live", "--study", "no-method")
    prompts = {record.request.prompt.splitlines()[1] for record in RecordStore(store_path(MODEL, "dev"))}
    assert prompts == {f"Task: {PLAIN[0].objective}"}
    lengths = {len(record.request.prompt) for record in RecordStore(store_path(MODEL, "dev"))}
    assert max(lengths) - min(lengths) > 1000

    config.write_text(plain.replace("examples: plain\n    frameworks", "examples: long\n    frameworks"))
    assert "no worked examples 'long'" in said(capsys, "trials", "status", "--study", "small", code=2)
    models = tree / "config/models.yaml"
    models.write_text(models.read_text().replace("  prompt:\n", "  prompt:\n    examples: plain\n", 1))
    assert "belongs to a study" in said(capsys, "trials", "status", code=2)


@pytest.mark.parametrize("moody", [False, True])
def test_models_run_at_every_boundary_with_every_method_and_framework(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, moody: bool
) -> None:
    """Live, replayed and judged from the wire alone, deaths of the agent included; where nothing applies, nothing is counted."""
    pytest.importorskip("langgraph", reason="F2 needs langgraph (make test installs it)")
    monkeypatch.setattr(Runbook, "moody", moody)
    shutil.copy(ROOT / "data/workflows/dev/RB-CRM-003.yaml", "data/workflows/dev")
    Path("data/workflows/dev/RB-DB-001.yaml").unlink()
    every = {
        **SIDE,
        "frameworks": ["F1", "F2"],
        "boundaries": [
            "PRE_MUTATION",
            "DURING_MUTATION",
            "POST_MUTATION_PRE_ACK",
            "POST_ACK_PRE_CHECKPOINT",
            "POST_ACK_PRE_CHECKPOINT_TOLD",
        ],
        "methods": ["none", "B0", "B2", "B2-K", "B3", "B5", "B6", "B7"],
        "seeds": [1],
    }
    (tree / "config/config.yaml").write_text(with_sides({"every": every}))
    # Of the two workflows only RB-CRM-003 has a call of several parts.
    arms = 2 * (2 * (1 + 7 + 4 * 8) + 8)

    said(capsys, "trials", "run", "--live", "--study", "every")
    assert f"{arms} recorded, 0 missing, 0 invalid" in said(capsys, "trials", "status", "--study", "every")
    said(capsys, "trials", "run", "--study", "every")
    here = tree / "build/side/every"
    logs = sorted((here / "wire").glob("*.zst"))
    judged = said(
        capsys, "reconstruct", *map(str, logs), "--against", str(here), "--verdicts", str(here / "verdicts")
    )
    assert judged.count(" 0 problems") == 2
    lines = {name: arm for log in logs for name, arm in read_arms(log)}
    assert len(lines) == arms
    lives = [
        [line for line in arm if isinstance(line, TurnEvent)]
        for name, arm in lines.items()
        if "/F1/POST_ACK_PRE_CHECKPOINT/none/" in name
    ]
    again = [
        (before, after)
        for turns in lives
        for before, after in pairwise(turns)
        if after.resume > before.resume and after.turn == before.turn
    ]
    assert again
    # The same prompt with another seed: the count of deaths is in it.
    store = RecordStore(store_path(MODEL, "dev"))
    for before, after in again:
        first, second = (store.get(turn.record.split("#")[0], 1).request for turn in (before, after))
        assert first.prompt == second.prompt
        assert first.sampling.seed == call_seed(1, before.turn)
        assert second.sampling.seed == call_seed(resumed_seed(1, 1), after.turn)


@pytest.mark.parametrize("name", ["main", "Big", "a/b", "-a", "a--b", ""])
def test_a_side_study_has_a_name_that_a_folder_can_have(
    tree: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Other names are refused before anything is run."""
    config = tree / "config/config.yaml"
    config.write_text(with_sides({name: SIDE}))
    assert "side_studies" in said(capsys, "trials", "status", code=2)


def test_an_audit_looks_at_every_store_of_the_studies(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a name the stores of all studies are audited, each once."""
    seen: list[str] = []

    def look(arguments: Any, name: str, split: str) -> int:
        seen.append(f"{name}/{split}")
        return int(split == "test")

    monkeypatch.setattr("undolab.cli.records._audit_one", look)
    assert main(["records", "audit"]) == 1
    assert seen == [f"{MODEL}/test", f"{MODEL}/dev"]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _shards(tree: Path, capsys: pytest.CaptureFixture[str], parts: int, *more: str) -> list[str]:
    """Run the shards of a workflow, the last first, and return their folders."""
    folders = []
    for framework in ("F2", "F1"):
        for part in range(parts, 0, -1):
            words = [
                "--study",
                "small",
                "--workflow",
                "RB-STOR-001",
                "--model",
                MODEL,
                "--framework",
                framework,
            ]
            folders.append(str(tree / f"{parts}{''.join(more)}/{framework}.{part}"))
            said(capsys, "trials", "shard", *words, "--part", f"{part}of{parts}", "--out", folders[-1], *more)
    return folders


_DAMAGE = {
    "trials: one arm": "trials and the other files do not both hold arm RB-STOR-001/",
    "trials: last byte": "its last line is cut",
    "trials: doubled": "stands twice in it",
    "wire: last line": "has no end",
    "wire: foreign": "is of another workflow",
    "ledger: one arm": "ledger and the other files do not both hold arm RB-STOR-001/",
    "pairs: one arm": "pairs and the other files do not both hold arm RB-STOR-001/",
}
"""Damage to one file of a shard, and what merging says of it."""


def _damage(shard: Path, kind: str) -> None:
    """Change one file of a shard; what the damage before it changed is put right."""
    for old in shard.rglob("*.sound"):
        old.rename(old.with_suffix(""))
    (path,) = (shard / kind.split(":")[0]).iterdir()
    sound = path.read_bytes()
    path.with_name(f"{path.name}.sound").write_bytes(sound)
    packed = path.suffix == ".zst"
    lines = (decompress(sound) if packed else sound).splitlines(keepends=True)
    match kind.split(": ")[1]:
        case "one arm" | "last line":
            lines = lines[:-1]
        case "last byte":
            lines[-1] = lines[-1][:-1]
        case "doubled":
            lines.append(lines[-1])
        case "foreign":
            lines = [line.replace(b'"workflow":"RB-STOR-001"', b'"workflow":"RB-STOR-002"') for line in lines]
    data = b"".join(lines)
    path.write_bytes(compress(data) if packed else data)


def test_one_shard_or_many_give_the_same_bytes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wire logs, ledgers, pairs and verdicts of one run, of one shard a framework, and of one a seed are equal."""
    pytest.importorskip("langgraph", reason="F2 needs langgraph (make test installs it)")
    config = tree / "config/config.yaml"
    config.write_text(config.read_text().replace("    frameworks:\n    - F1\n", "    frameworks: [F1, F2]\n"))
    words = ["--study", "small", "--workflow", "RB-STOR-001"]
    said(capsys, "trials", "run", "--live", *words)
    said(capsys, "trials", "run", *words, "--out", "whole")
    wanted = _files(tree / "whole/side/small")
    assert len(wanted) == 4

    for parts in (1, 2):
        folders = _shards(tree, capsys, parts)
        out = f"merged{parts}"
        assert f"{len(folders)} shards" in said(
            capsys, "trials", "merge", *folders, "--workflow", "RB-STOR-001", "--out", out
        )
        assert _files(tree / out) == wanted
    assert "is in another shard too" in said(
        capsys, "trials", "merge", *folders, folders[0], "--workflow", "RB-STOR-001", code=2
    )
    for kind, problem in _DAMAGE.items():
        _damage(Path(folders[0]), kind)
        assert problem in said(
            capsys, "trials", "merge", *folders, "--workflow", "RB-STOR-001", "--out", "bad", code=2
        )
        assert not Path("bad").exists()
    (Path(folders[0]) / "ledger/RB-STOR-001.jsonl.zst").write_bytes(b"x")
    assert "run the shard again" in said(
        capsys, "trials", "merge", *folders, "--workflow", "RB-STOR-001", code=2
    )
    words += ["--model", MODEL, "--framework", "F1", "--out", "x"]
    assert "not KofN" in said(capsys, "trials", "shard", *words, "--part", "3of2", code=2)


def test_shards_and_workers_seal_the_bytes_of_one_recorder(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever records what in whatever order, the sealed file is the same; an answer that two have is taken once."""
    pytest.importorskip("langgraph", reason="F2 needs langgraph (make test installs it)")
    config = tree / "config/config.yaml"
    config.write_text(config.read_text().replace("    frameworks:\n    - F1\n", "    frameworks: [F1, F2]\n"))
    words = ["trials", "run", "--live", "--study", "small"]
    records = tree / store_path(MODEL, "dev")
    said(capsys, *words)
    one = records.read_bytes()
    records.unlink()

    for worker in ("2/2", "1/2"):
        said(capsys, *words, "--worker", worker)
    assert len(list(records.parent.glob("*.journal.jsonl"))) == 2
    said(capsys, *words)
    assert records.read_bytes() == one
    records.unlink()

    said(capsys, *words, "--worker", "1/2")
    _shards(tree, capsys, 2, "--live")
    journals = sorted(records.parent.glob("*.journal.jsonl"))
    assert len(journals) == 5
    twice = journals[0].read_bytes().splitlines(keepends=True)
    with journals[-1].open("ab") as journal:
        journal.write(twice[1])
    said(capsys, "records", "seal")
    assert "no journal" in said(capsys, "records", "seal")
    assert "24 missing" not in said(capsys, "trials", "status", "--study", "small")
    assert records.read_bytes() == one
