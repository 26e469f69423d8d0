"""A suite goes on where it stopped, begins anew when its question has changed, and leaves its evidence."""

import json
from pathlib import Path

import pytest

from undolab.cli import main
from undolab.undo.study import suite
from undolab.undo.study.suite import Case, Found


def cases(seen: list[str], problems: tuple[str, ...] = ()) -> list[Case]:
    def case(name: str) -> Case:
        def work() -> Found:
            seen.append(name)
            return Found({"kills": 2}, problems)

        return Case(name, work)

    return [case(name) for name in "abc"]


def test_a_suite_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Done cases are not done again; a line cut by the stop counts as not done."""
    seen: list[str] = []
    whole = suite.run("s", cases(seen), tmp_path, {"seed": 1}, quiet=True)
    journal = tmp_path / "s.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])
    seen.clear()
    again = suite.run("s", cases(seen), tmp_path, {"seed": 1}, quiet=True)
    assert seen == ["c"]
    assert (again["counts"], again["problems"]) == (whole["counts"], []) == ({"kills": 6}, [])
    assert {"cpu", "cores", "python", "sqlite", "commit"} <= set(again["machine"])


def test_another_question_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another seed, or another code of the room, and nothing of the old journal counts."""
    seen: list[str] = []
    suite.run("s", cases(seen), tmp_path, {"seed": 1}, quiet=True)
    suite.run("s", cases(seen), tmp_path, {"seed": 2}, quiet=True)
    monkeypatch.setattr(suite, "code", lambda: "other")
    suite.run("s", cases(seen), tmp_path, {"seed": 2}, quiet=True)
    assert seen == list("abc") * 3


def test_problems_are_said_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each problem stands in the evidence with its case, and on the screen while the suite runs."""
    found = suite.run("s", cases([], ("lost",)), tmp_path, {})
    assert found["problems"] == ["a: lost", "b: lost", "c: lost"]
    assert "3 of 3 cases, 3 problems" in capsys.readouterr().err


def test_a_sample_is_drawn_by_the_seed() -> None:
    """The same seed gives the same cases; 0 gives all."""
    every = cases([])
    assert suite.sampled(every, 0, 1) == suite.sampled(every, 9, 1) == every
    assert suite.sampled(every, 2, 5) == suite.sampled(every, 2, 5)
    assert len(suite.sampled(every, 2, 5)) == 2


def test_the_command_runs_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`undolab undo study` writes evidence under build; a sample is never recorded."""
    monkeypatch.chdir(tmp_path)
    assert main(["undo", "study", "--only", "kills", "--sample", "1", "--seed", "3"]) == 0
    evidence = json.loads((tmp_path / "build/suites/undo-kills.json").read_text())
    assert evidence["cases"] == 1
    assert evidence["counts"]["kills"] > 0
    assert "0 problems" in capsys.readouterr().out
    assert main(["undo", "study", "--only", "kills", "--sample", "1", "--record"]) == 2
    assert not (tmp_path / "data").exists()
