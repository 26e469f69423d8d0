"""What each method may see and do, and what survives the death of its process; docs/reference/privileges.md is made from it."""

import msgspec

from undolab.recovery.backoff import LANGGRAPH, STANDARD
from undolab.recovery.registry import METHODS


class Privileges(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    sees: str
    """What it knows besides the call and its answer."""
    sends: str
    """What it puts on the wire that the agent did not ask for."""
    needs: str
    """What it needs of the services."""
    survives: str
    """What it still has after its process died."""


_NOTHING = "nothing"
_READERS = "the public readers that the tools' specs name"

PRIVILEGES: dict[str, Privileges] = {
    "none": Privileges(sees=_NOTHING, sends=_NOTHING, needs=_NOTHING, survives=_NOTHING),
    "B0": Privileges(sees=_NOTHING, sends="the same request again", needs=_NOTHING, survives=_NOTHING),
    "B1": Privileges(
        sees="its own checkpoint",
        sends="the same request again",
        needs=_NOTHING,
        survives="the answers of all calls before its last checkpoint; not that of the call it died at",
    ),
    "B2": Privileges(
        sees="which tools declare a key",
        sends="the same request again, with one key",
        needs="keys honoured where the tool declares it",
        survives="the key: it follows from task, run, step, tool and arguments",
    ),
    "B2-K": Privileges(
        sees="which tools declare a key",
        sends="the same request again, with one key",
        needs="keys honoured by every tool that writes",
        survives="the key: it follows from task, run, step, tool and arguments",
    ),
    "B3": Privileges(
        sees="the tools' inverses, and " + _READERS + " where an inverse names what was there before",
        sends="the same request again; reads before such writes; undo calls, also of tools that the agent may not call",
        needs="public undo tools",
        survives=_NOTHING,
    ),
    "B4": Privileges(sees=_NOTHING, sends="the same request again", needs=_NOTHING, survives=_NOTHING),
    "B5": Privileges(
        sees="its own journal",
        sends="the same request again",
        needs=_NOTHING,
        survives="the journal: which writes were sent, and the answers that came",
    ),
    "B6": Privileges(
        sees=_READERS,
        sends="a read before each write, reads after a lost answer, the same request again",
        needs="public readers",
        survives=_NOTHING,
    ),
    "B7": Privileges(
        sees=_READERS + ", the tools' inverses and parts, and its own receipts",
        sends="what B6 sends; undo calls, also of tools that the agent may not call",
        needs="public readers and undo tools",
        survives="its undo store: a receipt of every write before it was sent, what the reader showed then, the answer that came "
        "and what became of the write",
    ),
}


def privileges_page() -> str:
    """Return `docs/reference/privileges.md`."""
    backoff = STANDARD.backoff
    budget = (
        f"Every method that retries makes at most {STANDARD.attempts} attempts at a call. Before each further one it waits "
        f"{backoff.first_ms / 1000:g} s, {backoff.wait_ms(3) / 1000:g} s, … of virtual time; B4 waits "
        f"{LANGGRAPH.first_ms / 1000:g} s, {LANGGRAPH.wait_ms(3) / 1000:g} s, …, and that is all it differs from B0 in."
    )
    lines = [
        "# Methods: what each may see, send and keep",
        "",
        "Made from `src/undolab/recovery/privileges.py`; a test holds the two together.",
        "",
        budget,
        "No method sees the world's rows, its ledger, the wire log, the fault schedule or the task's goal.",
        "",
        "| method | what it does | sees | sends besides the agent's call | needs of the services | survives a process death |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {code} | {does} | {row.sees} | {row.sends} | {row.needs} | {row.survives} |"
        for code, does in METHODS.items()
        for row in [PRIVILEGES[code]]
    ]
    return "\n".join(lines) + "\n"
