"""A mechanism: a summary of the database, a kernel on its states, and the promise that they make.

m(s|θ) = kernel(s | summary(θ)). It keeps its promise because the summary is 1-Lipschitz and the kernel keeps it between
adjacent states; `certify` proves both. Claims are only claims until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError, Refuted
from discreet.frozen import dataclass
from discreet.model.actions import NamedActions, RealActions
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import CountedKernel, Kernel, NoiseKernel, Output, TableKernel
from discreet.model.problem import Problem
from discreet.model.progression import Progression
from discreet.model.states import StateSpace, locate, state_space
from discreet.model.summary import LinearSummary, Summary, check_summary
from discreet.model.universe import Universe
from discreet.numerics.exact import brief

SAFE = 2**62
"""Totals below this are added up in 64 bits."""


@dataclass(frozen=True)
class Claims:
    """What the maker says about a mechanism, as exact numbers; `bound` is at least any private mechanism's value."""

    value: Fraction | None = None
    bound: Fraction | None = None


@dataclass(frozen=True)
class Mechanism:
    """What is published with: problem, summary, kernel, guarantee; claims and provenance for the reader."""

    problem: Problem
    summary: Summary
    kernel: Kernel
    guarantee: Guarantee
    claims: Claims = Claims()
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<mechanism: {self.kernel.family} on {self.summary.kind}; {self.guarantee}>"

    def __post_init__(self) -> None:
        check_summary(self.summary, self.problem.universe, self.problem.neighbours)
        if self.guarantee.neighbours != self.problem.neighbours.name or self.guarantee.unit != self.problem.unit:
            raise InputError(
                "The guarantee speaks of another relation or unit than the problem",
                found=str(self.guarantee),
                allowed=f"{self.problem.neighbours.name}, unit: {self.problem.unit}",
                remedy="make them agree",
            )
        if not self.guarantee.promise.keeps(self.problem.promise):
            raise InputError(
                "The mechanism promises less privacy than its problem asks for, or another kind of it",
                found=self.guarantee.promise.brief(),
                allowed=f"up to {self.problem.promise.brief()}",
                remedy="design it for the problem's promise, or state the weaker promise in the problem",
            )
        self._check_actions()
        if isinstance(self.kernel, TableKernel):
            expected = self.space.labels
            if self.kernel.states != expected:
                raise Refuted(
                    "the kernel's states are not those that its summary makes of this problem",
                    _first_difference(self.kernel.states, expected),
                )
        else:
            self._check_closed(self.kernel)

    def _check_actions(self) -> None:
        """Every recommended action is one that its decision maker has."""
        listed, decisions = self.kernel.recommended or (), self.problem.decisions
        if isinstance(listed, Progression) and listed.step > 0 and len(decisions) == 1:
            actions = decisions[0].actions  # noise may recommend a million of them
            if not isinstance(actions, NamedActions) and actions.covers(listed[0], listed[-1], listed.step):
                return
        if [d.actions for d in decisions] == [RealActions()] and set(map(type, listed)) <= {Fraction, type(None)}:
            return  # every number is
        for action in listed:
            if action is None:
                continue
            each = action if isinstance(action, tuple) else (action,)
            if len(each) != len(decisions) or any(a not in d.actions for a, d in zip(each, decisions, strict=True)):
                raise InputError(
                    "The kernel recommends an action that the decision does not have",
                    found=", ".join(a if isinstance(a, str) else brief(a) for a in each),
                    allowed="one of decision.actions for each decision maker",
                    remedy="correct the recommended actions",
                )

    def _check_closed(self, kernel: NoiseKernel) -> None:
        if not isinstance(self.summary, LinearSummary) or not isinstance(self.problem.universe, Universe):
            raise InputError(
                "A closed-form kernel reads a weighted sum",
                found=f"summary {self.summary.kind!r}",
                allowed="'linear'",
                remedy="use a linear summary or a table kernel",
            )
        plain = kernel.plain(self.summary, self.problem.universe)
        low, high = plain.range(self.problem.universe)
        if not (kernel.low <= low and high <= kernel.high):
            raise InputError(
                "The kernel does not cover every total",
                found=f"kernel {kernel.low}..{kernel.high}",
                allowed=f"at least {low}..{high}",
                remedy="widen the kernel or clip the summary",
            )
        step = plain.step(self.problem.neighbours)
        if kernel.step < step:
            raise InputError(
                "The kernel's step is smaller than what one neighbour can change",
                found=f"step {kernel.step}",
                allowed=f"at least {step}",
                remedy="use the summary's step",
            )

    @property
    def weighted_sum(self) -> LinearSummary:
        """The summary, for those who serve weighted sums and have refused others; a closed form reads nothing else."""
        if not isinstance(self.summary, LinearSummary):
            raise InputError(
                "This needs a mechanism that reads a weighted sum",
                found=f"summary {self.summary.kind!r}",
                allowed="'linear'",
                remedy="use a mechanism on the statistic",
            )
        return self.summary

    @property
    def table(self) -> TableKernel:
        """The kernel, for those who serve tables and have refused closed forms."""
        if not isinstance(self.kernel, TableKernel):
            raise InputError(
                "This needs a mechanism that lists its probabilities",
                found=f"a {self.kernel.family} kernel",
                allowed="a table",
                remedy="use the closed form's own numbers",
            )
        return self.kernel

    @cached_property
    def space(self) -> StateSpace:
        """The states of the summary with their graph, derived and never read from a file."""
        return state_space(self.problem.universe, self.problem.neighbours, self.summary)

    @property
    def outputs(self) -> tuple[Output, ...]:
        return self.kernel.outputs

    def probability(self, output: int, state: int) -> Fraction:
        """P(output | state) by their positions in `outputs` and `space`."""
        return self.kernel.probability(output, int(self.places[state]))

    @cached_property
    def places(self) -> np.ndarray:
        """What the kernel reads of each state: its position for a table, its total for a closed form."""
        return self.kernel.places(self.space.vectors)

    def states_of(self, vectors: np.ndarray) -> np.ndarray:
        """The state of each histogram (or, for the summary `database`, of each database), one row each."""
        return locate(self.space, self.summary, vectors)

    def places_of(self, histograms: np.ndarray) -> np.ndarray:
        """What the kernel reads of each histogram, one row each; no list of states is made for a closed form."""
        rows, kernel = np.asarray(histograms, dtype=np.int64), self.kernel
        if isinstance(kernel, TableKernel):
            return np.asarray(self.states_of(rows), dtype=np.int64)
        summary = self.weighted_sum
        if max(map(abs, summary.weights)) * int(np.abs(rows).sum(axis=1).max(initial=0)) >= SAFE:
            # beyond 64 bits totals would wrap around, and what is drawn would no longer be what was proved
            exact = [summary.of_histogram(tuple(row)) for row in rows.tolist()]
            return np.array([min(max(t, kernel.low), kernel.high) for t in exact], dtype=np.int64)
        totals = rows @ np.array(summary.weights, dtype=np.int64)
        if isinstance(kernel, CountedKernel):
            return kernel.capped(totals)
        return np.asarray(np.clip(totals, summary.clip(kernel.low), summary.clip(kernel.high)), dtype=np.int64)

    def integer_table(self) -> tuple[list[list[int]], int]:
        """Probabilities [output][state] as whole numbers over one denominator."""
        return self.kernel.whole_rows(self.places.tolist())

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probabilities [output, state] in floats; those below 10^-308 are only right in `log_probabilities`.

        A table's are correctly rounded, a closed form's accurate to about 10^-13: proofs use exact ones.
        """
        return self.kernel.floats(self.places.tolist())

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        """Natural logarithms [output, state], −inf where an output is impossible; no underflow."""
        return self.kernel.logs(self.places.tolist())


def _first_difference(found: tuple[str, ...], expected: tuple[str, ...]) -> str:
    for i, (mine, theirs) in enumerate(zip(found, expected, strict=False)):
        if mine != theirs:
            return f"state {i} is {mine!r}, the summary has {theirs!r}"
    return f"{len(found)} states, the summary has {len(expected)}"
