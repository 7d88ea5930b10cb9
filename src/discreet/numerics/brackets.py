"""e^x and log r of rationals, bracketed from both sides by rationals, with integers only.

    lo < e^x < hi with (hi − lo)/lo ≤ 2^−bits,        lo < log r < hi with hi − lo ≤ 2^−bits.

Both are strict except where the value is rational (e^0 = 1, log 1 = 0). By Lindemann e^x is irrational for
rational x ≠ 0, so comparing it with a rational always ends: take more bits until the bracket decides.

Method. Every intermediate number is an integer mantissa, rounded down on the lower path and up on the upper
one. e^x is the 2^s-th power of the Taylor sum at x/2^s, with its remainder bounded by twice the next term;
log r is 2^s times the series 2·atanh((y−1)/(y+1)) at y = r^(1/2^s), plus the powers of two in r times log 2.
"""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.errors import InputError, TooLarge

MAX_EXPONENT = 1_000_000


def exp_bracket(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """(lo, hi) with lo < e^x < hi and (hi − lo)/lo ≤ 2^−bits; (1, 1) at x = 0.

    Both denominators are powers of two.
    """
    if x == 0:
        return Fraction(1), Fraction(1)
    lower, upper, shift = _exp_dyadic(x, _positive(bits))
    return _dyadic(lower, shift), _dyadic(upper, shift)


def rational_below_exp(x: Fraction, bits: int) -> Fraction:
    """A dyadic rational at most e^x (below it unless x = 0), relative distance at most 2^−bits."""
    return exp_bracket(x, bits)[0]


def rational_above_exp(x: Fraction, bits: int) -> Fraction:
    """A dyadic rational at least e^x (above it unless x = 0), relative distance at most 2^−bits."""
    return exp_bracket(x, bits)[1]


def log_bracket(ratio: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """(lo, hi) with lo < log ratio < hi and hi − lo ≤ 2^−bits; (0, 0) at ratio = 1.

    Neither side has the wrong sign: lo ≥ 0 for ratio > 1 and hi ≤ 0 for ratio < 1.
    """
    if ratio <= 0:
        raise InputError(
            "a logarithm needs a positive number",
            found="a number that is zero or negative",
            allowed="rationals above 0",
            remedy="Treat a zero probability before taking logarithms",
        )
    if ratio == 1:
        return Fraction(0), Fraction(0)
    numerator, denominator = ratio.numerator, ratio.denominator
    power = numerator.bit_length() - denominator.bit_length()
    if _shifted(denominator, power) > _shifted(numerator, -power):
        power -= 1
    width = _positive(bits) + abs(power).bit_length() + 16
    mantissa = ratio / _power_of_two(power)
    lower_mantissa, upper_mantissa, scale = _log_of_mantissa(mantissa, width)
    if power:
        lower_two, upper_two, scale_two = _log_two(width)
        lower_two, upper_two = (lower_two, upper_two) if power > 0 else (upper_two, lower_two)
        common = max(scale, scale_two)
        lower_mantissa = (lower_mantissa << (common - scale)) + power * (lower_two << (common - scale_two))
        upper_mantissa = (upper_mantissa << (common - scale)) + power * (upper_two << (common - scale_two))
        scale = common
    lower, upper = Fraction(lower_mantissa, 1 << scale), Fraction(upper_mantissa, 1 << scale)
    return (max(lower, Fraction(0)), upper) if ratio > 1 else (lower, min(upper, Fraction(0)))


def compare_ratio_exp(numerator: int, denominator: int, epsilon: Fraction) -> int:
    """The sign of numerator/denominator − e^epsilon, decided exactly.

    Both integers are at least 0. A positive numerator over 0 is +∞ and so compares as +1; 0/0 is refused.
    """
    if numerator < 0 or denominator < 0 or (numerator == 0 and denominator == 0):
        raise InputError(
            "a ratio of probabilities needs two non-negative integers, not both zero",
            found="a negative integer" if numerator or denominator else "0/0",
            allowed="numerator ≥ 0 and denominator ≥ 0, at least one of them positive",
            remedy="Skip outputs that neither state can produce",
        )
    if denominator == 0:
        return 1
    if numerator == 0:
        return -1
    if epsilon == 0:
        return (numerator > denominator) - (numerator < denominator)
    if epsilon < 0:
        return -compare_ratio_exp(denominator, numerator, -epsilon)
    # 2^(gap−1) < ratio < 2^(gap+1) and 1.44 < 1/log 2 < 1.45: sizes decide easy cases, also for huge epsilon.
    gap = numerator.bit_length() - denominator.bit_length()
    if 100 * (gap + 1) * epsilon.denominator <= 144 * epsilon.numerator:
        return -1
    if 100 * (gap - 1) * epsilon.denominator >= 145 * epsilon.numerator:
        return 1
    bits = 128
    while True:
        lower, upper, shift = _exp_dyadic(epsilon, bits)
        left, scale = (numerator, denominator << shift) if shift >= 0 else (numerator << -shift, denominator)
        if left <= lower * scale:
            return -1
        if left >= upper * scale:
            return 1
        bits *= 2


def float_down(value: Fraction | int) -> float:
    """The largest float at most `value` (−inf below the smallest float)."""
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        return math.nextafter(math.inf, 0) if value > 0 else -math.inf
    return nearest if _float_at_most(nearest, value) else math.nextafter(nearest, -math.inf)


def float_up(value: Fraction | int) -> float:
    """The smallest float at least `value` (+inf above the largest float)."""
    return -float_down(-value) + 0.0


def _exp_dyadic(x: Fraction, bits: int) -> tuple[int, int, int]:
    """(lower, upper, shift) with lower·2^shift < e^x < upper·2^shift, for x ≠ 0."""
    if abs(x) > MAX_EXPONENT:
        raise TooLarge(
            "an exponential with more digits than are worth writing down",
            size="an exponent of e beyond one million",
            fits=f"exponents from -{MAX_EXPONENT} to {MAX_EXPONENT}",
            remedy="Use a smaller epsilon or a smaller distance between states.",
        )
    return _exp_dyadic_cached(x, bits)


@lru_cache(maxsize=4096)
def _exp_dyadic_cached(x: Fraction, bits: int) -> tuple[int, int, int]:
    guard = 24
    while True:
        lower, upper, shift = _exp_of_positive(abs(x), bits, guard)
        if x < 0:
            # 1/(m·2^k) = (2^w/m)·2^(−k−w): the reciprocal swaps the sides.
            width = upper.bit_length() + bits + guard
            lower, upper, shift = (1 << width) // upper, -(-(1 << width) // lower), -shift - width
        if (upper - lower) << bits <= lower:
            return lower, upper, shift
        guard *= 2


def _exp_of_positive(x: Fraction, bits: int, guard: int) -> tuple[int, int, int]:
    """(lower, upper, shift) around e^x for x > 0: Taylor at x/2^s, then s squarings of rounded mantissas."""
    halvings = (x.numerator // x.denominator).bit_length() + 2 + math.isqrt(bits) // 2
    width = bits + guard + halvings
    one = 1 << width
    scaled, divisor = x.numerator << width, x.denominator << halvings
    lower = _taylor_below(scaled // divisor, width)
    # The floor of the argument may be 0: the sum is then 1, still strictly below.
    upper = _taylor_above(-(-scaled // divisor), width)
    lower_shift = upper_shift = -width
    for _ in range(halvings):
        lower, upper = lower * lower, upper * upper
        lower_shift, upper_shift = 2 * lower_shift, 2 * upper_shift
        excess = lower.bit_length() - one.bit_length()
        lower, lower_shift = lower >> excess, lower_shift + excess
        excess = upper.bit_length() - one.bit_length()
        upper, upper_shift = -(-upper >> excess), upper_shift + excess
    shift = min(lower_shift, upper_shift)
    return lower << (lower_shift - shift), upper << (upper_shift - shift), shift


def _taylor_below(y: int, width: int) -> int:
    """A number below e^y, all in units of 2^−width: the partial sum with every term rounded down."""
    total, term, index = 1 << width, 1 << width, 1
    while True:
        term = (term * y >> width) // index
        if term == 0:
            return total
        total += term
        index += 1


def _taylor_above(y: int, width: int) -> int:
    """A number above e^y for 0 < y ≤ 1/2, in units of 2^−width: the tail is below twice its first term."""
    total, term, index = 1 << width, 1 << width, 1
    while True:
        # Two ceilings in one: −⌊⌊−term·y/2^width⌋/index⌋.
        term = -((-term * y >> width) // index)
        if term <= 1:
            return total + 2 * term
        total += term
        index += 1


@lru_cache(maxsize=64)
def _log_two(bits: int) -> tuple[int, int, int]:
    return _log_of_mantissa(Fraction(2), bits)


def _log_of_mantissa(mantissa: Fraction, bits: int) -> tuple[int, int, int]:
    """(lower, upper, scale) with lower/2^scale ≤ log mantissa ≤ upper/2^scale, for 1 ≤ mantissa ≤ 2.

    Strict for mantissa > 1, since the series is cut below and its remainder is over-estimated above.
    """
    if mantissa == 1:
        return 0, 0, 0
    roots = 2 + math.isqrt(bits) // 2
    width = bits + roots + bits.bit_length() + 16
    one = 1 << width
    scaled, divisor = mantissa.numerator << width, mantissa.denominator
    lower, upper = scaled // divisor, -(-scaled // divisor)
    for _ in range(roots):
        lower = math.isqrt(lower << width)
        upper = _isqrt_above(upper << width)
    lower_series = _atanh_below(((lower - one) << width) // (lower + one), width)
    upper_series = _atanh_above(-(-((upper - one) << width) // (upper + one)), width)
    return lower_series << (roots + 1), upper_series << (roots + 1), width


def _atanh_below(t: int, width: int) -> int:
    """A number at most atanh t for 0 ≤ t < 1, in units of 2^−width."""
    square, power, total, index = t * t >> width, t, t, 1
    while power:
        power = power * square >> width
        index += 2
        total += power // index
    return total


def _atanh_above(t: int, width: int) -> int:
    """A number above atanh t for 0 < t ≤ 1/2, in units of 2^−width: the tail below twice its first."""
    square, power, total, index = -(-t * t >> width), t, t, 1
    while True:
        power = -(-power * square >> width)
        index += 2
        term = -(-power // index)
        if term <= 1:
            return total + 2 * term
        total += term


def _isqrt_above(value: int) -> int:
    root = math.isqrt(value)
    return root if root * root == value else root + 1


def _float_at_most(nearest: float, value: Fraction | int) -> bool:
    numerator, denominator = nearest.as_integer_ratio()
    return numerator * value.denominator <= value.numerator * denominator


def _dyadic(mantissa: int, shift: int) -> Fraction:
    return Fraction(mantissa << shift) if shift >= 0 else Fraction(mantissa, 1 << -shift)


def _shifted(value: int, shift: int) -> int:
    return value << shift if shift > 0 else value


def _power_of_two(power: int) -> Fraction:
    return Fraction(1 << power) if power >= 0 else Fraction(1, 1 << -power)


def _positive(bits: int) -> int:
    if bits < 1:
        raise InputError(
            "a bracket needs a positive number of bits",
            found=str(bits),
            allowed="1 or more",
            remedy="Ask for at least one bit",
        )
    return bits
