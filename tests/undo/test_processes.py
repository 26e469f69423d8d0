"""Several threads and processes on one store: nothing twice, nothing lost, no gap between check and write."""

import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.undo.conftest import EACH, ME, PEER, Clock, add

from undolab.undo.store import Answer, Store
from undolab.undo.types import Effect, Outcome

_WORKER = """
import sys
from undolab.undo.store import Store
from undolab.undo.types import Context, Effect
path, name, *receipts = sys.argv[1:]
store = Store.open(path)
me, peer = Context("acme", "agent", "run-1"), Context("acme", name, "-")
for number, receipt in enumerate(receipts):
    store.peer(peer, f"{name}-{number}", Effect("add", "ticket", {"delta": 1}))
    answer = store.recover(me, receipt)
    print(receipt, answer.outcome.value, int(answer.repeated))
store.close()
"""
_KILLED = """
import os, signal, sys
from undolab.undo.store import Store
from undolab.undo.types import Context
path, receipt, at = sys.argv[1:]
store = Store.open(path)
left = [int(at)]
def die(statement):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
store._db.set_trace_callback(die)
print(store.recover(Context("acme", "agent", "run-1"), receipt).outcome.value)
"""


def test_two_processes_take_each_effect_back_once(database: Path | str, store: Store) -> None:
    """Both ask for every receipt while both write: each effect is undone once and no peer's write is lost."""
    receipts = [store.forward(ME, add(3)).id for _ in range(12)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(database), name, *receipts], stdout=subprocess.PIPE, text=True
        )
        for name in ("p", "q")
    ]
    lines = [line.split() for process in running for line in process.communicate(timeout=60)[0].splitlines()]
    assert [process.returncode for process in running] == [0, 0]
    assert len(lines) == 24
    assert {line[1] for line in lines} == {"compensated"}
    assert sorted(line[0] for line in lines if line[2] == "0") == sorted(receipts)
    assert store.show("acme", "ticket")["balance"] == 10 + 24
    assert store.audit_problems() == []


_FORWARD = """
import os, signal, sys
from undolab.undo import Context, Effect, Store
path, at = sys.argv[1:]
store = Store.open(path)
left = [int(at)]
def die(statement):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
store._db.set_trace_callback(die)
store.forward(Context("acme", "agent", "run-1"), Effect("add", "ticket", {"delta": 4}), effect_id="e-1")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_one_id_between_two_instances_is_one_effect(database: Path | str, store: Store) -> None:
    """Two instances and a crash between commit and answer: the id lives in the effect's own transaction, not in a lease (B29)."""
    for at in (3, 6, 9, 12, 100):
        killed = subprocess.run(
            [sys.executable, "-c", _FORWARD, str(database), str(at)], capture_output=True, check=False
        )
        assert killed.returncode == -9
        assert store.show("acme", "ticket")["balance"] in (10, 14)
    other = Store.open(database)
    receipts = {instance.forward(ME, add(4), effect_id="e-1") for instance in (store, other, store, other)}
    assert len(receipts) == 1
    assert other.show("acme", "ticket")["balance"] == 14
    assert other.recover(ME, "e-1") == Answer(Outcome.COMPENSATED)
    assert store.forward(ME, add(4), effect_id="e-1") in receipts
    assert store.show("acme", "ticket")["balance"] == 10
    other.close()


_AHEAD = """
import sys
from pathlib import Path
from undolab.undo import Context, Effect, Store
name = sys.argv[1]
store = Store.open(name if '://' in name else Path(name), clock=lambda: int(sys.argv[2]))
store.peer(Context("acme", "colleague", "-"), sys.argv[2], Effect("add", "ticket", {"delta": 1}))
"""


def test_a_process_whose_clock_is_behind_revives_nothing(
    database: Path | str, store: Store, clock: Clock
) -> None:
    """The store's time is the latest that any process has brought: what expired for one has expired for all."""
    receipt = store.forward(ME, add(4), ttl_ms=1000)
    for ahead, outcome in ((999, Outcome.COMPENSATED), (1000, Outcome.REFUSED)):
        subprocess.run([sys.executable, "-c", _AHEAD, str(database), str(clock.now + ahead)], check=True)
        assert store.preview(ME, receipt.id).outcome is outcome
    assert store.recover(ME, receipt.id).outcome is Outcome.REFUSED
    assert store.audit_entries()[-1].reason == "expired"


