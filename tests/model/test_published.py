from pathlib import Path

import pytest

from undolab.model.published import TYPES, schema_text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(TYPES))
def test_the_published_schema_is_the_one_of_the_type(name: str) -> None:
    """A type that changes takes its published schema along."""
    assert (ROOT / "docs/reference/schemas" / f"{name}.schema.json").read_text() == schema_text(name)


def test_the_schema_that_the_graph_validates_with_is_the_published_one() -> None:
    """The configuration is checked by one schema, wherever it is read."""
    assert (ROOT / "workflow/schemas/config.schema.json").read_text() == schema_text("config")
