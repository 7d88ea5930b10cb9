"""Channels: exact probabilities of outputs given states, without the closed vocabulary of a mechanism file.

m(s|i) ≥ 0 with Σ_s m(s|i) = 1 for every state i; axes [output][state]. A mechanism gives a channel on its own states,
on the databases or histograms of its problem, and (averaged with the prior, exact for mechanisms that read only ω) on
the values of the statistic: σ(s|ω) = Σ_{θ: ω_θ=ω} m(s|θ)π0(θ)/μ0(ω). Orders between information structures live there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.geometry.beliefs import Belief
from discreet.geometry.of_problem import StatedProblem, stated
from discreet.model.mechanism import Mechanism
from discreet.model.universe import Universe
from discreet.numerics.brackets import compare_ratio_exp
from discreet.numerics.exact import format_exact

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Channel:
    """Probabilities [output][state]; every state's probabilities sum to one."""

    states: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: Rows

    def __post_init__(self) -> None:
        if not self.states or not self.outputs:
            raise InputError(
                "A channel needs states and outputs",
                found=f"{len(self.states)} states, {len(self.outputs)} outputs",
                allowed="at least one of each",
                remedy="complete the channel",
            )
        if len(self.rows) != len(self.outputs) or any(len(row) != len(self.states) for row in self.rows):
            raise InputError(
                "A channel needs one row for each output with one probability for each state",
                found=f"{len(self.rows)} rows",
                allowed=f"{len(self.outputs)} rows of {len(self.states)}",
                remedy="complete the rows",
            )
        for i, label in enumerate(self.states):
            column = [row[i] for row in self.rows]
            if min(column) < 0 or sum(column, Fraction(0)) != 1:
                raise InputError(
                    f"The probabilities at state {label!r} are not a distribution",
                    found=f"a sum of {float(sum(column)):.12g}, smallest {float(min(column)):.6g}",
                    allowed="non-negative numbers that sum to one",
                    remedy="correct the column",
                )

    def leak(self, edges: Sequence[tuple[int, int]], epsilon: Fraction) -> tuple[str, str, str] | None:
        """None when adjacent states differ by factors of at most e^ε, else (output, state, other) that do not."""
        for label, row in zip(self.outputs, self.rows, strict=True):
            for i, j in edges:
                for a, b in ((i, j), (j, i)):
                    p, q = row[a], row[b]
                    if (p or q) and compare_ratio_exp(p.numerator * q.denominator, q.numerator * p.denominator, epsilon) > 0:
                        return label, self.states[a], self.states[b]
        return None

    def merged(self) -> Channel:
        """Outputs that say the same (proportional rows) put together, impossible ones left out."""
        seen: dict[tuple[Fraction, ...], int] = {}
        labels: list[str] = []
        rows: list[list[Fraction]] = []
        for label, row in zip(self.outputs, self.rows, strict=True):
            total = sum(row, Fraction(0))
            if not total:
                continue
            shape = tuple(p / total for p in row)
            if shape in seen:
                at = seen[shape]
                rows[at] = [x + y for x, y in zip(rows[at], row, strict=True)]
            else:
                seen[shape] = len(rows)
                labels.append(label)
                rows.append(list(row))
        return Channel(self.states, tuple(labels), tuple(map(tuple, rows)))

    def rounded(self, bits: int) -> Channel:
        """Probabilities floored to multiples of 2^−bits; each state's remainder goes to its likeliest output."""
        rows = [[(p.numerator << bits) // p.denominator for p in row] for row in self.rows]
        for i in range(len(self.states)):
            likeliest = max(range(len(rows)), key=lambda s: rows[s][i])
            rows[likeliest][i] += (1 << bits) - sum(row[i] for row in rows)
        return Channel(self.states, self.outputs, tuple(tuple(Fraction(w, 1 << bits) for w in row) for row in rows))

    def bits(self) -> int:
        """The length of all its numbers together, which is what exact work on it costs."""
        return sum(p.denominator.bit_length() for row in self.rows for p in row)

    def garbled(self, garbling: Sequence[Sequence[Fraction]], labels: Sequence[str] | None = None) -> Channel:
        """Post-processing: row t of `garbling` [new output][output] gives P(t | s), its columns sum to one."""
        names = tuple(labels) if labels is not None else tuple(str(t) for t in range(len(garbling)))
        Channel(self.outputs, names, tuple(map(tuple, garbling)))
        columns = range(len(self.states))
        rows = tuple(
            tuple(sum((g * row[i] for g, row in zip(line, self.rows, strict=True)), Fraction(0)) for i in columns)
            for line in garbling
        )
        return Channel(self.states, names, rows)


def channel_of(mechanism: Mechanism, listed: StatedProblem | None = None) -> Channel:
    """The mechanism as a channel on the listed databases or histograms of its problem (its finest, if not given)."""
    known = listed if listed is not None else stated(mechanism.problem, _fitting(mechanism))
    return spread(own_channel(mechanism), mechanism, known)


def own_channel(mechanism: Mechanism) -> Channel:
    """The mechanism as a channel on the states of its own summary."""
    labels = tuple(output.label for output in mechanism.outputs)
    return Channel(mechanism.space.labels, labels, _own_rows(mechanism))


def spread(own: Channel, mechanism: Mechanism, listed: StatedProblem) -> Channel:
    """A channel on the states of the mechanism's summary, read at each listed database or histogram."""
    at = states_at(mechanism, listed)
    return Channel(listed.space.labels, own.outputs, tuple(tuple(row[s] for s in at) for row in own.rows))


def statistic_channel(mechanism: Mechanism, listed: StatedProblem | None = None) -> Channel:
    """σ(s|ω): what the mechanism says about the statistic, averaged with the problem's prior."""
    known = listed if listed is not None else stated(mechanism.problem, _fitting(mechanism))
    return averaged(channel_of(mechanism, known), known)


def averaged_own(own: Channel, mechanism: Mechanism, listed: StatedProblem) -> tuple[Channel, bool]:
    """σ(s|ω) from a channel on the mechanism's own states, and whether it reads only ω.

    The prior is gathered by (ω, own state) first, which is far less work than averaging over every database.
    """
    shares: list[dict[int, Fraction]] = [{} for _ in listed.omegas]
    for w, state, p in zip(listed.fibre_of.tolist(), states_at(mechanism, listed), listed.prior, strict=True):
        shares[w][state] = shares[w].get(state, Fraction(0)) + p
    columns, oblivious = [], True
    for share, mass in zip(shares, listed.statistic_prior, strict=True):
        states = list(share)
        first = [row[states[0]] for row in own.rows]
        if all(row[s] == p for s in states[1:] for row, p in zip(own.rows, first, strict=True)):
            columns.append(first)
        else:
            oblivious = False
            columns.append([sum((row[s] * share[s] for s in states), Fraction(0)) / mass for row in own.rows])
    labels = tuple(format_exact(omega) for omega in listed.omegas)
    return Channel(labels, own.outputs, tuple(zip(*columns, strict=True))), oblivious


def averaged(channel: Channel, listed: StatedProblem) -> Channel:
    """A channel on databases or histograms, averaged over those with the same statistic."""
    fibre, mass = listed.fibre_of.tolist(), listed.statistic_prior
    rows = []
    for row in channel.rows:
        sums = [Fraction(0)] * len(listed.omegas)
        for p, weight, w in zip(row, listed.prior, fibre, strict=True):
            sums[w] += p * weight
        rows.append(tuple(s / m for s, m in zip(sums, mass, strict=True)))
    return Channel(tuple(format_exact(omega) for omega in listed.omegas), channel.outputs, tuple(rows))


def is_oblivious(channel: Channel, listed: StatedProblem) -> tuple[str, str, str] | None:
    """None when the channel reads only ω, else (output, state, other): equal statistic, different probability."""
    first: dict[int, int] = {}
    fibre = listed.fibre_of.tolist()
    for i, w in enumerate(fibre):
        first.setdefault(w, i)
    for label, row in zip(channel.outputs, channel.rows, strict=True):
        for i, w in enumerate(fibre):
            if row[i] != row[first[w]]:
                return label, channel.states[i], channel.states[first[w]]
    return None


def output_probabilities(channel: Channel, prior: Belief) -> tuple[Fraction, ...]:
    """P(s) = Σ_i m(s|i)·π0(i)."""
    return tuple(sum((p * w for p, w in zip(row, prior, strict=True)), Fraction(0)) for row in channel.rows)


def _fitting(mechanism: Mechanism) -> str:
    return "databases" if mechanism.summary.ordered else "finest"


def states_at(mechanism: Mechanism, listed: StatedProblem) -> list[int]:
    """The mechanism's state at each listed database or histogram."""
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe):
        return list(range(len(listed.space)))
    vectors = np.asarray(listed.space.vectors)
    if listed.summary.ordered and not mechanism.summary.ordered:
        vectors = universe.histograms_of(vectors)
    elif mechanism.summary.ordered and not listed.summary.ordered:
        raise InputError(
            "This mechanism reads whole databases, so it has no channel on histograms",
            found="summary 'database'",
            allowed="on = 'databases'",
            remedy="symmetrise it first, or ask about databases",
        )
    return [int(s) for s in mechanism.states_of(vectors)]


def _own_rows(mechanism: Mechanism) -> Rows:
    rows, denominator = mechanism.integer_table()
    return tuple(tuple(Fraction(w, denominator) for w in row) for row in rows)
