"""What only PostgreSQL can get wrong: the translation, its locks, its URLs, its going away."""

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.undo.cluster import Cluster
from tests.undo.conftest import EACH, ME, PEER, Clock, add, empty, grant, only_postgres, put

from undolab.cli import main
from undolab.model.errors import UndolabError
from undolab.undo import database as databases
from undolab.undo.postgres import Server, tables
from undolab.undo.store import Answer, Store
from undolab.undo.types import Effect, Outcome, Rejected


@pytest.fixture
def fresh(cluster: Cluster) -> Iterator[str]:
    """The URL of a database without a store."""
    with cluster.link() as link:
        link.execute("CREATE DATABASE fresh")
        yield cluster.url.replace("/undo?", "/fresh?")
        link.execute("DROP DATABASE fresh WITH (FORCE)")


def test_both_back_ends_write_the_same_chain(cluster: Cluster, tmp_path: Path) -> None:
    """The same requests at the same times give the same audit, digest by digest, and show the same."""
    databases.create(tmp_path / "undo.db")
    found = []
    for target in (tmp_path / "undo.db", empty(cluster)):
        clock = Clock()
        store = Store.open(target, clock=clock)
        store.permit("acme", "agent", "allow")
        for name in ("ticket", "till"):
            store.seed(
                "acme",
                name,
                {"fields": {"status": "ä", "note": "Z"}, "opening": 9, "limit": 9},
                generation=name,
            )
        for number, effect in enumerate(EACH):
            clock.now += 7
            store.forward(ME, effect, effect_id=f"e{number}", generation=f"g{number}")
        store.peer(PEER, "1", put("note", "theirs"))
        with pytest.raises(Rejected):
            store.peer(PEER, "2", add(-100))
        store.recover(ME, "nobody's")
        store.recover_run(ME)
        found.append(
            (store.audit_entries(), store.show("acme", "ticket"), store.effects(ME), store.audit_problems())
        )
        store.close()
    assert found[0] == found[1]
    assert found[0][3] == []


def test_no_word_of_sqlite_is_left_in_the_tables() -> None:
    """Every table and index of the one is in the other, and the types are PostgreSQL's."""
    from undolab.undo.schema import TABLES

    ours = " ".join(tables())
    assert re.findall(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX) \w+", ours) == re.findall(
        r"CREATE (?:UNIQUE )?(?:TABLE|INDEX) \w+", TABLES
    )
    assert not re.search(r"STRICT|ROWID|INTEGER|TEXT", ours)


@only_postgres
def test_the_server_holds_the_rules_too(store: Store) -> None:
    """Types, foreign keys and checks are the database's, so that a slip elsewhere cannot corrupt it quietly."""
    import psycopg

    store.forward(ME, add(1))
    for statement in (
        "UPDATE incarnations SET balance = floor - 1",
        "UPDATE incarnations SET balance = 'much'",
        "INSERT INTO credits VALUES (999, 'a:x', 1)",
        "UPDATE heads SET writer = 'nobody'",
        "UPDATE receipts SET outcome = 'done'",
    ):
        with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
            store._db.execute(statement)


@only_postgres
def test_every_look_up_has_an_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With scans forbidden the planner finds an index for every statement of forward and recovery; clock has one row."""
    seen: dict[str, Any] = {}
    execute = Server.execute

    def noted(self: Server, sql: str, parameters: Any = (), /) -> Any:
        seen[sql] = parameters
        return execute(self, sql, parameters)

    monkeypatch.setattr(Server, "execute", noted)
    store.seed("acme", "till", {})
    receipts = [store.forward(ME, effect) for effect in EACH]
    store.peer(PEER, "1", Effect("revoke", "ticket", {"member": "contractor"}))
    for receipt in receipts:
        store.recover(ME, receipt.id)
    store.recover_run(ME)
    monkeypatch.undo()
    store._db.execute("SET enable_seqscan = off")
    for sql, parameters in seen.items():
        if sql.split()[0] in {"SELECT", "UPDATE", "DELETE"}:
            plan = "\n".join(row[0] for row in store._db.execute(f"EXPLAIN {sql}", parameters))
            assert "Seq Scan" not in plan or "Seq Scan on clock" in plan, (sql, plan)


_MIX = """
import sys
from undolab.undo import Context, Effect, Store
url, name = sys.argv[1:]
store = Store.open(url)
me, peer = Context("acme", "agent", name), Context("acme", name, "-")
for number in range(10):
    one = store.forward(me, Effect("add", "ticket", {"delta": 3}), effect_id=f"{name}-{number}")
    store.peer(peer, f"{name}-{number}", Effect("add", "ticket", {"delta": 1}))
    store.forward(me, Effect("grant", "ticket", {"member": name}))
    if number % 2:
        store.recover(me, one.id)
