"""What is a finite mechanism good for? Whether it could be best for anybody, and by how much it is beaten for one
decision.

Best for anybody: among ε-private mechanisms one that is best for some prior and decision can be taken to induce extreme
posteriors only; an output whose binding privacy bounds do not connect the states it deems possible can be split into
better informed ones, so that everybody is served at least as well and somebody better (`geometry.screening`; SY Prop.
2, Lemma 6).

Beaten: with the problem's prior each output's belief about ω is exact, the best reply to it too, and so the expected
payoff. It is set against a design for the same problem at the ε that this mechanism really has on the problem's own
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.exchange.finite_mechanism import FiniteMechanism
from discreet.exchange.judgement import TightRatio, tight_ratio
from discreet.geometry.channel import Channel
from discreet.geometry.screening import Screen, screened
from discreet.model.exact_replies import exact_payoff, exact_reply
from discreet.model.problem import Problem, believed
from discreet.model.promises.pure import LARGEST_EPSILON
from discreet.numerics.exact import format_exact
from discreet.watch import SILENT, Watch

MOST_JOINT = 4_000_000
DIGITS = 12


@dataclass(frozen=True)
class Beaten:
    """Expected payoffs at the mechanism's own ε: its own, exact; the design's; and what no private mechanism exceeds."""

    epsilon: Fraction
    value: Fraction
    designed: Fraction
    bound: Fraction
    loss: bool
    read: str

    @property
    def at_least(self) -> Fraction:
        """What the design gains over it, as proved."""
        return max(self.designed - self.value, Fraction(0))

    @property
    def at_most(self) -> Fraction:
        """What any private mechanism could gain over it."""
        return max(self.bound - self.value, Fraction(0))


def could_be_best(mechanism: FiniteMechanism, tolerance: float = 1e-6) -> Screen:
    """Whether it could be best for somebody among mechanisms with its tight ε, counted output by output."""
    tight = tight_ratio(mechanism)
    if tight.epsilon is None:
        raise InputError(
            "Only a purely private mechanism is compared with the best ones at its ε",
            found=f"output {tight.output} is impossible at state {(tight.edge or ('', ''))[1]} and not at its neighbour",
            allowed="a finite ε",
            remedy="ask for its δ instead",
        )
    logs = np.asarray(mechanism.profiled.logs)
    edges = np.asarray(mechanism.edges, dtype=np.int64).reshape(-1, 2)
    return screened(mechanism.outputs, logs, edges, float(tight.epsilon[1]), "all", tolerance)


def beaten(
    mechanism: FiniteMechanism, problem: Problem, *, gap: float = 1e-4, seconds: float = 30.0, watch: Watch = SILENT
) -> Beaten:
    """By how much a design for this problem beats it at equal ε, where readers of both reply as well as they can."""
    from discreet.design import design

    lifted, read = on_problem(mechanism, problem)
    tight = tight_ratio(lifted)
    epsilon = _rounded_up(tight)
    value = best_reply_value(lifted, problem)
    found = design(problem.with_epsilon(epsilon), watch, gap=gap, seconds=seconds, compare=False)
    loss = all(d.is_loss for d in problem.decisions)
    return Beaten(epsilon, value, found.value, found.bound, loss, read)


def on_problem(mechanism: FiniteMechanism, problem: Problem) -> tuple[FiniteMechanism, str]:
    """The mechanism on the problem's own states and neighbours, by label: whole databases or histograms, or values of ω."""
    space = problem.finest()
    known = believed(problem, space)
    held = set(mechanism.states)
    if held >= set(space.labels):
        read, at = "state", list(space.labels)
    else:
        at = [format_exact(omega) for omega in known.omegas]
        missing = sorted(set(at) - held)
        if missing:
            raise InputError(
                "The states of the mechanism are not those of the problem",
                found=f"no state {missing[0]!r}",
                allowed="every value of the statistic, or every database or histogram, as a label",
                remedy="rename the states, or give the problem that the mechanism is for",
            )
        read = "statistic"
    if len(at) * len(mechanism.outputs) > MOST_JOINT:
        raise TooLarge(
            "There are too many states to read the mechanism at",
            size=f"{len(at):,} states × {len(mechanism.outputs):,} outputs",
            fits=f"{MOST_JOINT:,} entries",
            remedy="fewer respondents or types",
        )
    place = {label: i for i, label in enumerate(mechanism.states)}
    rows = tuple(tuple(row[place[label]] for label in at) for row in mechanism.rows)
    channel = Channel(space.labels, mechanism.outputs, rows)
    edges = tuple((int(i), int(j)) for i, j in space.edges.tolist())
    words = f"{problem.neighbours.name} neighbours, unit: {problem.unit}"
    return FiniteMechanism(channel, edges, words, mechanism.name, mechanism.notes), read


def best_reply_value(lifted: FiniteMechanism, problem: Problem) -> Fraction:
    """E[max_a E[u(a, ω) | output]], exact, summed over decision makers with their weights."""
    known = believed(problem, problem.finest())
    omegas, fibre = known.values, known.column
    prior = [known.weights[i] for i in range(len(fibre))]
    total = Fraction(0)
    for row in lifted.rows:
        belief = [Fraction(0)] * len(omegas)
        for p, mass, k in zip(row, prior, fibre, strict=True):
            if p:
                belief[k] += p * mass
        if any(belief):
            for decision in problem.decisions:
                reply = exact_reply(decision, belief, omegas)
                total += decision.weight * exact_payoff(decision, belief, omegas, reply)
    return total


def _rounded_up(tight: TightRatio) -> Fraction:
    if tight.epsilon is None or tight.epsilon[1] > LARGEST_EPSILON:
        edge = tight.edge or ("", "")
        raise InputError(
            "On the neighbours of this problem the mechanism has no finite ε, so no design has the same one",
            found=f"output {tight.output} at states {edge[0]} and {edge[1]}",
            allowed="a purely private mechanism",
            remedy="ask for its δ, or list the neighbours that it protects",
        )
    scaled = tight.epsilon[1] * 10**DIGITS
    return Fraction(-(-scaled.numerator // scaled.denominator), 10**DIGITS)
