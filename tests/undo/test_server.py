"""The MCP server over a real stdio exchange: what an agent can list, preview and take back, and what it cannot."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.undo.conftest import ME, PEER, add, create, grant, only_sqlite, put

from undolab.undo.store import Store

COMMAND = [sys.executable, "-c", "from undolab.cli import main; raise SystemExit(main())", "undo"]


def serve(path: Path | str) -> list[str]:
    whose = ["--tenant", ME.tenant, "--principal", ME.principal, "--run", ME.run]
    return [*COMMAND, "serve", "--database", str(path), *whose]


def talk(words: list[str], *calls: tuple[str, dict[str, Any]], mode: Any = "auto") -> list[Any]:
    """Return the server's tools and then its result of each call, over a pipe to a process of its own."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def main(log: TextIO) -> list[Any]:
        command, *args = words
        parameters = StdioServerParameters(command=command, args=args, env=_environment())
        # The default log is the standard error of whoever imported the client first, which pytest may have replaced.
        async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
            return [(await client.list_tools()).tools, *[await client.call_tool(*call) for call in calls]]

    with tempfile.TemporaryFile("w") as log:
        return asyncio.run(main(log))


def _environment() -> dict[str, str]:
    return {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}


@only_sqlite
def test_the_tools_say_what_they_do(database: Path) -> None:
    """Four tools; whose run it is is no argument of any; hints are true and every result has a schema."""
    tools = {tool.name: tool for tool in talk(serve(database))[0]}
    assert sorted(tools) == ["list_effects", "preview_recovery", "recover_effect", "recover_run"]
    assert {name: sorted(tool.input_schema.get("properties", {})) for name, tool in tools.items()} == {
        "list_effects": [],
        "preview_recovery": ["receipt_id"],
        "recover_effect": ["receipt_id"],
        "recover_run": ["dry_run"],
    }
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {
        "list_effects",
        "preview_recovery",
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {
        "recover_effect",
        "recover_run",
    }
    assert {name for name, hint in hints.items() if not hint.idempotent_hint} == {"recover_run"}
    assert not any(hint.open_world_hint for hint in hints.values())
    assert all(tool.output_schema for tool in tools.values())
    for name in ("preview_recovery", "recover_effect"):
        outcomes = tools[name].output_schema["properties"]["outcome"]["enum"]
        assert outcomes == ["compensated", "already_absent", "superseded", "refused"]


def test_one_effect_and_then_the_run(database: Path | str, store: Store) -> None:
    """Preview, recover, repeat, another's receipt, the list, the dry run and the run, all as structured results."""
    mine = store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", grant("contractor"))
    theirs = store.forward(ME._replace(run="run-2"), add(4))
    store.forward(ME, create("folder"))
    store.forward(ME, put("status", "closed", "folder"))
    one: dict[str, Any] = {"receipt_id": mine.id}
    results = talk(
        serve(database),
        ("preview_recovery", one),
        ("recover_effect", one),
        ("recover_effect", one),
        ("recover_effect", {"receipt_id": theirs.id}),
        ("recover_effect", {"receipt_id": "x" * 5_000}),
        ("list_effects", {}),
        ("recover_run", {"dry_run": True}),
        ("recover_run", {}),
    )[1:]
    assert not any(result.is_error for result in results)
    preview, first, again, foreign, long, listed, dry, run = [result.structured_content for result in results]
    assert preview == first == {**one, "outcome": "compensated", "repeated": False}
    assert again == {**one, "outcome": "compensated", "repeated": True}
    for answer in (foreign, long):
        assert (answer["outcome"], answer["repeated"], sorted(answer)) == ("refused", False, sorted(first))
    assert [(item["kind"], item["state"]) for item in listed["effects"]] == [
        ("set", "live"),
        ("create", "live"),
        ("grant", "compensated"),
    ]
    assert listed["more"] is False
    assert [(item["kind"], item["outcome"]) for item in run["effects"]] == [
        ("set", "compensated"),
        ("create", "compensated"),
    ]
    assert (dry["effects"], dry["dry_run"], run["dry_run"], run["stands"]) == (
        run["effects"],
        True,
        False,
        [],
    )
    assert store.show("acme", "ticket")["members"] == ["contractor"]
    assert store.show("acme", "ticket")["balance"] == 14


@only_sqlite
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_both_generations_of_the_protocol_are_spoken(database: Path, store: Store, mode: str) -> None:
    """A client that shakes hands and one that does not get the same answers."""
    receipt = store.forward(ME, add(4))
    tools, answer = talk(serve(database), ("recover_effect", {"receipt_id": receipt.id}), mode=mode)
    assert len(tools) == 4
    assert answer.structured_content == {
        "receipt_id": receipt.id,
        "outcome": "compensated",
        "repeated": False,
    }


@only_sqlite
def test_a_context_cannot_be_smuggled_in(database: Path, store: Store) -> None:
    """Extra arguments that name a tenant, principal or run do not change whose run it is."""
    theirs = store.forward(ME._replace(run="run-2"), add(4))
    smuggled = {
        "receipt_id": theirs.id,
        "run": "run-2",
        "context": ["acme", "agent", "run-2"],
        "tenant": "acme",
    }
    result = talk(serve(database), ("recover_effect", smuggled))[1]
    assert result.is_error or result.structured_content["outcome"] == "refused"
    assert store.show("acme", "ticket")["balance"] == 14


@only_sqlite
def test_a_locked_database_does_not_stop_the_server(database: Path, store: Store) -> None:
    """While a recovery waits for the lock in its thread, a list is answered."""
    from mcp import Client

    from undolab.undo.server import server

    receipt = store.forward(ME, add(4))
    other = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    stores = [Store.open(database), Store.open(database)]

    async def main() -> list[str]:
        order: list[str] = []
        async with Client(server(stores[0], ME)) as waiting, Client(server(stores[1], ME)) as looking:

            async def recover() -> None:
                await waiting.call_tool("recover_effect", {"receipt_id": receipt.id})
                order.append("recover")

            task = asyncio.create_task(recover())
            await asyncio.sleep(0.2)
            await looking.call_tool("list_effects", {})
            order.append("list")
            other.execute("ROLLBACK")
            await task
        return order

    assert asyncio.run(main()) == ["list", "recover"]
    for one in (*stores, other):
        one.close()


def test_a_missing_database_is_an_error_and_stays_missing(tmp_path: Path) -> None:
    """A mistyped path ends the server with a sentence and code 2; no file is made."""
    done = subprocess.run(serve(tmp_path / "typo.db"), capture_output=True, text=True, check=False, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert "typo.db is not a file; make a store first" in done.stderr
    assert list(tmp_path.iterdir()) == []


async def _one_by_one(store: Store, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    from mcp import Client

    from undolab.undo.server import server

    async with Client(server(store, ME)) as client:
        return [await client.call_tool(*call) for call in calls]


@only_sqlite
@pytest.mark.parametrize(
    "call",
    [
        ("recover_run", {"dryRun": True}),
        ("recover_run", {"dry-run": True}),
        ("recover_run", {"dry_run": True, "run": "run-2"}),
        ("recover_run", {"dry_run": None}),
        ("recover_run", {"dry_run": "perhaps"}),
        ("recover_run", {"dry_run": []}),
        ("recover_effect", {}),
        ("recover_effect", {"receipt_id": None}),
        ("recover_effect", {"receipt_id": ["one", "two"]}),
        ("recover_effect", {"id": "one"}),
        ("list_effects", {"all": True}),
    ],
    ids=str,
)
def test_an_argument_that_is_not_the_tools_stops_the_call(
    store: Store, call: tuple[str, dict[str, Any]]
) -> None:
    """Above all a mistyped `dry_run`, which left out would take the whole run back; the schema says so too."""
    store.forward(ME, add(4))
    head = store.audit_head()
    (result,) = asyncio.run(_one_by_one(store, call))
    assert result.is_error
    assert store.audit_head() == head


@only_sqlite
def test_every_tool_answers_in_this_process_too(store: Store) -> None:
    """The four tools over an in-memory client, the word true for the truth included."""
    receipt = store.forward(ME, add(4))
    store.forward(ME, add(1))
    results = asyncio.run(
        _one_by_one(
            store,
            ("preview_recovery", {"receipt_id": receipt.id}),
            ("recover_run", {"dry_run": "true"}),
            ("recover_effect", {"receipt_id": receipt.id}),
            ("recover_run", {}),
            ("list_effects", {}),
        )
    )
    assert [result.is_error for result in results] == [False] * 5
    assert results[1].structured_content["dry_run"] is True
    assert results[3].structured_content["stands"] == []
    assert {item["state"] for item in results[4].structured_content["effects"]} == {"compensated"}


@only_sqlite
def test_calls_at_once_on_one_server_do_it_once(store: Store) -> None:
    """Thirty calls in flight together: one takes the effect back, and every other hears of it."""
    from mcp import Client

    from undolab.undo.server import server

    receipt = store.forward(ME, add(4))

    async def main() -> list[Any]:
        async with Client(server(store, ME)) as client:
            calls = [client.call_tool("recover_effect", {"receipt_id": receipt.id}) for _ in range(20)]
            return await asyncio.gather(*calls, *[client.call_tool("recover_run", {}) for _ in range(10)])

    results = asyncio.run(main())
    assert not any(result.is_error for result in results)
    entries = [
        entry for entry in store.audit_entries() if entry.outcome == "compensated" and not entry.reason
    ]
    assert len(entries) == 1
    assert store.show("acme", "ticket")["balance"] == 10
    assert store.audit_problems() == []


@only_sqlite
def test_a_call_given_up_leaves_the_effect_whole_or_gone(database: Path, store: Store) -> None:
    """A client that stops waiting for a recovery hears the truth when it asks again."""
    from mcp import Client

    from undolab.undo.server import server

    receipt = store.forward(ME, add(4))
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def main() -> Any:
        async with Client(server(store, ME)) as client:
            waiting = asyncio.create_task(client.call_tool("recover_effect", {"receipt_id": receipt.id}))
            await asyncio.sleep(0.1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            other.execute("ROLLBACK")
            return await client.call_tool("recover_effect", {"receipt_id": receipt.id})

    answer = asyncio.run(main()).structured_content
    other.close()
    assert answer["outcome"] == "compensated"
    done = [entry.reason for entry in store.audit_entries() if entry.action == "recover"]
    assert done == ([""] if not answer["repeated"] else ["", "repeated"])
    assert store.show("acme", "ticket")["balance"] == 10


@only_sqlite
def test_junk_on_the_line_does_not_end_the_server(database: Path, store: Store) -> None:
    """Broken JSON, half a surrogate, an unknown tool and method: the next good call is answered."""
    receipt = store.forward(ME, add(4))
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "junk", "version": "0"},
    }
    call = {"name": "recover_effect", "arguments": {"receipt_id": receipt.id}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "{",
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recover_effect","arguments":{"receipt_id":"\\ud800"}}}',
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "drop_tables", "arguments": {}},
        },
        {"jsonrpc": "2.0", "id": 4, "method": "no/such"},
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {**call, "arguments": [receipt.id]}},
        {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        serve(database), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for line in lines:
            process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        process.stdin.flush()
        answers: dict[object, Any] = {}
        while 6 not in answers:
            answer = json.loads(process.stdout.readline())
            answers[answer.get("id")] = answer
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert answers[6]["result"]["structuredContent"]["outcome"] == "compensated"
    for number in (3, 4, 5):
        assert "error" in answers[number] or answers[number]["result"]["isError"]
    assert store.show("acme", "ticket")["balance"] == 10
