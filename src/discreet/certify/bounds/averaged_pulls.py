"""What multipliers of averaged inequalities pull at each state, weighed by masses that are known from both sides.

A row says that own·M(s) and Σ_h c_h·M(h) differ by a factor of at most e^ε, M(s) being a mass π(s) times an average kernel. A
multiplier f on its first inequality, own·M(s) ≤ q·Σ c·M, pulls −f·own at s and q·f·c_h at h; on its second, Σ c·M ≤ q·own·M(s),
the other way round. The first needs every state of the sum: what is not listed would be missing on the larger side.

With π in [low, high] a bracket π(s)·(ℓ − pull) is at least low·(ℓ − pull) where it is not negative, and −(high − low)·(the largest
pull) less where it is, because losses are not negative: that much is doubted of all states together.

All numbers are whole, over one unit: there are millions, and few of them are ever needed as fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.certify.bounds.state_masses import BITS
from discreet.certify.duality.pulls import Pull
from discreet.errors import Refuted
from discreet.frozen import dataclass
from discreet.model.certificate import Multipliers


@dataclass(frozen=True)
class AveragedRow:
    """The coefficient of M(s), (state, coefficient) of the sum, and whether no possible state is missing there."""

    own: int
    other: tuple[tuple[int, int], ...]
    whole: bool


def pulled(node: Multipliers, rows: Mapping[tuple[int, int], AveragedRow], factor: Fraction) -> dict[int, int]:
    """Σ of multipliers times the coefficient of M(s) in q·(larger side) − (smaller side), in parts of q's denominator."""
    top, under = factor.numerator, factor.denominator
    total: dict[int, int] = {}
    for state, which, flow in node.flows:
        row = rows[state, which // 2]
        if which % 2:
            own, other = top * flow, -under * flow
        elif row.whole or not flow:
            own, other = -under * flow, top * flow
        else:
            raise Refuted("the witness uses an inequality whose larger side it does not list", f"state number {state}")
        total[state] = total.get(state, 0) + own * row.own
        for h, coefficient in row.other:
            total[h] = total.get(h, 0) + other * coefficient
    return total


def weighed(
    nodes: Sequence[Multipliers], pulls: Sequence[Mapping[int, int]], unit: int, masses: Sequence[tuple[int, int]]
) -> tuple[list[Pull], Fraction]:
    """Pulls in parts of `unit` times the lower masses, in parts of 2^−BITS as these are, and what is doubted of all states."""
    largest: dict[int, int] = {}
    for pull in pulls:
        largest |= {h: x for h, x in pull.items() if x > largest.get(h, 0)}
    doubt = sum((masses[h][1] - masses[h][0]) * top for h, top in largest.items())
    whole = unit << BITS
    found = [
        Pull(node.action, {h: masses[h][0] * x for h, x in pull.items()}, whole) for node, pull in zip(nodes, pulls, strict=True)
    ]
    return found, Fraction(doubt, whole)
