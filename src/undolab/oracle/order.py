"""The partial order of required effects, held against the order of their first commits."""

from collections.abc import Mapping, Sequence


def order_holds(pairs: Sequence[tuple[str, str]], first: Mapping[str, int]) -> bool:
    """Return True unless some pair was committed the wrong way round.

    `first` gives each required effect's first commit as a number that runs over the whole arm, never a count kept for each
    tool, so a first call that needed two attempts violates nothing. A pair with an effect that was never committed is not a
    violation of the order; the missing effect is counted elsewhere.
    """
    return all(first[before] < first[after] for before, after in pairs if before in first and after in first)
