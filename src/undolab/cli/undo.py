"""`undolab undo`: make a store, say who may recover what, serve it to an agent over MCP, check its audit."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from undolab.cli.common import Commands
from undolab.cli.undo_histories import add_histories
from undolab.cli.undo_models import add_models
from undolab.cli.undo_scenes import add_demo
from undolab.cli.undo_study import add_study
from undolab.model.errors import UndolabError
from undolab.undo import database
from undolab.undo.database import failures
from undolab.undo.store import Store
from undolab.undo.types import Context


def add_commands(commands: Commands) -> None:
    """Add the subcommand and its own subcommands."""
    undo = commands.add_parser("undo", help="the undo layer: make, serve and check a store")
    parts = undo.add_subparsers(title="commands", metavar="COMMAND", required=True)

    init = parts.add_parser("init", help="make an empty store")
    init.set_defaults(run=_init)

    permit = parts.add_parser("permit", help="say what a principal may recover")
    permit.add_argument("rule", choices=("allow", "approve", "deny"))
    permit.add_argument("--tenant", required=True)
    permit.add_argument("--principal", required=True)
    permit.add_argument("--kind", default="*", help="one kind of effect (default: any)")
    permit.add_argument("--resource", default="*", help="one resource (default: any)")
    permit.set_defaults(run=_permit)

    serve = parts.add_parser("serve", help="serve one run's recovery to an agent, MCP over stdin and stdout")
    serve.add_argument("--tenant", required=True)
    serve.add_argument("--principal", required=True)
    serve.add_argument("--run", required=True, dest="run_name", metavar="RUN")
    serve.set_defaults(run=_serve)

    audit = parts.add_parser("audit", help="check the audit's chain and print its head")
    audit.add_argument(
        "--head", help="a head printed earlier and kept elsewhere; it must still be in the chain"
    )
    audit.set_defaults(run=_audit)

    for part_parser in (init, permit, serve, audit):
        part_parser.add_argument(
            "--database",
            required=True,
            metavar="FILE|URL",
            help="a file, or postgresql://USER@HOST:PORT/DATABASE with the password elsewhere (~/.pgpass, PGPASSWORD)",
        )
    add_histories(parts)
    add_demo(parts)
    add_models(parts)
    add_study(parts)


def _init(arguments: argparse.Namespace) -> int:
    database.create(arguments.database)
    return 0


def _permit(arguments: argparse.Namespace) -> int:
    with _opened(arguments) as store:
        store.permit(
            arguments.tenant,
            arguments.principal,
            arguments.rule,
            kind=arguments.kind,
            resource=arguments.resource,
        )
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    try:
        from undolab.undo.server import serve
    except ModuleNotFoundError as error:
        raise UndolabError(f"{error.name} is not installed; install undolab with its dependencies") from error
    with _opened(arguments) as store:
        serve(store, Context(arguments.tenant, arguments.principal, arguments.run_name))
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    with _opened(arguments) as store:
        found = store.audit_problems(arguments.head)
        last = store.audit_head()
    for problem in found:
        print(problem)
    print(f"head {last}")
    return 1 if found else 0


@contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[Store]:
    """Yield the store, and tell what its database says where it fails (no rights, a damaged page, a full disk, a lock)."""
    store = Store.open(arguments.database)
    try:
        yield store
    except failures() as error:
        raise UndolabError(
            f"the store's database failed: {str(error).strip()}; mend that, and give the command again"
        ) from error
    finally:
        store.close()
