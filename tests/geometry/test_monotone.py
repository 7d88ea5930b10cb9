"""Decisions in which a higher statistic asks for a higher action: what is shown, what is refuted, what stays open."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.channel import Channel
from discreet.geometry.orders import compare_orders, orders_in_words
from discreet.geometry.orders.monotone import cut_against
from discreet.geometry.orders.words import _verdict
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary

Rows = list[list[Fraction]]


def random_rows(draw: random.Random, outputs: int, states: int) -> Rows:
    """Probabilities [output][state], multiples of 1/64."""
    columns = []
    for _ in range(states):
        cuts = sorted(draw.sample(range(1, 64), outputs - 1))
        columns.append([Fraction(b - a, 64) for a, b in zip([0, *cuts], [*cuts, 64], strict=True)])
    return [[column[s] for column in columns] for s in range(outputs)]


def garbled(rows: Rows, mixing: Rows) -> Rows:
    """The channel followed by a kernel."""
    return [
        [sum((mixing[t][s] * rows[s][j] for s in range(len(rows))), Fraction(0)) for j in range(len(rows[0]))]
        for t in range(len(mixing))
    ]


def channel(rows: Rows) -> Channel:
    return Channel(tuple(map(str, range(len(rows[0])))), tuple(map(str, range(len(rows)))), tuple(map(tuple, rows)))


def mechanism(problem: Problem, rows: Rows) -> Mechanism:
    """A table on the count of type 1."""
    states, unit = tuple(map(str, range(len(rows[0])))), 4096
    outputs = tuple(Output(f"y{t}") for t in range(len(rows)))
    weights = tuple(tuple(int(p * unit) for p in row) for row in rows)
    return Mechanism(
        problem, LinearSummary((0, 1)), TableKernel(states, outputs, weights, unit),
        Guarantee(PurePromise(problem.epsilon), "replace-one", problem.unit),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_garbling_is_preferred_by_no_decision_with_a_cut(seed: int) -> None:
    draw = random.Random(seed)
    rows = random_rows(draw, 4, 4)
    prior = (Fraction(1, 4),) * 4
    coarse = garbled(rows, random_rows(draw, 3, 4))
    assert cut_against(channel(rows), channel(coarse), prior) is None
    assert cut_against(channel(rows), channel(rows), prior) is None
    other = cut_against(channel(coarse), channel(rows), prior)
    assert other is not None and other.advantage > 0


@pytest.mark.parametrize("seed", range(12))
def test_a_decision_with_a_cut_is_found_where_there_is_one(seed: int) -> None:
    draw = random.Random(100 + seed)
    ours, theirs = random_rows(draw, 3, 3), random_rows(draw, 3, 3)
    prior = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    joint = [[[p * q for p, q in zip(row, prior, strict=True)] for row in rows] for rows in (ours, theirs)]

    def worth(lines: Rows, cut: int, r: Fraction) -> Fraction:
        return sum((max(sum(line[cut:]) - r * sum(line[:cut]), Fraction(0)) for line in lines), Fraction(0))

    kinks = [(cut, sum(line[cut:]) / sum(line[:cut])) for cut in (1, 2) for lines in joint for line in lines]
    best = max(worth(joint[1], cut, r) - worth(joint[0], cut, r) for cut, r in kinks)
    found = cut_against(channel(ours), channel(theirs), prior)
    assert (found is not None) == (best > 0)
    if found is not None:
        # Its payoff rises with the statistic, so it is one of theirs, and its advantage is what is said.
        ratios = [w / p for w, p in zip(found.payoff[1], prior, strict=True)]
        assert ratios == sorted(ratios) and found.payoff[0] == (0, 0, 0)
        gain = worth(joint[1], found.cut, -ratios[0]) - worth(joint[0], found.cut, -ratios[0])
        assert found.advantage == gain > 0


def test_not_being_peaked_is_not_taken_for_telling_less(problem) -> None:
    # UPRR is sufficient, not necessary: of a mechanism and its garbling it was said that neither tells more.
    asked, misled = problem(3), 0
    for seed in range(8):
        draw = random.Random(seed)
        rows = random_rows(draw, 3, 4)
        fine, coarse = mechanism(asked, rows), mechanism(asked, garbled(rows, random_rows(draw, 2, 3)))
        found = compare_orders(fine, coarse)
        misled += found["uprr"]["first_over_second"]["holds"] is False
        lines = orders_in_words(found)
        assert "the first tells more" in lines[0] and "the first tells more" in lines[1]
        back = orders_in_words(compare_orders(coarse, fine))
        assert "the second tells more" in back[0] and "the second tells more" in back[1]
        same = orders_in_words(compare_orders(fine, fine))
        assert all("the two tell the same" in line for line in same[:2])
    assert misled > 3


def test_what_is_open_is_said_to_be() -> None:
    holds, fails = {"holds": True, "within": True}, {"holds": False, "within": False}
    opened = {"holds": None, "within": None}
    assert _verdict(holds, opened) == "the first tells at least as much"
    assert _verdict(opened, holds) == "the second tells at least as much"
    assert _verdict(opened, opened) == "not decided"
    assert _verdict(fails, opened).startswith("the first does not tell as much")
    assert _verdict({"holds": None, "within": True}, fails) == "the first tells more, up to rounding"
