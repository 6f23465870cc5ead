"""Counters in memory that processes share."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup.serving._metrics import SCORES, CounterBlock, Metrics, histogram, make_blocks


def test_who_comes_after_counts_on():
    (memory,) = make_blocks(1)
    CounterBlock(memory).add("rows", ("clicks",), 3.0)
    CounterBlock(memory).add("rows", ("clicks",), 4.0)
    CounterBlock(memory).add("rows", ("other",), 1.0)
    assert {key: values.tolist() for key, values in CounterBlock(memory).read()} == {
        ("rows", ("clicks",)): [7.0],
        ("rows", ("other",)): [1.0],
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_a_child_counts_its_parent_reads():
    memories = make_blocks(2)
    blocks = [CounterBlock(memory) for memory in memories]
    blocks[0].add("rows", ("clicks",), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Python count the threads of others
        child = os.fork()
    if child == 0:
        CounterBlock(memories[1]).add("rows", ("clicks",), 41.0)
        os._exit(0)
    os.waitpid(child, 0)
    assert Metrics(blocks[0], blocks).totals()["rows"]["clicks",].tolist() == [42.0]


def test_a_full_block_counts_no_more_and_breaks_nothing():
    (memory,) = make_blocks(1)
    block = CounterBlock(memory)
    block.add("rows", (), 1.0)
    for place in range(200):
        block.add("large", (str(place),), np.ones(1000))  # there is room for 131
    block.add("rows", (), 1.0)
    read = dict(block.read())
    assert read["rows", ()].tolist() == [2.0]
    assert len(read) == 1 + 131
    assert all((values == 1).all() for (name, _), values in read.items() if name == "large")


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from(SCORES)), max_size=40))
def test_a_histogram_counts_each_value_in_the_first_bucket_that_holds_it(values):
    counts = histogram(np.array(values, dtype=np.float64), SCORES)
    plain = [sum(value <= bound for value in values) for bound in SCORES]
    assert np.cumsum(counts[:-2]).tolist() == plain
    assert counts[-2] == 0
    assert counts[-1] == pytest.approx(sum(values))
