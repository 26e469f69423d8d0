"""The clauses of the judge that read the log, to be dropped one by one: exposure, report, re-sends, class of failure."""
# ruff: noqa: SLF001 - a clause stands where it stands

from undolab.oracle import exposure, failure, resend, truth
from undolab.trials.validity.clause import Clause, of

_EXPOSURE = frozenset({"exposure"})
_REPORT = frozenset({"report"})
_CLASS = frozenset({"class"})
_RESENDS = frozenset({"resends", "resend count"})

LOG_CLAUSES: tuple[Clause, ...] = (
    *of(
        _EXPOSURE,
        exposure.exposure,
        ("a fault that nobody scheduled", "if log.faults or log.world else", "if log.world else"),
        (
            "no fault",
            "Exposure.INVALID_INJECTION if log.faults or log.world else Exposure.NO_FAULT",
            "Exposure.INVALID_INJECTION",
        ),
        ("a fault that another keeps away", "plan.follows and", "False and"),
        ("of several faults the worst", "next(kind for kind in _WORST_FIRST if kind in kinds)", "kinds[0]"),
    ),
    *of(
        _EXPOSURE,
        exposure.target,
        ("the arguments of a target", "and holds(plan.match, event.arguments)", ""),
        ("which call is the target", "met == plan.nth", "met >= 1"),
    ),
    *of(
        _EXPOSURE,
        exposure._may_be_target,
        (
            "calls of methods are no targets",
            'event.origin == "agent" and event.attempt.endswith(".1")',
            'event.attempt.rstrip("m").endswith(".1")',
        ),
        ("retries are no targets", ' and event.attempt.endswith(".1")', ""),
        ("undo calls are targets", 'event.origin == "method"', 'event.origin == "agent"'),
    ),
    *of(
        _EXPOSURE,
        exposure._one,
        (
            "a fault can be missed",
            "return Exposure.NOT_EXPOSED\n    if aimed is None or",
            "return Exposure.WITNESSED\n    if aimed is None or",
        ),
        ("the target was struck, and only it", "aimed is None or injected != [aimed]", "aimed is None"),
        ("a witness for each fault", "if witnessed(log, index, aimed, committed):", "if True:"),
        (
            "a target refused was not there to strike",
            "aimed not in committed and _refused(log, index, plan, aimed)",
            "False",
        ),
        ("an injector's word is no refusal", " and _refused(log, index, plan, aimed)", ""),
    ),
    *of(
        _EXPOSURE,
        exposure.witnessed,
        (
            "a lost answer was not heard",
            "end.phase is Phase.UNKNOWN and not end.acknowledged_to_agent",
            "end.phase is Phase.UNKNOWN",
        ),
        (
            "an answer was heard",
            "end.phase is not Phase.UNKNOWN and end.acknowledged_to_agent",
            "end.phase is not Phase.UNKNOWN",
        ),
        ("the ledger has the struck call", "in_ledger = aimed in committed", "in_ledger = True"),
        ("the wire has the commit", "in_ledger and end.committed_externally and", "in_ledger and"),
        ("the wire has the effects", " and bool(end.effects)", ""),
        ("nothing was committed", "nothing = not end.committed_externally and", "nothing ="),
        ("nothing had effects", "not end.effects and end.output is None\n", "end.output is None\n"),
        ("nothing had an output", "not end.effects and end.output is None\n", "not end.effects\n"),
        ("a lost answer is that of a whole call", "lost and stands and end.parts is None", "lost and stands"),
        ("as many parts as planned", "end.parts == plan.parts and", ""),
        (
            "a half call has no output",
            "end.parts == plan.parts and end.output is None",
            "end.parts == plan.parts",
        ),
        ("late is after", "_did(other) and other[0].seq > end.seq", "_did(other)"),
        ("a running call had no parts yet", "end.parts == 0 and", ""),
        ("it ended after", "bool(other) and other[0].seq > end.seq", "bool(other)"),
        ("the ledger has somebody else's call", " and other[0].attempt in committed", ""),
        ("a second delivery", "heard and stands and len(other) == 1", "heard and stands"),
        ("a resumed process", "heard and stands and _resumed(log, end, plan.boundary)", "heard and stands"),
        ("how a step is refused", " and end.output == REFUSED", ""),
    ),
    *of(
        _EXPOSURE,
        exposure._resumed,
        ("a resumed process counts", "next_.resume != last.resume + 1", "False"),
        ("one that was told goes on", "next_.turn == last.turn + 1", "True"),
        ("one that was not told does its turn again", "next_.turn == last.turn and", ""),
        ("it knows its checkpoint", " and next_.seen == last.seen", ""),
    ),
    *of(
        _REPORT,
        truth.truthful,
        ("done is true of the goal's state", "return state\n", "return True\n"),
        ("not done is true of its absence", "return not state", "return True"),
        ("unknown is true of a loss", "return _left_unknown(log, tools) or _interrupted(log)", "return True"),
        (
            "unknown is an honest report",
            "return _left_unknown(log, tools) or _interrupted(log)",
            "return False",
        ),
        ("a death that was told is a loss", " or _interrupted(log)", ""),
        ("no report is no truth", "return False", "return True"),
    ),
    *of(
        _REPORT,
        truth._left_unknown,
        ("a lost read is no loss", "elif event.op_type is not Op.READ:", "else:"),
        ("a loss that was answered is none", "last[call] = event", 'last[event.attempt + "."] = event'),
        (
            "a loss that was read back is none",
            "and not _adopted(end, tools, before.get(call), after.get(call))",
            "",
        ),
        ("what was read before", "before.get(call)", "None"),
    ),
    *of(_REPORT, truth._adopted, ("a read shows what it shows", "shown is Seen.PRESENT", "True")),
    *of(
        _REPORT, truth._interrupted, ("a death that was not told is none", " and later.turn > turn.turn", "")
    ),
    *of(
        _RESENDS,
        resend.unsafe_resends,
        ("unsafe re-sends", "unsafe += _is_unsafe", "unsafe -= 0 * _is_unsafe"),
        ("reads clear up", "intent.lost.clear()", "pass"),
        ("a lost read clears nothing up", "if event.phase in (Phase.OK, Phase.FAIL):", "if True:"),
        ("an error of a reader clears up", "(Phase.OK, Phase.FAIL)", "(Phase.OK,)"),
    ),
    *of(
        _RESENDS,
        resend._is_unsafe,
        ("as many as the task wants", "intent.done + len(intent.lost) < intent.wanted", "False"),
        ("keys", "not keyed or key is None or key != lost", "True"),
        ("the key of the lost attempt", " or key != lost", ""),
        ("keys that a tool honours", "not keyed or", ""),
    ),
    *of(
        _RESENDS,
        resend._close,
        ("an answer clears up", "    intent.lost.clear()\n", "    pass\n"),
        ("a lost attempt", "intent.lost.append(event.key)", "pass"),
    ),
    *of(
        _RESENDS,
        resend._intent,
        ("other words are the same thing", "holds(one.arguments, event.arguments)", "False"),
    ),
    *of(
        _RESENDS,
        resend._Intent.covers,
        (
            "other things are other things",
            "return self.tool == tool and same_value(self.arguments, arguments)",
            "return True",
        ),
        ("one effect is one thing", "return self.effect is effect", "return True"),
    ),
    *of(
        _CLASS,
        failure.failure,
        ("a fault without a witness comes first", "exposed is Exposure.INVALID_INJECTION", "False"),
        ("the class of forbidden effects", "Role.FORBIDDEN in found.roles", "False"),
        ("the class of duplicates", "Role.DUPLICATE in found.roles", "False"),
        ("the class of orphans", "Role.ORPHAN in found.roles", "False"),
        (
            "the class of orders",
            "(FailureClass.ORDER_VIOLATION, not order)",
            "(FailureClass.ORDER_VIOLATION, False)",
        ),
        (
            "an agent that recovers is not failed",
            "bool(found.missing) and _agent_broke(log)",
            "_agent_broke(log)",
        ),
        (
            "who abstains with all done is not failed",
            "bool(found.missing) and _abstained(log)",
            "_abstained(log)",
        ),
        (
            "the class of missing effects",
            "(FailureClass.MISSING_EFFECT, bool(found.missing))",
            "(FailureClass.MISSING_EFFECT, False)",
        ),
        ("the class of states", "not state)", "False)"),
    ),
    *of(
        _CLASS,
        failure._agent_broke,
        ("a turn limit is the agent's failure", '("agent_failure", "turn_limit")', '("agent_failure",)'),
        ("no call is the agent's failure", '("agent_failure", "turn_limit")', '("turn_limit",)'),
        (
            "broken output is the agent's failure",
            "turn.error for turn in log.turns",
            "False for turn in log.turns",
        ),
    ),
    *of(
        _CLASS,
        failure._abstained,
        ("not done abstains", "(FinalReport.NOT_DONE, FinalReport.UNKNOWN)", "(FinalReport.UNKNOWN,)"),
        ("unknown abstains", "(FinalReport.NOT_DONE, FinalReport.UNKNOWN)", "(FinalReport.NOT_DONE,)"),
    ),
)
