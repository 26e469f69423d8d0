"""What a study of K tasks could have shown: the smallest difference in CRSR found four times out of five, by simulation.

A simulated study draws K tasks, with replacement, from those observed, with their capable trials and their recovery rates
under a reference method. A second method then rescues a share of what the reference leaves undone: `spread` over all
failing trials, or `concentrated`, in which whole tasks are solved and all others stay as they are (a key helps where a
tool takes one). Both give the same expected difference, and very different power. Trials of both methods are drawn anew,
so a share of 0 gives the rate of false findings. Everything is drawn from one seed, and the same random numbers serve
every share, so that power grows with it.
"""

from itertools import product
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from undolab.model.fault import Boundary
from undolab.stats.groups import Group
from undolab.stats.intervals import draws, multiply
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import FIELD
from undolab.stats.tally import Cell, Tally

SIZES = (12, 36, 60)
_STUDIES, _REPLICATES, _PATTERNS = 500, 1000, 1000
_LEVEL, _TARGET = 0.05, 0.8
_STEPS = 7
_ALL_PATTERNS = 12
_SLACK = 1e-9
_REFERENCE = "B0"
Effect = Literal["spread", "concentrated"]
Test = Literal["bootstrap", "sign_flip"]
_Floats = NDArray[np.float64]


class PowerRow(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest difference that one test finds in one kind of study."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    reference: str
    reference_crsr: float | None
    effect: Effect
    test: Test
    tasks: int
    """K."""
    studies: int
    """Simulated for each share."""
    level: float
    """Two-sided, without Holm's correction."""
    target: float
    """The power asked for."""
    detectable: float | None
    """Expected difference in CRSR; undefined where not even solving everything is found often enough."""
    power: float | None
    """At that difference."""
    false_findings: float | None
    """Share of studies with p below the level where the methods do not differ."""


def power_rows(tally: Tally, matrix: Matrix) -> list[PowerRow]:
    """Return 12 rows for each model and framework: three sizes, two effects, two tests."""
    at = str(Boundary.POST_MUTATION_PRE_ACK)
    boundary = at if at in matrix.boundaries else matrix.boundaries[0]
    reference = _REFERENCE if _REFERENCE in matrix.methods else matrix.methods[0]
    rows = []
    for model, framework in product(matrix.models, matrix.frameworks):
        group = Group(tally, [Cell(model, framework, boundary, reference)])
        applicable = group.table[:, FIELD["N"]] > 0
        counts, crsr = np.array(group.by_task("crsr"))[applicable], group.value("crsr")
        for tasks in SIZES:
            studies = None if crsr is None else _Studies(counts, tasks, matrix.bootstrap_seed)
            effects: tuple[Effect, ...] = ("spread", "concentrated")
            tests: tuple[Test, ...] = ("bootstrap", "sign_flip")
            for effect, test in product(effects, tests):
                found = _Found(None, None, None)
                if studies is not None and crsr is not None:
                    found = _search(studies, effect, test, crsr)
                rows.append(
                    PowerRow(
                        model=model,
                        framework=framework,
                        prompt=matrix.prompt,
                        examples=matrix.examples,
                        boundary=boundary,
                        reference=reference,
                        reference_crsr=crsr,
                        effect=effect,
                        test=test,
                        tasks=tasks,
                        studies=_STUDIES,
                        level=_LEVEL,
                        target=_TARGET,
                        **found._asdict(),
                    )
                )
    return rows


class _Found(NamedTuple):
    detectable: float | None
    power: float | None
    false_findings: float | None


class _Studies:
    """Simulated studies of one size, and the random numbers that every share of rescued trials uses."""

    def __init__(self, counts: NDArray[np.int64], tasks: int, seed: int) -> None:
        rng = np.random.RandomState(seed)
        chosen = counts[rng.randint(0, len(counts), size=(_STUDIES, tasks))]
        recovered, self.capable = chosen[..., 0], chosen[..., 1]
        rate = np.divide(recovered, self.capable, out=np.zeros(recovered.shape), where=self.capable > 0)
        self._theirs, self._same = (rng.binomial(self.capable, rate) for _ in range(2))
        self._task = rng.random_sample(self.capable.shape)
        self._trial = rng.random_sample((*self.capable.shape, int(counts[:, 1].max())))
        self._failing = np.arange(self._trial.shape[2]) < (self.capable - self._same)[..., None]
        self._weights = draws(tasks, _REPLICATES, seed).astype(np.float64)
        self._defined = multiply(self.capable.astype(np.float64), self._weights) > 0
        self._signs = _signs(tasks, rng)

    def gains(self, effect: Effect, share: float) -> NDArray[np.int64]:
        """Return recovered trials, second method minus reference, of each study and task."""
        if effect == "spread":
            ours = self._same + ((self._trial < share) & self._failing).sum(axis=2)
        else:
            ours = np.where(self._task < share, self.capable, self._same)
        found: NDArray[np.int64] = ours - self._theirs
        return found

    def found(self, gains: NDArray[np.int64], test: Test) -> NDArray[np.bool_]:
        """Say of each study whether the test gives a p below the level."""
        p = self._bootstrap(gains) if test == "bootstrap" else self._sign_flip(gains)
        return p < _LEVEL

    def _bootstrap(self, gains: NDArray[np.int64]) -> _Floats:
        sums, size = multiply(gains.astype(np.float64), self._weights), gains.sum(axis=1)
        crossed = np.where(size[:, None] > 0, sums <= 0, sums >= 0) & self._defined
        kept = np.maximum(self._defined.sum(axis=1), 1)
        found: _Floats = np.clip(2 * crossed.sum(axis=1) / kept, 1 / kept, 1.0)
        found[size == 0] = 1.0
        return found

    def _sign_flip(self, gains: NDArray[np.int64]) -> _Floats:
        rates = np.divide(gains, self.capable, out=np.zeros(gains.shape), where=self.capable > 0)
        reached = np.abs(multiply(rates, self._signs)) >= np.abs(rates.sum(axis=1))[:, None] - _SLACK
        patterns = self._signs.shape[1]
        all_of_them = patterns == 1 << len(self._signs)
        extra = 0.0 if all_of_them else 1.0
        found: _Floats = (extra + reached.sum(axis=1)) / (extra + patterns)
        return found


def _signs(tasks: int, rng: np.random.RandomState) -> _Floats:
    """Return sign patterns, a column each: all of them where there are few."""
    if tasks <= _ALL_PATTERNS:
        every: _Floats = np.array(list(product((-1.0, 1.0), repeat=tasks))).T
        return every
    return (rng.randint(0, 2, size=(tasks, _PATTERNS)) * 2 - 1).astype(np.float64)


def _search(studies: _Studies, effect: Effect, test: Test, crsr: float) -> _Found:
    """Halve the span of shares until it is 1/128 wide."""
    errors = float(studies.found(studies.gains(effect, 0.0), test).mean())
    low, high, power = 0.0, 1.0, _power(studies, effect, test, 1.0)
    if power < _TARGET:
        return _Found(None, None, errors)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        here = _power(studies, effect, test, middle)
        if here >= _TARGET:
            high, power = middle, here
        else:
            low = middle
    return _Found(high * (1 - crsr), power, errors)


def _power(studies: _Studies, effect: Effect, test: Test, share: float) -> float:
    gains = studies.gains(effect, share)
    return float((studies.found(gains, test) & (gains.sum(axis=1) > 0)).mean())
