"""How much faster is the model here than llama-cpp-python's own loop, and how little of a study does it compute?

Speed: delivered tokens a second over the 20 seeds of three DEV cells, each of a control and a fault arm of several turns, as the
study asks them one after the other; forced and guessed tokens are delivered too. The peer is `Llama.create_completion` with the
same grammar, sampling and thread, and its own prefix cache, on the same requests of the first seeds: it shares nothing between
seeds but the last prompt, so its other seeds cost what the second and third do. The two take turns, and seconds are those of the
processor, which a busy machine lengthens least. The answers cannot be equal (another draw), so greedy ones are compared.

Study: tokens that its arms would compute one by one, counted from the records, against those that are evaluated. These are
worked out by the engine's own rules on the recorded answers; the same is done for the speed run and held against its counter.

Latency: single calls of the control arms of DEV, each prompt asked once, for table 10.

Run: python benchmarks/model.py [speed|study|latency …] [--record]   (needs `make live`; says so where it is missing)
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, NamedTuple

import msgspec
from _record import ROOT, record

from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.load import load_config, load_tools, load_workflows
from undolab.model.record import Completion, CompletionRequest
from undolab.model.wire import TurnEvent
from undolab.model.workflow import Split
from undolab.models.backend import Backend
from undolab.models.config import find_model_file, load_models
from undolab.models.engine import Engine
from undolab.models.guess import guess
from undolab.models.llama import LlamaBackend
from undolab.models.replay import ReplayBackend
from undolab.models.store import RecordStore
from undolab.models.tree import Forest, Node
from undolab.trials.arm import ArmRun, Task, prepare
from undolab.trials.run import run_workflow
from undolab.trials.source import make_agents, store_path

NAME = "gemma3-270m"
MODELS = load_models(ROOT / "config" / "models.yaml")
MODEL = MODELS[NAME]
CELLS = ("RB-DB-001", "RB-STOR-001", "RB-TICK-002")
SEEDS = list(range(2001, 2021))
PEER_SEEDS = 3
GREEDY = 20
AGAIN = 40


class Timed(NamedTuple):
    """One call."""

    request: CompletionRequest
    answer: Completion
    wall: float
    cpu: float


class Timing:
    """A backend that times another one's calls."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.calls: list[Timed] = []

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        wall, cpu = time.perf_counter(), time.process_time()
        answer = self._inner.complete(request, ordinal)
        self.calls.append(Timed(request, answer, time.perf_counter() - wall, time.process_time() - cpu))
        return answer


