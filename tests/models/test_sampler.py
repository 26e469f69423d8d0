"""The draw: the head against a full sort, the inverse against the masses, the cuts against llama.cpp's own chain."""

import ctypes
import importlib.util
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from undolab.model.record import Sampling
from undolab.models.sampler import evidence, head, logprob, number, penalised, rounded

Logits = NDArray[np.float32]

HERE = importlib.util.find_spec("llama_cpp") is not None
LARGEST = 1 - 2**-53
"""The largest number that a draw can be."""


def logits(values: list[float]) -> Logits:
    return np.array(values, dtype=np.float32)


coarse = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.5, 2.0])
"""Few values, so that many tokens tie."""
ties = st.lists(coarse, min_size=2, max_size=40).map(logits)
distinct = st.lists(
    st.floats(-12, 12, width=32), min_size=2, max_size=30, unique_by=lambda value: round(value, 2)
).map(logits)
cuts = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.2, 0.7, 1.0, 1.6]),
    top_k=st.integers(0, 12),
    top_p=st.sampled_from([1.0, 0.99, 0.9, 0.6, 0.2]),
    min_p=st.sampled_from([0.0, 0.001, 0.05, 0.4]),
)
warm = st.builds(Sampling, temperature=st.sampled_from([0.2, 0.7, 1.0, 1.6]))


@given(ties, st.integers(1, 45), cuts | warm)
def test_a_head_is_the_start_of_the_whole(values: Logits, keep: int, sampling: Sampling) -> None:
    """The kept tokens are the first of the sorted ones with their masses, equal ones by id, whatever is kept."""
    whole, kept = head(values, values, sampling, None), head(values, values, sampling, keep)
    count = len(kept.tokens)
    assert count == min(keep, len(whole.tokens))
    assert kept.tokens.tolist() == whole.tokens[:count].tolist()
    assert kept.mass.tolist() == whole.mass[:count].tolist()
    assert kept.logprobs.tolist() == whole.logprobs[:count].tolist()
    assert kept.total == whole.total == pytest.approx(whole.mass[-1])
    order = [(-float(values[token]), token) for token in whole.tokens.tolist()]
    assert order == sorted(order)
    if sampling == Sampling(temperature=sampling.temperature) and sampling.temperature > 0:
        assert sorted(whole.tokens.tolist()) == list(range(len(values)))


@given(ties, warm)
def test_the_weights_are_those_of_the_temperature(values: Logits, sampling: Sampling) -> None:
    """Without cuts each token's share is the softmax of its logit by the temperature; log-probabilities are at 1."""
    made = head(values, values, sampling, None)
    wide = values.astype(np.float64)
    share = np.exp(wide / sampling.temperature) / np.exp(wide / sampling.temperature).sum()
    assert np.diff(made.mass, prepend=0.0) / made.total == pytest.approx(share[made.tokens], abs=1e-12)
    plain = wide - math.log(np.exp(wide).sum())
    assert made.logprobs == pytest.approx(plain[made.tokens], abs=1e-12)
    assert [logprob(values, token) for token in made.tokens] == [rounded(float(x)) for x in made.logprobs]


@given(ties, warm, st.integers(200, 400))
def test_a_pick_is_the_inverse_of_the_distribution(values: Logits, sampling: Sampling, steps: int) -> None:
    """Of evenly spread numbers each token gets its share, to within one number at each of its ends."""
    made = head(values, values, sampling, None)
    got = Counter(made.pick((step + 0.5) / steps) for step in range(steps))
    weights = np.diff(made.mass, prepend=0.0)
    for place, weight in enumerate(weights.tolist()):
        assert abs(got[place] - steps * weight / made.total) <= 1.0 + 1e-6


