"""Claims: values are looked up and written by a command, relations are kept by people, and every doubt is one sentence."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.errors import UndolabError
from undolab.release import claims, manifest
from undolab.release.find import Find, find, near
from undolab.release.release import release

ROWS = "method,metric,num,value\nnone,crsr,3,0.075000\nB0,crsr,40,1.000000\nB0,der,40,0.350000\n"
CLAIM = """\
# A comment that stays.

- id: retry
  claim: "Blind retry recovers more."
  where: "paper"   # and here
  rule: stats
  file: results/stats/metrics.csv
  find: {row: {method: B0, metric: crsr}, column: value}
  value: null
  tolerance: 0
  holds: {relation: ">", find: {row: {method: none, metric: crsr}, column: value}}
  command: snakemake all
  minutes: null
"""


@pytest.fixture
def study(tree: Path) -> Path:
    """Return a small release with one claim, whose value is not yet written."""
    (tree / "results/stats").mkdir(parents=True, exist_ok=True)
    (tree / "results/stats/metrics.csv").write_text(ROWS)
    (tree / "data/measurements").mkdir(parents=True, exist_ok=True)
    (tree / claims.MEASURED).write_text('{"seconds": {"snakemake all": 61.0}}')
    (tree / claims.CLAIMS).write_text(CLAIM)
    manifest.write(tree)
    return tree


def _write(tree: Path) -> None:
    data = claims.refreshed(tree, manifest.read(tree), lambda name: tree / name)
    (tree / claims.CLAIMS).write_bytes(data)
    manifest.write(tree)


def _problems(tree: Path) -> list[str]:
    return [problem for one in claims.check(tree, tree / "build") for problem in one.problems]


def test_writing_changes_value_and_minutes_and_not_one_other_byte(study: Path) -> None:
    """Wording, comments, order and the relation stay as a person wrote them."""
    _write(study)

    expected = CLAIM.replace("value: null", "value: 1.0").replace("minutes: null", "minutes: 2")
    assert (study / claims.CLAIMS).read_text() == expected
    assert _problems(study) == []


def test_a_number_changed_in_claim_file_or_build_is_told_in_one_sentence(study: Path) -> None:
    """Each of the three places where a number could be changed by hand is found by itself."""
    _write(study)
    text = (study / claims.CLAIMS).read_text()
    (study / claims.CLAIMS).write_text(text.replace("value: 1.0", "value: 0.9"))
    assert _problems(study) == [
        "results/stats/metrics.csv says 1.0 for value where method = B0, metric = crsr, and the claim says 0.9 ± 0."
    ]
    (study / claims.CLAIMS).write_text(text.replace("tolerance: 0", "tolerance: 0.1").replace("1.0", "0.9"))
    assert _problems(study) == []

    (study / claims.CLAIMS).write_text(text)
    (study / "results/stats/metrics.csv").write_text(
        ROWS.replace("B0,crsr,40,1.000000", "B0,crsr,40,0.900000")
    )
    assert [problem.split(" for ")[0] for problem in _problems(study)] == [
        "results/stats/metrics.csv was changed since its release.",
        "results/stats/metrics.csv says 0.9",
    ]

    (study / "results/stats/metrics.csv").write_text(ROWS)
    (study / "build/stats").mkdir(parents=True, exist_ok=True)
    (study / "build/stats/metrics.csv").write_text(ROWS.replace("1.000000", "0.800000"))
    assert len(_problems(study)) == 1
    assert "the build" in _problems(study)[0]


def test_a_sentence_cannot_outlive_its_numbers(study: Path) -> None:
    """Where the relation fails the value is not written, and the claim is named."""
    (study / "results/stats/metrics.csv").write_text(ROWS.replace("1.000000", "0.010000"))
    manifest.write(study)

    with pytest.raises(UndolabError, match=r"claim retry: it holds no longer: 0\.01 is not > 0\.075"):
        _write(study)
    assert any("holds no longer" in problem for problem in _problems(study))


def test_what_is_not_released_proves_nothing(study: Path) -> None:
    """A file outside of the manifest, a lost row and a lost file each have their sentence."""
    text = (study / claims.CLAIMS).read_text()
    (study / "results/stats/other.csv").write_text(ROWS)
    for old, new, words in (
        ("metrics.csv", "other.csv", "is not in manifest.sha256"),
        ("row: {method: B0,", "row: {method: B9,", "has 0 rows with value where method = B9"),
        ("column: value}\n  value", "column: worth}\n  value", "has no column 'worth'"),
    ):
        (study / claims.CLAIMS).write_text(text.replace(old, new, 1))
        assert any(words in problem for problem in _problems(study)), words


def test_a_release_writes_the_values_of_its_build(study: Path) -> None:
    """Claims follow in the same step as the files they rest on; one that breaks stops it before anything is written."""
    from undolab.release import layout

    for folder in layout.BUILT_FOLDERS:
        (study / "build" / folder).mkdir(parents=True, exist_ok=True)
        (study / "build" / folder / "part.csv").write_text(folder)
    new = study / "build/stats/metrics.csv"
    new.write_text(ROWS.replace("1.000000", "0.010000"))
    before = (study / "results/stats/metrics.csv").read_bytes()
    with pytest.raises(UndolabError, match="holds no longer"):
        release(study, study / "build", remove=True)
    assert (study / "results/stats/metrics.csv").read_bytes() == before

    new.write_text(ROWS.replace("1.000000", "0.925000"))
    done = release(study, study / "build", remove=True)

    assert claims.CLAIMS in done.written
    assert claims.load(study)[0].value == 0.925
    assert manifest.verify(study).ok
    assert _problems(study) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  value: null\n", "", "missing required field `value`"),
        ("rule: stats", "rule: stats\n  by: me", "unknown field `by`"),
        ('relation: ">"', 'relation: "!="', "relation"),
    ],
)
def test_a_malformed_file_is_one_sentence(study: Path, old: str, new: str, words: str) -> None:
    """What is missing or unknown is named with its place."""
    (study / claims.CLAIMS).write_text(CLAIM.replace(old, new))

    with pytest.raises(UndolabError, match=words):
        claims.load(study)


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ({"count": True}, 3),
        ({"count": True, "row": {"method": "B0"}}, 2),
        ({"distinct": "method"}, 2),
        ({"sum": "num", "row": {"metric": "crsr"}}, 43),
        ({"row": {"metric": "der"}, "column": "value"}, 0.35),
        ({"files": "results/stats/*.csv"}, 1),
    ],
)
def test_each_way_to_find_a_value(study: Path, how: dict[str, Any], value: float) -> None:
    """Rows are counted, summed, told apart or chosen; files are counted by name."""
    asked = msgspec.convert(how, type=Find)
    covered = {"results/stats/metrics.csv": "", "README.md": ""}

    assert find(asked, "results/stats/metrics.csv", lambda name: study / name, covered) == value


def test_a_pointer_finds_a_leaf_and_nothing_else(tmp_path: Path) -> None:
    """JSON is looked up by pointer; a branch, null or nothing is refused."""
    (tmp_path / "a.json").write_text('{"a/b": [{"c": 2.5, "n": null}]}')

    assert find(Find(pointer="/a~1b/0/c"), "a.json", lambda name: tmp_path / name, {}) == 2.5
    (tmp_path / "a.yaml").write_text("study: {methods: [none, B0]}\n")
    assert find(Find(length="/study/methods"), "a.yaml", lambda name: tmp_path / name, {}) == 2
    with pytest.raises(UndolabError, match="holds no list"):
        find(Find(length="/a~1b/0/c"), "a.json", lambda name: tmp_path / name, {})
    for pointer in ("/a~1b", "/a~1b/1/c", "/a~1b/0/n", "/x"):
        with pytest.raises(UndolabError, match=r"a\.json"):
            find(Find(pointer=pointer), "a.json", lambda name: tmp_path / name, {})
    with pytest.raises(UndolabError, match="say one of"):
        find(Find(pointer="/x", count=True), "a.json", lambda name: tmp_path / name, {})


def test_nearness_is_of_numbers_only() -> None:
    """Text is equal or not; a number is never near a text."""
    assert near(1, 1.05, 0.05)
    assert not near(1, 1.06, 0.05)
    assert near("pass", "pass", 0)
    assert not near("1", 1, 5)
    assert not near(True, 1, 5)
