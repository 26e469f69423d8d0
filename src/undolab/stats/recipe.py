"""How replicates become a value, an interval and a p: ours, ours with BCa, and the published way.

Published (UndoBench): a ratio over 0 is 0; NumPy's linear percentiles; every number is rounded to four decimals as
soon as it is there, the p before Holm too. Ours leaves a ratio over 0 undefined, drops the replicate and says how
often, and rounds nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from undolab.stats.intervals import Interval, bca_interval, holm, percentile_interval, ratios, two_sided_p

_DIGITS = 4
_Floats = NDArray[np.float64]


class Recipe:
    """Our way, with percentile intervals."""

    mode = "ours"
    interval_name = "percentile"

    def ratio(self, num: _Floats, den: _Floats) -> _Floats:
        """Return num / den, a value each."""
        return ratios(num, den)

    def interval(self, observed: float | None, replicates: _Floats, left_out: _Floats) -> Interval:
        """Return the 95 % interval; `left_out` holds the values with one task left out. One task gives none."""
        if len(left_out) < 2:
            return Interval(None, None, int(np.isnan(replicates).sum()))
        return self._bounds(observed, replicates, left_out)

    def p(self, observed: float | None, replicates: _Floats) -> float | None:
        """Return the two-sided p of a difference."""
        return None if observed is None else two_sided_p(observed, replicates)

    def holm(self, p_values: Sequence[float | None]) -> list[float | None]:
        """Return the adjusted p-values of a family."""
        return holm(p_values)

    def rounded(self, value: float | None) -> float | None:
        """Return a value as it is given out."""
        return value

    def _bounds(self, observed: float | None, replicates: _Floats, left_out: _Floats) -> Interval:
        del observed, left_out
        return percentile_interval(replicates)


class Bca(Recipe):
    """Our way, with bias-corrected and accelerated intervals."""

    interval_name = "bca"

    def _bounds(self, observed: float | None, replicates: _Floats, left_out: _Floats) -> Interval:
        return bca_interval(observed, replicates, left_out)


class Published(Recipe):
    """The published way, to the digit."""

    mode = "published"

    def ratio(self, num: _Floats, den: _Floats) -> _Floats:
        """Return num / den, 0 where den is 0."""
        return np.nan_to_num(ratios(num, den), nan=0.0)

    def interval(self, observed: float | None, replicates: _Floats, left_out: _Floats) -> Interval:
        """Return NumPy's percentiles, rounded; one task gives an interval of no width."""
        del observed, left_out
        low, high = np.percentile(replicates, [2.5, 97.5])
        return Interval(self.rounded(float(low)), self.rounded(float(high)), 0)

    def p(self, observed: float | None, replicates: _Floats) -> float | None:
        """Return the p, rounded."""
        return self.rounded(super().p(observed, replicates))

    def holm(self, p_values: Sequence[float | None]) -> list[float | None]:
        """Return the adjusted values of the rounded p-values, rounded."""
        return [self.rounded(p) for p in holm(p_values)]

    def rounded(self, value: float | None) -> float | None:
        """Return a value with four decimals."""
        return None if value is None else round(value, _DIGITS)