@given(ties, st.integers(1, 12), warm, st.floats(0, LARGEST))
def test_a_head_picks_what_the_whole_picks_or_says_that_it_lies_beyond(
    values: Logits, keep: int, sampling: Sampling, at: float
) -> None:
    """A pick from the head is that of the whole; -1 means a token after those kept."""
    whole, kept = head(values, values, sampling, None), head(values, values, sampling, keep)
    found = kept.pick(at)
    if found < 0:
        assert whole.pick(at) >= len(kept.tokens) or whole.pick(at) == -1
    else:
        assert whole.pick(at) == found


@given(ties, warm, st.sets(st.integers(0, 39)), st.sampled_from([0.0, 0.3, 0.99, LARGEST]))
def test_a_refused_token_is_never_picked(
    values: Logits, sampling: Sampling, refused: set[int], at: float
) -> None:
    """Tokens at -inf have no mass, and not even the largest number falls on one."""
    masked = values.copy()
    masked[[token for token in refused if token < len(values)]] = -np.inf
    assume(np.isfinite(masked).any())
    for keep in (None, 3):
        made = head(masked, values, sampling, keep)
        place = made.pick(at)
        if place < 0 and keep is None:
            place = made.last()
        if place >= 0:
            assert np.isfinite(masked[made.tokens[place]])


def test_equal_tokens_at_the_edge_of_the_head_stand_by_id() -> None:
    """Where more tie with the last one kept than there is room, those with the lowest ids are in."""
    values = logits([0.0] * 200)
    values[150] = 1.0
    made = head(values, values, Sampling(temperature=1.0), 5)
    assert made.tokens.tolist() == [150, 0, 1, 2, 3]


def test_greedy_takes_the_first_of_the_best() -> None:
    """At temperature 0 the likeliest token is drawn whatever the number, the lowest id of equal ones."""
    values = logits([0.0, 2.0, -1.0, 2.0])
    made = head(values, values, Sampling(temperature=0.0))
    assert (made.tokens.tolist(), made.total) == ([1], 1.0)
    assert {made.pick(at) for at in (0.0, 0.5, LARGEST)} == {0}


def test_numbers_are_pinned_spread_and_apart() -> None:
    """The number is a hash of seed, place and draw: fixed for ever, in [0, 1), evenly spread, and others for others."""
    assert (number(2001, 0, 0), number(2001, 0, 1)) == (0.6850688730813213, 0.5963763343401889)
    many = [number(seed, place, again) for seed in range(500) for place in range(10) for again in (0, 1)]
    assert len(set(many)) == len(many)
    assert min(many) >= 0
    assert max(many) < 1
    counts = np.histogram(many, bins=50, range=(0, 1))[0]
    expected = len(many) / 50
    # The 99.99 % point of chi-square at 49 degrees of freedom; the numbers are fixed, so this cannot flicker.
    assert ((counts - expected) ** 2 / expected).sum() < 94.0


@given(ties, ties, st.sets(st.integers(0, 39)), cuts)
def test_an_honest_draw_has_no_evidence_against_it(
    values: Logits, other: Logits, refused: set[int], sampling: Sampling
) -> None:
    """Drawn with or without cuts, before or after the mask, the mean of how much sooner temperature 1 gives it is at most 1."""
    masked = values.copy()
    masked[[token for token in refused if token < len(values)]] = -np.inf
    assume(np.isfinite(masked).any())
    for drawn_from in (masked, values):
        made = head(drawn_from, values, sampling, None)
        weights = np.diff(made.mass, prepend=0.0)
        allowed = np.isfinite(masked[made.tokens])
        weights = np.where(allowed, weights, 0.0)
        if weights.sum() == 0:
            continue
        ratios = [
            math.exp(evidence(masked, token, sampling.temperature)) if fine else 0.0
            for token, fine in zip(made.tokens.tolist(), allowed.tolist(), strict=True)
        ]
        assert (weights * ratios).sum() / weights.sum() <= 1 + 1e-9


