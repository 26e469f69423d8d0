"""The three calls of RB-DB-005 under inspect-ai with its mock model; run by harness.py with the environment that has inspect-ai.

Prints one JSON object: the version, and samples a second for each `max_samples`. The peer's tools keep the balance in a
dictionary, its display and its realtime log are off, and its mock is told the usage so that it counts no tokens.
"""

import json
import sys
import tempfile
import time
from importlib.metadata import version

from inspect_ai import Task
from inspect_ai import eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool
from inspect_ai.util import store

SAMPLES = 100
PARALLEL = (1, 5, 20, 100)
ACCOUNT = {"account_id": "acc_dividend_1"}
CALLS = [
    ("get_account", ACCOUNT),
    ("allocate_dividend", {**ACCOUNT, "dividend": 2500}),
    ("get_account", ACCOUNT),
]


def _row(account_id):
    return json.dumps({"account_id": account_id, "balance": store().get("balance", 50000)})


@tool
def get_account():
    async def execute(account_id: str) -> str:
        """Show one account with its balance.

        Args:
            account_id: Account id
        """
        return _row(account_id)

    return execute


@tool
def allocate_dividend():
    async def execute(account_id: str, dividend: int) -> str:
        """Pay a dividend into an account.

        Args:
            account_id: Account id
            dividend: Whole currency units
        """
        store().set("balance", store().get("balance", 50000) + dividend)
        return _row(account_id)

    return execute


def answer(messages, tools, choice, config):
    turn = sum(isinstance(message, ChatMessageAssistant) for message in messages)
    if turn < len(CALLS):
        output = ModelOutput.for_tool_call("mockllm", *CALLS[turn])
    else:
        output = ModelOutput.from_content("mockllm", "finish: done")
    output.usage = ModelUsage()
    return output


def rate(parallel):
    """Return the samples a second of one evaluation, its start and its log included."""
    task = Task(
        dataset=[
            Sample(input="Pay a dividend of 2500 into the account.", target="done") for _ in range(SAMPLES)
        ],
        solver=[use_tools(get_account(), allocate_dividend()), generate()],
        scorer=includes(),
    )
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        (log,) = run(
            task, model=model, max_samples=parallel, max_connections=parallel, display="none", log_dir=folder,
            log_realtime=False,
        )  # fmt: skip
        took = time.perf_counter() - begin
        if log.status != "success" or len(log.samples[0].messages) != 2 * len(CALLS) + 2:
            sys.exit(f"inspect-ai did not run the workflow: {log.status}, {log.error}")
    return SAMPLES / took


def main():
    rate(PARALLEL[0])
    found = {str(parallel): round(rate(parallel), 1) for parallel in PARALLEL}
    print(json.dumps({"version": version("inspect-ai"), "samples_per_s": found}))


if __name__ == "__main__":
    main()
