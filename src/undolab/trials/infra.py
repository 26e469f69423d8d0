"""INFRA_ERROR: arms whose service gave no answer are counted, never scored, and a service that is gone stops the run."""

from collections.abc import Callable

from undolab.model.wire import ArmId
from undolab.models.openai_http import InfraError

PATIENCE = 3
"""So many trials one after the other without a single answer between them stop a run."""


class InfraArms:
    """Collects the arms that are INFRA_ERROR.

    Args:
        answers: says how many answers the services have given so far.
        notice: gets one line for each such trial.
    """

    def __init__(self, answers: Callable[[], int], notice: Callable[[str], None] = lambda _: None) -> None:
        self._answers = answers
        self._notice = notice
        self._before = -1
        self._row: list[tuple[str, str, str, int]] = []
        self.names: list[str] = []
        """The arms, in the order of the study."""

    def __call__(self, arm: ArmId, error: InfraError) -> None:
        """Count an arm.

        Raises:
            InfraError: the service answers nothing any more.
        """
        trial = (arm.workflow, arm.model, arm.framework, arm.seed)
        self.names.append(arm.name())
        if self._answers() != self._before:
            self._before, self._row = self._answers(), []
        if trial not in self._row:
            self._row.append(trial)
            self._notice(f"{arm.name()}: {error}")
            if len(self._row) >= PATIENCE:
                raise InfraError(
                    f"{error} {PATIENCE} trials one after the other had no answer, so the run stops here."
                )
