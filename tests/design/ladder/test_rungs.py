"""Rungs: loss and bound side by side, and the size of the gaps the ladder promises."""

import time

import pytest

from discreet.design.ladder.chain import chain_bound
from discreet.design.ladder.rungs import Rung, SumMechanism, sum_rung
from discreet.design.ladder.weights import clipped_sum
from discreet.errors import InputError

GAPS = [("T5", 50), ("T5", 1000), ("T10lin", 50), ("T10lin", 1000), ("T10inc", 100), ("T10inc", 1000)]


@pytest.mark.parametrize(("name", "respondents"), GAPS)
def test_gap_of_the_first_rung(named, name, respondents):
    began = time.monotonic()
    proxy = clipped_sum(*named[name], respondents, 1.0)
    bound = chain_bound(*named[name], respondents, 1.0).lower_bound
    rung = sum_rung("clipped sum", proxy, bound, time.monotonic() - began)
    assert 0.03 < rung.relative_gap < 0.17
    assert rung.mechanism.width == max(rung.mechanism.weights)
    assert len(rung.mechanism.actions) == rung.mechanism.stop - rung.mechanism.start + 1


def test_a_bound_above_the_loss_is_refused():
    proxy = clipped_sum([0.7, 0.3], [0, 1], 5, 1.0)
    with pytest.raises(InputError, match="another problem"):
        Rung("forged", SumMechanism.of(proxy), proxy.loss, proxy.loss_error, proxy.loss * 1.01, 0.0)
