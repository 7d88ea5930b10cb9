"""dp_accounting: the dominating pair of any of our mechanisms, and its privacy loss distribution there.

A pair (P, Q) dominates a mechanism when no attack on any two neighbours does better than on the pair. `dominating`
finds it exactly where one edge dominates all others (geometric noise, randomised response) and otherwise takes the
concave hull of all attack curves. Handed to dp_accounting as two mass functions it composes with everything else that
is accounted for there. Losses are rounded up on their grid when pessimistic, down when optimistic; an optimistic one is
a lower bound only for a pair that is an edge, so that is what it is made of.

Events of dp_accounting with finitely many outcomes come the other way, to be judged exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.currencies.channel import channel_of
from discreet.currencies.pair import Pair
from discreet.currencies.profiles import Profile
from discreet.currencies.repeated import dominating_pair, leading_edges
from discreet.errors import InputError
from discreet.exchange.finite_mechanism import FiniteMechanism, finite
from discreet.exchange.noise_laws import geometric_law, response_law
from discreet.exchange.peers import ACCOUNTING, binary, peer
from discreet.model.mechanism import Mechanism
from discreet.model.priors.weights import log_ratio

INTERVAL = 1e-4
"""The width of dp_accounting's own grid, its default."""


@dataclass(frozen=True)
class Dominating:
    """A pair that dominates a mechanism; `edge` is the pair of neighbours that it is, if it is one."""

    pair: Pair
    edge: tuple[str, str] | None


def dominating(source: Mechanism | FiniteMechanism) -> Dominating:
    """The dominating pair, exact numbers."""
    channel = source.profiled if isinstance(source, FiniteMechanism) else channel_of(source)
    pair, single = dominating_pair(Profile(channel))
    return Dominating(pair, None if single is None else channel.edge_labels(single))


def pair_table(found: Dominating) -> FiniteMechanism:
    """The pair as a mechanism of two states P and Q, one output for each of its pieces."""
    columns = [[Fraction(weight, found.pair.denominator) for weight in side] for side in zip(*found.pair.key, strict=True)]
    return finite(columns, states=["P", "Q"], states_in="rows", name="dominating pair")


def leading(source: Mechanism | FiniteMechanism) -> Dominating:
    """The pair of one edge, that which owns most of the attack curve: what leaks there leaks, so it bounds from below."""
    channel = source.profiled if isinstance(source, FiniteMechanism) else channel_of(source)
    profile = Profile(channel)
    pair, single = dominating_pair(profile)
    if single is None:
        first = leading_edges(profile)[0]
        return Dominating(channel.pair(*channel.states_of(first)), channel.edge_labels(first))
    return Dominating(pair, channel.edge_labels(single))


def to_accounting(source: Mechanism | FiniteMechanism, *, pessimistic: bool = True, interval: float = INTERVAL) -> Any:
    """The privacy loss distribution of dp_accounting, which composes with any other one on the same grid."""
    room = peer(
        ACCOUNTING, "privacy loss distributions", ["pld.privacy_loss_distribution"], ["from_two_probability_mass_functions"]
    )[0]
    if not 0 < interval <= 1:
        raise InputError("The grid has a positive width", found=str(interval), allowed="0 to 1", remedy="for instance 1e-4")
    chosen = dominating(source) if pessimistic else leading(source)
    lower, upper = mass_functions(chosen.pair)
    return room.from_two_probability_mass_functions(
        lower, upper, pessimistic_estimate=pessimistic, value_discretization_interval=interval
    )


def mass_functions(pair: Pair) -> tuple[dict[int, float], dict[int, float]]:
    """log Q and log P by outcome, as dp_accounting asks for them (lower, upper); impossible outcomes are left out."""
    lower = {k: log_ratio(q, pair.denominator) for k, (_, q) in enumerate(pair.key) if q}
    upper = {k: log_ratio(p, pair.denominator) for k, (p, _) in enumerate(pair.key) if p}
    return lower, upper


def from_accounting(event: Any, *, reach: int = 40) -> FiniteMechanism:
    """An event of dp_accounting with finitely many outcomes, as one of our tables.

    Randomised response as it is; discrete Laplace noise on 0 … C with outputs gathered `reach` beyond, which keeps its ε.
    """
    peer(ACCOUNTING, "reading events", ["dp_event"], ["RandomizedResponseDpEvent", "DiscreteLaplaceDpEvent"])
    name = type(event).__name__
    facts = {key: getattr(event, key) for key in ("noise_parameter", "num_buckets", "sensitivity") if hasattr(event, key)}
    if name == "RandomizedResponseDpEvent":
        noise, buckets = binary(facts["noise_parameter"], "noise_parameter"), int(facts["num_buckets"])
        truth = 1 - noise + noise / buckets
        return finite(response_law(buckets, truth), states_in="rows", name="randomised response")
    if name == "DiscreteLaplaceDpEvent":
        return _laplace(facts, reach)
    raise InputError(
        "This event has no finite table here",
        found=name,
        allowed=["RandomizedResponseDpEvent", "DiscreteLaplaceDpEvent"],
        remedy="continuous noise can be profiled in dp_accounting itself; give a table of what is published",
    )


def _laplace(facts: Mapping[str, Any], reach: int) -> FiniteMechanism:
    rate, sensitivity = binary(facts["noise_parameter"], "noise_parameter"), int(facts["sensitivity"])
    if rate <= 0 or sensitivity < 1:
        raise InputError(
            "Discrete Laplace noise has a positive parameter and a sensitivity from 1",
            found=f"{facts}",
            allowed="a > 0, C >= 1",
            remedy="correct the event",
        )
    low, high = 0, max(sensitivity, 1)
    rows, outputs = geometric_law(Fraction(rate), low, high, low - reach, high + reach)
    return finite(
        rows,
        states=[str(s) for s in range(low, high + 1)],
        outputs=[str(o) for o in outputs],
        states_in="rows",
        neighbours="counts",
        step=sensitivity,
        name="discrete Laplace",
    )
