"""`undolab workflows`: list them, show one, lint all."""

import argparse
import sys
from pathlib import Path

import msgspec
import yaml

from undolab.agents.protocol import TYPES as AGENT_TYPES
from undolab.cli.common import WORKFLOWS, Commands, read_tools, read_workflow
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.model.lint import lint
from undolab.model.load import load_workflows
from undolab.model.published import TYPES, schema_text, type_schema
from undolab.trials.arm import prepare
from undolab.trials.source import require_grammar

SCHEMAS = Path("docs/reference/schemas")


def add_commands(commands: Commands) -> None:
    """Add the subcommand."""
    top = commands.add_parser("workflows", help="list, show or lint the workflows")
    actions = top.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="one line a workflow")
    listing.set_defaults(run=_list)
    show = actions.add_parser("show", help="one workflow as YAML")
    show.add_argument("workflow", help="its id, such as RB-DB-005")
    show.set_defaults(run=_show)
    check = actions.add_parser("lint", help="check that each is solvable and that nothing leaks to the agent")
    check.set_defaults(run=_lint)

    linting = commands.add_parser("lint-workflows", help="the same as `workflows lint`")
    linting.set_defaults(run=_lint)

    schemas = commands.add_parser("schemas", help="maintainers: write the JSON Schemas of every file format")
    schemas.add_argument("--out", type=Path, default=SCHEMAS)
    schemas.set_defaults(run=_schemas)


def _schemas(arguments: argparse.Namespace) -> int:
    for name in TYPES:
        write_bytes(arguments.out / f"{name}.schema.json", schema_text(name).encode())
    for name, kind in AGENT_TYPES.items():
        write_bytes(arguments.out / f"{name}.schema.json", type_schema(kind).encode())
    write_bytes(Path("workflow/schemas/config.schema.json"), schema_text("config").encode())
    print(f"{len(TYPES) + len(AGENT_TYPES)} schemas written to {arguments.out}")
    return 0


def _list(_: argparse.Namespace) -> int:
    for workflow in load_workflows(WORKFLOWS):
        print(
            f"{workflow.id:<13} {workflow.split:<11} {workflow.domain:<10} {len(workflow.plan)} calls  {workflow.name}"
        )
    return 0


def _show(arguments: argparse.Namespace) -> int:
    data = msgspec.to_builtins(read_workflow(arguments.workflow))
    yaml.safe_dump(data, sys.stdout, sort_keys=False, allow_unicode=True, width=110)
    return 0


def _lint(_: argparse.Namespace) -> int:
    tools = read_tools()
    workflows = load_workflows(WORKFLOWS)
    problems = [problem for workflow in workflows for problem in lint(workflow, tools)]
    try:
        require_grammar(prepare(one, tools, prompt="runbook", examples="plain") for one in workflows)
    except UndolabError as error:
        problems.append(str(error))
    for problem in problems:
        print(problem)
    print(f"{len(workflows)} workflows, {len(problems)} problems")
    return 1 if problems else 0
