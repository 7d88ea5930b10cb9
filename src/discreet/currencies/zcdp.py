"""Zero-concentrated differential privacy of a mechanism: the smallest ρ with D_α ≤ ρα for every order α > 1.

The search over edges and orders is `numerics.concentrated`; here it starts from relative entropy, the limit at α → 1, and is held
against what every ε*-private mechanism satisfies. Reference: Bun & Steinke (2016), Def. 1.1.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.currencies.bracket import INFINITE, ZERO, Bracket, Worst
from discreet.currencies.channel import LossChannel, channel_of
from discreet.currencies.divergences import relative_entropy
from discreet.currencies.formulas import relative_entropy as pure_entropy
from discreet.currencies.tight import tight_epsilon
from discreet.model.mechanism import Mechanism
from discreet.numerics.concentrated import rho_bracket

MANY_EDGES = 1_000


def rho(source: Mechanism | LossChannel) -> Worst:
    """The smallest ρ of a mechanism with its worst edge; infinite when some loss is."""
    channel = channel_of(source)
    tight = tight_epsilon(channel)
    if tight.ratio is None:
        return Worst(INFINITE, tight.edge)
    if tight.ratio == 1:
        return Worst(ZERO)
    entropy = relative_entropy(channel)
    points = 24 if len(channel.edges) < MANY_EDGES else 6
    found = rho_bracket(channel.rows, tight.upper, entropy.lower, points)
    # Where all rows nearly agree floats say little; what every ε*-DP mechanism satisfies then says more.
    ceiling = pure_entropy(Fraction(tight.upper)).upper
    edge = entropy.edge if found.at is None else channel.edge_labels(found.at[0])
    return Worst(Bracket(found.lower, max(min(found.upper, ceiling), found.lower)), edge)
