"""How much does a mechanism lose when any of several priors may be true, and how little could it lose? Both sides, exactly.

regret_k(m) = L_k(m) − L*_k, with L_k the loss of following m under prior k and L*_k the least loss of any private mechanism there.
Each L*_k lies between a proved bound and a loss reached (references), so
  max_k regret_k(m) ≤ max_k [ L_k(m) − bound_k ].
For weights λ ≥ 0, Σλ = 1, the loss Σ_k λ_k L_k(m) is the loss under the mixture prior Σ_k λ_k π_k, hence for every private m
  max_k regret_k(m) ≥ Σ_k λ_k (L_k(m) − L*_k) ≥ bound(mixture) − Σ_k λ_k reached_k,
which no private mechanism beats: minimax duality with the certificate of a plain design under the mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.certify.bounds import FULL
from discreet.certify.optimality import proved_value
from discreet.errors import InputError, Refuted
from discreet.files.robust import RobustFile
from discreet.model.certificate import OptimalityClaim, TheoremWitness
from discreet.model.priors import ExchangeablePrior, Prior
from discreet.model.problem import Problem, believed


@dataclass(frozen=True)
class RobustProof:
    """Loss at each prior (an upper side), the best possible there (both sides), and both sides of the worst regret.

    `worst` is not exceeded by the mechanism; no private mechanism has a worst regret below `least`.
    """

    losses: tuple[Fraction, ...]
    best: tuple[tuple[Fraction, Fraction], ...]
    worst: Fraction
    least: Fraction

    @property
    def regrets(self) -> tuple[Fraction, ...]:
        """An upper side of the regret at each prior."""
        return tuple(loss - low for loss, (low, _) in zip(self.losses, self.best, strict=True))


def mixture(problem: Problem, priors: Sequence[Prior], weights: Sequence[Fraction]) -> Problem:
    """The problem under the prior Σ_k λ_k π_k: π_k itself where λ_k = 1, else written out histogram by histogram."""
    if len(priors) != len(weights) or sum(weights) != 1 or any(w < 0 for w in weights):
        raise InputError(
            "The weights of the priors are no probabilities",
            found=f"{len(weights)} weights for {len(priors)} priors",
            allowed="one weight from 0 for each prior, with sum 1",
            remedy="correct the weights",
        )
    each = [replace(problem, prior=prior) for prior in priors]
    for alone, weight in zip(each, weights, strict=True):
        if weight == 1:
            return alone
    if not all(p.exchangeable for p in each):
        raise InputError(
            "Priors are mixed when the order of respondents does not matter",
            found="another kind of prior",
            allowed="iid, reference or exchangeable priors",
            remedy="describe respondents as exchangeable",
        )
    vectors = problem.finest().vectors.tolist()
    laws = [believed(p, p.finest()).weights for p in each]
    table = tuple(
        (tuple(row), sum((w * law[i] for w, law in zip(weights, laws, strict=True) if w), Fraction(0)))
        for i, row in enumerate(vectors)
    )
    return replace(problem, prior=ExchangeablePrior(table))


def regret_sides(robust: RobustFile, claims: Sequence[OptimalityClaim]) -> RobustProof:
    """Both sides of the worst regret from the *proved* claims of the mechanism and then of each reference.

    The references must answer the same question with the same promise: under a stricter one a bound would prove nothing.
    """
    mechanism, priors, weights = robust.mechanism, robust.priors, robust.weights
    problem = mechanism.problem
    mixed, *of_references = claims
    if _listed(problem.prior) != _listed(mixture(problem, priors, weights).prior):
        raise Refuted("the mechanism's prior is not the mixture of the priors with these weights", "another prior")
    for prior, (reference, _) in zip(priors, robust.references, strict=True):
        if replace(problem, prior=prior) != reference.problem:
            raise Refuted("a reference answers another problem", "another problem")
        if reference.guarantee != mechanism.guarantee:
            raise Refuted("a reference makes another promise", str(reference.guarantee))
    best = tuple((-claim.bound, -claim.value) for claim in of_references)
    everywhere = replace(mixed, witness=TheoremWitness(FULL))  # values are proved without what a theorem says of one prior
    losses = tuple(-proved_value(replace(mechanism, problem=replace(problem, prior=p)), everywhere) for p in priors)
    worst = max(loss - low for loss, (low, _) in zip(losses, best, strict=True))
    least = -mixed.bound - sum((w * high for w, (_, high) in zip(weights, best, strict=True)), Fraction(0))
    return RobustProof(losses, best, worst, max(least, Fraction(0)))


def _listed(prior: Prior) -> object:
    """A prior on histograms by its table, in whatever order it was written; any other is itself."""
    return prior.table if isinstance(prior, ExchangeablePrior) else prior
