"""The model's speed: seconds a call, beside llama-cpp-python's own high-level interface in the same run.

The call is the third of a small task, as the agent asks it. Ours gives the tokens' log-probabilities too, and reuses the
evaluated prefix in whole batches; the peer reuses its prefix token by token and is asked for text alone. `fresh` means
that nothing of the prompt was evaluated before.

Run: python benchmarks/model.py   (needs `make live`; says so where it is missing)
"""

import time
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from typing import Any

from _record import ROOT, record

from undolab.agents.base import Exchange, PublicTool, TaskView, Turn
from undolab.agents.direct import DirectAgent
from undolab.model.calls import Phase, Reply
from undolab.model.record import CompletionRequest
from undolab.model.workflow import Step
from undolab.models.config import load_models
from undolab.models.llama import LlamaBackend

MODEL = load_models(ROOT / "config" / "models.yaml")["gemma3-270m"]
ROUNDS = 3

TOOL = PublicTool(
    name="set_level",
    description="",
    parameters={
        "type": "object",
        "properties": {"box": {"type": "string"}, "level": {"type": "integer"}},
        "required": ["box", "level"],
    },
    reads=False,
)
BOXES = [("north-12", 40), ("south-07", 25), ("west-31", 60)]
VIEW = TaskView(
    objective="Set the level of the boxes north-12 to 40, south-07 to 25 and west-31 to 60.",
    steps=[Step(say="Set it.", tool="set_level", arguments={"box": box, "level": n}) for box, n in BOXES],
    tools=[TOOL],
    max_turns=12,
)
LOG = [
    Exchange(
        turn=Turn(said=f'{word}-task: set_level(box="{box}", level={n})'),
        replies=[Reply(phase=Phase.OK, output={"box": box, "level": n})],
    )
    for word, (box, n) in zip(("one", "two"), BOXES, strict=False)
]


def peer() -> tuple[Callable[[CompletionRequest], int], Callable[[], None]]:
    """Return a call through llama-cpp-python's `Llama` that answers its number of tokens, and what forgets the prefix."""
    import llama_cpp

    engine = MODEL.engine
    llama: Any = llama_cpp.Llama(
        model_path=str(ROOT / MODEL.file), n_ctx=engine.context, n_batch=engine.batch, n_ubatch=engine.batch,
        n_threads=engine.threads, n_threads_batch=engine.threads, swa_full=True, verbose=False,
    )  # fmt: skip

    def call(request: CompletionRequest) -> int:
        grammar = llama_cpp.LlamaGrammar.from_string(request.grammar, verbose=False)
        made = llama.create_completion(
            request.prompt, max_tokens=request.sampling.max_tokens, temperature=0.2, top_p=1.0, top_k=0,
            min_p=0.0, repeat_penalty=1.0, stop=request.stop, seed=request.sampling.seed, grammar=grammar,
        )  # fmt: skip
        return int(made["usage"]["completion_tokens"])

    return call, llama.reset


def seconds(call: Callable[[CompletionRequest], int], request: CompletionRequest) -> tuple[float, int]:
    """Return the seconds of one call and the tokens that it made."""
    start = time.perf_counter()
    tokens = call(request)
    return time.perf_counter() - start, tokens


def main() -> None:
    """Print one line a measurement: median seconds a call, and tokens."""
    if find_spec("llama_cpp") is None or not (ROOT / MODEL.file).exists():
        print("llama.cpp or its model is not here, so there is nothing to measure: make live brings them")
        return
    backend = LlamaBackend(MODEL, ROOT)
    agent = DirectAgent(backend, MODEL, 1)
    before, asked = agent.request(VIEW, LOG[:1]), agent.request(VIEW, LOG)

    def ours(request: CompletionRequest) -> int:
        return len(backend.complete(request, 1).tokens)

    theirs, forget = peer()
    other = agent.request(VIEW, [])
    clear = CompletionRequest(model=other.model, prompt="-", grammar="", stop=["\n"], sampling=other.sampling)
    print(f"prompt: {backend.complete(asked, 1).prompt_tokens} tokens; threads: {MODEL.engine.threads}")
    found: dict[tuple[str, str], float] = {}
    for name, call, reset in (("undolab", ours, lambda: ours(clear)), ("Llama", theirs, forget)):
        for kind in ("fresh", "next turn"):
            times, tokens = [], 0
            for _ in range(ROUNDS):
                reset()
                if kind == "next turn":
                    call(before)
                took, tokens = seconds(call, asked)
                times.append(took)
            found[name, kind] = median(times)
            print(f"{name:8s} {kind:10s} {median(times):6.2f} s a call, {tokens} tokens")
    for kind in ("fresh", "next turn"):
        print(f"{kind}: undolab / Llama = {found['undolab', kind] / found['Llama', kind]:.2f}")
    backend.close()
    record(
        "model",
        {
            f"{name}_{kind}_s".lower().replace(" ", "_"): round(took, 2)
            for (name, kind), took in found.items()
        },
    )


if __name__ == "__main__":
    main()