class Peer:
    """The other loop, in a process of its own."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("_model_peer.py")
        engine = MODEL.engine
        arguments = [sys.executable, script, ROOT / MODEL.file, engine.context, engine.threads]
        self._process = subprocess.Popen(
            [str(word) for word in arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.about = self._read()

    def complete(self, request: CompletionRequest) -> dict[str, Any]:
        """Return what it says of one call."""
        assert self._process.stdin is not None
        sampling = msgspec.to_builtins(request.sampling)
        asked = {"prompt": request.prompt, "grammar": request.grammar, "stop": request.stop, **sampling}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Tally:
    """What the engine evaluates for answers that are known: the rules of `llama` and `engine` without a model.

    A draw that the grammar refused, at a place where another seed's was not, needs the logits once more: that is in no record,
    and left out.
    """

    def __init__(self, tokenize: Callable[..., list[int]]) -> None:
        self._tokenize = tokenize
        self._newline = tokenize("\n", start=False)[-1]
        self._forest = Forest()
        self._prompts: dict[str, list[int]] = {}
        self._kept: list[int] = []
        self.evaluated = 0

    def prompt(self, request: CompletionRequest) -> list[int]:
        """Return the tokens of a prompt."""
        if request.prompt not in self._prompts:
            self._prompts[request.prompt] = self._tokenize(request.prompt)
        return self._prompts[request.prompt]

    def add(self, request: CompletionRequest, tokens: list[int]) -> None:
        """Take one answer more."""
        prompt, node, said = self.prompt(request), self._forest.root(request), []
        ahead: list[int] = []
        for place, token in enumerate(tokens):
            if node.free is None and not ahead:
                ahead = guess(prompt, said, self._newline)[: request.sampling.max_tokens - place - 1]
                self._evaluate(prompt + said + ahead[:-1], len(prompt) + place - 1)
                ahead = ahead or [-1]
            node.free = node.free or ()  # type: ignore[assignment]
            said.append(token)
            ahead = ahead[1:] if ahead[:1] == [token] else []
            node = node.next.setdefault(token, Node())

    def _evaluate(self, whole: list[int], last: int) -> None:
        self.evaluated += len(whole) - _common(self._kept, whole[:last])
        self._kept = whole


def tasks(split: Split, names: Iterable[str] | None = None, examples: str = "plain") -> list[Task]:
    """Return the tasks of a split, made ready."""
    tools = load_tools(ROOT / "data/tools")
    found = load_workflows(ROOT / "data/workflows", split)
    return [
        prepare(one, tools, prompt="runbook", examples=examples)
        for one in found
        if names is None or one.id in names
    ]


def small(seeds: list[int], boundaries: list[Boundary]) -> Study:
    """Return a study of DEV without methods."""
    return Study(
        split=Split.DEV, models=[NAME], frameworks=["F1"], boundaries=boundaries, methods=["none"], seeds=seeds,
        prompt="runbook", examples="plain",
    )  # fmt: skip


def run(todo: Iterable[Task], study: Study, backend: Backend) -> Iterable[ArmRun]:
    """Yield the arms of a study."""
    make = make_agents(MODELS, {NAME: backend})
    for task in todo:
        for arm, _ in run_workflow(task, study, make):
            yield arm


def speed() -> dict[str, Any]:
    """Measure both, and print and return what was found."""
    backend, peer = LlamaBackend(MODEL, ROOT), Peer()
    backend.header()
    begun, _ = backend.spent()
    tally = Tally(Engine(find_model_file(MODEL, ROOT), MODEL.engine).tokenize)
    ours = {"tokens": 0.0, "cpu": 0.0, "wall": 0.0}
    theirs = dict(ours)
    calls: list[Timed] = []
    for task in tasks(Split.DEV, CELLS):
        timing = Timing(backend)
        for seed in SEEDS:
            before = len(timing.calls)
            list(run([task], small([seed], [Boundary.POST_MUTATION_PRE_ACK]), timing))
            mine = timing.calls[before:]
            if seed >= SEEDS[PEER_SEEDS]:
                continue
            said = [peer.complete(call.request) for call in mine]
            # The first seed evaluates the prompt; each later one counts for its share of the others.
            times = 1.0 if seed == SEEDS[0] else (len(SEEDS) - 1) / (PEER_SEEDS - 1)
            for key in theirs:
                theirs[key] += times * sum(one[key] for one in said)
        ours["tokens"] += sum(len(call.answer.tokens) for call in timing.calls)
        ours["cpu"] += sum(call.cpu for call in timing.calls)
        ours["wall"] += sum(call.wall for call in timing.calls)
        calls += timing.calls
    evaluated, rows = backend.spent()
    for call in calls:
        tally.add(call.request, call.answer.tokens)
    prompts = list({call.request.prompt: call.request for call in calls}.values())
    greedy = [_greedy(request) for request in prompts[:: max(1, len(prompts) // GREEDY)]]
    alike = sum(backend.complete(one, 1).text == peer.complete(one)["text"] for one in greedy)
    backend.close()
    peer.close()
    fresh = LlamaBackend(MODEL, ROOT)
    chosen = calls[:: -max(1, len(calls) // AGAIN)]
    equal = sum(fresh.complete(call.request, 1) == call.answer for call in chosen)
    fresh.close()
    rates = {
        f"{who}_tokens_per_{kind}_s": found["tokens"] / found[kind]
        for who, found in (("undolab", ours), ("llama", theirs))
        for kind in ("cpu", "wall")
    }
    return {
        "cells": len(CELLS),
        "seeds": len(SEEDS),
        "calls": len(calls),
        "tokens": int(ours["tokens"]),
        **{name: round(value, 1) for name, value in rates.items()},
        "ratio": round(rates["undolab_tokens_per_cpu_s"] / rates["llama_tokens_per_cpu_s"], 1),
        "ratio_wall": round(rates["undolab_tokens_per_wall_s"] / rates["llama_tokens_per_wall_s"], 1),
        "llama_seeds_run": PEER_SEEDS,
        "llama_version": peer.about["version"],
        "greedy_answers": len(greedy),
        "greedy_answers_equal": alike,
        "answers_made_again": len(chosen),
        "answers_made_again_equal": equal,
        "evaluated_tokens": evaluated - begun,
        "evaluated_tokens_worked_out": tally.evaluated,
        "rows_of_logits": rows,
    }


def study() -> dict[str, Any]:
    """Count over every study of config.yaml what its arms would compute, and what is evaluated."""
    config = load_config(ROOT / "config" / "config.yaml")
    engine = Engine(find_model_file(MODEL, ROOT), MODEL.engine)
    arms = calls = one_by_one = with_prefix = evaluated = 0
    used: set[tuple[Split, str]] = set()
    for each in (config.study, *config.side_studies.values()):
        store = RecordStore(ROOT / store_path(NAME, each.split))
        replay = Timing(ReplayBackend(store))
        tally = Tally(engine.tokenize)
        only = msgspec.structs.replace(each, models=[NAME])
        for task in tasks(each.split, examples=each.examples):
            for arm in run([task], only, replay):
                arms += 1
                names = dict.fromkeys(
                    line.record for line in arm.log.lines if isinstance(line, TurnEvent) and line.record
                )
                used |= {(each.split, name) for name in names}
                kept: list[int] = []
                for name in names:
                    key, _, ordinal = name.partition("#")
                    found = store.get(key, int(ordinal))
                    assert found is not None
                    whole = tally.prompt(found.request) + found.completion.tokens
                    calls += 1
                    one_by_one += len(whole)
                    with_prefix += len(whole) - _common(kept, whole)
                    kept = whole
            for call in replay.calls:
                tally.add(call.request, call.answer.tokens)
            replay.calls.clear()
        evaluated += tally.evaluated
    engine.close()
    return {
        "arms": arms,
        "calls": calls,
        "distinct_calls": len(used),
        "tokens_arm_by_arm": one_by_one,
        "tokens_arm_by_arm_with_prefix_cache": with_prefix,
        "tokens_evaluated": evaluated,
        "ratio": round(one_by_one / evaluated, 1),
        "ratio_to_prefix_cache": round(with_prefix / evaluated, 1),
    }


def latency() -> dict[str, Any]:
    """Time the calls of every control arm of DEV, each prompt once."""
    backend = LlamaBackend(MODEL, ROOT)
    backend.header()
    timing = Timing(backend)
    list(run(tasks(Split.DEV), small(SEEDS[:1], []), timing))
    backend.close()
    times = [call.wall * 1000 for call in timing.calls]
    busy = sum(call.cpu for call in timing.calls) / sum(call.wall for call in timing.calls)
    return {
        "calls": len(times),
        "mean_ms": round(fmean(times), 1),
        "p50_ms": round(median(times), 1),
        "p95_ms": round(quantiles(times, n=20, method="inclusive")[-1], 1),
        "share_of_a_core": round(busy, 2),
    }


def _greedy(request: CompletionRequest) -> CompletionRequest:
    return msgspec.structs.replace(
        request, sampling=msgspec.structs.replace(request.sampling, temperature=0.0)
    )


def _common(a: list[int], b: list[int]) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


def main() -> None:
    """Do the parts named, or all, print their numbers, and keep them."""
    if find_spec("llama_cpp") is None or not (ROOT / MODEL.file).exists():
        print("llama.cpp or its model is not here, so there is nothing to measure: make live brings them")
        return
    parts = [word for word in sys.argv[1:] if not word.startswith("-")] or ["speed", "study", "latency"]
    path = ROOT / "data" / "measurements" / "model.json"
    known = json.loads(path.read_bytes()) if path.is_file() else {}
    known.pop("machine", None)
    for part in parts:
        before = os.getloadavg()[0]
        found = {"speed": speed, "study": study, "latency": latency}[part]()
        found["load_before_and_after"] = [round(before, 1), round(os.getloadavg()[0], 1)]
        for name, value in found.items():
            print(f"{part:8s} {name:44s} {value}")
        if part == "latency":
            record("latency", {NAME: found})
        else:
            known[part] = found
            record("model", known)


if __name__ == "__main__":
    main()
