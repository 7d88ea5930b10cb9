"""Hedging: a mechanism that stays good when the prior is wrong, chosen by its worst regret over a stated neighbourhood.

The neighbourhood of radius κ holds the truths whose mean of ω is within κ of the prior's (exponential tilts), those in which one
type's share is off by κ, and every mixture of such truths: cells that differ. Losses are linear in mixtures, so what holds at each
truth holds for all of them.

Candidates are kernels times ways to read them. Kernels: the design's own, and noise on the statistic itself without a window.
Readings: the best reply when the truth is spread evenly over tilts within s, for spreads s from 0 to κ and beyond; and noise at
face value. A wide spread reads a noisy value almost as it stands, a narrow one shrinks it to the prior: the design and plain noise
are the two ends. The candidate with the least worst regret against the best candidate at each truth wins, among those that never
lose more than `NEVER` times what plain noise loses there; plain noise itself is one of them. Several decision makers share
the draws, each with a reply of its own; what is hedged is the weighted sum of their losses.

The chosen mechanism is certified for the problem as stated: its value is proved under the stated prior, so its price is exact,
and the lower bound is the design's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.certify import privacy
from discreet.certify.optimality import proved_value
from discreet.design.certified import outward
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise
from discreet.design.comparison.truths import ListedWorld, Outcome, Replies, SummedWorld, world
from discreet.design.questions.reliance import (
    WIDEST,
    scale_of,
    share_moved,
    shifted_tilts,
    telling_types,
)
from discreet.errors import InputError, Refuted, TooLarge
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem

NEVER = 1.1
"""The hedged design never loses more than so many times what plain noise loses, at any truth of the neighbourhood."""
STEPS = 4
"""Truths on each side of the prior."""
SPREADS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
"""Of readings, as shares of the radius."""
MOST_POINTS = 40


@dataclass(frozen=True, eq=False)
class Hedged:
    """The hedged mechanism with its proof and its price, and what it and the design lose over the neighbourhood."""

    mechanism: Mechanism
    certificate: Certificate
    unhedged_loss: Fraction
    radius: Fraction
    reading: str
    truths: tuple[float, ...]
    losses: tuple[float, ...]
    unhedged: tuple[float, ...]
    noise: float | None

    @property
    def price(self) -> Fraction:
        """What hedging costs if the prior is right: both losses are proved under it."""
        return self.loss - self.unhedged_loss

    @property
    def loss(self) -> Fraction:
        assert self.certificate.optimality is not None
        return -self.certificate.optimality.value

    @property
    def worst(self) -> float:
        return max(self.losses)

    @property
    def worst_unhedged(self) -> float:
        return max(self.unhedged)


@dataclass(frozen=True, eq=False)
class _Truths:
    """The neighbourhood: tilts, then shares of single types."""

    tilts: list[float]
    shares: list[np.ndarray]

    def of(self, seen: ListedWorld | SummedWorld) -> list[Outcome]:
        return [*map(seen.tilted, self.tilts), *map(seen.by_type, self.shares)]


@dataclass(frozen=True, eq=False)
class _Candidate:
    mechanism: Mechanism
    reading: str
    losses: np.ndarray


def hedge(mechanism: Mechanism, certificate: Certificate, radius: Fraction = Fraction(1, 2)) -> Hedged:
    """Hedge a designed mechanism against means that are off by up to `radius` of the prior's, and cells that differ."""
    if not 0 < radius <= WIDEST:
        raise InputError(
            "The radius of a hedge is a share of the prior's mean",
            found=str(radius),
            allowed=f"above 0, up to {WIDEST:g}",
            remedy="for instance 0.5: the mean may be half as large or half as large again",
        )
    problem, claim = mechanism.problem, certificate.optimality
    must_be_hedgeable(problem)
    if claim is None:
        raise InputError(
            "Hedging needs a mechanism with a proved value",
            found="a certificate without one",
            allowed="a design",
            remedy="design the mechanism first",
        )
    own = world(mechanism)
    steps = np.arange(-STEPS, STEPS + 1) / STEPS
    tilts = shifted_tilts(own, [float(radius) * x for x in steps.tolist()])
    shares = [share_moved(problem, t, sign * float(radius)) for t in telling_types(problem) for sign in (1, -1)]
    truths = _Truths(tilts, [factors for factors in shares if factors is not None])
    noise = plain_noise(problem)
    candidates = _candidates(mechanism, truths, float(radius))
    losses = np.stack([c.losses for c in candidates])
    regret = (losses - losses.min(axis=0)).max(axis=1)
    beyond = np.zeros(len(candidates), dtype=bool)
    if noise is not None:
        beyond = np.asarray((losses > NEVER * noise).any(axis=1))
    order = sorted(range(len(candidates)), key=lambda i: (bool(beyond[i]), float(regret[i])))
    chosen, proved = _first_proved([candidates[i] for i in order], claim, mechanism)
    return Hedged(
        *proved, -claim.value, radius, chosen.reading,
        tuple(o.mean for o in truths.of(own)),
        tuple(chosen.losses.tolist()), tuple(candidates[0].losses.tolist()), noise,
    )  # fmt: skip


