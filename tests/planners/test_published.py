"""The importer takes rows of the published form, replays them, and names line and field of what is wrong."""

import json

import pytest

from undolab.cli.main import main
from undolab.model.errors import UndolabError
from undolab.planners import published
from undolab.planners.branch import execute, fixture
from undolab.planners.prompt import Call
from undolab.planners.tasks import CONDITIONS, peer_events
from undolab.undo.policies.resource import KINDS

MODEL = "some-model-2025"


def _state(resource):
    if resource is None:
        return None
    return {
        "generation": resource.generation,
        "rev": resource.rev,
        "fields": {name: cell._asdict() for name, cell in resource.fields.items()},
        "credits": dict(resource.credits),
        "grants": dict(resource.grants),
        "component_rev": dict(resource.component),
    }


def _answer(name, *output):
    return {"response": {"id": name, "model": MODEL, "output": list(output)}, "seconds": 1.5, "error": None}


def row(kind="set", condition="clean", seed=0, receipt="effect-0"):
    """Return a row as the published collection writes it, for a model that chose this receipt ("": it escalated)."""
    own = f"effect-{seed}"
    created = "0123456789abcdef" if kind == "create" else ""
    place = fixture(kind, peer_events(kind, condition), own, f"other-{seed}", created)
    name, arguments = (
        ("recover_effect", {"receipt_id": receipt}) if receipt else ("escalate", {"reason": "no"})
    )
    call = Call("recover_effect", receipt) if receipt else Call("escalate", "no")
    ident = f"{MODEL}/{kind}/{condition}/{seed}/0"
    branches = []
    for policy in ("mapped", "undoscope"):
        found = execute(place, call, policy)
        outcome = {
            key: getattr(found, key) for key in ("eligible", "collateral", "recovered", "changed", "status")
        }
        outcome |= {"victim_changed": found.victim_changed, "wrong_receipt_selected": found.wrong_receipt}
        states = {key: _state(getattr(found, key)) for key in ("before", "after", "expected")}
        second = _answer(f"{ident}-{policy}")
        branches.append(
            {
                "policy": policy,
                "tool_result": {"status": found.status},
                "outcome": outcome,
                "second": second,
                **states,
            }
        )
    item = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
    return {
        "id": ident, "model": MODEL, "kind": kind, "condition": condition, "seed": seed, "hardened": False,
        "timestamp_utc": "2026-01-01T00:00:00+00:00", "request": {"model": MODEL},
        "first": _answer(f"{ident}-first", item), "selected": {"name": name, "arguments": arguments},
        "branches": branches,
    }  # fmt: skip


def write(path, *rows):
    path.write_text("".join(json.dumps(one, sort_keys=True) + "\n" for one in rows))
    return path


def test_rows_of_the_published_form_replay_without_a_difference(tmp_path, capsys):
    """Every kind and condition, own, foreign and no receipt: the stored outcomes are ours, and scope alone kept the victim."""
    rows = [row(kind, condition) for kind in KINDS for condition in CONDITIONS]
    rows += [row("set", "injected", 1, "other-1"), row("add", "injected", 2, "")]
    path = write(tmp_path / "models.jsonl", *rows)
    assert main(["undo", "import", str(path)]) == 0
    page = capsys.readouterr().out
    assert "14 rows, 56 branches replayed; 0 differences from the file" in page
    counts = published.counts(published.read(path))
    assert counts[MODEL, "ordinary", "mapped"]["collateral"] == 3
    assert counts[MODEL, "ordinary", "unscoped"]["victim_changed"] == 1
    assert counts[MODEL, "ordinary", "undolab"]["victim_changed"] == 0
    assert counts[MODEL, "ordinary", "undoscope"]["escalated"] == 1


def test_a_stored_result_that_a_replay_does_not_give_is_a_finding(tmp_path, capsys):
    """Outcome, status and state are each compared; the finding names line and field, and the command ends with 1."""
    changed = row("grant", "concurrent")
    changed["branches"][0]["outcome"]["collateral"] = False
    changed["branches"][1]["after"]["grants"] = {}
    path = write(tmp_path / "models.jsonl", row(), changed)
    assert main(["undo", "import", str(path)]) == 1
    page = capsys.readouterr().out
    assert "line 2, /branches/0/outcome/collateral: the row says False, a replay gives True" in page
    assert "line 2, /branches/1/after" in page


def test_a_failed_request_is_a_row_without_a_choice(tmp_path):
    """An error in place of the first answer has no call and no branches."""
    failed = row()
    failed |= {
        "branches": [],
        "first": {"response": None, "seconds": 60.0, "error": {"type": "APITimeoutError"}},
    }
    del failed["selected"]
    (found,) = published.read(write(tmp_path / "models.jsonl", failed))
    assert found.results == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.update(seed="0"), r"line 2, /seed: Expected `int`, got `str`"),
        (lambda one: one["branches"][1]["outcome"].pop("recovered"), r"line 2, /branches/1/outcome: .*`recovered`"),
        (lambda one: one["branches"][0]["after"]["fields"]["note"].update(head=3), r"/branches/0/after/fields/.*/head"),
        (lambda one: one.update(extra=1), r"line 2, /: .*unknown field `extra`"),
        (lambda one: one.update(id="x"), r"line 2, /id: is 'x'"),
        (lambda one: one["branches"].reverse(), r"line 2, /branches: must hold mapped and undoscope"),
        (lambda one: one["selected"].update(name="escalate"), r"line 2, /selected: is not the one call"),
        (lambda one: one["first"]["response"].pop("id"), r"line 2, /first/response/id: is missing"),
        (lambda one: one["first"].update(response=None), r"line 2, /first/response: and error"),
        (lambda one: one["request"].update(model="y"), r"line 2, /request/model"),
        (lambda one: one["branches"][0].update(before=None), r"line 2, /branches/0/before: is null"),
        (lambda one: one["branches"][0]["second"]["response"].update(id=f"{MODEL}/set/clean/0/0-first"),
         r"line 2, /branches/0/second/response/id: .* stands at line 1, /first/response/id already"),
    ],
)  # fmt: skip
def test_a_row_of_another_form_is_named_by_line_and_field(tmp_path, change, message):
    """The first thing wrong is one sentence with file, line and field."""
    bad = row("set", "clean", 1, "effect-1")
    change(bad)
    with pytest.raises(UndolabError, match=message):
        published.read(write(tmp_path / "models.jsonl", row(), bad))


def test_what_is_no_file_of_rows_is_said(tmp_path):
    """A missing file, an empty one and broken JSON are one sentence each."""
    with pytest.raises(UndolabError, match="cannot be read"):
        published.read(tmp_path / "none.jsonl")
    for text, message in (("\n", "holds no row"), ("{\n", "line 1, /: "), ('{"id": 1}\n', "line 1, /")):
        (tmp_path / "models.jsonl").write_text(text)
        with pytest.raises(UndolabError, match=message):
            published.read(tmp_path / "models.jsonl")
