"""Answers of a service with seeded damage: no crash, no call from broken arguments, no record lost.

`UNDOLAB_SUITE_EXAMPLES` says how many answers are damaged; with `UNDOLAB_EVIDENCE` the counts are kept in that folder.
"""

import importlib.util
import json
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from undolab.agents.base import Exchange, PublicTool, TaskView, Turn
from undolab.model.calls import LOST, Phase, Reply
from undolab.model.errors import UndolabError
from undolab.models.store import HttpStore

ROOT = Path(__file__).parents[2]
SEED = 20261130
EXAMPLES = int(os.environ.get("UNDOLAB_SUITE_EXAMPLES", "200"))
VIEW = TaskView(
    objective="Water the bed.",
    steps=[],
    tools=[PublicTool(name="water", description="", parameters={"type": "object"}, reads=False)],
    max_turns=3,
)
WORDS = [
    b"null",
    b'""',
    b"{}",
    b"[]",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"\xff",
    b"\x00",
    b'"',
    b"}",
    b"\n\n",
    b"data: ",
]


def whole(service: Any, rng: random.Random) -> tuple[bytes, str]:
    """Return a sound answer, whole or as a stream."""
    texts = ['{"bed":"A1"}', '{"bed":"A1","litres":3}', "{}", '{"bed":"A', "", '{"note":"a\\nb \\u00e9"}']
    calls = [("water", rng.choice(texts)) for _ in range(rng.randrange(3))]
    finish = rng.choice(["tool_calls", "stop", "length"])
    if rng.random() < 0.5:
        return json.dumps(
            service.answer(*calls, text="finish: done", finish=finish)
        ).encode(), "application/json"
    pieces: list[dict[str, Any]] = [{"content": "finish: "}, {"content": "done"}]
    for index, (name, text) in enumerate(calls):
        half = rng.randrange(len(text) + 1)
        at = index if rng.random() < 0.7 else 0
        pieces.append(
            {"tool_calls": [{"index": at, "id": "x", "function": {"name": name, "arguments": text[:half]}}]}
        )
        pieces.append({"tool_calls": [{"index": at, "function": {"arguments": text[half:]}}]})
    return service.events(*pieces, finish=finish, end=rng.random() < 0.8), "text/event-stream"


def damage(body: bytes, rng: random.Random) -> bytes:
    """Change a sound answer in one to three places."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(body) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            body = body[:at] + body[at + rng.randrange(1, 20) :]
        elif kind == 1:
            body = body[:at] + rng.choice(WORDS) + body[at:]
        elif kind == 2:
            body = body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :]
        elif kind == 3:
            end = min(len(body), at + rng.randrange(40))
            body = body[:end] + body[at:]
        else:
            body = body.replace(rng.choice([b'"arguments"', b"tool_calls", b"stop", b'"index"']), b'"x"', 1)
    return body


def scripted(service: Any, rng: random.Random) -> Any:
    body, kind = whole(service, rng)
    if rng.random() < 0.8:
        body = damage(body, rng)
    status = rng.choices([200, 429, 500, 503, 400, 404], [20, 1, 1, 1, 1, 1])[0]
    cut = rng.randrange(len(body) + 1) if body and rng.random() < 0.15 else None
    packed = {"content_encoding": "gzip"} if rng.random() < 0.03 else {}
    return service.said(body, status, cut, content_type=kind, **packed)


def sound(turn: Turn) -> None:
    """Check a turn against its own raw answer by the standard library alone."""
    said = json.loads(turn.said)
    if not turn.calls:
        assert turn.error or turn.report is not None
        return
    assert said["finish_reason"] in {"stop", "tool_calls"}
    assert len(said["calls"]) == len(turn.calls)
    for raw, call in zip(said["calls"], turn.calls, strict=True):
        assert json.loads(raw["arguments"]) == call.arguments
        assert raw["name"] == call.tool


def harmless(agent: Any, turn: Turn) -> None:
    """Check that what goes back to the service holds whole arguments alone: broken ones would fail it for ever."""
    reply = Reply(phase=Phase.UNKNOWN, output=LOST)
    for message in agent.request(VIEW, [Exchange(turn=turn, replies=[reply] * len(turn.calls))]).messages:
        for call in message.get("tool_calls", []):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)


def test_damaged_answers(asking: Any, service: Any, path: Path) -> None:
    """Each damaged answer is a turn, INFRA_ERROR or a refusal; calls equal the raw arguments; each attempt is on the disk.

    A field case B11.
    """
    from undolab.agents.chat import ChatAgent

    rng, began = random.Random(SEED), time.monotonic()
    backend = asking.backend(attempts=2, price=None)
    kinds = {"turn": 0, "call": 0, "stopped": 0}
    for seed in range(EXAMPLES):
        service.script = [scripted(service, rng), scripted(service, rng)]
        sent = list(service.script)
        before = len(service.asked)
        try:
            agent = ChatAgent(backend, asking.config(), seed)
            turn = agent.act(VIEW, [])
        except UndolabError:
            kinds["stopped"] += 1
        else:
            sound(turn)
            harmless(agent, turn)
            kinds["call" if turn.calls else "turn"] += 1
            if turn.calls:
                last = sent[len(service.asked) - before - 1]
                body = last.body[: last.cut]
                assert b'"finish_reason"' in body
                if last.headers["content-type"] == "application/json":
                    raw = json.loads(body)["choices"][0]["message"]["tool_calls"]
                    assert [json.loads(call["function"]["arguments"]) for call in raw] == [
                        call.arguments for call in turn.calls
                    ]
    # An attempt on a connection that the service has just closed never reaches it; it is a record all the same.
    assert sum(record.status > 0 for record in asking.store) == len(service.asked)
    asking.store.close()
    again = HttpStore(path)
    assert [record.sent for record in again] == [record.sent for record in asking.store]
    assert again.notices == []
    assert min(kinds.values()) > 0, kinds
    keep_evidence(
        {
            "damaged_answers": EXAMPLES,
            "seed": SEED,
            "crashes": 0,
            "calls_from_broken_arguments": 0,
            "records_lost": 0,
            "turns_with_calls": kinds["call"],
            "turns_without_calls": kinds["turn"],
            "stopped_by_a_sentence": kinds["stopped"],
            "http_attempts": len(again),
            "by_outcome": dict(sorted(Counter(record.outcome.value for record in again).items())),
            "by_ending": dict(sorted(Counter(record.ending.value for record in again).items())),
            "by_status": {str(k): n for k, n in sorted(Counter(record.status for record in again).items())},
            "seconds": round(time.monotonic() - began),
        }
    )


def keep_evidence(counts: dict[str, Any]) -> None:
    """Keep what a long run found, with machine and commit; the zeros stand for assertions that held at each example."""
    if "UNDOLAB_EVIDENCE" not in os.environ:
        return
    spec = importlib.util.spec_from_file_location("_record", ROOT / "benchmarks/_record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.keep(Path(os.environ["UNDOLAB_EVIDENCE"]) / "client-fuzz.json", counts)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_damage_is_seeded(service: Any, seed: int) -> None:
    """The same seed makes the same damaged answers, so a failure can be made again."""
    one, two = random.Random(seed), random.Random(seed)
    assert [scripted(service, one).body for _ in range(20)] == [
        scripted(service, two).body for _ in range(20)
    ]
