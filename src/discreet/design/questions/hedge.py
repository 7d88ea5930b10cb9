"""Hedging: a mechanism that stays good when the prior is wrong, chosen by its worst regret over a stated neighbourhood.

The neighbourhood of radius κ holds the truths whose mean of ω is within κ of the prior's (exponential tilts), those in which one
type's share is off by κ, and every mixture of such truths: cells that differ. Losses are linear in mixtures, so what holds at each
truth holds for all of them.

Candidates are kernels times ways to read them. Kernels: the design's own, and noise on the statistic itself over its whole range.
Readings: the best reply when the truth is spread evenly over tilts within s, for spreads s from 0 to κ and beyond; and noise at
face value. A wide spread reads a noisy value almost as it stands, a narrow one shrinks it to the prior.

No neighbourhood holds every table: cells may lie where no prior expected them. So a hedge also has a *limit*: whatever the data, it
loses at most `NEVER` times what plain noise loses. Readings of noise are moved so near to face value that a theorem says so
(`hedge_limit`); where states are listed, every one is looked at. Among the candidates with that limit, plain noise being one, the
least worst regret against the best candidate at each truth wins. Where no plain noise can be stated (no distance is judged, or
actions leave out face values), there is no such limit, and that is said. Several decision makers share the draws, each with a reply
of its own; what is hedged is the weighted sum of their losses.

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
from discreet.design.comparison.counted_world import CountedWorld
from discreet.design.comparison.evaluation import why_not_listed
from discreet.design.comparison.outcome import Outcome
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise
from discreet.design.comparison.truths import ListedWorld, Replies, SummedWorld, world
from discreet.design.questions.hedge_limit import Limit, limit_in, limited_reading
from discreet.design.questions.reliance import (
    WIDEST,
    scale_of,
    share_moved,
    shifted_tilts,
    telling_types,
)
from discreet.design.schedule import SEARCH_SHARE, TimeIsUpError, time_left
from discreet.design.watchdog import in_time, while_time_lasts
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.mechanism_document import mechanism_hash
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim
from discreet.model.lattice import statistic_lattice
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.numerics.digits import about, at_most
from discreet.numerics.exact import exact, format_exact
from discreet.watch import SILENT, Watch

NEVER = 1.1
"""The hedged design never loses more than so many times what plain noise loses, whatever the data."""
ROUNDED = 1 + 1e-6
"""Limits are rounded up: plain noise itself must keep within once what plain noise loses."""
MOST_TIMES = 100
STEPS = 4
"""Truths on each side of the prior."""
SPREADS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
"""Of readings, as shares of the radius."""
MOST_POINTS = 40
MOST_WHOLE = 200_000
"""Values of a statistic whose noise is read over the whole range; beyond it over a window, where the limit then ends."""


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
    limit: Limit | None = None
    """The most that it loses whatever the data."""

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
    limit: Limit | None


def hedge(
    mechanism: Mechanism,
    certificate: Certificate,
    radius: Fraction = Fraction(1, 2),
    never: float | None = NEVER,
    watch: Watch = SILENT,
) -> Hedged:
    """Hedge a designed mechanism against means that are off by up to `radius` of the prior's, and cells that differ.

    Whatever the data, it loses at most `never` times what plain noise loses; with None that holds (1.1 times) in the neighbourhood
    alone, where more can then be gained. When the watch ends the best of what was tried is taken; refused if there is none.
    """
    if not 0 < radius <= WIDEST:
        raise InputError(
            "The radius of a hedge is a share of the prior's mean",
            found=str(radius),
            allowed=f"above 0, up to {WIDEST:g}",
            remedy="for instance 0.5: the mean may be half as large or half as large again",
        )
    problem = mechanism.problem
    must_be_hedgeable(problem)
    claim = claim_of(certificate)
    noise, search = plain_noise(problem), _Search(mechanism, float(radius), never)
    try:
        in_time(search.run, SEARCH_SHARE * time_left(watch))
    except TimeIsUpError as error:
        if not search.enough:
            raise _late(error) from None
    ranked = _ranked(search.found, float("inf") if noise is None else noise, never)
    try:
        chosen, proved = while_time_lasts(lambda: _first_proved(ranked, claim, mechanism), watch)
    except TimeIsUpError as error:
        raise _late(error) from None
    return Hedged(
        *telling(*proved, _words(chosen, radius, noise)), -claim.value, radius, chosen.reading, search.means,
        tuple(chosen.losses.tolist()), tuple(search.found[0].losses.tolist()), noise, chosen.limit,
    )  # fmt: skip


def claim_of(certificate: Certificate) -> OptimalityClaim:
    """What is hedged has a proved value."""
    if certificate.optimality is None:
        raise InputError(
            "Hedging needs a mechanism with a proved value",
            found="a certificate without one",
            allowed="a design",
            remedy="design the mechanism first",
        )
    return certificate.optimality


def _words(chosen: _Candidate, radius: Fraction, noise: float | None) -> dict[str, str]:
    """What was computed of a hedge, kept with the mechanism wherever it goes; nothing of it is proved."""
    beside = "" if noise is None else f", where plain noise loses {about(noise, 4)}"
    limit = "none stated" if chosen.limit is None else f"{at_most(chosen.limit.loss, 4)} whatever the data"
    return {
        "hedge": f"the mean of the statistic off by up to {format_exact(radius)} of the prior's, and cells that differ",
        "hedge, read": chosen.reading,
        "hedge, worst loss": f"{at_most(float(chosen.losses.max()), 4)} at the truths tried there{beside}",
        "hedge, limit": limit,
    }


def telling(mechanism: Mechanism, certificate: Certificate, words: Mapping[str, str]) -> tuple[Mechanism, Certificate]:
    """The same with more said of how it was made; the certificate names the mechanism that says so."""
    told = replace(mechanism, provenance={**mechanism.provenance, **words})
    return told, replace(certificate, mechanism=mechanism_hash(told))


def _late(error: TimeIsUpError) -> TooLarge:
    """Nothing is called hedged that is not."""
    return TooLarge(
        "The time was too short for a hedge", size=str(error), fits="a hedge that is proved", remedy="allow more seconds"
    )


def _ranked(candidates: list[_Candidate], noise: float, never: float | None) -> list[_Candidate]:
    """First those that keep within the limit, then those that do so in the neighbourhood; of such, the least worst regret first."""
    losses, most = np.stack([c.losses for c in candidates]), (never or NEVER) * noise * ROUNDED
    beyond = [(never is not None and (c.limit is None or c.limit.loss > most), bool((c.losses > most).any())) for c in candidates]
    best = losses[[b == min(beyond) for b in beyond]].min(axis=0)  # what is possible within the limit
    regret = (losses - best).max(axis=1).tolist()
    return [candidates[i] for i in sorted(range(len(candidates)), key=lambda i: (beyond[i], regret[i]))]


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


def never_more(text: str | None) -> float | None:
    """How many times plain noise a hedge may lose, as a person writes it: 1.1 unless said otherwise, or none."""
    if text is None or text.strip().lower() == "none":
        return NEVER if text is None else None
    times = exact(text, "--never")
    if not 1 <= times <= MOST_TIMES:
        raise InputError(
            "A limit beside plain noise is how many times as much may be lost",
            found=text,
            allowed=f"from 1 to {MOST_TIMES}, or none",
            remedy="for instance --never 1.1; none guards the neighbourhood alone",
        )
    return float(times)


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


class _Search:
    """The design as it is, noise at face value, then every kernel with every reading that may have a limit."""

    def __init__(self, own: Mechanism, radius: float, never: float | None) -> None:
        self.own, self.radius, self.never = own, radius, never
        self.found: list[_Candidate] = []
        self.means: tuple[float, ...] = ()

    @property
    def enough(self) -> bool:
        """Whether what was found is a choice: a hedge without a single noise would be none."""
        return len(self.found) > 1

    def run(self) -> None:
        """Find all candidates."""
        problem, own = self.own.problem, world(self.own)
        steps = np.arange(-STEPS, STEPS + 1) / STEPS
        tilts = shifted_tilts(own, [self.radius * x for x in steps.tolist()])
        shares = [share_moved(problem, t, sign * self.radius) for t in telling_types(problem) for sign in (1, -1)]
        truths = _Truths(tilts, [factors for factors in shares if factors is not None])
        self.means = tuple(o.mean for o in truths.of(own))
        self.found.append(_valued(own, "as designed", truths))
        kinds: list[ListedWorld | SummedWorld] = []
        for noise in _noise_over_the_range(self.own, own, self.means):
            kinds.append(world(noise, own))
            self.found.append(_valued(kinds[-1], f"{_noise_named(kinds[-1])}, at face value", truths))
        if isinstance(own, CountedWorld):
            pass  # noise at face value already, within a limit of its own
        elif not kinds or self.never is None or why_not_listed(self.own) is None:  # of other sums, no reading stays near every ω
            kinds.append(own)
        for seen in kinds:
            self._read(seen, truths, "the design" if seen is own else _noise_named(seen))

    def _read(self, seen: ListedWorld | SummedWorld, truths: _Truths, kind: str) -> None:
        """Every reading of one kernel."""
        widest = self.radius * max(SPREADS)
        tilts = shifted_tilts(seen, np.linspace(-widest, widest, _points(seen, widest)).tolist())
        means = np.array([seen.mean_at(theta) for theta in tilts])
        scale, middle = scale_of(seen)[0], seen.mean_at(0.0)
        for spread in SPREADS:
            reach = self.radius * spread * scale * (1 + 1e-9)
            inner = [x for x, m in zip(tilts, means, strict=True) if abs(m - middle) <= reach] or [0.0]
            replies = seen.replies(inner)
            told = f"{kind}, read as if the mean were off by up to {self.radius * spread:.0%}"
            if kind == "the design" or self.never is None:
                self.found.append(_valued(seen.reading(with_actions(seen.mechanism, replies)), told, truths))
                continue
            read = limited_reading(seen.mechanism, replies, seen.chances(inner), self.never)
            if read is not None:
                self.found.append(_valued(seen.reading(read), f"{told}, near its face value", truths))


def _noise_over_the_range(own: Mechanism, seen: ListedWorld | SummedWorld, reached: tuple[float, ...]) -> list[Mechanism]:
    """Noise on the statistic, also in stairs, over its whole range; where that is too long, as far as the neighbourhood reaches."""
    lattice, means = statistic_lattice(own.problem), None
    if lattice is None:
        return []
    low, high = lattice.summary.range(own.problem.people)
    if high - low > MOST_WHOLE:
        means = min(reached), max(reached)
    kinds = (
        (False, True)
        if isinstance(own.problem.promise, PurePromise) and lattice.summary.step(own.problem.neighbours) > 1
        else (False,)
    )
    found = (noise_on_the_statistic(own.problem, means, sqrt(seen.variance), stairs=stairs) for stairs in kinds)
    return [noise for noise in found if noise is not None]


def _noise_named(seen: ListedWorld | SummedWorld) -> str:
    return f"{seen.mechanism.kernel.family.replace('-', ' ')} noise on the statistic"


def _points(seen: ListedWorld | SummedWorld, reach: float) -> int:
    """How many tilts a reading is spread over: about one for each deviation of ω, so that their laws overlap."""
    scale, _ = scale_of(seen)
    wanted = 2 * reach * scale / max(sqrt(seen.variance), 1e-300)
    return 2 * int(min(max(STEPS, wanted / 2), MOST_POINTS)) + 1


def _valued(seen: ListedWorld | SummedWorld, reading: str, truths: _Truths) -> _Candidate:
    return _Candidate(seen.mechanism, reading, np.array([o.loss for o in truths.of(seen)]), limit_in(seen))


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
