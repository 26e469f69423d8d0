"""The table of the published tests names tests that exist, and all sixteen of them."""

import re
from pathlib import Path

_HERE = Path(__file__).parent
_PAGE = (_HERE.parents[1] / "docs/reference/undo-tests.md").read_text()
_PUBLISHED = """clean_and_retry same_value_and_aba_are_conflicts scope_is_trusted_context revocation_and_expiry
counter_business_invariant same_member_independent_grant_preserved lifo_register_provenance_chain
missing_and_malformed_receipts incarnation_even_when_revision_repeats persistent_concurrent_duplicates
real_process_exit_atomicity peer_write_cannot_enter_check_use_gap register_independent_last_writer_oracle
counter_independent_arithmetic_oracle grant_independent_tag_oracle real_mcp_transport""".split()


def test_every_published_test_has_a_row():
    """The first column is the sixteen published functions, and no row is without a test of ours."""
    rows = re.findall(r"^\| (test_\w+) \| (.+?) \|", _PAGE, re.MULTILINE)
    assert [name for name, _ in rows] == [f"test_{name}" for name in _PUBLISHED]
    assert all("::" in ours for _, ours in rows)


def test_every_named_test_exists():
    """Each `file::function` is a test in that file, and each file alone is there."""
    for file, function in re.findall(r"(test_\w+\.py)::(test_\w+)", _PAGE):
        assert re.search(rf"^(async )?def {function}\(", (_HERE / file).read_text(), re.MULTILINE), function
    for file in re.findall(r"`(test_\w+\.py)`", _PAGE):
        assert (_HERE / file).is_file(), file
