"""The table of conversions: one entry per edge, with its formula, its source, and the pair that attains a tight one.

References: CY; Bun & Steinke (2016) for zCDP; Mironov (2017) for Rényi privacy; Canonne, Kamath & Steinke (2020)
and Balle et al. (2020) for moments → (ε, δ); Kairouz, Oh & Viswanath (2015) for the dominating pair;
Dong, Roth & Su (2022) for f-DP; Balle & Wang (2018) for the Gaussian δ. Proofs of our own are in `formulas`.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.currencies import attaining, formulas
from discreet.currencies.attaining import GaussianPair
from discreet.currencies.bracket import Bracket
from discreet.currencies.conversions import Edge, Numbers, Sought

Found = tuple[str, Bracket | Fraction] | None
NOTHING = Fraction(0)


def _tightest(s: Numbers, asked: Sought) -> Found:
    epsilon, delta = s["epsilon"], s.get("delta", NOTHING)
    at, chance = asked.get("epsilon"), asked.get("delta")
    if at is not None:
        return "delta", delta if at >= epsilon else formulas.tightest_delta(epsilon, delta, at)
    found = formulas.tightest_epsilon(epsilon, delta, chance if chance is not None else NOTHING)
    return None if found is None else ("epsilon", found)


def _variation_as_delta(s: Numbers, asked: Sought) -> Found:
    at, chance = asked.get("epsilon"), asked.get("delta")
    if at is not None:
        return "delta", s["tv"]
    return ("epsilon", Bracket(0.0, 0.0)) if chance is not None and chance >= s["tv"] else None


def _finite_alphabet(s: Numbers, asked: Sought) -> Found:
    if asked.types is None and asked.outputs is None:
        return None
    return "mi", formulas.finite_alphabet_information(s["tv"], asked.types, asked.outputs)


def _moments(order: Fraction | None, s: Numbers, asked: Sought) -> Found:
    """(ε, δ) from D_α ≤ s[renyi] at one order, or from D_α ≤ ρα at the best order."""
    import math

    rate = float(s["rho"]) if order is None else 0.0
    at, chance = asked.get("epsilon"), asked.get("delta")
    if at is not None:
        if order is None:
            level = float(at)
            best = formulas.best_order(lambda a: (a - 1) * (a * rate - level) + a * math.log1p(-1 / a) - math.log(a - 1))
            return "delta", formulas.moment_delta(best, best * s["rho"], at)
        return "delta", formulas.moment_delta(order, s["renyi"], at)
    if not chance:
        return None
    if order is None:
        logged = -math.log(float(chance)) if float(chance) > 0 else 750.0
        best = formulas.best_order(lambda a: a * rate + (logged - math.log(a - 1) + a * math.log1p(-1 / a)) / (a - 1))
        return "epsilon", formulas.moment_epsilon(best, best * s["rho"], chance)
    return "epsilon", formulas.moment_epsilon(order, s["renyi"], chance)


def _gaussian_delta(s: Numbers, asked: Sought) -> Found:
    from discreet.currencies.continuous import gaussian_delta, gaussian_epsilon

    at, chance = asked.get("epsilon"), asked.get("delta")
    if at is not None:
        return "delta", gaussian_delta(s["mu"], at)
    return ("epsilon", gaussian_epsilon(s["mu"], chance)) if chance else None


def _if_two_types(asked: Sought, found: Bracket) -> Found:
    return ("mi", found) if asked.types == 2 else None


def _nothing(s: Numbers, _: Sought) -> Found:
    """0 in one of these currencies means equal distributions, so 0 in every other."""
    return ("epsilon", NOTHING) if all(value == 0 for name, value in s.items() if name != "order") else None


def _lower_order(s: Numbers, asked: Sought) -> Found:
    return ("renyi", s["renyi"]) if _given(asked, "order") <= s["order"] else None


def _given(asked: Sought, name: str) -> Fraction:
    value = asked.get(name)
    return value if value is not None else NOTHING


def _response(s: Numbers, _: Sought) -> attaining.FinitePair:
    return attaining.randomised_response(s["epsilon"])


def _leaky(s: Numbers, _: Sought) -> attaining.FinitePair:
    return attaining.leaky_response(s["epsilon"], s["delta"])


def _normal(s: Numbers, _: Sought) -> GaussianPair:
    return GaussianPair(s["mu"])


def _normal_of_rho(s: Numbers, _: Sought) -> GaussianPair:
    from math import sqrt

    return GaussianPair(Fraction(sqrt(2 * float(s["rho"]))))


# fmt: off
TABLE: tuple[Edge, ...] = (
    Edge(
        "approximate", "epsilon", "ε where δ = 0", "the same promise", True,
        lambda s, _: None if s["delta"] else ("epsilon", s["epsilon"]), _response, same=True,
    ),
    *(
        Edge(
            kind, "epsilon", f"ε = 0 where {kind} is 0", "equal distributions", True, _nothing, lambda _s, _a: attaining.equal(),
            same=True,
        )
        for kind in ("kl", "tv", "mi", "zcdp", "renyi", "gaussian")
    ),
    Edge(
        "epsilon", "approximate", "δ′ = (e^ε − e^ε′)/(e^ε + 1)", "CY, tightest conversion", True, _tightest, _response,
    ),
    Edge(
        "approximate", "approximate", "δ′ = 1 − (e^ε′+1)(1−δ)/(e^ε+1) for ε′ ≤ ε, else δ", "CY, tightest conversion",
        True, _tightest, _leaky,
    ),
    Edge(
        "epsilon", "kl", "KL = ε·tanh(ε/2)", "CY, tightest claim", True,
        lambda s, _: ("kl", formulas.relative_entropy(s["epsilon"])), _response,
    ),
    Edge(
        "epsilon", "tv", "TV = tanh(ε/2)", "CY, tightest conversion at ε′ = 0", True,
        lambda s, _: ("tv", formulas.total_variation(s["epsilon"])), _response,
    ),
    Edge(
        "approximate", "tv", "TV = 1 − 2(1−δ)/(e^ε+1)", "CY, tightest conversion at ε′ = 0", True,
        lambda s, _: ("tv", formulas.total_variation(s["epsilon"], s["delta"])), _leaky,
    ),
    Edge(
        "tv", "approximate", "δ′ = TV at every ε′", "CY, special cases", True, _variation_as_delta,
        lambda s, _: attaining.erasure(s["tv"]),
    ),
    Edge(
        "epsilon", "mi", "MI = g − 1 − log g, g = ε/(1 − e^−ε)", "proved in discreet; the limit of Wang et al. (2016)",
        True,
        lambda s, _: ("mi", formulas.sharp_information(s["epsilon"])),
        lambda s, _: attaining.near_sharp_selection(s["epsilon"]), any_alphabet=True,
    ),
    Edge(
        "epsilon", "mi", "two types: MI = log 2 − h(1/(1+e^ε))", "Kairouz-Oh-Viswanath pair, its capacity", True,
        lambda s, asked: _if_two_types(asked, formulas.two_type_information(s["epsilon"])), _response,
    ),
    Edge(
        "approximate", "mi", "two types: MI = δ log 2 + (1−δ)(log 2 − h(1/(1+e^ε)))",
        "Kairouz-Oh-Viswanath pair, its capacity", True,
        lambda s, asked: _if_two_types(asked, formulas.two_type_information(s["epsilon"], s["delta"])), _leaky,
    ),
    Edge("kl", "tv", "TV = min(√(KL/2), √(1−e^−KL))", "CY, Pinsker; Bretagnolle & Huber (1979)", False,
         lambda s, _: ("tv", formulas.pinsker(s["kl"]))),
    Edge("kl", "mi", "MI = KL", "CY, radius of the information ball", False,
         lambda s, _: ("mi", s["kl"])),
    Edge(
        "mi", "tv", "TV = 1 − 2h⁻¹(log 2 − MI)", "CY, mutual information to total variation", True,
        lambda s, _: ("tv", formulas.variation_of_information(s["mi"])),
        lambda s, _: attaining.symmetric_channel(formulas.variation_of_information(s["mi"]).middle),
    ),
    Edge("tv", "mi", "MI = 2h(TV) + 2TV·log min{|Y|, |X|+1}, at most log min(|X|, |Y|)", "CY, finite alphabet", False,
         _finite_alphabet),
    Edge(
        "tv", "mi", "two types: MI = TV·log 2", "proved in discreet: erasure dominates", True,
        lambda s, asked: _if_two_types(asked, formulas.erasure_information(s["tv"])),
        lambda s, _: attaining.erasure(s["tv"]),
    ),
    Edge(
        "epsilon", "zcdp", "ρ = ε·tanh(ε/2)", "proved in discreet; ε²/2 in Bun & Steinke (2016)", True,
        lambda s, _: ("rho", formulas.relative_entropy(s["epsilon"])), _response,
    ),
    Edge(
        "epsilon", "renyi", "D_α = (log cosh(ε(α−½)) − log cosh(ε/2))/(α−1)",
        "Mironov (2017) for randomised response, which dominates", True,
        lambda s, asked: ("renyi", formulas.renyi_of_pure(s["epsilon"], _given(asked, "order"))), _response,
    ),
    Edge(
        "zcdp", "renyi", "D_α = ρα", "Bun & Steinke (2016), Def. 1.1", True,
        lambda s, asked: ("renyi", s["rho"] * _given(asked, "order")), _normal_of_rho,
    ),
    Edge(
        "zcdp", "kl", "KL = ρ", "Bun & Steinke (2016), α → 1", True,
        lambda s, _: ("kl", s["rho"]), _normal_of_rho,
    ),
    Edge("zcdp", "approximate", "δ = min over α of e^((α−1)(αρ−ε)) (1−1/α)^α/(α−1)", "Canonne et al. (2020)", False,
         lambda s, asked: _moments(None, s, asked)),
    Edge("renyi", "approximate", "δ = e^((α−1)(D_α−ε)) (1−1/α)^α/(α−1)", "Canonne et al. (2020), Balle et al. (2020)",
         False, lambda s, asked: _moments(s["order"], s, asked)),
    Edge("renyi", "renyi", "D_β = D_α for β ≤ α", "D_α rises with α; van Erven & Harremoës (2014), Thm 3", False, _lower_order),
    Edge("gaussian", "kl", "KL = μ²/2", "relative entropy of two unit normals, which dominate", True,
         lambda s, _: ("kl", s["mu"] ** 2 / 2), _normal),
    Edge("tv", "tradeoff", "f(α) = max(0, 1 − TV − α)", "CY, error region at ε = 0", True,
         lambda _s, _a: ("corners", Bracket(0.0, 0.0)), lambda s, _: attaining.erasure(s["tv"])),
    Edge("renyi", "kl", "KL = D_α", "D_α rises with α", False,
         lambda s, _: ("kl", s["renyi"])),
    Edge("gaussian", "approximate", "δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)", "Balle & Wang (2018), Thm 8", True,
         _gaussian_delta, _normal),
    Edge("gaussian", "zcdp", "ρ = μ²/2", "Bun & Steinke (2016), Prop. 1.6", True,
         lambda s, _: ("rho", s["mu"] ** 2 / 2), _normal),
    Edge("gaussian", "tv", "TV = 2Φ(μ/2) − 1", "Dong, Roth & Su (2022)", True,
         lambda s, _: ("tv", formulas.gaussian_variation(s["mu"])), _normal),
    Edge(
        "epsilon", "gaussian", "μ = 2Φ⁻¹(e^ε/(1+e^ε))", "the corner of f lies on G_μ, which is convex", True,
        lambda s, _: ("mu", formulas.gaussian_of_pure(s["epsilon"])), _response,
    ),
    Edge("epsilon", "tradeoff", "f(α) = max(0, 1 − e^ε α, e^−ε(1 − α))", "Dong, Roth & Su (2022)", True,
         lambda _s, _a: ("corners", Bracket(0.0, 0.0)), _response),
    Edge("approximate", "tradeoff", "f(α) = max(0, 1−δ − e^ε α, e^−ε(1−δ − α))", "CY, error region", True,
         lambda _s, _a: ("corners", Bracket(0.0, 0.0)), _leaky),
)
# fmt: on
"""Every conversion; `conversions.edges` reads it."""
