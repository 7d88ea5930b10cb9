"""Messages on trees beside the sum over every combination of leaves; least squares beside the normal equations."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from test_totals import noisy, table

from discreet.errors import InputError
from discreet.interpret import coherent_levels
from discreet.interpret.coherent_levels import TotalsTree, coherent_totals
from discreet.interpret.lattice_laws import LatticeLaw, law_of
from discreet.interpret.least_squares_levels import least_squares
from discreet.interpret.level_likelihoods import face_value, level_likelihood

CHILDREN = ((0, 1, 2), (3,), (5, 6), (7, 4))
"""Five leaves; 5 = 0+1+2, 6 = 3, 7 = 5+6, 8 = 7+4."""
PARTS = {5: (0, 1, 2), 6: (3,), 7: (0, 1, 2, 3), 8: (0, 1, 2, 3, 4)}


def laws(random: np.random.Generator) -> list[LatticeLaw]:
    return [law_of(range(k, k + 4), (p := random.random(4)) / p.sum(), 0.0) for k in (0, 0, 1, 0, 2)]


def enumerated(leaves: list[LatticeLaw], told: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of all nodes from every combination."""
    weight, first, second = 0.0, np.zeros(9), np.zeros(9)
    for values in product(*(range(law.start, law.start + len(law)) for law in leaves)):
        totals = np.array([*values, *(sum(values[i] for i in PARTS[node]) for node in sorted(PARTS))])
        p = float(np.prod([law.masses[v - law.start] for law, v in zip(leaves, values, strict=True)]))
        p *= float(np.prod([chances[totals[node]] for node, chances in told.items()]))
        weight, first, second = weight + p, first + p * totals, second + p * totals**2
    return first / weight, np.sqrt(second / weight - (first / weight) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_every_node_has_its_exact_posterior(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed == 3:
        monkeypatch.setattr(coherent_levels, "LONGEST_DIRECT", 2)  # by transforms
    random = np.random.default_rng(seed)
    leaves = laws(random)
    told = {node: random.random(40) ** 3 for node in (5, 6, 7, 8)[seed % 3 :]}
    tree = TotalsTree(leaves, CHILDREN, {node: (lambda k, c=chances: np.log(c[k])) for node, chances in told.items()})
    found = coherent_totals(tree)
    means, deviations = enumerated(leaves, told)
    assert found.mean == pytest.approx(means, abs=1e-9)
    assert found.standard_deviation == pytest.approx(deviations, abs=1e-6)
    for node, parts in zip(range(5, 9), CHILDREN, strict=True):
        assert found.whole[node] == found.whole[list(parts)].sum()
        assert found.mean[node] == pytest.approx(found.mean[list(parts)].sum())
    assert (np.abs(found.whole - found.mean) < 1).all() and (found.whole >= 0).all()
    assert (found.lower <= found.mean).all() and (found.mean <= found.upper).all()


def test_levels_that_contradict_each_other_are_refused() -> None:
    impossible = {8: lambda k: np.full(len(k), -np.inf)}
    with pytest.raises(InputError, match="could not have come about together"):
        coherent_totals(TotalsTree(laws(np.random.default_rng(1)), CHILDREN, impossible))


@pytest.mark.parametrize("children", [((0, 1), (1, 2)), ((0, 9),), ((),), ((0, 0),)])
def test_what_is_no_tree_is_refused(children: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(InputError, match="do not nest"):
        TotalsTree(laws(np.random.default_rng(1)), children, {})


def test_least_squares_solves_the_normal_equations() -> None:
    random = np.random.default_rng(2)
    values, variances = random.normal(size=9), random.random(9) + 0.1
    rows = np.vstack([np.eye(5), *(np.isin(np.arange(5), PARTS[node]).astype(float) for node in sorted(PARTS))])
    weighted = rows.T / variances
    solution = rows @ np.linalg.solve(weighted @ rows, weighted @ values)
    assert least_squares(5, CHILDREN, values, variances) == pytest.approx(solution)
    variances[7] = np.inf
    held = np.arange(9) != 7
    weighted = rows[held].T / variances[held]
    solution = rows @ np.linalg.solve(weighted @ rows[held], weighted @ values[held])
    assert least_squares(5, CHILDREN, values, variances) == pytest.approx(solution)


def test_a_likelihood_of_a_total_is_that_of_the_mechanism() -> None:
    mechanism = noisy(4)
    logs = level_likelihood(mechanism, 2, Fraction(0), Fraction(1))(np.arange(-1, 6))
    assert logs[0] == logs[-1] == -np.inf
    assert np.exp(logs[1:-1]) == pytest.approx(mechanism.probabilities[2])
    halves = level_likelihood(mechanism, 2, Fraction(1), Fraction(1, 2))(np.arange(3))
    assert np.exp(halves) == pytest.approx([mechanism.probabilities[2, 1], 0, mechanism.probabilities[2, 2]])
    numbers = face_value(mechanism)
    assert numbers is not None and numbers[0].tolist() == [0, 1, 2, 3, 4] and numbers[1] > 0


def test_a_mechanism_that_reads_more_than_the_total_is_refused() -> None:
    with pytest.raises(InputError, match="reads more than the total"):
        level_likelihood(noisy(3, values=("0", "1", "3")), 0, Fraction(0), Fraction(1))


def test_a_table_that_follows_the_statistic_is_read() -> None:
    """The weights of `table` are a function of 0·h0 + 1·h1 + 3·h2."""
    logs = level_likelihood(table(3), 1, Fraction(0), Fraction(1))(np.arange(10))
    assert np.isfinite(logs[[0, 1, 2, 3, 4, 5, 6, 7, 9]]).all() and logs[8] == -np.inf and (np.diff(logs[:8]) > 0).all()
