"""Certificates: claims with the witnesses that prove them, and counterexamples when a claim is false.

A certificate is data. Who made it does not matter: `certify` checks it against the mechanism and the problem.

Witnesses of optimality (all bound the payoff of every private mechanism from above):
`dual`             multipliers f ≥ 0 on edges for each listed action
`dual-with-chord`  multipliers at action nodes a_0 < a_1 < …, interpolated linearly between them (real actions)
`quotient`         multipliers on inequalities that hold on average over histograms with the same counts and statistic
`set-aside`        prices of what a mechanism says of one respondent, given a few sums over the others
`coins`            multipliers for respondents who toss coins between two types, all others known
`crowd`            multipliers on inequalities between the counts and sums of far types, beside dice, all others known
`boxes`            multipliers between counts of a few types in boxes, under an urn's prior: some known, others even but for one
`urn`              multipliers on inequalities between mean counts of types, given the count of one type, under an urn's prior
`renyi-cuts`       multipliers on linear cuts of Rényi divergences, under a promise of ρ
`players`          such cuts for some respondents of a few types, all others known: any number of respondents and types
`theorem`          a named theorem whose conditions and formula are checked again
`unbiased`         multipliers at nodes and beyond them, and of the mean at each state (values unbiased everywhere)
`several`          one of these for each of several decision makers
`shifted`          `dual-with-chord` for the statistic plus a linear function of the counts (values unbiased nearby)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.boxes import BoxesWitness as BoxesWitness
from discreet.model.boxes import BoxPart as BoxPart
from discreet.model.coins import CoinsTier as CoinsTier
from discreet.model.coins import CoinsWitness as CoinsWitness
from discreet.model.coins import TypeDie as TypeDie
from discreet.model.coins import coin as coin
from discreet.model.crowds import CrowdTier as CrowdTier
from discreet.model.crowds import CrowdWitness as CrowdWitness
from discreet.model.cuts import ROOT_BITS as ROOT_BITS
from discreet.model.cuts import PlayersPart as PlayersPart
from discreet.model.cuts import PlayersWitness as PlayersWitness
from discreet.model.cuts import RenyiWitness as RenyiWitness
from discreet.model.gap import relative_gap
from discreet.model.multipliers import Flow as Flow
from discreet.model.multipliers import Multipliers as Multipliers
from discreet.model.multipliers import PackedFlows as PackedFlows
from discreet.model.multipliers import Recommendation as Recommendation
from discreet.model.promises import Promise, pure_epsilon
from discreet.model.summary import Clamp
from discreet.model.urns import UrnWitness as UrnWitness
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class PrivacyProof:
    """The promise holds; its smallest number lies in [tight_low, tight_high] and is attained at the named edge and output."""

    promise: Promise
    tight_low: Fraction
    tight_high: Fraction
    edge: tuple[str, str] | None
    output: str | None
    edges: int
    outputs: int
    witness: str = "edge-check"

    @property
    def epsilon(self) -> Fraction:
        """The ε of a purely private promise."""
        return pure_epsilon(self.promise)


@dataclass(frozen=True)
class DualWitness:
    """Multipliers on the edges between the states of a box of histograms (or all databases when `box` is None).

    The flow from i to j multiplies q·x_j − x_i ≥ 0, q ≥ e^ε rational. Edges that leave the box carry none.
    With a `reduction` (model.reductions) the states are those of the reduced problem.
    `kind` is `dual` (actions are those of the problem) or `dual-with-chord` (actions are nodes of real actions).
    """

    kind: str
    box: Clamp | None
    scale: int
    multipliers: tuple[Multipliers, ...]
    reduction: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("dual", "dual-with-chord") or self.scale < 1:
            raise InputError(
                "A dual witness is of kind 'dual' or 'dual-with-chord' with a positive scale",
                found=f"{self.kind}, scale {brief(self.scale)}",
                allowed="dual, dual-with-chord",
                remedy="correct the file",
            )
        if any(flow < 0 for action in self.multipliers for _, _, flow in action.flows):
            raise InputError(
                "A multiplier is negative",
                found="a negative flow",
                allowed="numbers from 0",
                remedy="only non-negative multipliers prove a bound",
            )


@dataclass(frozen=True)
class QuotientWitness:
    """Multipliers on averaged inequalities (`certify.quotient`) between states (x_1, …, x_G, ω).

    x_g counts the respondents whose type is in group g, ω is the statistic in whole steps above "everyone has the reference
    type". A ray (k_1, …, k_G, l) weighs a respondent of type j in group g by c_j = k_g + l·u_j. A flow (state, 2·ray, f) multiplies
    the inequality with the state on the smaller side, (state, 2·ray + 1, f) the one with the state on the larger side.
    Actions are those of the problem, or nodes of real actions.
    """

    reference: int
    groups: tuple[tuple[int, ...], ...]
    rays: tuple[tuple[int, ...], ...]
    states: tuple[tuple[int, ...], ...]
    scale: int
    multipliers: tuple[Multipliers, ...]
    kind = "quotient"

    def __post_init__(self) -> None:
        width = len(self.groups) + 1
        if width < 2 or not self.states or any(len(row) != width for row in (*self.rays, *self.states)) or self.scale < 1:
            raise InputError(
                "A quotient witness has groups, rays and states of one number for each group and one more, and a positive scale",
                found=f"{len(self.groups)} groups, {len(self.states)} states, scale {brief(self.scale)}",
                allowed="rays and states of as many numbers as groups, plus one",
                remedy="correct the file",
            )
        for action in self.multipliers:
            for state, row, flow in action.flows:
                if not (0 <= state < len(self.states) and 0 <= row < 2 * len(self.rays) and flow >= 0):
                    raise InputError(
                        "A multiplier is negative or names an inequality that the witness does not have",
                        found=f"state {brief(state)}, row {brief(row)}",
                        allowed=f"states below {len(self.states)}, rows below {2 * len(self.rays)}, numbers from 0",
                        remedy="only non-negative multipliers prove a bound",
                    )


@dataclass(frozen=True)
class SetAsideWitness:
    """One respondent set aside (`certify.bounds.set_aside`): `weights` of each type, one for each form, and the states listed.

    A flow (state, form, x) of a node is β = x/scale there; a level (state, type, x) is ν_type = x/scale of the others' state, the
    listed state less the weights of that type.
    """

    weights: tuple[tuple[int, ...], ...]
    states: tuple[tuple[int, ...], ...]
    scale: int
    levels: Sequence[Flow]
    multipliers: tuple[Multipliers, ...]
    kind = "set-aside"

    def __post_init__(self) -> None:
        widths = {len(row) for row in (*self.weights, *self.states)}
        if len(widths) != 1 or 0 in widths or not self.states or self.scale < 1:
            raise InputError(
                "A set-aside witness has weights and states of one number for each form, and a positive scale",
                found=f"{len(self.states)} states, scale {brief(self.scale)}",
                allowed="rows of the same length, at least one",
                remedy="correct the file",
            )
        width = widths.pop()
        for flows, most in ((self.levels, len(self.weights)), *((node.flows, width) for node in self.multipliers)):
            for state, place, _ in flows:
                if not (0 <= state < len(self.states) and 0 <= place < most):
                    raise InputError(
                        "A number of a set-aside witness names a state, form or type that the witness does not have",
                        found=f"state {brief(state)}, place {brief(place)}",
                        allowed=f"states below {len(self.states)}, places below {most}",
                        remedy="correct the file",
                    )


@dataclass(frozen=True)
class TheoremWitness:
    """A theorem by its name, with the parameters of its formula as exact text."""

    theorem: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The theorem itself: each has its own check."""
        return self.theorem


