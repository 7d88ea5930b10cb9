"""The first two rungs of the ladder as exact mechanisms: weighted sums for any number of types and respondents.

Rung 0 clips the values, rung 1 searches integer weights w(type); both publish S = Σ_i w(θ_i), clipped to its
likely window, with staircase or geometric noise, and recommend the best action after each output (`readings`).
The witness is the chain bound at its best split. Floats propose; `certify` values the mechanism and proves the
bound again.

Conditions: independent respondents with one law, replace-one neighbours, a sum, mean or count, one decision
with squared, absolute or pinball error. Under the last two, weights are those found for squared error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from discreet.certify.chain import CHAIN, why_not_chain
from discreet.design.ladder.chain import Split, chain_bound
from discreet.design.ladder.weights import clipped_sum, search_weights
from discreet.design.programmed import Proposal, Tried
from discreet.design.readings import Reader, likely_types
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import TheoremWitness
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

SEARCH_SHARE = 20
"""The search takes a twentieth of the time, and at least `SHORTEST_SEARCH` seconds: more gains little."""
SHORTEST_SEARCH = 2.0


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


def climb(problem: Problem, watch: Watch = SILENT, seconds: float = 60.0) -> Proposal:
    """The best weighted sum found within the time, with the chain bound as its witness; `tried` lists the rungs.

    Reports are losses: `value` from above, `bound` from below. Cancelling returns the best rung so far.
    """
    reason = why_not_climb(problem)
    if reason is not None:
        raise TooLarge(
            "a problem of so many states, which only the ladder of weighted sums could serve",
            size=f"a problem in which {reason}",
            fits="independent respondents, a sum, mean or count, and a squared, absolute or pinball error",
            remedy="use fewer respondents or types, or an iid prior",
        )
    reader, quiet = Reader(problem), _Quiet(watch)
    given = (reader.probabilities, reader.values, reader.respondents, reader.epsilon)
    begun = time.perf_counter()
    split, lower = best_split(reader, quiet)
    watch.report(stage="chain bound", bound=lower, seconds=time.perf_counter() - begun)
    best, rung = reader.read(clipped_sum(*given, quiet)), "clipped sum"
    tried = [Tried(rung, best.loss, lower, time.perf_counter() - begun)]
    watch.report(stage=rung, value=best.loss, bound=lower, seconds=tried[0].seconds)
    left = seconds - (time.perf_counter() - begun)
    if left > 0 and not watch.cancelled():
        started = time.perf_counter()
        allowed = min(left, max(SHORTEST_SEARCH, seconds / SEARCH_SHARE))
        searched = search_weights(*given, best.found, allowed, quiet)
        found = best if searched.weights == best.found else reader.read(searched)
        tried.append(Tried("weights by search", found.loss, lower, time.perf_counter() - started))
        watch.report(stage="weights by search", value=found.loss, bound=lower, seconds=tried[-1].seconds)
        if found.loss < best.loss:
            best, rung = found, "weights by search"
    kernel = best.kernel
    words = f"{rung}: weights {', '.join(map(str, best.summary.weights))} with {kernel.family} noise"
    states = kernel.high - kernel.low + 1
    witness = chain_witness(problem, split)
    return Proposal(best.summary, kernel, witness, words, states, "weighted sum", tuple(tried))


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
