"""The ladder to any number of types and respondents: exact mechanisms from below, proved bounds from above, as far as time goes.

| rung | mechanism | lower bound |
|---|---|---|
| 0 | values clipped: S = Σ_i w(θ_i) in its likely window, staircase or geometric noise, best actions | chain, best split |
| 1 | integer weights w(type) by search | – |
| 2 | a program on the likely window of that sum (`summaries`) | quotient (`quotients`), where its program is small |
| 3 | a program on two counts, of a near and a far group of types | grouped quotient, the same groups |

Mechanism and bound are kept apart: the best of each. The ladder stops when the gap that was asked for is reached or the time is
over.
Floats propose; `certify` values the mechanism and proves the bound again.

Conditions: independent respondents with one law, replace-one neighbours, a sum, mean or count, one decision
with squared, absolute or pinball error. Under the last two, weights are those found for squared error and the bound is the chain's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from discreet.certify.bounds.chain import CHAIN, why_not_chain
from discreet.design.ladder.bounds.chain import Split, chain_bound
from discreet.design.ladder.bounds.groupings import (
    SHORTEST,
    clipped_groups,
    fitting,
    grouped_program,
    quotient,
)
from discreet.design.ladder.mechanisms.programs import read_pair, read_sum
from discreet.design.ladder.mechanisms.readings import Reader, Reading, likely_types
from discreet.design.ladder.mechanisms.weights import clipped_sum, search_weights
from discreet.design.program.listed import Proposal, Tried
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import TheoremWitness, Witness
from discreet.model.gap import reached
from discreet.model.kernel import Kernel, TableKernel
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.watch import SILENT, Deadline, Watch

SEARCH_SHARE = 20
"""The search takes a twentieth of the time, and at least `SHORTEST_SEARCH` seconds: more gains little."""
SHORTEST_SEARCH = 2.0
PROGRAM_SHARE = 0.12
"""Share of the time left that a program on a small summary may take, as far as that can be told beforehand."""
FIRST_SHARE = 0.15
BOUND_SHARE = 0.7
"""Shares of the time left that a bound may take: proving it again takes time too."""


def why_not_climb(problem: Problem) -> str | None:
    """The first condition of the ladder's weighted sums that fails, in words; None when all hold."""
    reason = why_not_chain(problem)
    if reason is not None:
        return reason
    if problem.epsilon == 0:
        return "ε is 0, so only a constant may be published"
    if len(set(Reader(problem).exact_values)) < 2:
        return "every respondent surely has the same value"
    return None


