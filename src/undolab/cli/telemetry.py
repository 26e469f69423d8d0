"""What the model records of a study say of each call, in the form that the telemetry tables want."""

from undolab.cli.common import MODELS
from undolab.model.errors import UndolabError
from undolab.model.record import ChatAnswer, HttpAttempt, Outcome
from undolab.models.answer import read_attempt
from undolab.models.config import load_all
from undolab.models.sources import open_store
from undolab.models.store import HttpStore
from undolab.report.telemetry import Call
from undolab.trials.source import store_path


def read_calls(model: str, split: str) -> dict[str, Call]:
    """Return `<key>#<ordinal>` to the call, for every call in the store of a model and split.

    Raises:
        UndolabError: the model is not configured, or its store is missing or damaged.
    """
    configured = load_all(MODELS)
    if model not in configured:
        raise UndolabError(f"no model {model!r} in {MODELS}; it has {', '.join(sorted(configured))}")
    path = store_path(model, split)
    if not path.is_file():
        raise UndolabError(f"{path} is missing; restore it from the repository")
    store = open_store(configured[model], path)
    if isinstance(store, HttpStore):
        attempts: dict[str, list[HttpAttempt]] = {}
        for one in store:
            attempts.setdefault(f"{one.key}#{one.ordinal}", []).append(one)
        return {name: _of_service(tried) for name, tried in attempts.items()}
    return {
        f"{one.key}#{one.ordinal}": Call(
            prompt_tokens=one.completion.prompt_tokens,
            completion_tokens=len(one.completion.tokens),
            millis=None,
            attempts=0,
            failed=0,
            answered=True,
        )
        for one in store
    }


def _of_service(tried: list[HttpAttempt]) -> Call:
    """Return one call of a service from its HTTP attempts, in their order."""
    last = tried[-1]
    answer = read_attempt(last)
    answered = isinstance(answer, ChatAnswer)
    return Call(
        prompt_tokens=answer.prompt_tokens if isinstance(answer, ChatAnswer) else 0,
        completion_tokens=answer.completion_tokens if isinstance(answer, ChatAnswer) else 0,
        millis=last.millis if answered else None,
        attempts=len(tried),
        failed=sum(one.outcome is Outcome.FAILED for one in tried),
        answered=answered,
    )
