"""Reading tools and workflows from files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.errors import UndolabError
from undolab.model.load import load_config, load_tools, load_workflow, load_workflows, read_yaml

ROOT = Path(__file__).parents[2]
GOOD = ROOT / "data/workflows/test/RB-DB-005.yaml"


def write(folder: Path, text: str, name: str = "RB-DB-005.yaml") -> Path:
    (folder / "test").mkdir(exist_ok=True)
    path = folder / "test" / name
    path.write_text(text, encoding="utf-8")
    return path


def message(path: Path) -> str:
    with pytest.raises(UndolabError) as caught:
        load_workflow(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-01", "2026-01-01"),
        ("on", "on"),
        ("yes", "yes"),
        ("No", "No"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("010", 10.0),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("0x10", "0x10"),
        ("v2.4.0", "v2.4.0"),
        ("=", "="),
        ("<<", "<<"),
        (".5", 0.5),
    ],
)
def test_scalars_follow_yaml_1_2(tmp_path: Path, text: str, value: object) -> None:
    """A plain scalar has the type that YAML 1.2's core schema gives it; what only 1.1 knows stays text."""
    path = tmp_path / "x.yaml"
    path.write_text(f"key: {text}\n")
    read = read_yaml(path)["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: the key 'a' stands twice"),
        ("a: {b: 1, b: 2}\n", "the key 'b' stands twice"),
        ("1: x\n", "the key 1 is not text"),
        ("a: &x 1\nb: *x\n", "aliases are not allowed"),
        ("a: [1, 2\n", "mend the YAML there"),
        ("a: !!python/object:os.system x\n", "could not determine a constructor"),
        ("a: \x07\n", "is not plain UTF-8 text"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1"),
    ],
)
def test_bad_yaml_is_one_sentence_with_place(tmp_path: Path, text: str, part: str) -> None:
    """Broken YAML names the file, the place and the reason."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(UndolabError) as caught:
        read_yaml(path)
    assert part in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused in one sentence."""
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xff\xfe\n")
    with pytest.raises(UndolabError, match="is not plain UTF-8"):
        read_yaml(path)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Any bytes are read or refused; nothing else comes out."""
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    try:
        read_yaml(path)
    except UndolabError:
        return


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """Nesting beyond the stack is refused, not a crash."""
    path = tmp_path / "x.yaml"
    path.write_text("[" * 5000)
    with pytest.raises(UndolabError, match="mend"):
        read_yaml(path)


def test_every_problem_at_once(tmp_path: Path) -> None:
    """A bad workflow is answered with a line for each problem, with file and pointer."""
    text = GOOD.read_text()
    text = text.replace("complexity: C1", "complexity: C9").replace("version: 2", "version: two")
    text = text.replace("domain: database\n", "").replace("say: Pay the dividend., ", "")
    path = write(tmp_path, text + "extra: 1\n")
    assert message(path).splitlines() == [
        f"{path} /domain: is missing",
        f"{path} /version: must be integer, is string",
        f"{path} /complexity: must be one of C1, C2, C3, C4",
        f"{path} /plan/1/say: is missing",
        f"{path} /extra: is not known here",
    ]


def test_place_must_agree(tmp_path: Path) -> None:
    """The file's name is the id, and its folder the split."""
    path = write(tmp_path, GOOD.read_text().replace("split: test", "split: dev"), "RB-DB-009.yaml")
    assert message(path).splitlines() == [
        f"{path} /id: is RB-DB-005, but the file's place says RB-DB-009",
        f"{path} /split: is dev, but the file's place says test",
    ]


@pytest.mark.parametrize("text", ["", "[]\n", "just text\n", "3\n"])
def test_not_a_mapping(tmp_path: Path, text: str) -> None:
    """A file that is no mapping is refused."""
    assert "must be object" in message(write(tmp_path, text))


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is named."""
    assert "cannot be read" in message(tmp_path / "none.yaml")


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    """Loading a folder names the problems of every file, not of the first."""
    write(tmp_path, "[]\n", "A.yaml")
    write(tmp_path, "a: 1\na: 2\n", "B.yaml")
    with pytest.raises(UndolabError) as caught:
        load_workflows(tmp_path)
    assert len(str(caught.value).splitlines()) == 2


def test_no_workflows(tmp_path: Path) -> None:
    """An empty folder, or an unknown split, is an error."""
    with pytest.raises(UndolabError, match="holds no workflows"):
        load_workflows(tmp_path, "test")


def test_no_tools(tmp_path: Path) -> None:
    """An empty folder of tools is an error."""
    with pytest.raises(UndolabError, match="holds no tool files"):
        load_tools(tmp_path)


def test_bad_tools(tmp_path: Path) -> None:
    """Bad tools are all named: unknown fields, wrong values, fields that the place says, names that stand twice."""
    good = "  {description: x, op: READ, parameters: {}}\n"
    (tmp_path / "a.yaml").write_text(
        f"one:\n{good}two: {{description: 1, op: GO, parameters: {{}}, name: two}}\nthree: 3\n"
    )
    (tmp_path / "b.yaml").write_text(f"one:\n{good}")
    (tmp_path / "c.yaml").write_text("[]\n")
    with pytest.raises(UndolabError) as caught:
        load_tools(tmp_path)
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/a.yaml /two/name: is not written here: the key and the file name say it",
        f"{tmp_path}/a.yaml /two/description: must be string, is integer",
        f"{tmp_path}/a.yaml /two/op: must be one of CREATE, DELETE, EXECUTE, READ, UPDATE",
        f"{tmp_path}/a.yaml /three: must be a mapping",
        f"{tmp_path}/b.yaml /one: stands in a.yaml already",
        f"{tmp_path}/c.yaml : must be a mapping from tool name to tool",
    ]


def test_bad_config(tmp_path: Path) -> None:
    """A broken study configuration names its problems."""
    path = tmp_path / "config.yaml"
    path.write_text("study: {split: test}\n")
    with pytest.raises(UndolabError, match="/study/models: is missing"):
        load_config(path)
