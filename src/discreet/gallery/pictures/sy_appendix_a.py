"""SY App. A: With correlated respondents adding noise can lose.

Three respondents with a yes or a no; the third answers as the second but for a share δ. A posterior that reads who answered moves
the odds of ω = 2 against 1 further than ε, which noise on ω cannot: by the solid line, until δ = 1/4, where it returns to ε = 1.
At δ = 0.01 a decision maker who must tell 2 from 1 earns 0.0668 from the best private mechanism and nothing from any noise. (Two
entries of the paper's table of exponents are swapped in print.)
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

from discreet.gallery.drawing import axis, curves
from discreet.gallery.papers import appendix_a
from discreet.gallery.picture import Number
from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.noise import by_transport
from discreet.geometry.of_problem import stated
from discreet.geometry.projection import widest_odds
from discreet.present.figure import Figure

DELTAS = tuple(Fraction(k, 200) for k in (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60))
ONE, TWO = Fraction(1), Fraction(2)


def widest(delta: Fraction) -> float:
    """The largest move of the log odds of ω = 2 against ω = 1 by a private mechanism."""
    return float(widest_odds(stated(appendix_a(delta), "databases"), TWO, ONE)[1])


def by_hand(delta: float) -> float:
    """The corner of the paper, π ∝ π0·e^−ψ with ψ as corrected: log odds of 2 against 1, before and after."""
    two = {"0,1,1": (1 - delta) / 6, "1,0,1": delta / 6, "1,1,0": delta / 3}
    one = {"0,0,1": delta / 3, "0,1,0": delta / 6, "1,0,0": (1 - delta) / 6}
    # The labels fall by one with every step from (0,1,1); those with ω = 1 next to it lose one, (1,0,0) three.
    steps = {"0,1,1": 0, "1,0,1": 2, "1,1,0": 2, "0,0,1": 1, "0,1,0": 1, "1,0,0": 3}
    tilted = [sum(p * exp(-steps[d]) for d, p in row.items()) for row in (two, one)]
    plain = [sum(row.values()) for row in (two, one)]
    return log(tilted[0] / tilted[1]) - log(plain[0] / plain[1])


def draw() -> Figure:
    """How far the odds can move, against δ."""
    shown = [(float(d), widest(d)) for d in DELTAS]
    return curves(
        "How far a private posterior can move the odds of ω = 2 against 1",
        f"A curve that falls from {shown[0][1]:.2f} at δ = 0.005 to 1 at δ = 0.25, beside the level 1 that noise on ω cannot pass.",
        {"any private mechanism": shown, "noise on ω: ε": [(0.0, 1.0), (0.3, 1.0)]},
        x=axis("delta", "share δ of third answers that differ from the second"),
        y=axis("shift", "shift of the log odds (nats)", domain=[0, 3]),
        subtitle="three respondents, ε = 1",
    )


def numbers() -> list[Number]:
    """The witness by hand, where it stops, and what it is worth."""
    delta = Fraction(1, 100)
    payoff = {"kind": "table", "actions": ["x", "z"], "payoff": [[0, f"-{exp(2):.12f}", 1, 0], [0, 0, 0, 0]]}
    asked = appendix_a(delta, payoff)
    return [
        Number("log-ratio at δ = 0.01", widest(delta), by_hand(0.01), "the corrected labels, written out", 1e-8),
        Number(
            "noise is enough at δ = 1/4", by_transport(stated(appendix_a(Fraction(1, 4)), "databases")).optimal, True, "couplings"
        ),
        Number(
            "noise is enough at δ = 0.24",
            by_transport(stated(appendix_a(Fraction(6, 25)), "databases")).optimal,
            False,
            "couplings",
        ),
        Number("worth of noise on ω", float(concavify_oblivious(asked).value), 0.0, "concavification on K_Ω"),
        Number("worth of the best mechanism", float(concavify(asked, "databases").value), 0.06681, "concavification on K", 5e-6),
    ]