store.recover_run(me)
store.close()
"""


@only_postgres
def test_four_processes_at_once_lose_nothing(database: str, store: Store) -> None:
    """Mixed forwards, peers and recoveries leave just the peers' work, one chain, and each receipt consumed once."""
    running = [subprocess.Popen([sys.executable, "-c", _MIX, database, name]) for name in "abcd"]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    shown = store.show("acme", "ticket")
    assert shown is not None
    assert (shown["balance"], shown["members"]) == (10 + 4 * 10, [])
    entries = store.audit_entries()
    undone = [entry.receipt for entry in entries if entry.outcome == "compensated" and not entry.reason]
    assert len(undone) == len(set(undone)) == 4 * 20
    assert store.audit_problems() == []
    assert {entry.run for entry in entries[3:23]} != {"a"}


@only_postgres
def test_a_server_that_goes_away_is_told_and_nothing_is_half_done(
    cluster: Cluster, database: str, store: Store, clock: Clock
) -> None:
    """The connection is cut inside a recovery: the first error is the one that is told, and the effect stands."""
    import psycopg

    receipt = store.forward(ME, add(4))

    def cut(statement: str) -> None:
        if statement.startswith("UPDATE receipts"):
            with cluster.link() as link:
                link.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'undolab undo'"
                )

    assert isinstance(store._db, Server)
    store._db.set_trace_callback(cut)
    with pytest.raises(psycopg.OperationalError, match=r"terminat|closed"):
        store.recover(ME, receipt.id)
    assert store._db.in_transaction is False
    other = Store.open(database, clock=clock)
    assert other.show("acme", "ticket")["balance"] == 14  # type: ignore[index]
    assert other.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED)
    assert other.audit_problems() == []
    other.close()


def test_a_store_is_made_once_and_only_by_init(fresh: str) -> None:
    """Opening makes nothing, a second `init` is an error, and another version is refused."""
    with pytest.raises(UndolabError, match="holds no undo store; make one first"):
        Store.open(fresh)
    databases.create(fresh)
    with pytest.raises(UndolabError, match="holds a store already"):
        databases.create(fresh)
    store = Store.open(fresh)
    assert store.audit_head() == "0" * 64
    store._db.execute("UPDATE store SET version = 99")
    store.close()
    with pytest.raises(UndolabError, match="no undo store of version 1"):
        Store.open(fresh)


def test_a_database_that_is_not_in_utf8_is_refused(cluster: Cluster) -> None:
    """Texts are compared by their bytes; another encoding would lose some of them."""
    with cluster.link() as link:
        link.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        with pytest.raises(UndolabError, match="is not in UTF-8"):
            databases.create(cluster.url.replace("/undo?", "/latin?"))
        link.execute("DROP DATABASE latin")


def test_who_may_not_make_a_schema_is_told(cluster: Cluster, fresh: str) -> None:
    """The server's reason is passed on, and nothing is left behind."""
    with cluster.link() as link:
        link.execute("CREATE ROLE guest LOGIN")
        with pytest.raises(UndolabError, match=r"no store can be made there .*permission denied"):
            databases.create(fresh.replace("user=undo", "user=guest"))
        link.execute("DROP ROLE guest")


def test_another_role_needs_only_the_rights_that_the_guide_names(cluster: Cluster) -> None:
    """Rights on the schema's tables are enough to write, recover and check the audit."""
    empty(cluster)
    with cluster.link() as link:
        link.execute("CREATE ROLE clerk LOGIN")
        link.execute("GRANT USAGE ON SCHEMA undolab_undo TO clerk")
        link.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA undolab_undo TO clerk")
        store = Store.open(cluster.url.replace("user=undo", "user=clerk"))
        store.permit("acme", "agent", "allow")
        store.seed("acme", "ticket", {"fields": {"status": "open"}})
        receipt = store.forward(ME, put("status", "triage"))
        assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED)
        assert store.audit_problems() == []
        store.close()
        link.execute("DROP OWNED BY clerk")
        link.execute("DROP ROLE clerk")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cr3t@localhost/db",
        "postgresql://me@localhost/db?password=s3cr3t",
        "postgresql://me@localhost/db?sslpassword=s3cr3t",
        "postgresql://me:s3cr3t@localhost:port/db",
        "postgresql://me:s3cr3t[@localhost/db",
        "postgres://me:s3cr3t@127.0.0.1:1/db?nonsense=1",
    ],
)
@pytest.mark.parametrize(
    "words", [("init",), ("audit",), ("serve", "--tenant", "t", "--principal", "p", "--run", "r")]
)
def test_no_message_shows_a_password(
    url: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A password in a URL is refused, and neither it nor a piece of it is in what is said."""
    pytest.importorskip("psycopg")
    assert main(["undo", *words, "--database", url]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("undolab: ")
    assert "s3cr3t" not in said.err + said.out


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence with server and database; the user's name is not repeated."""
    pytest.importorskip("psycopg")
    assert main(["undo", "audit", "--database", "postgresql://me@127.0.0.1:1/db"]) == 2
    assert capsys.readouterr().err.startswith("undolab: postgresql://127.0.0.1:1/db cannot be reached (")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL is optional; who asks for it without it hears what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UndolabError, match=r"needs the package psycopg .*undolab\[postgres\]"):
        Store.open("postgresql://localhost/db")


