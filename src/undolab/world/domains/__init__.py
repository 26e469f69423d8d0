"""The eight domains: a module each, with its tables and the code of its tools.

What each tool means is written in `docs/reference/tools.md`; this is one of its two implementations.
"""

from undolab.world.domains import cloud, crm, database, git, messaging, payments, storage, ticketing
from undolab.world.schema import Table
from undolab.world.tx import Handler

TABLES: dict[str, tuple[Table, ...]] = {
    "cloud": cloud.TABLES,
    "crm": crm.TABLES,
    "database": database.TABLES,
    "git": git.TABLES,
    "messaging": messaging.TABLES,
    "payments": payments.TABLES,
    "storage": storage.TABLES,
    "ticketing": ticketing.TABLES,
}
"""The tables of each domain; git keeps its own kind of store."""

HANDLERS: dict[str, Handler] = {
    **cloud.HANDLERS,
    **crm.HANDLERS,
    **database.HANDLERS,
    **git.HANDLERS,
    **messaging.HANDLERS,
    **payments.HANDLERS,
    **storage.HANDLERS,
    **ticketing.HANDLERS,
}
"""The code of each tool, by its name."""
