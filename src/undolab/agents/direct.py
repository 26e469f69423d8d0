"""F1, the direct loop: one prompt, one line, one call or the end."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from undolab.agents.base import Exchange, TaskView, Turn
from undolab.agents.grammar import build_grammar
from undolab.agents.line import BadLineError, read_line
from undolab.agents.prompt import STOP, Layout, write_prompt
from undolab.model.calls import FinalReport
from undolab.model.canon import bytes_digest, call_seed, resumed_seed
from undolab.model.record import CompletionRequest
from undolab.models.backend import Backend, request_key
from undolab.models.config import Settings

_ENDINGS = {"length": "the answer was truncated", "error": "the prompt does not fit"}


class DirectAgent:
    """The direct loop over one backend; one object an arm.

    Whether the prompt shows a runbook follows from the view: it does where the view has steps. F2 asks its model through
    one of these too, with a layout of its own.
    """

    def __init__(
        self,
        backend: Backend,
        config: Settings,
        trial_seed: int,
        resume: int = 0,
        layout: Layout = write_prompt,
    ) -> None:
        self._backend = backend
        self._layout = layout
        self._config = config
        self._trial_seed = resumed_seed(trial_seed, resume)
        self._asked: Counter[str] = Counter()

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Ask the model for the next line and read it.

        Raises:
            UndolabError: a tool's schema has no grammar, or the backend cannot answer.
        """
        request = self.request(view, history)
        key = request_key(request)
        self._asked[key] += 1
        completion = self._backend.complete(request, self._asked[key])
        record = f"{key}#{self._asked[key]}"
        if completion.finish_reason != "stop":
            why = _ENDINGS.get(
                completion.finish_reason, f"the answer ended with {completion.finish_reason!r}"
            )
            return Turn(said=completion.text, error=why, record=record)
        try:
            read = read_line(completion.text, {tool.name for tool in view.tools})
        except BadLineError as error:
            return Turn(said=completion.text, error=str(error), record=record)
        if isinstance(read, FinalReport):
            return Turn(said=completion.text, report=read, record=record)
        return Turn(said=completion.text, calls=[read], record=record)

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of the prompt for the next turn."""
        return bytes_digest(self._prompt(view, history).encode())

    def request(self, view: TaskView, history: Sequence[Exchange]) -> CompletionRequest:
        """Return the request of the next turn, whole."""
        sampling = msgspec.structs.replace(
            self._config.sampling, seed=call_seed(self._trial_seed, len(history) + 1)
        )
        return CompletionRequest(
            model=self._config.identity,
            prompt=self._prompt(view, history),
            grammar=build_grammar(view.tools),
            stop=[STOP],
            sampling=sampling,
        )

    def _prompt(self, view: TaskView, history: Sequence[Exchange]) -> str:
        settings = self._config.prompt
        return self._layout(view, history, settings.examples, settings.output_chars)