def _first_proved(
    ranked: list[_Candidate], claim: OptimalityClaim, own: Mechanism
) -> tuple[_Candidate, tuple[Mechanism, Certificate]]:
    """The best candidate whose value can be proved: of a reading that no law fits, nothing is."""
    *others, last = ranked
    for candidate in others:
        try:
            return candidate, restated(candidate.mechanism, claim, own.provenance, own.problem.prior)
        except TooLarge:
            continue
    return last, restated(last.mechanism, claim, own.provenance, own.problem.prior)


def why_not_hedged(problem: Problem) -> str | None:
    """Why a problem cannot be hedged; None when it can."""
    return None if problem.unbiased is None else "unbiased values, which another reading would not be"


def must_be_hedgeable(problem: Problem) -> None:
    """Refuse, before any work, what may not be read otherwise."""
    reason = why_not_hedged(problem)
    if reason is not None:
        raise InputError(
            "Hedging reads what is published otherwise than the design does",
            found=reason,
            allowed="decisions whose actions need not be unbiased",
            remedy="leave out --hedge: unbiased values do not lean on the prior as others do",
        )


def _candidates(own: Mechanism, truths: _Truths, radius: float) -> list[_Candidate]:
    """The design as it is, then every kernel with every reading."""
    own_world = world(own)
    found = [_valued(own_world, "as designed", truths)]
    reached = [o.mean for o in truths.of(own_world)]
    wide = noise_on_the_statistic(own.problem, (min(reached), max(reached)), sqrt(own_world.variance))
    kinds = [("the design", own_world)] + ([] if wide is None else [("noise on the statistic", world(wide))])
    for kind, seen in kinds:
        widest = radius * max(SPREADS)
        tilts = shifted_tilts(seen, np.linspace(-widest, widest, _points(seen, widest)).tolist())
        means = np.array([seen.mean_at(theta) for theta in tilts])
        scale, middle = scale_of(seen)[0], seen.mean_at(0.0)
        for spread in SPREADS:
            inner = [x for x, m in zip(tilts, means, strict=True) if abs(m - middle) <= radius * spread * scale * (1 + 1e-9)]
            read = with_actions(seen.mechanism, seen.replies(inner or [0.0]))
            told = f"{kind}, read as if the mean were off by up to {radius * spread:.0%}"
            found.append(_valued(seen.reading(read), told, truths))
    if wide is not None:
        found.append(_valued(kinds[1][1], "noise on the statistic, at face value", truths))
    return found


def _points(seen: ListedWorld | SummedWorld, reach: float) -> int:
    """How many tilts a reading is spread over: about one for each deviation of ω, so that their laws overlap."""
    scale, _ = scale_of(seen)
    wanted = 2 * reach * scale / max(sqrt(seen.variance), 1e-300)
    return 2 * int(min(max(STEPS, wanted / 2), MOST_POINTS)) + 1


def _valued(seen: ListedWorld | SummedWorld, reading: str, truths: _Truths) -> _Candidate:
    return _Candidate(seen.mechanism, reading, np.array([o.loss for o in truths.of(seen)]))


def with_actions(mechanism: Mechanism, actions: Replies) -> Mechanism:
    """The same draws with other recommendations."""
    return replace(mechanism, kernel=mechanism.kernel.with_actions(actions), claims=Claims())


def restated(
    mechanism: Mechanism, claim: OptimalityClaim, provenance: Mapping[str, str], prior: Prior
) -> tuple[Mechanism, Certificate]:
    """A mechanism that hedges, under the design's own prior: privacy and value proved anew, and the design's lower bound."""
    made_by = {name: text for name, text in provenance.items() if name == "made by"}
    own = replace(mechanism.problem, prior=prior)
    bare = replace(mechanism, problem=own, claims=Claims(), provenance={**made_by, "reduction": "hedge", "theorem": ""})
    value = outward(proved_value(bare, claim), down=True)
    bound = max(claim.bound, value)
    stated = replace(bare, claims=Claims(value, bound))
    proof = privacy(stated)
    if isinstance(proof, Counterexample):
        raise Refuted("the hedged mechanism is not private, which is a defect of the design", proof)
    return stated, replace(proof, optimality=OptimalityClaim(value, bound, claim.witness))
