from pathlib import Path

from undolab.recovery import METHODS
from undolab.recovery.privileges import PRIVILEGES, privileges_page

PAGE = Path(__file__).parents[2] / "docs/reference/privileges.md"


def test_every_method_has_its_row_in_the_order_of_the_tables() -> None:
    """No method is without its privileges."""
    assert list(PRIVILEGES) == list(METHODS)


def test_the_page_is_the_one_of_the_registry() -> None:
    """What the page says of a method is what the code says."""
    assert PAGE.read_text() == privileges_page()