def test_many_threads_one_effect(database: Path | str, store: Store) -> None:
    """Of 32 attempts over two connections one compensates, and 31 hear the first outcome."""
    receipt = store.forward(ME, add(4))
    other = Store.open(database)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: (store, other)[n % 2].recover(ME, receipt.id), range(32)))
    other.close()
    assert sorted(answer.repeated for answer in answers) == [False, *[True] * 31]
    assert {answer.outcome for answer in answers} == {Outcome.COMPENSATED}
    assert store.show("acme", "ticket")["balance"] == 10


def test_no_write_comes_between_check_and_use(database: Path | str, store: Store) -> None:
    """While a recovery holds the lock a peer's write is kept out by the database itself; it lands after, on top."""
    receipt = store.forward(ME, Effect("set", "ticket", {"field": "status", "value": "triage"}))
    other = Store.open(database)
    impatient = (
        "PRAGMA busy_timeout=0" if isinstance(other._db, sqlite3.Connection) else "SET lock_timeout=50"
    )
    other._db.execute(impatient)
    seen: list[str] = []

    def inside(statement: str) -> None:
        if statement.startswith("UPDATE receipts"):
            with pytest.raises(Exception, match="lock"):
                other.peer(PEER, "1", Effect("set", "ticket", {"field": "status", "value": "theirs"}))
            seen.append(statement)

    store._db.set_trace_callback(inside)
    assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED)
    store._db.set_trace_callback(None)
    other.peer(PEER, "1", Effect("set", "ticket", {"field": "status", "value": "theirs"}))
    other.close()
    assert len(seen) == 1
    assert store.show("acme", "ticket")["fields"]["status"] == "theirs"


def test_looking_does_not_wait_for_a_writer(database: Path | str, store: Store) -> None:
    """Previews and lists are answered while somebody holds the write lock."""
    receipt = store.forward(ME, add(4))
    other = Store.open(database)
    with other._writing():
        assert store.preview(ME, receipt.id) == Answer(Outcome.COMPENSATED)
        assert store.preview(ME, "unknown") == Answer(Outcome.REFUSED)
        assert store.recover_run(ME, dry_run=True).stands == ()
        assert len(store.effects(ME)[0]) == 1
    other.close()


@pytest.mark.parametrize("effect", EACH, ids=lambda effect: effect.kind)
def test_a_process_killed_at_any_statement_leaves_all_or_nothing(
    database: Path | str, store: Store, effect: Effect
) -> None:
    """SIGKILL at every fifth statement of a recovery (on a server every twelfth): the effect is whole or gone."""
    store.seed("acme", "till", {})
    before = store.show("acme", "ticket"), store.show("acme", effect.name)
    at = 3
    while True:
        receipt = store.forward(ME, effect)
        whole = store.show("acme", "ticket"), store.show("acme", effect.name)
        killed = subprocess.run(
            [sys.executable, "-c", _KILLED, str(database), receipt.id, str(at)],
            capture_output=True,
            text=True,
            check=False,
        )
        state = store.effects(ME)[0][0].state
        assert (store.show("acme", "ticket"), store.show("acme", effect.name)) == (
            whole if state == "live" else before
        )
        assert store.recover(ME, receipt.id).outcome is Outcome.COMPENSATED
        assert (store.show("acme", "ticket"), store.show("acme", effect.name)) == before
        assert store.audit_problems() == []
        if isinstance(store._db, sqlite3.Connection):
            assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if killed.returncode == 0:
            break
        assert killed.returncode == -9
        at += 5 if isinstance(store._db, sqlite3.Connection) else 12


def test_a_thread_may_use_a_store_that_another_opened(store: Store) -> None:
    """The connection is guarded by a lock of the store's own."""
    receipt = store.forward(ME, add(4))
    found: list[Answer] = []
    thread = threading.Thread(target=lambda: found.append(store.recover(ME, receipt.id)))
    thread.start()
    thread.join()
    assert found == [Answer(Outcome.COMPENSATED)]
