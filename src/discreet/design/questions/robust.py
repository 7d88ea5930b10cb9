"""A mechanism for a prior that may be wrong: the least worst-case regret over a finite set of priors.

minimise over private m   max_k [ L_k(m) − r_k ],   r_k the least loss under prior k.
This is the linear program of a design with one more variable, solved as a game between mechanisms and priors (minimax). Any
weights λ on the priors prove a bound (certify.robust), so the game stops when both sides meet. The mechanism is rounded and
proved like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.certify.robust import RobustProof, mixture
from discreet.certify.verdict import robust_proof
from discreet.design.best_mechanism import design
from discreet.design.processes.side_by_side import side_by_side
from discreet.design.questions.minimax import Exchange
from discreet.design.questions.regret import under
from discreet.design.result import Design
from discreet.design.routes.program import too_many
from discreet.errors import InputError, TooLarge
from discreet.files.robust import RobustFile
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.watch import SILENT, Deadline, Watch

GAP, REAL_GAP = 1e-4, 1e-3


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


def _must_be_listed(problem: Problem) -> None:
    """What is exchanged between priors is listed: too many states are refused before any reference is designed."""
    many = too_many(problem)
    if many is not None:
        raise TooLarge(
            "The least worst regret over several priors is proved state by state",
            size=many,
            fits="as many states as one program takes",
            remedy="--hedge guards against a neighbourhood of the prior at any size; --alternative shows what another prior costs",
        )


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
    _must_be_listed(problem)
    if not all(replace(problem, prior=p).exchangeable for p in priors):
        mixture(problem, priors, [Fraction(1, len(priors))] * len(priors))  # refuses them in words
    limited = Deadline(seconds, watch)
    tasks = [(replace(problem, prior=p), gap / 4, seconds) for p in priors]
    found = side_by_side(reference_design, tasks, limited, workers, "reference")
    references = [r if r is not None else reference_design(t, limited) for r, t in zip(found, tasks, strict=True)]
    exchange = Exchange(problem, priors, references, gap, limited)
    shares, weights, status = exchange.settled()
    mechanism, certificate = exchange.rounded(shares, weights)
    pairs = tuple((r.mechanism, r.certificate) for r in references)
    proof = robust_proof(RobustFile(mechanism, certificate, tuple(weights), pairs))
    plain = tuple(under(references[0].mechanism, replace(problem, prior=p)).followed for p in priors)
    return Robust(mechanism, certificate, tuple(priors), weights, tuple(references), proof, plain, exchange.rounds, status)


def reference_design(task: tuple[Problem, float, float], watch: Watch) -> Design:
    """The best mechanism under one prior."""
    problem, gap, seconds = task
    return design(problem, watch, gap=gap, seconds=seconds, compare=False)
