"""Payoff expressions: exact values, derivatives, affine parts and signs of polynomials, and nothing but words on nonsense."""

# ruff: noqa: ARG005 laws of two variables that use one
from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InputError
from discreet.model.actions import ListedActions
from discreet.model.expression import Node, affine_parts, as_fraction, derivative, parse
from discreet.model.losses import FormulaLoss, formula
from discreet.numerics.polynomials import at, has_root, multiply, separators, somewhere_negative, sturm, trim

LAWS = [
    ("-omega/a - 0.1*a", lambda a, w: -w / a - a / 10),
    ("-(a - omega)**2", lambda a, w: -((a - w) ** 2)),
    ("abs(a - omega)", lambda a, w: abs(a - w)),
    ("min(a, omega, 2) + max(a, 3)", lambda a, w: min(a, w, Fraction(2)) + max(a, Fraction(3))),
    ("(a >= omega) * 2 - (a < omega)", lambda a, w: Fraction(2 * (a >= w) - (a < w))),
    ("a == omega", lambda a, w: Fraction(int(a == w))),
    ("a != omega", lambda a, w: Fraction(int(a != w))),
    ("(a <= 2) + (a > 2)", lambda a, w: Fraction(1)),
    ("- - a + + omega", lambda a, w: a + w),
    ("-a**2", lambda a, w: -(a**2)),
    ("2**-3 * a", lambda a, w: a / 8),
    ("1e-3 + .5 + 2.", lambda a, w: Fraction(2501, 1000)),
    ("a - omega - 1", lambda a, w: a - w - 1),
    ("12 / a / 2", lambda a, w: 6 / a),
]


@pytest.mark.parametrize(("text", "law"), LAWS)
def test_values_are_exact_and_arrays_agree(text: str, law) -> None:
    node = parse(text)
    points = [(Fraction(k, 3), Fraction(j, 2)) for k in range(1, 9) for j in range(-2, 6)]
    exact = [node({"a": a, "omega": w}) for a, w in points]
    assert exact == [law(a, w) for a, w in points]
    floats = node({"a": np.array([float(a) for a, _ in points]), "omega": np.array([float(w) for _, w in points])})
    assert np.broadcast_to(floats, len(points)) == pytest.approx([float(x) for x in exact], rel=1e-12, abs=1e-12)
    assert parse(str(node))({"a": points[5][0], "omega": points[5][1]}) == exact[5]


RATIONAL = ["a**3 - 2*a + 1", "omega/a", "-(a-omega)*(a+1)/(a**2+1)", "(a+1)**-2", "3", "omega*a**2 - a", "-(-a)"]


