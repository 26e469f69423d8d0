"""A stranger's model on a small suite: one command, records and results of its own, nothing of the study touched."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from undolab.model.canon import canonical
from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.files import write_bytes
from undolab.model.record import Outcome
from undolab.models.budget import Purse
from undolab.models.config import ApiConfig, ModelConfig
from undolab.models.openai_http import InfraError
from undolab.models.sources import open_store, recorder
from undolab.models.store import HttpStore
from undolab.trials.arm import ArmRun, Task
from undolab.trials.infra import InfraArms
from undolab.trials.matrix import arms_per_trial
from undolab.trials.output import write_workflow
from undolab.trials.run import PairRow, run_workflow
from undolab.trials.source import make_agents

SMOKE = ("RB-DB-001", "RB-STOR-001", "RB-TICK-002")
"""Three short DEV workflows."""
_METHODS = ["none", "B0", "B6"]
_SEEDS = [2001]
_CHARACTERS_A_TOKEN = 3
"""For plans only."""


class SmallRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a stranger's model did, and on what."""

    model: str
    served_as: str
    split: str
    on_test: bool
    """True: these workflows are the frozen TEST split, run on purpose."""
    workflows: list[str]
    arms: int
    """Arms with a verdict."""
    infra_errors: int
    """Arms without one, because the service gave no answer; the same call runs them again."""
    controls: int
    controls_passed: int
    faults: int
    faults_passed: int
    harmful_duplicates: int
    """Fault arms with one."""
    answers_asked: int
    http_attempts: int
    """0 for a model in this process."""
    attempts_without_answer: int
    """Of these."""


def small_study(config: ModelConfig | ApiConfig, tasks: Sequence[Task]) -> Study:
    """Return the matrix of a small run."""
    first = tasks[0]
    return Study(
        split=first.workflow.split,
        models=[config.name],
        frameworks=["F1"],
        boundaries=[Boundary.PRE_MUTATION, Boundary.POST_MUTATION_PRE_ACK],
        methods=_METHODS,
        seeds=_SEEDS,
        prompt=first.prompt,
        examples=first.examples,
    )


def small_sizes(config: ModelConfig | ApiConfig, tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Return prompt and completion tokens of each call that a small run makes, at most.

    Equal requests of several arms are asked once, so a run makes fewer. A prompt grows with the turns; each is taken as that
    of the task with all of its steps answered.
    """
    study, sizes = small_study(config, tasks), []
    for task in tasks:
        view = msgspec.to_builtins(task.view)
        prompt = len(canonical(view)) * 2 // _CHARACTERS_A_TOKEN
        calls = arms_per_trial(study, task.workflow, task.catalogue) * len(study.seeds) * task.view.max_turns
        sizes += [(prompt, config.sampling.max_tokens)] * calls
    return sizes


def run_small(
    config: ModelConfig | ApiConfig,
    tasks: Sequence[Task],
    records: Path,
    out: Path,
    *,
    max_usd: float | None,
    notice: Callable[[str], None],
) -> SmallRun:
    """Run the pairs of a small study, record what is asked, and write results under `out`.

    Killed at any point, the same call goes on from its records.

    Args:
        config: the model.
        tasks: workflows made ready, of one split.
        records: the `.jsonl.zst` of this model's answers.
        out: folder of the results.
        max_usd: what may be spent, or None.
        notice: gets one line for each HTTP attempt that came to nothing.

    Raises:
        InfraError: the service answers nothing, or nothing any more.
        UndolabError: see `run_workflow` and the backend.
    """
    store = open_store(config, records)
    backend = recorder(config, store, Path(), purse=Purse(max_usd), notice=notice)
    study = small_study(config, tasks)
    done: list[tuple[ArmRun, PairRow | None]] = []
    failed = InfraArms(lambda: backend.fresh, notice)
    try:
        make = make_agents({config.name: config}, {config.name: backend})
        for task in tasks:
            runs = list(run_workflow(task, study, make, failed))
            if runs:
                write_workflow(out, task.workflow.id, runs)
            done += runs
        if store.header is not None:
            store.seal()
    finally:
        backend.close()
        store.close()
    if not done:
        raise InfraError(
            f"{config.name}: INFRA_ERROR, no answer at all; run the same command when the service is back."
        )
    verdicts = [run.verdict for run, _ in done]
    controls = [verdict for verdict in verdicts if verdict.arm.arm == "control"]
    faults = [verdict for verdict in verdicts if verdict.arm.arm == "fault"]
    attempts = [attempt.outcome for attempt in store] if isinstance(store, HttpStore) else []
    summary = SmallRun(
        model=config.name,
        served_as=config.model if isinstance(config, ApiConfig) else config.file,
        split=study.split,
        on_test=study.split == "test",
        workflows=[task.workflow.id for task in tasks],
        arms=len(verdicts),
        infra_errors=len(failed.names),
        controls=len(controls),
        controls_passed=sum(verdict.passed for verdict in controls),
        faults=len(faults),
        faults_passed=sum(verdict.passed for verdict in faults),
        harmful_duplicates=sum(verdict.harmful_duplicates > 0 for verdict in faults),
        answers_asked=backend.fresh,
        http_attempts=len(attempts),
        attempts_without_answer=sum(outcome is not Outcome.ANSWERED for outcome in attempts),
    )
    write_bytes(out / "summary.json", canonical(summary) + b"\n")
    return summary