def test_the_command_line_works_on_a_server(fresh: str, capsys: pytest.CaptureFixture[str]) -> None:
    """init, permit and audit as with a file."""
    assert main(["undo", "init", "--database", fresh]) == 0
    assert (
        main(["undo", "permit", "allow", "--tenant", "acme", "--principal", "agent", "--database", fresh])
        == 0
    )
    store = Store.open(fresh)
    store.seed("acme", "ticket", {})
    receipt = store.forward(ME, grant("ann"))
    assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED)
    head = store.audit_head()
    store.close()
    assert main(["undo", "audit", "--head", head, "--database", fresh]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"head {head}"


@only_postgres
@pytest.mark.parametrize(
    "more",
    [
        "&client_encoding=LATIN1",
        "&options=-c%20default_transaction_isolation%3Dserializable%20-c%20default_transaction_read_only%3Don",
        "&options=-c%20search_path%3Dpg_catalog%20-c%20timezone%3DJapan",
    ],
)
def test_what_a_url_asks_for_cannot_change_how_the_store_works(
    database: str, store: Store, more: str
) -> None:
    """Encoding, isolation and search path are the store's own: two connections lose nothing and none fails to serialise."""
    other = Store.open(database + more)
    receipts = [one.forward(ME, grant("änn")).id for one in (store, other) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: (store, other)[n % 2].recover(ME, receipts[n // 2]), range(16)))
    assert {answer.outcome for answer in answers} == {Outcome.COMPENSATED}
    assert sum(not answer.repeated for answer in answers) == 8
    assert other.audit_problems() == []
    other.close()


@only_postgres
def test_a_store_outlives_a_restart_of_its_server(cluster: Cluster, store: Store) -> None:
    """Between requests nobody notices; inside one the error is told, nothing is half done, and the next request is answered."""
    import psycopg

    receipt = store.forward(ME, add(4))
    cluster.restart()
    assert store.preview(ME, receipt.id) == Answer(Outcome.COMPENSATED)
    cluster.restart()
    store.forward(ME, add(1))

    def restart(statement: str) -> None:
        if statement.startswith("UPDATE receipts"):
            assert isinstance(store._db, Server)
            store._db.set_trace_callback(None)
            cluster.restart()

    assert isinstance(store._db, Server)
    store._db.set_trace_callback(restart)
    with pytest.raises(psycopg.OperationalError):
        store.recover(ME, receipt.id)
    assert store.show("acme", "ticket")["balance"] == 15  # type: ignore[index]
    assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED)
    assert store.audit_problems() == []
    store.close()
    with pytest.raises(psycopg.OperationalError, match="closed"):
        store.preview(ME, receipt.id)


@only_postgres
def test_a_read_that_loses_its_server_tells_the_first_error(store: Store) -> None:
    """Giving back a transaction that is gone with its connection is no second error."""
    import psycopg

    with pytest.raises(ValueError, match="first"), store._reading():  # noqa: PT012
        with pytest.raises(psycopg.OperationalError):
            store._db.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        raise ValueError("first")


@only_postgres
def test_a_transaction_that_cannot_begin_for_another_reason_is_not_begun_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a lost connection is opened again."""
    import psycopg

    def fails(*_: object) -> None:
        raise psycopg.OperationalError("out of memory")

    assert isinstance(store._db, Server)
    with monkeypatch.context() as patch:
        patch.setattr(store._db._link, "execute", fails)
        with pytest.raises(psycopg.OperationalError, match="out of memory"):
            store.effects(ME)