@pytest.mark.parametrize("text", RATIONAL)
@pytest.mark.parametrize("variable", ["a", "omega"])
def test_derivatives_agree_with_finite_differences(text: str, variable: str) -> None:
    node = parse(text)
    rate = derivative(node, variable)
    assert rate is not None
    for k in range(1, 12):
        here = {"a": Fraction(k, 5), "omega": Fraction(k, 3)}
        step = Fraction(1, 10**12)
        ahead, behind = (node(here | {variable: here[variable] + by}) for by in (step, -step))
        assert float(rate(here)) == pytest.approx(float((ahead - behind) / (2 * step)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("text", ["abs(a)", "max(a, 1)", "a < 1"])
def test_kinks_have_no_derivative(text: str) -> None:
    assert derivative(parse(text), "a") is None and as_fraction(parse(text)) is None
    assert derivative(parse("abs(omega)"), "a") is not None


@pytest.mark.parametrize("text", [*RATIONAL, "abs(a)*omega + max(a, 2)", "omega - omega", "2*(omega - a)/a"])
def test_affine_parts_add_up(text: str) -> None:
    node = parse(text)
    parts = affine_parts(node)
    assert parts is not None
    f, g = parts
    assert not f.depends_on("omega") and not g.depends_on("omega")
    for k in range(1, 8):
        a, w = Fraction(k, 3), Fraction(7 - k, 2)
        assert f({"a": a}) + w * g({"a": a}) == node({"a": a, "omega": w})


@pytest.mark.parametrize("text", ["omega*omega", "abs(omega)", "omega**2", "a/omega", "(a > omega)", "max(omega, 1)"])
def test_what_is_not_affine_is_not_split(text: str) -> None:
    assert affine_parts(parse(text)) is None


@pytest.mark.parametrize("text", [t for t in RATIONAL if "omega" not in t] + ["1/a + 1/(a+1)", "(a+1)**3/(a-9)", "a/2 - 3*a"])
def test_polynomial_fractions_have_the_same_values(text: str) -> None:
    node = parse(text)
    found = as_fraction(node)
    assert found is not None
    for k in range(1, 9):
        a = Fraction(k, 7)
        assert at(found[0], a) / at(found[1], a) == node({"a": a})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing"), ("a +", "the end"), ("a b", "'b'"), ("(a", "')' is expected"), ("a)", "')'"), ("a @ 2", "'@'"),
        ("b", "unknown name"), ("omga", "did you mean omega"), ("__import__('os')", 'character "'), ("a.real", "'.'"),
        ("exp(a)", "unknown name"), ("abs(1, 2)", "abs of 2"), ("min(1)", "min of 1"), ("max", "without parentheses"),
        ("a**b", "whole number"), ("a**65", "whole number"), ("a**2.5", "whole number"), ("a**omega", "whole number"),
        ("a**", "whole number"), ("a**2**2", "'**'"), ("1 < a < 2", "'<'"), ("lambda: a", "':'"), ("a[0]", "'['"),
        ("a if a else a", "'if'"), ("open('x')", 'character "'), ("ａ", "'ａ'"), ("ω", "'ω'"), ("٣", "'٣'"), ("a;a", "';'"),
        ("1e99999", "out of range"), ("(" * 100_000 + "a" + ")" * 100_000, "too long"), ("(" * 300 + "a", "too deeply"),
        ("-" * 3000 + "a", "too many parts"), ("((1e999**64)**64)**64", "too long"), ("((a**64)**64)", "too long"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(InputError) as found:
        parse(text)
    assert words.lower() in str(found.value).lower()


@settings(max_examples=400)
@given(st.text(alphabet="aomega0123456789.+-*/()<>=!, \n\té∞ωminxbs", max_size=60))
def test_any_text_is_a_tree_or_an_input_error(text: str) -> None:
    try:
        node = parse(text)
    except InputError:
        return
    assert isinstance(node, Node)
    try:
        value = node({"a": Fraction(3, 2), "omega": Fraction(2)})
    except ZeroDivisionError:
        return
    assert isinstance(value, Fraction)
    assert parse(str(node))({"a": Fraction(3, 2), "omega": Fraction(2)}) == value


@settings(max_examples=200)
@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda b: b.decode("latin-1")))
def test_any_unicode_is_refused_or_read(text: str) -> None:
    try:
        parse(text)
    except DiscreetError:
        return


# --- polynomials ----------------------------------------------------------------------------------------------------


def from_roots(roots: list[Fraction], lead: Fraction) -> tuple[Fraction, ...]:
    p: tuple[Fraction, ...] = (lead,)
    for root in roots:
        p = multiply(p, (-root, Fraction(1)))
    return p


@pytest.mark.parametrize("seed", range(150))
def test_signs_and_roots_of_known_polynomials(seed: int) -> None:
    rng = random.Random(seed)
    roots = [Fraction(rng.randint(-12, 12), rng.choice([1, 2, 3])) for _ in range(rng.randint(0, 6))]
    p = from_roots(roots, Fraction(rng.choice([-2, 1, 3])))
    if rng.random() < 0.5:
        p = multiply(p, (Fraction(rng.randint(1, 5)), Fraction(0), Fraction(1)))
    lower = Fraction(rng.randint(-12, 8), rng.choice([1, 2]))
    upper = lower + Fraction(rng.randint(1, 15), rng.choice([1, 3]))
    inside = {root for root in roots if lower <= root <= upper}
    assert has_root(p, lower, upper) == bool(inside)
    cuts = sorted({lower, upper, *inside})
    gaps = [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    negative = somewhere_negative(p, lower, upper)
    assert (negative is not None) == any(at(p, x) < 0 for x in [*gaps, lower, upper])
    if negative is not None:
        assert lower <= negative <= upper and at(p, negative) < 0
    points = [lower, *separators(p, lower, upper), upper]
    strictly = [root for root in inside if lower < root < upper]
    assert all(sum(a < root < b for root in strictly) <= 1 for a, b in itertools.pairwise(points))


def test_the_zero_polynomial_and_constants() -> None:
    assert somewhere_negative((), Fraction(0), Fraction(1)) is None and has_root((), Fraction(0), Fraction(1))
    assert somewhere_negative((Fraction(-1),), Fraction(0), Fraction(1)) == 0
    assert not has_root((Fraction(1),), Fraction(0), Fraction(1))
    assert trim([Fraction(0), Fraction(1), Fraction(0)]) == (0, 1) and sturm((Fraction(5),)) == [(5,)]
    touching = (Fraction(1), Fraction(-2), Fraction(1))
    assert somewhere_negative(touching, Fraction(0), Fraction(2)) is None and has_root(touching, Fraction(0), Fraction(2))


FORMULAS = [
    "-abs(omega - a)*(1 + a/100)", "omega*a/(7 + a) - a/1000", "min(omega, a) - abs(a - omega)/3", "a*2", "omega - omega",
    "max(a, omega/7, 3) - (omega > a)*2", "(omega <= a) + (omega == a) - (omega != 3)", "(1 + omega)**-2*a - omega**3/1e30",
    "-a/(omega + 1/3)", "(a >= omega/2)*omega - min(a, 3)", "(omega < a)/(1 + omega**64)",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_the_largest_payoffs_of_many_values_are_those_of_each(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula, "AT_ONCE", 7)
    loss, actions = FormulaLoss(text), ListedActions(tuple(Fraction(k, 3) for k in range(-5, 40, 4)))
    omegas = [Fraction(k, 1 + k % 4) for k in range(30)] + [Fraction(10**25, 7)]
    assert loss.largest_payoffs(omegas, actions) == [loss.largest_payoff(omega, actions) for omega in omegas]
    for action in actions.numbers[::5]:
        assert loss.payoffs_along(action, omegas, actions) == [loss.payoff(action, omega, actions) for omega in omegas]


def test_where_many_payoffs_divide_by_zero_is_said() -> None:
    loss, actions = FormulaLoss("a/(omega - 4)"), ListedActions((Fraction(1), Fraction(2)))
    with pytest.raises(InputError, match="omega = 4"):
        loss.largest_payoffs([Fraction(3), Fraction(4)], actions)
