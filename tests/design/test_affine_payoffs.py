"""Real actions of a payoff f(a) + ω·g(a) with more than two types: designed, proved between nodes, compared with other roads."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet
from discreet.certify.duality.affine import AffinePayoff, Piece
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.errors import InputError
from discreet.model.certificate import Counterexample, OptimalityClaim
from discreet.model.problem import Problem

FORMULAS = [("-omega/a - 0.1*a", "0.5", "12"), ("omega*a - a**3/10", "0", "8"), ("omega*a**2 - a**4/4", "0", "6")]


def school(payoff: str | None, actions: object) -> Problem:
    decision = {"kind": "squared-error", "actions": actions}
    if payoff is not None:
        decision |= {"kind": "expression", "payoff": payoff}
    return discreet.problem(
        respondents=8, values=[0, 1, 2], probabilities=["0.7", "0.2", "0.1"], decision=decision, epsilon="1"
    ).problem


@pytest.mark.parametrize(("payoff", "low", "high"), FORMULAS)
def test_a_fine_list_of_actions_lies_between_value_and_bound(payoff: str, low: str, high: str) -> None:
    free = design(school(payoff, {"from": low, "to": high}), gap=1e-4, compare=False)
    listed = design(school(payoff, {"from": low, "to": high, "step": "0.05"}), gap=1e-5, compare=False)
    assert listed.value <= free.bound, "a bound for every real action holds for some of them"
    assert free.value >= listed.value - Fraction(1, 10**4) * abs(listed.value)
    assert free.relative_gap < 2e-3
    assert isinstance(optimality(free.mechanism, free.claim), OptimalityClaim)


def test_a_square_written_as_an_affine_payoff_has_the_same_optimum() -> None:
    """2ωa − a² = ω² − (a − ω)²: two proofs, one optimum."""
    written = design(school("2*omega*a - a**2", {"from": "0", "to": "16"}), gap=1e-5, compare=False)
    square = design(school(None, "real"), gap=1e-6, compare=False)
    p = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    mean = sum(t * x for t, x in enumerate(p))
    second = 8 * (sum(t * t * x for t, x in enumerate(p)) - mean**2) + (8 * mean) ** 2
    assert written.value <= second + square.bound and second + square.value <= written.bound
    assert float(written.bound - written.value) < 1e-4 * float(second)


def test_a_bound_better_than_proved_is_refuted() -> None:
    found = design(school(FORMULAS[0][0], {"from": "0.5", "to": "12"}), gap=1e-4, compare=False)
    better = replace(found.claim, bound=found.claim.bound - Fraction(1, 10**5))
    claiming = replace(found.mechanism, claims=replace(found.mechanism.claims, bound=better.bound))
    assert isinstance(optimality(claiming, better), Counterexample)


@pytest.mark.parametrize(("payoff", "words"), [("-abs(a - 2)*omega", "kink"), ("omega*a - a**20", "degree 20")])
def test_a_payoff_that_cannot_be_proved_says_what_to_do(payoff: str, words: str) -> None:
    with pytest.raises(InputError, match=f"{words}.*[Ll]ist the actions"):
        design(school(payoff, {"from": "0", "to": "5"}))


@pytest.mark.parametrize(("payoff", "low", "high"), FORMULAS)
def test_chords_less_their_bulge_lie_below_the_loss(payoff: str, low: str, high: str) -> None:
    """Near-miss: without the bulge the chord cuts through the loss somewhere."""
    decision = school(payoff, {"from": low, "to": high}).decision
    affine = AffinePayoff.of(decision)
    nodes = [affine.low + (affine.high - affine.low) * Fraction(k, 7) for k in range(8)]
    least, cut = affine.least_losses([Fraction(w) for w in range(17)]), 0
    for omega in map(Fraction, range(17)):
        for a, b, bend in zip(nodes, nodes[1:], affine.bends(nodes), strict=False):
            ends = [-decision.payoff(x, omega) for x in (a, b)]
            for k in range(1, 8):
                share = Fraction(k, 8)
                loss = -decision.payoff(a + share * (b - a), omega)
                chord = (1 - share) * ends[0] + share * ends[1]
                assert loss >= chord - bend.bulge(omega)
                assert loss >= least[omega]
                cut += loss < chord
    assert cut > 0


@pytest.mark.parametrize("unit", ["1", "1e30", "1e-200", "1e320"])
def test_floats_choose_pieces_and_prove_nothing(unit: str) -> None:
    """The same payoff in units that floats hold, hardly hold and do not hold: what is proved is the same number in these units."""
    plain, scaled = (
        AffinePayoff.of(school(f"(omega*a - a**2)*{factor}", {"from": "0", "to": "8"}).decision) for factor in ("1", unit)
    )
    omegas = [Fraction(w) for w in (0, 3, 16)]
    least, other = plain.least_losses(omegas), scaled.least_losses(omegas)
    for omega in omegas:
        exact = -((omega / 2) ** 2) if omega < 16 else Fraction(-64)
        assert other[omega] <= exact * Fraction(unit) and least[omega] >= exact - Fraction(1, 1000)
        assert other[omega] >= (exact - Fraction(1, 10)) * Fraction(unit)


def test_most_pieces_are_never_taken_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand values of ω once took 88,000 exact bounds: floats rule out all but a few of each."""
    taken, below = [], Piece.below
    monkeypatch.setattr(Piece, "below", lambda piece, omega: (taken.append(omega), below(piece, omega))[1])
    AffinePayoff.of(school("-omega/a - 0.1*a", {"from": "0.1", "to": "40"}).decision).least_losses([Fraction(w) for w in range(50)])
    assert len(taken) <= 4 * 50