def climb(problem: Problem, watch: Watch = SILENT, seconds: float = 60.0, gap: float = 1e-6) -> Proposal:
    """The best mechanism and the best bound found within the time; `tried` lists the rungs.

    Reports are losses: `value` from above, `bound` from below. Cancelling returns the best so far.
    """
    reason = why_not_climb(problem)
    if reason is not None:
        raise TooLarge(
            "a problem of so many states, which only the ladder of weighted sums could serve",
            size=f"a problem in which {reason}",
            fits="independent respondents, a sum, mean or count, and a squared, absolute or pinball error",
            remedy="use fewer respondents or types, or an iid prior",
        )
    return _Climb(problem, watch, seconds, gap).up()


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The best mechanism so far."""

    summary: LinearSummary
    kernel: Kernel
    loss: float
    words: str


def _noise(rung: str, read: Reading) -> str:
    return f"{rung}: weights {', '.join(map(str, read.summary.weights))} with {read.kernel.family} noise"


class _Climb:
    """The best mechanism and the best bound so far, and the time that is left."""

    def __init__(self, problem: Problem, watch: Watch, seconds: float, gap: float) -> None:
        self.problem, self.watch, self.gap = problem, watch, gap
        self.reader, self.quiet = Reader(problem), _Quiet(watch)
        self.begun = time.perf_counter()
        self.seconds = seconds
        self.tried: list[Tried] = []

    def up(self) -> Proposal:
        """One rung after the other."""
        reader = self.reader
        given = (reader.probabilities, reader.values, reader.respondents, reader.epsilon)
        split, self.lower = best_split(reader, self.quiet)
        self.witness: Witness = chain_witness(self.problem, split)
        self.watch.report(stage="chain bound", bound=self.lower, seconds=time.perf_counter() - self.begun)
        self.best = reader.read(clipped_sum(*given, self.quiet))
        self.chosen = _Chosen(self.best.summary, self.best.kernel, self.best.loss, _noise("clipped sum", self.best))
        self._note("clipped sum", self.begun, self.best.loss)
        if self._goes_on(0.0):
            started = time.perf_counter()
            allowed = min(self._left(), max(SHORTEST_SEARCH, self.seconds / SEARCH_SHARE))
            searched = search_weights(*given, self.best.found, allowed, self.quiet)
            found = self.best if searched.weights == self.best.found else reader.read(searched)
            if found.loss < self.best.loss:
                self.best = found
            self._take(found.summary, found.kernel, found.loss, _noise("weights by search", found))
            self._note("weights by search", started, found.loss)
        self._programs()
        self._bounds()
        chosen, kernel = self.chosen, self.chosen.kernel
        states = len(kernel.states) if isinstance(kernel, TableKernel) else kernel.high - kernel.low + 1
        return Proposal(chosen.summary, kernel, self.witness, chosen.words, states, "ladder", tuple(self.tried))

    def _take(self, summary: LinearSummary, kernel: Kernel, loss: float, words: str) -> None:
        if loss < self.chosen.loss:
            self.chosen = _Chosen(summary, kernel, loss, words)

    def _programs(self) -> None:
        """Programs on small summaries; a table that is no better than noise is not taken."""
        groups = clipped_groups(self.reader, self.best.found)
        started = time.perf_counter()
        if self._goes_on(SHORTEST):
            allowed = PROGRAM_SHARE * self._left()
            found = read_sum(self.reader, self.best.found, allowed, Deadline(2 * allowed, self.quiet))
            if found is not None:
                words = f"program on the weighted sum with weights {', '.join(map(str, found.summary.weights))}"
                self._take(found.summary, found.kernel, found.loss, words)
                self._note("program on the sum", started, found.loss)
        started = time.perf_counter()
        if groups is not None and self._goes_on(SHORTEST):
            allowed = PROGRAM_SHARE * self._left()
            found = read_pair(self.reader, groups, allowed, Deadline(2 * allowed, self.quiet))
            if found is not None:
                near, far = (", ".join(str(self.reader.kept[t]) for t in group) for group in groups)
                words = f"program on two counts, of respondents of type {near} and of type {far}"
                self._take(found.summary, found.kernel, found.loss, words)
                self._note("program on two counts", started, found.loss)

    def _bounds(self) -> None:
        """The grouped quotient with most of the time; the plain one before it, or in its place where two groups do not fit."""
        reader = self.reader
        two = grouped_program(reader, self.best.found, BOUND_SHARE * self._left())
        share = FIRST_SHARE if two is not None else BOUND_SHARE
        one = fitting(reader, None, share * self._left())
        for program, part in ((one, share), (two, BOUND_SHARE)):
            if program is not None and self._goes_on(SHORTEST):
                started = time.perf_counter()
                found = quotient(reader, program, self.chosen.loss, self.gap, part * self._left(), self.quiet)
                if found.lower_bound > self.lower:
                    self.lower, self.witness = found.lower_bound, found.witness
                self._note(found.name, started, lower=found.lower_bound)

    def _left(self) -> float:
        return self.seconds - (time.perf_counter() - self.begun)

    def _goes_on(self, least: float) -> bool:
        """Whether the gap is still wider than asked for, and more than the least time is left."""
        open_still = not reached(self.chosen.loss, self.lower, self.gap)
        return open_still and self._left() > least and not self.watch.cancelled()

    def _note(self, name: str, started: float, loss: float | None = None, lower: float | None = None) -> None:
        took = time.perf_counter() - started
        shown = self.chosen.loss if loss is None else loss, self.lower if lower is None else lower
        self.tried.append(Tried(name, *shown, took))
        self.watch.report(stage=name, value=self.chosen.loss, bound=self.lower, seconds=took)


def best_split(reader: Reader, watch: Watch = SILENT) -> tuple[Split, float]:
    """The best split and the loss that no private mechanism goes below, the decision's weight included."""
    decision = reader.problem.decision
    kind = decision.kind.removesuffix("-error")
    found = chain_bound(
        reader.exact_probabilities,
        reader.exact_values,
        reader.respondents,
        reader.epsilon,
        kind,
        reader.quantile,
        watch,
    )
    if found.split is None:
        raise InputError("There is nothing to bound", found="one value", allowed="at least two values")
    return found.split, found.lower_bound * float(decision.weight)


def chain_witness(problem: Problem, split: Split) -> TheoremWitness:
    """The types in the tails of a split, by number."""
    reader = Reader(problem)
    shares = dict(zip(reader.kept, reader.exact_probabilities, strict=True))
    ordered = sorted(likely_types(problem), key=lambda t: (reader.all_values[t], t))
    tails: list[list[int]] = [[], []]
    for tail, types, mass in zip(tails, (ordered, ordered[::-1]), (split.low, split.high), strict=True):
        left = mass
        for t in types:
            if left > 0:
                tail.append(t)
                left -= shares[t]
    low, high = (",".join(map(str, sorted(tail))) for tail in tails)
    return TheoremWitness(CHAIN, (("low", low), ("high", high)))


@dataclass(frozen=True)
class _Quiet:
    """Passes on only the wish to stop: the ladder's own reports speak in payoffs."""

    inner: Watch

    def report(self, **told: object) -> None:
        """Say nothing."""

    def cancelled(self) -> bool:
        return self.inner.cancelled()
