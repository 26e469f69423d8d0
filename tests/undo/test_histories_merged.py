"""Histories that share states count exactly as histories walked one by one.

With UNDOLAB_SUITE_EXAMPLES in the environment (`make suites`) each of the 349,524 histories of depth 8 is walked on its own.
"""

import os
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.undo.histories.direct import direct
from undolab.undo.histories.grammar import effect, words
from undolab.undo.histories.merged import Graph, shape
from undolab.undo.histories.score import score
from undolab.undo.histories.walk import follow
from undolab.undo.policies.resource import KINDS

DEPTH = 8 if "UNDOLAB_SUITE_EXAMPLES" in os.environ else 5


@pytest.fixture(scope="module")
def graphs():
    return {kind: Graph(kind, 8) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_history(graphs, kind):
    """All words of up to five events (eight in the suites) have the same rows by both ways."""
    nodes = chain.from_iterable(graphs[kind].nodes(DEPTH))
    merged = {word: graphs[kind].rows[node] for word, node in zip(words(DEPTH), nodes, strict=True)}
    for word, rows in direct(kind, DEPTH):
        assert merged.pop(word) == rows, word
    assert not merged


@given(st.sampled_from(KINDS), st.text("0123", min_size=5, max_size=8))
def test_longer_histories(graphs, kind, word):
    """A random longer word has the same rows by both ways."""
    graph = graphs[kind]
    place = int(word, 4)
    level = list(graph.nodes(len(word)))[-1]
    assert graph.rows[level[place]] == score(kind, follow(kind, word), effect(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_tally_counts_every_word(graphs, kind):
    """The tally of a depth adds up to all its words."""
    assert sum(graphs[kind].tally(8).values()) == (4**9 - 1) // 3


def test_shape_forgets_ids_but_not_amounts():
    """Two debits in another order are one state; two credits and a debit are another."""
    assert shape(follow("add", "01")) == shape(follow("add", "10"))
    assert shape(follow("add", "001")) != shape(follow("add", "011"))
    assert shape(follow("set", "0")) != shape(follow("set", "03"))


def test_depth_eight(graphs):
    """At depth 8 all else agrees, and in 3,307 histories a peer's debit rests on the effect though the balance bears it."""
    assert len(graphs["add"].rows) == 485
    parted = Counter()
    for kind, graph in graphs.items():
        for node, times in graph.tally(8).items():
            row = graph.rows[node][0]
            if row.outcome != row.replay_outcome:
                parted[kind, row.outcome, row.replay_outcome] += times
    assert parted == {("add", "compensated", "refused"): 3307}
