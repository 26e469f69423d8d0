"""A room's digest changes with everything it imports, and with nothing else."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.release import sources

PACKAGE = Path(__file__).parents[2] / "src" / "undolab"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a small package: stats imports model, world imports wire lazily, wire imports model."""
    files = {
        "__init__.py": "",
        "model/__init__.py": "",
        "model/calls.py": "X = 1\n",
        "model/unused.py": "Y = 1\n",
        "wire/__init__.py": "from undolab.wire.log import L\n",
        "wire/log.py": "import undolab.model.calls\nL = 1\n",
        "stats/__init__.py": "",
        "stats/cells.py": "from undolab.model import calls\n",
        "world/__init__.py": "",
        "world/store.py": "def f():\n    from undolab.wire import L\n    return L\n",
        "world/schema.sql": "create table t (x);\n",
    }
    for name, text in files.items():
        path = tmp_path / "undolab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "undolab"


def changed(package: Path, name: str) -> set[str]:
    """Return the rooms whose digest changes when a file does."""
    before = {room: sources.room_digest(package, room) for room in sources.rooms(package)}
    (package / name).write_bytes((package / name).read_bytes() + b"# more\n")
    return {room for room in before if sources.room_digest(package, room) != before[room]}


def test_a_change_in_model_changes_every_room_that_reaches_it(package: Path) -> None:
    """Imports are followed through other rooms and into functions."""
    assert changed(package, "model/calls.py") == {"model", "stats", "wire", "world"}


def test_a_module_nobody_imports_changes_only_its_own_room(package: Path) -> None:
    """What a room does not import is not part of its digest."""
    assert changed(package, "model/unused.py") == {"model"}


def test_data_files_of_a_room_count(package: Path) -> None:
    """A schema beside the code is code input too."""
    assert changed(package, "world/schema.sql") == {"world"}


def test_the_package_itself_counts_for_all(package: Path) -> None:
    """Importing a room runs the package's own `__init__`."""
    assert changed(package, "__init__.py") == {"model", "stats", "wire", "world"}


def test_compiled_files_do_not_count(package: Path) -> None:
    """Having run the code changes no digest."""
    before = sources.room_digest(package, "world")
    (package / "world/__pycache__").mkdir()
    (package / "world/__pycache__/store.cpython-311.pyc").write_bytes(b"x")
    assert sources.room_digest(package, "world") == before


def test_an_unknown_room_and_broken_code_are_clear_sentences(package: Path) -> None:
    """Both name what is wrong and where."""
    with pytest.raises(UndolabError, match="no room 'nowhere'"):
        sources.closure(package, "nowhere")
    (package / "world/store.py").write_text("def (\n")
    with pytest.raises(UndolabError, match=r"undolab/world/store\.py line 1"):
        sources.closure(package, "world")


def test_the_real_package_is_followed() -> None:
    """The release room itself rests on the error type of model."""
    names = sources.closure(PACKAGE, "release")
    assert "release/sources.py" in names
    assert "model/errors.py" in names
