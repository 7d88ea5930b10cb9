"""The ladder to any number of types and respondents: exact mechanisms from below, proved bounds from above, as far as time goes.

| rung | mechanism | lower bound |
|---|---|---|
| 0 | values clipped: S = Σ_i w(θ_i) in its likely window, staircase or geometric noise, best actions | chain, best split |
| 1 | integer weights w(type) by search | – |
| 2 | a program on the likely window of that sum | quotient, where its program is small |
| 3 | a program on two counts, of a near and a far group of types | grouped quotient, the same groups |

Mechanism and bound are kept apart: the best of each. The ladder stops when the gap that was asked for is reached or the time is
over.
Floats propose; `certify` values the mechanism and proves the bound again.

Conditions: independent respondents with one law, replace-one neighbours, a sum, mean or count, one decision
with squared, absolute or pinball error. Under the last two, weights are those found for squared error and the bound is the chain's.
"""

from __future__ import annotations

from discreet.certify.bounds.chain import why_not_chain
from discreet.design.ladder.bounds.rungs import ChainBound, GroupedQuotient, Quotient
from discreet.design.ladder.mechanisms.rungs import (
    ClippedSum,
    ProgramOnTheSum,
    ProgramOnTwoCounts,
    WeightsBySearch,
)
from discreet.design.ladder.rung import Height, Rung
from discreet.design.proposal import Proposal
from discreet.design.reports import Quiet
from discreet.design.schedule import LadderTime, now
from discreet.errors import TooLarge
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.model.record import Reached
from discreet.watch import SILENT, Watch

FIRST: tuple[Rung, ...] = (ChainBound(), ClippedSum())
"""These two are climbed whatever the time: without them there is nothing to prove."""
RUNGS: tuple[Rung, ...] = (
    WeightsBySearch(), ProgramOnTheSum(), ProgramOnTwoCounts(), Quotient(), GroupedQuotient(),
)  # fmt: skip


def why_not_climb(problem: Problem) -> str | None:
    """The first condition of the ladder's weighted sums that fails, in words; None when all hold."""
    reason = why_not_chain(problem)
    if reason is not None:
        return reason
    if problem.epsilon == 0:
        return "ε is 0, so only a constant may be published"
    if len(iid_sum(problem).atoms) < 2:
        return "every respondent surely has the same value"
    return None


def climb(problem: Problem, watch: Watch = SILENT, seconds: float = 60.0, gap: float = 1e-6) -> Proposal:
    """The best mechanism and the best bound found within the time; `rungs` lists those that were reached.

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
    height, allowance = Height(problem, gap, Quiet(watch)), LadderTime(seconds)
    rungs: list[Reached] = []
    begun = now()
    for rung in FIRST:
        found = rung.climb(height, allowance.left)
        assert found is not None
        height.take(found)
    _note(rungs, watch, height, "clipped sum", begun)
    further = [rung for rung in RUNGS if rung.why_not(problem) is None]
    for rung in further:
        if height.enough or watch.cancelled() or allowance.left <= rung.least_seconds:
            break
        given = allowance.share(rung.name, last=rung is further[-1])
        begun = now()
        found = rung.climb(height, given)
        if found is not None:
            height.take(found)
            _note(rungs, watch, height, rung.name, begun, found.loss, found.lower_bound)
    chosen = height.mechanism
    assert chosen.summary is not None and chosen.kernel is not None
    status = "optimal" if height.enough else "cancelled" if watch.cancelled() else "stalled"
    return Proposal(chosen.summary, chosen.kernel, height.bound.witness, chosen.words, status, tuple(rungs))


def _note(
    rungs: list[Reached], watch: Watch, height: Height, name: str, begun: float, loss: float | None = None,
    lower: float | None = None,
) -> None:
    took = now() - begun
    shown = height.loss if loss is None else loss, height.lower_bound if lower is None else lower
    rungs.append(Reached(name, *shown, took))
    watch.report(stage=name, value=height.loss, bound=height.lower_bound, seconds=took)
