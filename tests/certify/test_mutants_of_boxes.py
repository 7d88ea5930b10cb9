"""Mutation tests of the bound by boxes: change any comparison, and some witness proves another number or is refuted.

As in `test_mutants_of_bounds`. Any multipliers prove something; the best are needed where two parts share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from box_worlds import any_witness, asked, box, proposed
from mutation import limited, unexplained

import discreet
from discreet.model.certificate import BoxesWitness, Multipliers
from discreet.model.problem import Problem

BOXES = Path(discreet.__file__).parent / "certify" / "bounds" / "boxes.py"
THREE = ("3", "1", "1/2")
EQUIVALENT: dict[str, str] = {}


def corpus() -> list[tuple[Problem, BoxesWitness]]:
    """Witnesses of several kinds of boxes and problems, and such as do not fit; the first has two parts of six and eight states."""
    rng, problem = Random(5), asked(5, THREE)
    parts = [box([(0, 2)], (3, 3), 3), box([(0, 3)], (4, 5), 4)]
    own = any_witness(rng, problem, (0, 2), (1,), parts)
    cases = [(problem, own), (problem.with_epsilon(Fraction(0)), own), (asked(5, THREE, actions="real"), own)]
    four, independent = asked(4, ("3", "1", "4/5", "1/2")), asked(5, THREE, chances=["1/2", "3/10", "1/5"])
    for faces, pairs, windows, players in (
        ((0, 3), (1, 2), [(0, 1)], (3, 4)),
        ((0, 3), (1,), [(1, 2)], (2, 4)),
        ((2,), (3,), [], (0, 4)),
        ((0, 3, 1), (), [(0, 1), (1, 2)], (3, 4)),
    ):
        cases += [(four, any_witness(rng, four, faces, pairs, [box(windows, players, 4)]))]
    wide = any_witness(rng, four, (0, 3, 2), (1,), [box([(0, 3), (1, 3)], (2, 4), 3), box([(0, 4), (0, 4)], (3, 4), 4)])
    cases += [(four, proposed(four, (0, 3, 2), (1,), wide.parts, 20))]
    cases += [(four, wide), *((four, _at(wide, flow)) for flow in ((0, 2, 1), (4, 10, 1), (16, 22, 1), (0, 30, 1), (50, 0, 1)))]
    cases += [(independent, any_witness(rng, independent, (0, 2), (1,), parts))]
    cases += [
        (asked(5, THREE, chances=chances), own) for chances in (["1/2", "1/2", "0"], ["0", "1/2", "1/2"], ["1/2", "0", "1/2"])
    ]
    cases += [
        (problem, replace(own, **wrong)) for wrong in ({"faces": (0, 3)}, {"faces": (-1, 2)}, {"pairs": (3,)}, {"pairs": (-3,)})
    ]
    first, second = own.parts
    last = replace(second, multipliers=tuple(_renamed(m, 7, -1) for m in second.multipliers))
    cases += [(problem, replace(own, parts=(first, last)))]
    apart = [{"players": (2, 3)}, {"players": (0, 5)}, {"players": (3, 6)}, {"reference": 2}, {"reference": 5}, {"reference": 6}]
    cases += [(problem, replace(own, parts=(replace(first, **change),))) for change in apart]
    cases += [
        (problem, replace(own, parts=(first, replace(second, players=(3, 5))))),
        (problem, replace(own, parts=(first, replace(first, players=(4, 4))))),
        (problem, replace(own, parts=(first, replace(first, windows=((1, 2),), players=(2, 4))))),
    ]
    third = replace(second, windows=((1, 2),), players=(5, 5))
    shared = [replace(first, players=(1, 4)), second, replace(first, players=(2, 5)), replace(second, windows=((3, 3),)), third]
    cases += [(problem, replace(own, parts=tuple(shared[k] for k in each))) for each in ((0, 1), (1, 2), (0, 2), (0, 3), (0, 1, 4))]
    cases += [(problem, replace(own, parts=(shared[0], third, replace(second, multipliers=()))))]
    for each in (((1, 4), (1, 3), (2, 5)), ((1, 4), (3, 5), (1, 3)), ((1, 5), (1, 3), (4, 5)), ((1, 5), (4, 5), (1, 2))):
        cases += [(problem, replace(own, parts=tuple(replace(second, players=players) for players in each)))]
    low, high = (replace(second, windows=(window,), multipliers=()) for window in ((0, 1), (2, 3)))
    for players, others in (((1, 3), (2, 5)), ((3, 5), (1, 3)), ((1, 2), (3, 5))):
        meeting = (replace(second, players=(1, 4)), replace(low, players=players), replace(high, players=others))
        cases += [(problem, replace(own, parts=meeting))]
    between = [box([(0, 2)], (2, 4), 3), box([(0, 3)], (3, 5), 5)]
    cases += [(problem, proposed(problem, (0, 2), (1,), between))]
    tiny = asked(60, THREE, chances=["1/1000000", str(1 - Fraction(2, 10**6)), "1/1000000"])
    cases += [
        (tiny, BoxesWitness((0, 1), (), (box([(0, 1)], (60, 60), 60),))),
        (tiny, BoxesWitness((0, 1), (), (box([(0, 50)], (60, 60), 50),))),
        (tiny, BoxesWitness((1, 2), (), (box([(59, 60)], (60, 60), 60),))),
    ]
    return cases


def _at(witness: BoxesWitness, flow: tuple[int, int, int]) -> BoxesWitness:
    """The same with one multiplier more in its first part."""
    first, *others = witness.parts
    node, *nodes = first.multipliers
    changed = replace(first, multipliers=(replace(node, flows=(*node.flows, flow)), *nodes))
    return replace(witness, parts=(changed, *others))


def _renamed(node: Multipliers, before: int, after: int) -> Multipliers:
    """The same with another number for a state."""
    name = lambda h: after if h == before else h  # noqa: E731
    return replace(node, flows=tuple((name(i), name(k), flow) for i, k, flow in node.flows))


def test_no_comparison_of_the_bound_by_boxes_can_change_unnoticed() -> None:
    cases = corpus()
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: module.boxes_upper_bound(*case) for case in cases]
    # five respondents, contents of 9/2: 5 · (4 + 2 + 2 · 3) digits; 5 · (8 · 5 + 1) products of 264 digits for tables and what is
    # told, 2 · 4 for each of the 14 states, twice 3 + 2 · 3 · 2 and 4 + 2 · 4 · 2 for the sums of windows, and for the parts 2 · 4
    # and 3 · 5 that each has of its own
    sizes = (("MOST_PARTS", 2), ("MOST_IN_BOX", 8), ("MOST_IN_ALL", 14), ("MOST_BITS", 60))
    sizes += (("MOST_NUMBERED", 8), ("MOST_WORK", 264 * (205 + 112 + 2 * (15 + 20) + 8 + 15)))
    limits = [(name, size + d) for name, size in sizes for d in (-1, 0, 1)]
    questions += [lambda module, name=name, most=most: limited(module, name, most, questions[0]) for name, most in limits]
    assert unexplained(BOXES, questions, EQUIVALENT) == []
