"""Bad input gets one sentence that says what, where and what to do, and an exit code that is not 0."""

import shutil
import sys
from pathlib import Path

import pytest

from undolab.cli import main

ROOT = Path(__file__).parents[2]
RECORDS = Path("data/records/gemma3-270m/test.jsonl.zst")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of configuration and data, made the current folder."""
    for name in ("config", "data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sentence(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the command, which must fail for a person's sake, and return what it said."""
    assert main(list(words)) == 2
    return capsys.readouterr().err


def test_every_error_of_a_broken_configuration_is_named_at_once(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two wrong keys are two findings in one run."""
    config = tree / "config/config.yaml"
    config.write_text(
        config.read_text()
        .replace("replicates: 10000", "replicates: many")
        .replace("split: test", "split: exam")
    )

    said = sentence(capsys, "trials", "status")

    assert "config/config.yaml" in said
    assert "/study/split" in said
    assert "/stats/replicates" in said


def test_an_unknown_workflow_is_named_with_those_there_are(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong id lists the right ones."""
    said = sentence(capsys, "workflows", "show", "RB-NOPE-001")

    assert "RB-NOPE-001" in said
    assert "RB-DB-005" in said


def test_a_tampered_workflow_is_refused_by_name(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that calls a tool which is not there never runs."""
    path = tree / "data/workflows/test/RB-DB-005.yaml"
    path.write_text(path.read_text().replace("tool: allocate_dividend", "tool: allocate_everything"))

    assert "RB-DB-005" in sentence(
        capsys, "trials", "run", "--agent", "scripted:gold", "--workflow", "RB-DB-005"
    )


def test_a_tampered_record_store_is_refused_by_name(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One flipped bit in the compressed records stops the replay and names the file."""
    data = bytearray((tree / RECORDS).read_bytes())
    data[len(data) // 2] ^= 1
    (tree / RECORDS).write_bytes(bytes(data))

    assert str(RECORDS) in sentence(capsys, "trials", "run", "--workflow", "RB-DB-005")


def test_missing_records_are_named_with_the_way_to_get_them(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replay without records never asks a model."""
    (tree / RECORDS).unlink()

    said = sentence(capsys, "trials", "run", "--workflow", "RB-DB-005")

    assert str(RECORDS) in said
    assert "no record" in said


def test_a_cut_wire_log_is_one_sentence(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plain log that ends in the middle of a line is refused."""
    (tree / "cut.jsonl").write_bytes(b'{"kind":"start","seq":1,"pre')

    assert "cut.jsonl" in sentence(capsys, "reconstruct", "cut.jsonl")


def test_without_llama_the_live_commands_say_what_installs_it(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replay needs no model package, and the live path names the one command."""
    monkeypatch.setitem(sys.modules, "llama_cpp", None)

    assert "make live" in sentence(capsys, "live")


def test_outside_the_repository_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong current folder is the first thing that goes wrong."""
    monkeypatch.chdir(tmp_path)

    assert "root of the repository" in sentence(capsys, "trials", "status")


def test_a_worker_must_be_one_of_so_many(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--worker 3/2` is no share of the work."""
    assert "K/N" in sentence(capsys, "trials", "run", "--live", "--split", "dev", "--worker", "3/2")


@pytest.mark.parametrize("words", [["--help"], ["trials", "run", "--help"], ["reconstruct", "--help"]])
def test_help_reads_well(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """Every command explains itself."""
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 0
    assert "usage: undolab" in capsys.readouterr().out


def test_a_level_that_is_there_twice_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A seed named twice would count its trials twice."""
    config = tree / "config/config.yaml"
    config.write_text(config.read_text().replace("seeds: [2001,", "seeds: [2001, 2001,"))

    assert "`seeds` has an entry twice" in sentence(capsys, "trials", "status")


def test_test_workflows_cannot_be_recorded_beside_others(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Naming a DEV workflow first does not open TEST."""
    words = ("--workflow", "RB-DB-001", "--workflow", "RB-DB-005")

    assert "one at a time" in sentence(capsys, "trials", "run", "--live", *words)


def test_a_place_that_cannot_be_written_is_one_sentence(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's refusal names the place."""
    said = sentence(
        capsys, "trials", "run", "--agent", "scripted:gold", "--workflow", "RB-DB-005", "--out", "/dev/null/x"
    )

    assert "/dev/null" in said
