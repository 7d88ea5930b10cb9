"""A hedge's limit: no data at all, one by one, lose more than the theorem says; near-misses of its conditions are not believed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import design_worlds as worlds
import numpy as np
import pytest

from discreet.design import design
from discreet.design.comparison.evaluation import recommended
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise
from discreet.design.comparison.truths import ListedWorld, world
from discreet.design.questions.hedge import NEVER, ROUNDED, hedge
from discreet.design.questions.hedge_limit import limit_in, limited_reading, proved_limit
from discreet.model.lattice import statistic_lattice
from discreet.model.mechanism import Mechanism
from discreet.model.replies import loss_table
from discreet.model.summary import LinearSummary

REAL = {"kind": "squared-error", "actions": "real"}
DECISIONS: dict[str, Any] = {
    "squared": REAL,
    "whole": {"kind": "squared-error", "actions": "integer"},
    "absolute": {"kind": "absolute-error", "actions": "real"},
    "high": {"kind": "pinball", "quantile": "0.9", "actions": "real"},
    "low": {"kind": "pinball", "quantile": "0.05", "actions": "real"},
    "two": [{**REAL, "weight": "1"}, {"kind": "pinball", "quantile": "0.7", "actions": "real", "weight": "3"}],
}


def noise(decision: Any, epsilon: str, *, stairs: bool = False, rho: str | None = None) -> Mechanism:
    document = worlds.document(9, (0, 1, 3), (".8", ".15", ".05"), decision, epsilon=epsilon)
    if rho is not None:
        document["privacy"] = {"rho": rho}
    found = noise_on_the_statistic(worlds.problem(document), stairs=stairs)
    assert found is not None
    return found


def risks(mechanism: Mechanism) -> np.ndarray:
    """What the mechanism loses at each total of the statistic, one by one."""
    lattice, summary = statistic_lattice(mechanism.problem), mechanism.summary
    assert lattice is not None and isinstance(summary, LinearSummary)
    totals = range(mechanism.kernel.low, mechanism.kernel.high + 1)  # type: ignore[union-attr]
    rows = np.exp(mechanism.kernel.log_masses(np.array(totals), np.array(totals)))  # type: ignore[union-attr]
    omegas = tuple(lattice.omega(k) for k in totals)
    losses = [float(d.weight) * loss_table(d, recommended(mechanism, i), omegas) for i, d in enumerate(mechanism.problem.decisions)]
    return np.asarray((rows * sum(losses)).sum(axis=0))


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize(
    ("epsilon", "stairs", "rho"),
    [("0.3", False, None), ("1", False, None), ("2", True, None), ("8", True, None), ("1", False, "1/8")],
)
def test_no_data_lose_more_than_the_limit(name: str, epsilon: str, stairs: bool, rho: str | None) -> None:
    """Whatever the replies: those of any prior, of none, and numbers at random."""
    plain = noise(DECISIONS[name], epsilon, stairs=stairs, rho=rho)
    least, width, makers = plain_noise(plain.problem), plain.kernel.width, len(plain.problem.decisions)
    assert least is not None
    rng = random.Random(f"{name} {epsilon}")
    wishes = [[Fraction(c)] * width for c in (0, 13, 27)]
    wishes += [[Fraction(rng.randint(-200, 400), 7) for _ in range(width)] for _ in range(3)]
    for wish in wishes:
        for never in (1.0, NEVER, 2.0):
            read = limited_reading(plain, [(w,) * makers for w in wish] if makers > 1 else wish, np.ones(width), never)
            assert read is not None
            limit = proved_limit(read)
            assert limit is not None and limit.whole and limit.loss <= never * least * (1 + 1e-8)
            assert risks(read).max() <= limit.loss
    assert risks(plain).max() <= least * (1 + 1e-9)


def test_the_limit_is_used_and_not_a_hair_more_is_possible() -> None:
    """In a long range with wishes far away, squared error comes within a thousandth of the limit that it may have."""
    problem = worlds.problem(worlds.document(80, (0, 1, 3), (".8", ".15", ".05"), REAL))
    plain = noise_on_the_statistic(problem)
    assert plain is not None
    read = limited_reading(plain, [Fraction(0)] * plain.kernel.width, np.ones(plain.kernel.width), NEVER)
    assert read is not None
    assert 0.999 * NEVER < risks(read).max() / (plain_noise(problem) or 0) <= NEVER


def test_what_breaks_a_condition_is_not_believed() -> None:
    plain = noise(REAL, "1")
    faces = [a for a in recommended(plain) if isinstance(a, Fraction)]
    half = Fraction(1, 2)
    rising = [a + (half if i % 2 else -half) for i, a in enumerate(faces)]  # a shift that rises and falls
    falling = [a if i != 9 else faces[7] for i, a in enumerate(faces)]  # an action below the one before it
    far = [a - 40 for a in faces]  # gathering at the end would cost
    for actions in (rising, falling, far):
        assert proved_limit(replace(plain, kernel=plain.kernel.with_actions(actions))) is None
    assert proved_limit(plain) is not None


def test_another_sum_than_the_statistic_has_no_limit() -> None:
    plain = noise(REAL, "1")
    assert proved_limit(replace(plain, summary=LinearSummary((0, 1, 1)))) is None


def test_where_states_are_listed_each_is_looked_at() -> None:
    made = design(worlds.problem(worlds.document(4, prior=(".89", ".09", ".02"), decision=REAL)), gap=1e-3, compare=False)
    seen = world(made.mechanism)
    limit = limit_in(seen)
    assert limit is not None and limit.whole and limit.loss >= ListedWorld(made.mechanism).risk.max()


CELLS = ([60, 0, 0, 0, 0], [0, 0, 0, 0, 60], [30, 0, 0, 0, 30], [0, 0, 60, 0, 0])


@pytest.mark.parametrize("decision", [REAL, DECISIONS["whole"], DECISIONS["absolute"]], ids=["squared", "whole", "absolute"])
def test_cells_where_no_prior_expected_them_lose_little_more_than_noise(decision: Any) -> None:
    """Sixty respondents who all have the largest value: the hedge by half lost many times what plain noise loses."""
    problem = worlds.problem(worlds.document(60, range(5), (".6", ".2", ".1", ".06", ".04"), decision))
    made = design(problem, gap=0.3, seconds=0.5, compare=False)
    safe = hedge(made.mechanism, made.certificate)
    assert safe.limit is not None and safe.limit.whole and safe.noise is not None
    assert safe.limit.loss <= NEVER * safe.noise
    for cell in CELLS:
        state = int(safe.mechanism.states_of(np.array([cell]))[0])
        chances = safe.mechanism.probabilities[:, state]
        omega = (Fraction(int(np.dot(cell, range(5)))),)
        lost = float(chances @ loss_table(problem.decision, recommended(safe.mechanism), omega)[:, 0])
        assert lost <= NEVER * safe.noise


def test_without_a_limit_more_is_gained_in_the_neighbourhood_and_more_lost_beyond() -> None:
    problem = worlds.problem(worlds.document(60, range(5), (".6", ".2", ".1", ".06", ".04"), REAL))
    made = design(problem, gap=0.3, seconds=0.5, compare=False)
    near, whole = (hedge(made.mechanism, made.certificate, never=never) for never in (None, NEVER))
    assert near.worst <= whole.worst and near.limit is None


@pytest.mark.parametrize(("name", "epsilon"), [("whole", "1"), ("absolute", "0.3"), ("two", "2")])
def test_once_what_plain_noise_loses_is_a_limit_that_plain_noise_keeps(name: str, epsilon: str) -> None:
    """Its own limit is rounded up: by that hair nothing kept within it, and what lost half as much again was taken."""
    made = design(worlds.problem(worlds.document(4, (0, 1), (".7", ".3"), DECISIONS[name], epsilon=epsilon)), compare=False)
    safe = hedge(made.mechanism, made.certificate, never=1.0)
    assert safe.limit is not None and safe.noise is not None and safe.limit.loss <= safe.noise * ROUNDED
