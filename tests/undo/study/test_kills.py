"""SIGKILL at boundaries between statements, for a sample of the requests; and a killer that lies is found out."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from undolab.undo.registry import EFFECTS
from undolab.undo.study import kills
from undolab.undo.study.children import Children, Lines, read_lines
from undolab.undo.study.stores import Opened


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    with Children() as made:
        yield made


def test_a_sample_of_requests_survives_kills(children: Children) -> None:
    """Drawn anew each time: whole or gone as COMMIT says, then once, whatever statement came last."""
    for case in random.sample(kills.cases(children, every=5), 6):
        counts, problems = case.run()
        assert problems == [], case.name
        assert counts["kills"] >= 2, case.name


def test_every_kind_rule_and_policy_has_its_request() -> None:
    """No effect type and no policy is left out of the full suite."""
    names = {case.name for case in kills.cases(None)}  # type: ignore[arg-type]
    assert {
        f"recover/{kind}/{rule}" for kind in kills.EFFECTS for rule in ("allow", "approve", "deny")
    } <= names
    assert {f"shelf/{policy}/{kind}/0" for policy in kills.POLICIES for kind in kills.KINDS} <= names
    assert set(kills.EFFECTS) == set(EFFECTS)


class _Liar(Children):
    """Says that every child was killed, or that none was, and really does the whole request."""

    def __init__(self, honest: Children, code: int) -> None:
        self._honest, self._code = honest, code

    def run(self, target: str, jobs: Any, kill_after_us: Any = ()) -> list[int]:
        path, _, at, op = jobs[0]
        if at < 0:
            return self._honest.run(target, jobs)
        opened = Opened(Path(path))
        opened.perform(op)
        opened.close()
        return [self._code]


@pytest.mark.parametrize(
    ("code", "says"), [(-9, "killed before COMMIT: other rows than expected"), (0, "the child ended with 0")]
)
def test_a_killer_that_only_says_so_is_found_out(children: Children, code: int, says: str) -> None:
    """A fault that did not happen is a problem of the suite, not a pass (B30)."""
    case = next(case for case in kills.cases(_Liar(children, code), every=9) if case.name == "forward/add")
    assert any(says in problem for problem in case.run().problems)


class _Breaker(Children):
    """Kills nobody and asks nobody: the request itself fails."""

    def __init__(self) -> None:
        pass

    def run(self, target: str, jobs: Any, kill_after_us: Any = ()) -> list[int]:
        return [70]


def test_a_request_that_fails_by_itself_is_a_problem() -> None:
    """Where the request does not even work without a kill, nothing is counted as survived."""
    case = kills.cases(_Breaker())[0]
    assert case.run() == ({}, ["a request that nobody killed ended with 70"])


def test_a_childs_lines_outlive_its_kill(tmp_path: Path, children: Children) -> None:
    """What a child wrote before SIGKILL is there, and a child that raises is told by its exit code."""
    Lines(tmp_path / "lines").write(["x"])
    assert read_lines(tmp_path / "lines") == [["x"]]
    assert read_lines(tmp_path / "none") == []
    assert children.run("kills:no_such_function", [[]]) == [70]


def test_a_helper_that_is_gone_is_an_error() -> None:
    """No suite goes on without its helper."""
    made = Children()
    made._helper.terminate()
    made._helper.wait()
    with pytest.raises((ChildProcessError, BrokenPipeError)):
        made.run("kills:request", [[]])
    made._helper.stdout.close()  # type: ignore[union-attr]
    with pytest.raises(BrokenPipeError):
        made._helper.stdin.close()  # type: ignore[union-attr]
