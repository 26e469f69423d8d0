"""The page of field cases says which tests hold which case, and these tests are there."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """Load the script that fills the page."""
    spec = importlib.util.spec_from_file_location("field_cases", ROOT / "tests/field_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_names_the_tests_that_there_are(page: ModuleType) -> None:
    """The last column is what the tests say of themselves; `python tests/field_cases.py` writes it."""
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == page.filled(text)


def test_every_case_that_a_test_names_is_on_the_page(page: ModuleType) -> None:
    """A mistyped case in a test is found."""
    known = dict(page.rows(page.PAGE.read_text(encoding="utf-8")))
    assert set(page.tests()) <= set(known)


def test_every_case_of_models_and_records_has_a_test(page: ModuleType) -> None:
    """The cases marked L and R are held."""
    held = page.tests()
    for case, cells in page.rows(page.PAGE.read_text(encoding="utf-8")):
        if {"L", "R"} & set(cells[1].split(", ")):
            assert held.get(case), case