@dataclass(frozen=True)
class UnbiasedWitness:
    """Multipliers for values that are unbiased at every state (`certify.bounds.unbiased`), over the finest states of the problem.

    `multipliers` stand at nodes and are linear between them; `tails` are their slopes below the first and above the last node, and
    `biases` the multipliers of the means, (state, state, numerator) of any sign. Slopes and biases are over scale times the
    largest unit of which all differences of the statistic are whole multiples.
    """

    scale: int
    multipliers: tuple[Multipliers, ...]
    tails: tuple[Sequence[Flow], Sequence[Flow]]
    biases: Sequence[Flow]
    kind = "unbiased"

    def __post_init__(self) -> None:
        edges = (*(m.flows for m in self.multipliers), *self.tails)
        if self.scale < 1 or any(flow < 0 for flows in edges for _, _, flow in flows):
            raise InputError(
                "A multiplier is negative or has no positive scale",
                found="a negative flow",
                allowed="numbers from 0",
                remedy="only non-negative multipliers of edges prove a bound",
            )


@dataclass(frozen=True)
class ShiftedWitness:
    """For values that are unbiased nearby: a witness for the target ω + s(n), s(n) = shift[0] + Σ_t shift[t+1]·n_t."""

    shift: tuple[Fraction, ...]
    inner: DualWitness
    kind = "shifted"


@dataclass(frozen=True)
class SeveralWitness:
    """A witness for each decision maker, in their order: nobody does better than alone, so the bounds add up."""

    each: tuple[SingleWitness, ...]
    kind = "several"


SingleWitness = (
    DualWitness
    | QuotientWitness
    | SetAsideWitness
    | CoinsWitness
    | BoxesWitness
    | CrowdWitness
    | UrnWitness
    | TheoremWitness
    | UnbiasedWitness
    | ShiftedWitness
    | RenyiWitness
    | PlayersWitness
)
Witness = SingleWitness | SeveralWitness


@dataclass(frozen=True)
class OptimalityClaim:
    """The mechanism's expected payoff is at least `value`; no private mechanism's is above `bound`."""

    value: Fraction
    bound: Fraction
    witness: Witness

    @property
    def relative_gap(self) -> float:
        return relative_gap(-self.value, -self.bound)


@dataclass(frozen=True)
class Certificate:
    """What is claimed of the mechanism with this hash, and why it is true."""

    mechanism: str
    privacy: PrivacyProof
    optimality: OptimalityClaim | None = None

    def __repr__(self) -> str:
        return f"<certificate of {self.mechanism[:16]}…: {'privacy' if self.optimality is None else 'privacy, value and bound'}>"


@dataclass(frozen=True)
class Counterexample:
    """Why a claim is false, in words and in numbers."""

    claim: str
    words: str
    edge: tuple[str, str] | None = None
    output: str | None = None
    found: str | None = None
    allowed: str | None = None

    def __str__(self) -> str:
        return self.words
