"""Currencies: one mechanism's guarantee in every language people speak.

δ(ε), privacy loss, Rényi, zCDP, trade-offs, attack risk, group privacy and mutual information of any finite mechanism
over any neighbour graph; conversions between them; composition; what they mean to a Bayesian and to a respondent.
Numbers come as brackets that hold the truth; the tight ε is exact. A name is loaded from its room when first used;
rules of composition stand in `composition`, continuous noise in `continuous`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.currencies.attack import advantage, bayes_success, success_at
    from discreet.currencies.bracket import Bracket, Worst
    from discreet.currencies.channel import LossChannel, channel_from_rows, channel_of
    from discreet.currencies.components import ComponentEpsilon, by_component
    from discreet.currencies.composition import Composed
    from discreet.currencies.conversions import Converted, convert, edges
    from discreet.currencies.divergences import relative_entropy, renyi, renyi_curve
    from discreet.currencies.groups import group
    from discreet.currencies.information import Information, mutual_information
    from discreet.currencies.joint import Part, joint_epsilon
    from discreet.currencies.profiles import Profile, profile
    from discreet.currencies.repeated import compose, compose_epsilon, compose_many
    from discreet.currencies.semantics import economic, largest_shift, leakage, product_prior_shift
    from discreet.currencies.statements import Statement, statement
    from discreet.currencies.tight import TightEpsilon, tight_epsilon
    from discreet.currencies.tradeoffs import Tradeoff, tradeoff
    from discreet.currencies.zcdp import rho

__all__ = [
    "Bracket",
    "ComponentEpsilon",
    "Composed",
    "Converted",
    "Information",
    "LossChannel",
    "Part",
    "Profile",
    "Statement",
    "TightEpsilon",
    "Tradeoff",
    "Worst",
    "advantage",
    "bayes_success",
    "by_component",
    "channel_from_rows",
    "channel_of",
    "compose",
    "compose_epsilon",
    "compose_many",
    "convert",
    "economic",
    "edges",
    "group",
    "joint_epsilon",
    "largest_shift",
    "leakage",
    "mutual_information",
    "product_prior_shift",
    "profile",
    "relative_entropy",
    "renyi",
    "renyi_curve",
    "rho",
    "statement",
    "success_at",
    "tight_epsilon",
    "tradeoff",
]

_PLACES = {
    "Bracket": "bracket",
    "LossChannel": "channel",
    "ComponentEpsilon": "components",
    "Composed": "composition",
    "Converted": "conversions",
    "Information": "information",
    "Part": "joint",
    "Profile": "profiles",
    "Statement": "statements",
    "TightEpsilon": "tight",
    "Tradeoff": "tradeoffs",
    "Worst": "bracket",
    "advantage": "attack",
    "bayes_success": "attack",
    "by_component": "components",
    "channel_from_rows": "channel",
    "channel_of": "channel",
    "compose": "repeated",
    "compose_epsilon": "repeated",
    "compose_many": "repeated",
    "convert": "conversions",
    "economic": "semantics",
    "edges": "conversions",
    "group": "groups",
    "joint_epsilon": "joint",
    "largest_shift": "semantics",
    "leakage": "semantics",
    "mutual_information": "information",
    "product_prior_shift": "semantics",
    "profile": "profiles",
    "relative_entropy": "divergences",
    "renyi": "divergences",
    "renyi_curve": "divergences",
    "rho": "zcdp",
    "statement": "statements",
    "success_at": "attack",
    "tight_epsilon": "tight",
    "tradeoff": "tradeoffs",
}

__getattr__ = on_demand(__name__, _PLACES)
