"""Tables of exact probabilities that stay private when they are written as integers over 2^B.

Probabilities p are floored to ⌊2^B p⌋ and what a state is short of goes to its likeliest output. With
B = 64 + ⌈log₂ 1/(p_min·min(1, ε))⌉ a weight moves by at most a 2^−64·ε part of itself, which the slack absorbs:
the family is taken at (1 − SLACK)·ε, so that the integers keep ε. `must_be_private` then checks every edge
exactly, so a mistake in this argument is an error and never a release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from discreet.errors import InputError, Refuted
from discreet.model.kernel import Output, TableKernel
from discreet.numerics.brackets import compare_ratio_exp, rational_below_exp

SLACK = Fraction(1, 1 << 44)
"""The part of ε that is given up to rounding."""

EXTRA_BITS = 64


def within(epsilon: Fraction) -> Fraction:
    """The ε at which a family is evaluated so that its rounded table keeps `epsilon`."""
    return epsilon * (1 - SLACK)


def rounded_table(
    states: Sequence[str],
    outputs: Sequence[Output],
    probabilities: Sequence[Sequence[Fraction]],
    epsilon: Fraction,
) -> TableKernel:
    """Integer weights over a power of two for exact probabilities [output][state] that are private at `within(ε)`."""
    # Closed forms repeat the same few rationals, each of thousands of digits, so each object is worked on once.
    distinct = {id(p): p for row in probabilities for p in row}
    smallest = min((p for p in distinct.values() if p > 0), default=Fraction(1))
    small = smallest * (min(epsilon, Fraction(1)) or Fraction(1))
    bits = EXTRA_BITS + small.denominator.bit_length() - small.numerator.bit_length() + 1
    floors = {key: (p.numerator << bits) // p.denominator for key, p in distinct.items()}
    weights = [[floors[id(p)] for p in row] for row in probabilities]
    for state in range(len(states)):
        column = [row[state] for row in weights]
        likeliest = max(range(len(outputs)), key=column.__getitem__)
        weights[likeliest][state] += (1 << bits) - sum(column)
    return TableKernel(tuple(states), tuple(outputs), tuple(map(tuple, weights)), 1 << bits)


def exponential_probabilities(exponents: Sequence[Sequence[Fraction | None]]) -> list[list[Fraction]]:
    """p(output | state) proportional to e^exponent, [output][state]; None stands for probability zero.

    Each e^exponent is a rational within 2^−bits of it, so the probabilities sum to one exactly and their ratios
    are within 2^−(bits − 2) of the true ones.
    """
    bits = EXTRA_BITS + 64
    columns = []
    for column in zip(*exponents, strict=True):
        peak = max((x for x in column if x is not None), default=None)
        if peak is None:
            raise InputError(
                "a state has no possible output",
                found="a column of excluded outputs",
                allowed="at least one output per state",
                remedy="Give some output a score at every state.",
            )
        masses = [Fraction(0) if x is None else rational_below_exp(x - peak, bits) for x in column]
        total = sum(masses, Fraction(0))
        columns.append([mass / total for mass in masses])
    return [list(row) for row in zip(*columns, strict=True)]


def must_be_private(kernel: TableKernel, edges: Iterable[tuple[int, int]], epsilon: Fraction) -> TableKernel:
    """The kernel itself, once every output's weights across every edge are within e^ε of each other."""
    for first, second in edges:
        for output, row in zip(kernel.outputs, kernel.weights, strict=True):
            a, b = row[first], row[second]
            low, high = min(a, b), max(a, b)
            if high and compare_ratio_exp(high, low, epsilon) > 0:
                ends = f"{kernel.states[first]!r} and {kernel.states[second]!r}"
                raise Refuted(
                    f"the table is not private at epsilon {epsilon}",
                    f"output {output.label!r} at states {ends}",
                )
    return kernel


def path_edges(low: int, high: int, step: int) -> list[tuple[int, int]]:
    """Pairs of positions on low..high that one neighbour may join: at most `step` apart."""
    count = high - low + 1
    return [(i, j) for i in range(count) for j in range(i + 1, min(i + step, count - 1) + 1)]


def bits_for(epsilon: Fraction, diameter: int) -> int:
    """Bits below which one floored zero may spread through a table: 64 + ⌈ε·diameter/log 2⌉."""
    return EXTRA_BITS + math.ceil(epsilon * diameter * Fraction(14427, 10000))
