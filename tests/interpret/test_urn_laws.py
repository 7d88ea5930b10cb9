"""The law of a weighted sum with the statistic under a Dirichlet: against every histogram, and read through large cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from counted_mechanisms import counted_on, peaked

from discreet.errors import TooLarge
from discreet.interpret import beliefs as atoms
from discreet.interpret import posterior
from discreet.interpret.beliefs import log_histogram_law
from discreet.interpret.urn_laws import urn_law
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.universe import Universe

THIRDS = (Fraction(-1, 3), Fraction(0), Fraction(2, 3), Fraction(2))


@pytest.mark.parametrize(
    ("weights", "values", "concentration"),
    [
        ((0, 1, 1, 3), THIRDS, ("3", "1", "0.5", "0.25")),
        ((-2, 5, 40, 41), (Fraction(0), Fraction(1), Fraction(2), Fraction(3)), ("8", "1", "1", "0.1")),  # a stride of 38
        ((7, 7, 7, 7), THIRDS, ("1", "1", "1", "1")),
        ((0, 1, 2, 3), (Fraction(5),) * 4, ("1", "2", "3", "4")),
        ((3, 2, 1, 0), (Fraction(0), Fraction(1), Fraction(2), Fraction(3)), ("1", "2", "3", "0.001")),  # falling
    ],
)
def test_every_pair_has_the_probability_of_its_histograms(weights, values, concentration) -> None:
    prior = DirichletMultinomialPrior(tuple(map(Fraction, concentration)))
    universe = Universe.of(5, tuple(map(Fraction, range(4))))
    histograms = universe.histograms()
    chances = np.exp(prior.on_histograms(histograms, universe).logs())
    wanted: Counter[tuple[int, Fraction]] = Counter()
    for n, chance in zip(histograms.tolist(), chances.tolist(), strict=True):
        if chance:
            at = (
                sum(k * w for k, w in zip(n, weights, strict=True)),
                sum((k * v for k, v in zip(n, values, strict=True)), Fraction(0)),
            )
            wanted[at] += chance
    law = urn_law(5, prior.concentration, weights, values)
    found = {
        (s, law.values[k]): np.exp(x) for s, k, x in zip(law.totals.tolist(), law.omega.tolist(), law.logs.tolist(), strict=True)
    }
    assert found == pytest.approx(dict(wanted), rel=1e-9)


def test_large_cells_are_read_as_their_histograms_would_be(monkeypatch) -> None:
    """Noise that follows a count, of twenty respondents: by all histograms, and as if these were too many."""
    kernel = replace(peaked(2, 0, -2), stride=64, high=60)
    kernel = kernel.with_actions([Fraction(k) for k in range(kernel.low, kernel.high + 1)])
    plain = counted_on(kernel, respondents=20)
    prior = DirichletMultinomialPrior((Fraction(16), Fraction(3), Fraction(1)))
    mechanism = replace(plain, problem=replace(plain.problem, prior=prior))
    listed = {label: posterior(mechanism, label) for label in ("0", "7", "41")}
    monkeypatch.setattr(atoms, "MOST_STATES", 10)
    for label, wanted in listed.items():
        found = posterior(mechanism, label)
        assert found.values == wanted.values
        assert np.allclose(found.probabilities, wanted.probabilities, rtol=1e-9, atol=1e-14)


def test_an_urn_is_not_read_as_independent_respondents() -> None:
    """The near miss: the same shares without what respondents of one cell have in common."""
    shares, weights = (Fraction(8, 10), Fraction(2, 10)), (0, 1)
    law = urn_law(30, tuple(2 * p for p in shares), weights, (Fraction(0), Fraction(1)))
    spread = np.exp(law.logs) @ (law.totals - np.exp(law.logs) @ law.totals) ** 2
    assert spread == pytest.approx(30 * 0.16 * (30 + 2) / (1 + 2), rel=1e-9)
    universe = Universe.of(30, (Fraction(0), Fraction(1)))
    iid = np.exp(log_histogram_law(universe.histograms(), IidPrior(shares), universe))
    assert not np.allclose(np.sort(np.exp(law.logs))[-5:], np.sort(iid)[-5:], rtol=0.1)


@pytest.mark.parametrize(("respondents", "weights"), [(10_000, (0, 40, 107)), (2, (0, 10**6, 10**6 + 7, 3 * 10**6 + 1))])
def test_what_takes_too_long_or_too_much_memory_is_refused_before_any_work(respondents, weights) -> None:
    with pytest.raises(TooLarge, match="pairs of the weighted sum"):
        urn_law(respondents, (Fraction(1),) * len(weights), weights, tuple(map(Fraction, (0, 1, 5, 11)[: len(weights)])))
