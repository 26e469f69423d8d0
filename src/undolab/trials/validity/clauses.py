"""The clauses of the judge, to be dropped one by one: here those of commits and states, from `clauses_log` the others."""
# ruff: noqa: SLF001 - a clause stands where it stands

import sys

import undolab.oracle.judge  # noqa: F401 - the module, which the function of that name hides
from undolab.oracle import effects, order, predicates, undone
from undolab.trials.validity.clause import EFFECTS, STATE, Clause, of
from undolab.trials.validity.clauses_log import LOG_CLAUSES

_VERDICT = frozenset({"verdict"})
_judge = sys.modules["undolab.oracle.judge"]

CLAUSES: tuple[Clause, ...] = (
    *of(
        _VERDICT,
        _judge.judge,
        ("a verdict asks for the state", "passed=not broken and", "passed="),
        ("a verdict asks for the effects", "passed=not broken and effects and", "passed=not broken and"),
        ("a verdict asks for the order", "effects and ordered", "effects"),
    ),
    *of(
        EFFECTS,
        _judge.judge,
        ("missing effects", "found.missing or harmful", "harmful"),
        ("harmful duplicates", "found.missing or harmful or", "found.missing or"),
        ("orphans", "or orphans or forbidden)", "or forbidden)"),
        ("forbidden effects", "or orphans or forbidden)", "or orphans)"),
        ("harmless repeats are no harm", "or orphans or forbidden)", "or orphans or forbidden or harmless)"),
    ),
    *of(
        STATE,
        predicates.predicate_holds,
        ("how many rows there must be", "== int(predicate.value)", "> -1"),
        ("which rows count", "holds(predicate.where, row)", "True"),
        ("rows that must be there, or not", '(row is not None) is (predicate.check == "present")', "True"),
        (
            "rows that must not be there",
            '(row is not None) is (predicate.check == "present")',
            '(row is not None) or predicate.check == "absent"',
        ),
        (
            "a column that is not there equals nothing",
            "predicate.column not in row:\n        return False",
            "predicate.column not in row:\n        return row is not None",
        ),
        ("JSON in a column is parsed", 'predicate.check == "json_equals"', "False"),
        ("columns with a wanted value", "same_value(predicate.value, value)", "True"),
    ),
    *of(
        STATE,
        predicates.failed_predicates,
        ("the goal's state", "not predicate_holds(predicate, state)", "False"),
    ),
    *of(
        EFFECTS,
        order.order_holds,
        ("the order of effects", "first[before] < first[after]", "True"),
        (
            "an order of what never was is not broken",
            "first[before] < first[after] for before, after in pairs if before in first and after in first",
            "first.get(before, 0) < first.get(after, 0) for before, after in pairs",
        ),
    ),
    *of(
        EFFECTS,
        effects.account,
        ("the minimum of an effect", "if count < effect.min", "if count < 0"),
        ("minima before maxima", "(effect.min, effect.max)", "(0, effect.max)"),
        ("the maximum of an effect", "(effect.min, effect.max)", "(effect.min, 99)"),
        ("half calls are not whole", "settled[n] is None and call.attempt not in half", "settled[n] is None"),
    ),
    *of(
        EFFECTS,
        effects._aims,
        ("the tool of an effect", "effect.tool == call.tool and", ""),
        ("the arguments of an effect", " and holds(effect.arguments, call.arguments)", ""),
        (
            "other spellings of JSON",
            "holds(effect.arguments, call.arguments)",
            "all(call.arguments.get(k) == v for k, v in effect.arguments.items())",
        ),
    ),
    *of(
        EFFECTS,
        effects._matches,
        ("the entity of an effect", "for entity in call.entities", "for entity in [effect.entity]"),
        ("patterns of entities", "or fnmatchcase(entity, effect.entity)", ""),
    ),
    *of(EFFECTS, effects._assign, ("calls make room for each other", "or seat(held, tried)", "")),
    *of(
        EFFECTS,
        effects._role,
        ("duplicates change something", "Role.DUPLICATE if call.changed else Role.REPEAT", "Role.DUPLICATE"),
        (
            "duplicates that change something",
            "Role.DUPLICATE if call.changed else Role.REPEAT",
            "Role.REPEAT",
        ),
        ("a method may find nothing to do", 'call.attempt.endswith("m") and not call.changed', "False"),
        ("orphans change something", "Role.ORPHAN if call.changed else Role.IDLE", "Role.ORPHAN"),
        ("orphans that change something", "Role.ORPHAN if call.changed else Role.IDLE", "Role.IDLE"),
    ),
    *of(
        EFFECTS,
        effects._is_forbidden,
        ("the tool of a forbidden effect", "rule.tool == call.tool and", ""),
        (
            "the entity of a forbidden effect",
            "any(fnmatchcase(entity, rule.entity) for entity in call.entities)",
            "True",
        ),
    ),
    *of(
        EFFECTS,
        effects._went_on,
        ("a completed half call is one with the whole", "return Role.COMPLETION", "return Role.DUPLICATE"),
        ("a completion leaves the parts that stood", " and one.kept.issuperset(call.entities)", ""),
        (
            "it leaves the very entities",
            "one.kept.issuperset(call.entities)",
            "len(one.kept) >= len(call.entities)",
        ),
        ("parts done again are a duplicate", "return Role.DUPLICATE", "return Role.COMPLETION"),
        ("a half call that goes nowhere completes none", "one.attempt not in half or one.changed", "True"),
    ),
    *of(
        EFFECTS,
        effects._at_one_thing,
        ("other words are no other thing", "_aims(effect, a) and _aims(effect, b)", "False"),
        ("a completion is of the same thing", "_aims(effect, a) and _aims(effect, b)", "True"),
    ),
    *of(
        EFFECTS,
        effects._halves,
        (
            "a half call beyond the maximum is a duplicate",
            "Role.DUPLICATE if call.changed else Role.REPEAT",
            "Role.HALF",
        ),
        (
            "it is one if it changed something",
            "Role.DUPLICATE if call.changed else Role.REPEAT",
            "Role.DUPLICATE",
        ),
        ("half calls at a forbidden entity", "_is_forbidden(call, forbidden)", "False"),
        (
            "a half call where nothing is missing is an orphan",
            "Role.ORPHAN if call.changed else Role.IDLE",
            "Role.HALF",
        ),
        ("a half call of a missing effect is no orphan", "roles[n] = Role.HALF", "roles[n] = Role.ORPHAN"),
        ("half calls hold places", "held[place] += call.changed", "pass"),
        (
            "a half call of nothing wanted is no half call",
            "if not aimed:",
            "if not aimed and not roles.__setitem__(n, Role.HALF):",
        ),
    ),
    *of(
        EFFECTS,
        undone.taken_back,
        ("what a method took back is gone", "undone[row.attempt] = found.attempt", "pass"),
        ("each commit is taken back once", "earlier.remove(found)", "pass"),
        ("the newest is taken back first", "reversed(earlier)", "earlier"),
        ("only methods take back", 'if row.attempt.endswith("m"):', "if True:"),
    ),
    *of(
        EFFECTS,
        undone._undoes,
        ("the tool of an undo", " or inverse.tool != undo.tool", ""),
        ("the arguments of an undo", "not same_value(wanted, undo.arguments.get(name))", "False"),
    ),
    *of(
        EFFECTS,
        undone.half_done,
        ("half calls", "if event.parts and event.effects", "if False"),
        ("a running call is no half call", "event.parts and event.effects", "event.parts is not None"),
    ),
    *LOG_CLAUSES,
)
