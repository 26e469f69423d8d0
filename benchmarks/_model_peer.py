"""The peer of model.py: llama-cpp-python's own loop, `Llama.create_completion`, as anyone would use it.

Started by model.py in a process of its own, so that its kernels are llama.cpp's default ones. Reads one request a line, answers
with one line: text, number of tokens, seconds of wall clock and of processor. It keeps its evaluated prefix itself.
"""

import json
import sys
import time
from typing import Any

import llama_cpp


def main() -> None:
    """Answer until the input ends. Arguments: model file, context, threads."""
    path, context, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # Without the full cache Gemma's sliding window would lose the prefix, and every call would evaluate its whole prompt.
    llama: Any = llama_cpp.Llama(
        path, n_ctx=context, n_threads=threads, n_threads_batch=threads, swa_full=True, verbose=False
    )
    system = llama_cpp.llama_print_system_info().decode()
    print(json.dumps({"version": llama_cpp.__version__, "system": system}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        grammar = llama_cpp.LlamaGrammar.from_string(asked.pop("grammar"), verbose=False)
        made = llama.create_completion(**asked, grammar=grammar)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        told = {"text": made["choices"][0]["text"], "tokens": made["usage"]["completion_tokens"]}
        print(json.dumps({**told, "wall": wall, "cpu": cpu}), flush=True)


if __name__ == "__main__":
    main()
