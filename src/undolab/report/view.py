"""The cells that a study really holds, found by name: no table or figure assumes that every combination is there."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.stats.rows import CellRow, MetricsFile, read_metrics

ALL = "all"
"""The name of all tasks together."""
NONE = "none"
"""The agent-only track."""


class View:
    """A study's cells, indexed; what is not there is left out, in the study's own order.

    Args:
        stats: `metrics.json` of the study.

    Raises:
        UndolabError: the study holds no cell.
    """

    def __init__(self, stats: MetricsFile) -> None:
        self.stats = stats
        self.study = stats.study
        self._cells = {
            (row.scope.model, row.scope.framework, row.scope.boundary, row.scope.method, row.scope.task): row
            for row in stats.cells
            if row.N
        }
        if not self._cells:
            raise UndolabError("metrics.json holds no cell; compute the statistics again")
        # A task that a boundary does not apply to may have a row without a pair: it is no cell.
        pooled = [row.scope for row in stats.cells if row.scope.task == ALL and row.N]
        held = {(scope.model, scope.framework) for scope in pooled}
        self.models = [name for name in self.study.models if any(model == name for model, _ in held)]
        self.frameworks = [name for name in self.study.frameworks if any(one == name for _, one in held)]
        self.scopes = [
            (model, framework)
            for model in self.models
            for framework in self.frameworks
            if (model, framework) in held
        ]
        self.places = [name for name in self.study.boundaries if any(one.boundary == name for one in pooled)]
        self._pooled = pooled

    @property
    def several(self) -> bool:
        """True if there is more than one model or framework."""
        return len(self.scopes) > 1

    @property
    def main_place(self) -> str:
        """The boundary of the main question: the lost acknowledgement, or the first one that the study has."""
        wanted = str(Boundary.POST_MUTATION_PRE_ACK)
        return wanted if wanted in self.places else self.places[0]

    def scopes_of(self, model: str) -> list[tuple[str, str]]:
        """Return (model, framework) of each framework that the model ran in."""
        return [scope for scope in self.scopes if scope[0] == model]

    def methods(self, place: str = "") -> list[str]:
        """Return the methods with a cell, at one boundary or at any."""
        held = {one.method for one in self._pooled if place in ("", one.boundary)}
        return [name for name in self.study.methods if name in held]

    def cell(self, model: str, framework: str, place: str, method: str, task: str = ALL) -> CellRow | None:
        """Return one cell, or None."""
        return self._cells.get((model, framework, place, method, task))

    def tasks(self, place: str = "") -> list[str]:
        """Return the tasks with a cell, at one boundary or at any, by id."""
        held = {key[4] for key in self._cells if place in ("", key[2])} - {ALL}
        return sorted(held)

    def task_cells(
        self,
        place: str,
        method: str,
        *,
        scopes: Iterable[tuple[str, str]] | None = None,
        tasks: Sequence[str] | None = None,
    ) -> list[CellRow]:
        """Return the cells of single tasks at a boundary with a method, for pooling.

        Args:
            place: the boundary.
            method: the method.
            scopes: (model, framework) of those wanted; all if None.
            tasks: those wanted; all if None.
        """
        wanted = self.tasks(place) if tasks is None else tasks
        named = self.scopes if scopes is None else scopes
        found = [
            self.cell(model, framework, place, method, task) for model, framework in named for task in wanted
        ]
        return [cell for cell in found if cell is not None]


def read_view(stats_dir: Path) -> View:
    """Return the view of a folder with `metrics.json`.

    Raises:
        UndolabError: it is missing, has another shape, or holds no cell.
    """
    return View(read_metrics(stats_dir))


def side_views(build: Path) -> dict[str, View]:
    """Return the side studies of a build by name: those with statistics under `side/<name>/stats`."""
    return {
        path.parent.parent.name: read_view(path.parent)
        for path in sorted(build.glob("side/*/stats/metrics.json"))
    }
