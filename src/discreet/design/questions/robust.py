"""A mechanism for a prior that may be wrong: the least worst-case regret over a finite set of priors.

minimise over private m   max_k [ L_k(m) − r_k ],   r_k the least loss under prior k.
This is the linear program of a design with one more variable, solved as a game between mechanisms and priors (minimax). Any
weights λ on the priors prove a bound (certify.robust), so the game stops when both sides meet. The mechanism is rounded and
proved like any other. Where its states are too many to be listed, or would take more than the time to be proved, nothing is mixed:
of the best mechanisms for each prior alone and plain noise the one with the least worst regret is published as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from time import monotonic

from discreet.certify.bounds import FULL
from discreet.certify.robust import RobustProof, regret_sides
from discreet.design.best_mechanism import design
from discreet.design.certified import certified
from discreet.design.comparison.evaluation import states_listed
from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.program.sections import recommendations
from discreet.design.proposal import Proposal
from discreet.design.questions.minimax import GRID, Exchange
from discreet.design.questions.regret import must_be_valued, under
from discreet.design.result import Design
from discreet.design.routes.program import too_many
from discreet.design.schedule import PROOF_PART, SECONDS_PER_PROVED_ENTRY
from discreet.errors import InputError
from discreet.files.robust import RobustFile
from discreet.model.certificate import Certificate, TheoremWitness
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.model.record import Step
from discreet.watch import SILENT, Deadline, Watch

GAP, REAL_GAP = 1e-4, 1e-3
KNOWN = "known"
"""The status of what was chosen among known mechanisms, without a game."""


@dataclass(frozen=True, eq=False)
class Robust:
    """The robust mechanism with its certificate under the mixture, the proof of its worst regret, and what it is compared to.

    `plain` holds, for each prior, the loss of following the mechanism designed for the first prior alone.
    """

    mechanism: Mechanism
    certificate: Certificate
    priors: tuple[Prior, ...]
    weights: tuple[Fraction, ...]
    references: tuple[Design, ...]
    proof: RobustProof
    plain: tuple[float, ...]
    rounds: int
    status: str

    @property
    def price(self) -> float:
        """What robustness costs when the first prior is true."""
        return float(self.proof.losses[0] - self.references[0].loss)


def robust_design(
    problem: Problem,
    priors: Sequence[Prior],
    watch: Watch = SILENT,
    *,
    gap: float | None = None,
    seconds: float = 120.0,
    workers: int | None = None,
) -> Robust:
    """The mechanism with the least worst regret over `priors` (the first is the designer's own), with its proof.

    `gap` bounds what is left between the two sides of the worst regret, as a share of the largest best loss: 1e-4 by default,
    1e-3 for real actions. Cancelling returns the best certified result so far.
    """
    if gap is None:
        gap = REAL_GAP if problem.real_actions else GAP
    if len(priors) < 2 or len(set(priors)) != len(priors):
        raise InputError(
            "A robust design needs several different priors",
            found=f"{len(set(priors))}",
            allowed="two or more",
            remedy="add an alternative prior",
        )
    if problem.unbiased is not None:
        raise InputError(
            "Unbiased values are designed for one prior",
            found=f"unbiased = {problem.unbiased!r} and {len(priors)} priors",
            allowed="one of the two",
            remedy="everywhere unbiased values are right on average under every prior: design for one",
        )
    for prior in priors:
        must_be_valued(replace(problem, prior=prior))
    proving = _proving_seconds(problem, priors)
    limited = Deadline(seconds, watch)
    tasks = [(replace(problem, prior=p), gap / 4, seconds) for p in priors]
    found = side_by_side(reference_design, tasks, limited, workers, "reference")
    references = [r if r is not None else reference_design(t, limited) for r, t in zip(found, tasks, strict=True)]
    if proving > PROOF_PART * seconds:
        return _best_known(problem, priors, references, watch)
    exchange = Exchange(problem, priors, references, gap, Deadline(limited.ends - monotonic() - proving, watch))
    shares, weights, status = exchange.settled()
    watch.report(stage="rounding and proving the mixture")
    return _proved(priors, references, *exchange.rounded(shares, weights), weights, exchange.rounds, status)


def _proving_seconds(problem: Problem, priors: Sequence[Prior]) -> float:
    """A guess of what rounding and proving a mixture takes; infinite where nothing is mixed."""
    mixed = len(problem.decisions) == 1 and all(replace(problem, prior=p).exchangeable for p in priors)
    if too_many(problem) is not None or not mixed:
        return inf
    outputs = GRID if problem.real_actions else len(recommendations(problem))
    return SECONDS_PER_PROVED_ENTRY * states_listed(problem) * outputs


def _best_known(problem: Problem, priors: Sequence[Prior], references: Sequence[Design], watch: Watch) -> Robust:
    """Of the best mechanisms for each prior alone and plain noise the one with the least worst regret, as it is."""
    watch.report(stage="known mechanisms under every prior")
    noises = [noise_on_the_statistic(problem), noise_on_the_statistic(problem, stairs=True)]
    known = [*(r.mechanism for r in references), *(noise for noise in noises if noise is not None)]
    best = [float(r.loss) for r in references]

    def worst(mechanism: Mechanism) -> float:
        regrets = [under(mechanism, replace(problem, prior=p)).followed - low for p, low in zip(priors, best, strict=True)]
        return max(regrets) if all(map(isfinite, regrets)) else inf

    chosen = min(range(len(known)), key=[worst(mechanism) for mechanism in known].__getitem__)
    weights = [Fraction(0)] * len(priors)
    if chosen < len(references):
        weights[chosen] = Fraction(1)
        mechanism, certificate = references[chosen].mechanism, references[chosen].certificate
    else:
        weights[0] = Fraction(1)
        noise = known[chosen]
        proposal = Proposal(noise.summary, noise.kernel, TheoremWitness(FULL), "plain noise", KNOWN)
        step = Step("plain noise", True, "full information", "its worst regret is less than that of the best for each prior alone")
        mechanism, certificate = certified(replace(problem, prior=priors[0]), proposal, step)
    return _proved(priors, references, mechanism, certificate, tuple(weights), 0, KNOWN)


def _proved(
    priors: Sequence[Prior],
    references: Sequence[Design],
    mechanism: Mechanism,
    certificate: Certificate,
    weights: tuple[Fraction, ...],
    rounds: int,
    status: str,
) -> Robust:
    """Both sides of the worst regret, from what was proved when the mechanism and each reference were made."""
    robust = RobustFile(mechanism, certificate, weights, tuple((r.mechanism, r.certificate) for r in references))
    claims = [c.optimality for c in (certificate, *(r.certificate for r in references)) if c.optimality is not None]
    proof = regret_sides(robust, claims)
    first = references[0].mechanism
    plain = tuple(under(first, replace(first.problem, prior=p)).followed for p in priors)
    return Robust(mechanism, certificate, tuple(priors), weights, tuple(references), proof, plain, rounds, status)


def reference_design(task: tuple[Problem, float, float], watch: Watch) -> Design:
    """The best mechanism under one prior."""
    problem, gap, seconds = task
    return design(problem, watch, gap=gap, seconds=seconds, compare=False)
