"""The search for a serial order: it finds one where there is one, and none where there is none."""

from undolab.undo.study.mixture import mixture
from undolab.undo.study.model import Model
from undolab.undo.study.requests import EFFECTS, ME, NOW, PEER, Op, opening
from undolab.undo.study.serial import Done, explain

ADD = EFFECTS["add"]
UNDO = Op("recover", ident="e-add")
LOOK = Op("show", name="ticket")
DEBIT = Op("peer", PEER, "p-1", "add", "ticket", {"delta": -12})


def begun() -> Model:
    model = Model()
    for op in opening():
        model.perform(op)
    return model


def shown(*ops: Op) -> str:
    model = begun()
    for op in ops:
        model.perform(op)
    return model.perform(LOOK).answer


def done(op: Op, answer: str | None, start: int, end: int = 2**63) -> Done:
    return Done(op, answer, start, end)


MADE = "receipt e-add add g-ticket -"


def test_requests_one_after_another_are_their_own_order() -> None:
    """Nothing overlaps, so the order is that of time."""
    history = [done(ADD, MADE, 0, 1), done(LOOK, shown(ADD), 2, 3), done(UNDO, "compensated", 4, 5)]
    found = explain(begun(), history, None)
    assert found is not None
    assert found.numbers == [0, 1, 2]


def test_what_was_answered_first_comes_first() -> None:
    """A read that began after the effect was answered may not show the state without it."""
    assert explain(begun(), [done(ADD, MADE, 0, 1), done(LOOK, shown(), 2, 3)], None) is None
    assert explain(begun(), [done(ADD, MADE, 0, 9), done(LOOK, shown(), 2, 3)], None) is not None


def test_two_cannot_both_have_taken_it_back() -> None:
    """At the same time or not, one of two recoveries is a repeat."""
    first = done(ADD, MADE, 0, 1)
    twice = [first, done(UNDO, "compensated", 2, 9), done(UNDO, "compensated", 2, 9)]
    assert explain(begun(), twice, None) is None
    once = [first, done(UNDO, "compensated", 2, 9), done(UNDO, "compensated repeated", 2, 9)]
    assert explain(begun(), once, None) is not None


def test_an_overdrawn_balance_has_no_order() -> None:
    """A debit that only the effect covers cannot have been accepted beside its recovery."""
    history = [done(ADD, MADE, 0, 1), done(UNDO, "compensated", 2, 9), done(DEBIT, "done", 2, 9)]
    assert explain(begun(), history, None) is None
    history[2] = done(DEBIT, "rejected invariant", 2, 9)
    assert explain(begun(), history, None) is not None


def test_a_killed_request_may_have_happened_or_not() -> None:
    """Whatever is seen afterwards decides; both are explained."""
    for seen in (shown(ADD), shown()):
        history = [done(ADD, None, 0), done(LOOK, seen, 5, 6)]
        assert explain(begun(), history, None) is not None
    assert explain(begun(), [done(ADD, None, 0), done(LOOK, "0", 5, 6)], None) is None


def test_the_audit_must_be_yielded_whole_and_in_order() -> None:
    """A row too many, too few or in another order has no explanation."""
    model = begun()
    rows = [row for op in (ADD, UNDO) for row in model.perform(op).audit]
    history = [done(ADD, MADE, 0, 9), done(UNDO, "compensated", 0, 9)]
    assert explain(begun(), history, rows) is not None
    assert explain(begun(), history, rows[:1]) is None
    assert explain(begun(), history, [*rows, rows[0]]) is None
    assert explain(begun(), history, rows[::-1]) is None


def test_a_recovery_that_asked_too_early_may_be_refused() -> None:
    """Only where the rule came while it ran: alone, the approver's yes counts."""
    ask = Op("permit", ME, kind="*", name="*", args={"rule": "approve"})
    early = [done(ADD, MADE, 0, 1), done(UNDO, "refused", 2, 9), done(ask, "done", 3, 4)]
    assert explain(begun(), early, None) is not None
    late = [done(ADD, MADE, 0, 1), done(ask, "done", 2, 3), done(UNDO, "refused", 4, 9)]
    assert explain(begun(), late, None) is None


def test_with_and_without_the_audit_the_same_histories_pass() -> None:
    """On random serial histories whose times are blurred, both searches find an order; with one wrong answer neither does."""
    for seed in range(12):
        model, history, rows = Model(), [], []
        for at, op in enumerate(mixture(seed, 10)):
            reply = model.perform(op)
            rows += reply.audit
            history.append(done(op, reply.answer, at * 10, at * 10 + (25 if at % 3 else 5)))
        assert explain(Model(), history, rows) is not None
        assert explain(Model(), history, None) is not None
        wrong = next(at for at, item in enumerate(history) if item.op.do == "forward")
        history[wrong] = history[wrong]._replace(answer="receipt of another effect")
        assert explain(Model(), history, rows) is None
        assert explain(Model(), history, None) is None


def test_a_copy_of_the_model_is_its_own() -> None:
    """The search goes back to earlier states, which later requests must not have changed."""
    model = begun()
    before = model.fingerprint()
    copy = model.copy()
    copy.perform(ADD._replace(at=NOW + 5))
    copy.perform(DEBIT)
    assert model.fingerprint() == before != copy.fingerprint()
