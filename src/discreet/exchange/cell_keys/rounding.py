"""Tables in whole keys: chances w(v)/K with Σ w = K, Σ v·w = 0 and the variance wanted, all exact.

Chances p are rounded to w = round(K·p), which misses the three sums by a little. On three neighbouring values u − 1, u,
u + 1 the amounts

    a(u+1) = (r₂ + r₁)/2,   a(u−1) = (r₂ − r₁)/2,   a(u) = r₀ − a(u−1) − a(u+1)

mend misses r₀, r₁, r₂ of Σ w, Σ (v−u)·w, Σ (v−u)²·w. They are whole because v² and v are even together, so K·V must be
even; else the largest even number below is meant. Rows of an optimal table are full of zeros that leave no room; a
share η of a row without small chances gives it and costs at most η of δ. With few keys (the 256 of the ONS) the nearest
whole row is found by a small integer program instead.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.errors import InputError
from discreet.exchange.cell_keys.perturbation import Row
from discreet.exchange.cell_keys.program import Wanted

SHARES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
MANY_KEYS = 1_000_000


def whole_rows(rows: list[dict[int, float]], inside: list[dict[int, float]], wanted: Wanted, keys: int) -> tuple[Row, ...]:
    """Rows whose chances are multiples of 1/keys and satisfy everything wanted exactly."""
    if not 2 <= keys <= 10**15:
        raise InputError("A table has some keys", found=str(keys), allowed="2 to 10^15", remedy="for instance 100000000 or 256")
    return tuple(_whole(count, row, inside[count], wanted, keys) for count, row in enumerate(rows))


def _whole(count: int, row: dict[int, float], inside: dict[int, float], wanted: Wanted, keys: int) -> Row:
    if list(row) == [0]:
        return ((0, Fraction(1)),)
    found = _mended(count, row, inside, wanted, keys) if keys >= MANY_KEYS and (count or wanted.unbiased_zero) else None
    if found is None:
        found = _nearest(count, row, wanted, keys)
    if found is None:
        raise InputError(
            f"With so few keys no row for count {count} is unbiased with this variance",
            found=f"{keys} keys",
            allowed="more keys",
            remedy="for instance 100000000 keys, or a variance that is a multiple of 2/keys",
        )
    return tuple((v, Fraction(w, keys)) for v, w in sorted(found.items()) if w)


def _mended(count: int, row: dict[int, float], inside: dict[int, float], wanted: Wanted, keys: int) -> dict[int, int] | None:
    low, high = wanted.variances[count]
    for share in SHARES:
        mixed = {v: (1 - share) * p + share * inside[v] for v, p in row.items()}
        weights = {v: round(keys * p) for v, p in mixed.items()}
        spread = sum(v * v * w for v, w in weights.items())
        target = min(max(spread, _even_up(low * keys)), _even_down(high * keys))
        target = _even_down(Fraction(target))
        for middle in sorted(weights, key=lambda v: -min(weights.get(v + d, 0) for d in (-1, 0, 1))):
            if not all(middle + d in weights for d in (-1, 0, 1)):
                continue
            mended = _add(weights, middle, keys, target)
            if min(mended.values()) >= 0 and _ordered(mended, wanted):
                return mended
            break
    return None


def _add(weights: dict[int, int], u: int, keys: int, target: int) -> dict[int, int]:
    """The weights with all three sums put right on u − 1, u, u + 1."""
    zero = keys - sum(weights.values())
    one = -u * keys - sum((v - u) * w for v, w in weights.items())
    two = target + u * u * keys - sum((v - u) ** 2 * w for v, w in weights.items())
    above, below = (two + one) // 2, (two - one) // 2
    mended = dict(weights)
    mended[u + 1] += above
    mended[u - 1] += below
    mended[u] += zero - above - below
    return mended


def _nearest(count: int, row: dict[int, float], wanted: Wanted, keys: int) -> dict[int, int] | None:
    """The whole row nearest to the given one in total variation, by an integer program; None when there is none."""
    import highspy

    low, high = wanted.variances[count]
    most = _even_down(high * keys)
    least = min(_even_up(low * keys), most)
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("time_limit", 20.0)):
        solver.setOptionValue(option, value)
    weights = {v: solver.addIntegral(lb=0, ub=keys) for v in row}
    apart = {v: solver.addVariable(lb=0) for v in row}
    solver.addConstr(_sum(weights, lambda _: 1.0) == float(keys))
    solver.addConstr(_sum(weights, lambda v: float(v * v)) <= float(most))
    solver.addConstr(_sum(weights, lambda v: float(v * v)) >= float(least))
    if count or wanted.unbiased_zero:
        solver.addConstr(_sum(weights, float) == 0.0)
    for v, p in row.items():
        solver.addConstr(weights[v] - apart[v] <= keys * p)
        solver.addConstr(weights[v] + apart[v] >= keys * p)
    for smaller, larger in _order(list(row), wanted):
        solver.addConstr(weights[smaller] - weights[larger] <= 0.0)
    solver.minimize(_sum(apart, lambda _: 1.0))
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = {v: round(float(solver.val(w))) for v, w in weights.items()}
    spread = sum(v * v * w for v, w in found.items())
    unbiased = sum(v * w for v, w in found.items()) == 0 or not (count or wanted.unbiased_zero)
    right = sum(found.values()) == keys and unbiased and least <= spread <= most and min(found.values()) >= 0
    return found if right and _ordered(found, wanted) else None


def _sum(terms: dict[int, Any], factor: Callable[[int], float]) -> Any:
    parts = [factor(v) * term for v, term in terms.items()]
    return sum(parts[1:], parts[0])


def _order(values: list[int], wanted: Wanted) -> list[tuple[int, int]]:
    """Pairs (smaller, larger) of noise whose chances must stand in that order: they fall away from noise 0."""
    if not wanted.monotone:
        return []
    ordered = sorted(values)
    pairs = [(one, other) for one, other in pairwise(ordered) if not one < 0 < other]
    return [(one, other) if other <= 0 else (other, one) for one, other in pairs]


def _ordered(weights: dict[int, int], wanted: Wanted) -> bool:
    return all(weights[smaller] <= weights[larger] for smaller, larger in _order(list(weights), wanted))


def _even_down(number: Fraction) -> int:
    return number.numerator // (2 * number.denominator) * 2


def _even_up(number: Fraction) -> int:
    return -_even_down(-number)