def test_a_penalty_falls_on_the_last_tokens_alone() -> None:
    """Tokens said within the last 64 are made less likely, once each, whatever their sign; 1.0 changes nothing."""
    values = logits([2.0, -2.0, 1.0, 4.0])
    assert penalised(values, [0, 1, 1, 0], 2.0).tolist() == [1.0, -4.0, 1.0, 4.0]
    assert penalised(values, [3] + [0] * 64, 2.0).tolist() == [1.0, -2.0, 1.0, 4.0]
    assert penalised(values, [0, 1], 1.0) is values
    assert penalised(values, [], 2.0) is values
    assert values.tolist() == [2.0, -2.0, 1.0, 4.0]


def chain(values: Logits, sampling: Sampling, said: list[int]) -> dict[int, float]:
    """Return token to probability under llama.cpp's own samplers, in its order."""
    import llama_cpp

    c: Any = llama_cpp.llama_cpp
    made = c.llama_sampler_chain_init(c.llama_sampler_chain_default_params())
    penalties = c.llama_sampler_init_penalties(len(values), 64, sampling.repeat_penalty, 0.0, 0.0)
    c.llama_sampler_chain_add(made, penalties)
    c.llama_sampler_chain_add(made, c.llama_sampler_init_top_k(sampling.top_k))
    c.llama_sampler_chain_add(made, c.llama_sampler_init_top_p(sampling.top_p, 1))
    c.llama_sampler_chain_add(made, c.llama_sampler_init_min_p(sampling.min_p, 1))
    c.llama_sampler_chain_add(made, c.llama_sampler_init_temp(sampling.temperature))
    for token in said:
        c.llama_sampler_accept(made, token)
    kind = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
    rows = np.zeros(len(values), dtype=kind)
    rows["id"], rows["logit"] = np.arange(len(values)), values
    data = rows.ctypes.data_as(c.llama_token_data_p)
    array = c.llama_token_data_array(data=data, size=len(rows), selected=-1, sorted=False)
    c.llama_sampler_apply(made, ctypes.byref(array))
    left = [(array.data[place].id, array.data[place].logit) for place in range(array.size)]
    c.llama_sampler_free(made)
    left = [(token, logit) for token, logit in left if logit > -math.inf]
    top = max(logit for _, logit in left)
    whole = sum(math.exp(logit - top) for _, logit in left)
    return {token: math.exp(logit - top) / whole for token, logit in left}


@pytest.mark.live
@pytest.mark.skipif(not HERE, reason="llama.cpp is not here; `make live` installs it")
@settings(max_examples=150)
@given(distinct, cuts, st.sampled_from([1.0, 1.1, 1.5]), st.lists(st.integers(0, 5), max_size=80))
def test_the_distribution_is_that_of_llama_cpps_chain(
    values: Logits, cut: Sampling, penalty: float, said: list[int]
) -> None:
    """Penalty, top-k, top-p, min-p and temperature leave the tokens and probabilities that llama.cpp's samplers leave."""
    said = [token % len(values) for token in said]
    sampling = Sampling(
        temperature=cut.temperature, top_k=cut.top_k, top_p=cut.top_p, min_p=cut.min_p, repeat_penalty=penalty
    )
    ours = penalised(values, said, penalty)
    falling = np.sort(ours.astype(np.float64))[::-1]
    assume((np.diff(falling) < -1e-4).all())
    kept = falling[: sampling.top_k or None]
    weights = np.exp(kept - kept[0])
    # Where a cut falls within single precision of a token, either side is right.
    assume(
        (np.abs(np.cumsum(weights) / weights.sum() - sampling.top_p) > 1e-4).all() or sampling.top_p == 1.0
    )
    assume((np.abs(weights - sampling.min_p) > 1e-4).all() or sampling.min_p == 0.0)
    made = head(ours, values, sampling, None)
    mine = dict(
        zip(made.tokens.tolist(), (np.diff(made.mass, prepend=0.0) / made.total).tolist(), strict=True)
    )
    assert mine == pytest.approx(chain(values, sampling, said), abs=2e-5)
