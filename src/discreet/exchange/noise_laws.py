"""The laws of noise that peers add, as rows of exact rationals on finite ranges.

e^−a is irrational, so rates enter as rationals within a 2^−96 part of them, on the side that leaks less: what is proved
of such a row holds of the row, and a refutation by more than 1e-20 holds of the noise itself. Outputs beyond an end are
gathered at the end, which is post-processing: it never leaks more.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from discreet.errors import InputError, TooLarge
from discreet.mechanisms.tables import exponential_probabilities
from discreet.model.kernel import GeometricKernel
from discreet.numerics.brackets import rational_above_exp

BITS = 96
MOST = 2_000_000


def response_law(kinds: int, truth: Fraction) -> list[list[Fraction]]:
    """k-ary randomised response: the truth with this chance, every other answer equally likely."""
    if kinds < 2 or not 0 <= truth <= 1:
        raise InputError(
            "Randomised response has two answers or more and a chance of the truth",
            found=f"{kinds} answers, {truth}",
            allowed="2 or more, 0 to 1",
            remedy="correct the parameters",
        )
    _fits(kinds * kinds)
    other = (1 - truth) / (kinds - 1)
    return [[truth if i == j else other for j in range(kinds)] for i in range(kinds)]


def geometric_law(rate: Fraction, low: int, high: int, first: int, last: int) -> tuple[list[list[Fraction]], range]:
    """Two-sided geometric noise e^(−rate·|x|) on states low..high, outputs gathered to first..last; rows by state."""
    _fits((high - low + 1) * (last - first + 1))
    kernel = GeometricKernel(first, last, 1, rational_above_exp(-rate, BITS))
    by_output = kernel.rows(range(low, high + 1))
    return [list(column) for column in zip(*by_output, strict=True)], range(first, last + 1)


def gaussian_law(scale: Fraction, low: int, high: int, first: int, last: int) -> tuple[list[list[Fraction]], range]:
    """Discrete Gaussian noise ∝ e^(−x²/2σ²) on states low..high, outputs gathered to first..last; rows by state.

    The noise is cut ten standard deviations beyond what any state needs to reach any output, so that none becomes impossible.
    """
    if scale <= 0:
        raise InputError("Gaussian noise has a positive scale", found=str(scale), allowed="above 0", remedy="correct it")
    far = max(last - low, high - first) + ceil(10 * scale)
    _fits((high - low + 1) * (last - first + 1) + 2 * far)
    exponents: list[list[Fraction | None]] = [[-Fraction(x * x) / (2 * scale * scale)] for x in range(-far, far + 1)]
    noise = [row[0] for row in exponential_probabilities(exponents)]
    rows = []
    for state in range(low, high + 1):
        row = [Fraction(0)] * (last - first + 1)
        for x, p in zip(range(-far, far + 1), noise, strict=True):
            row[min(max(state + x, first), last) - first] += p
        rows.append(row)
    return rows, range(first, last + 1)


def thresholded(rows: Sequence[Sequence[Fraction]], outputs: range, threshold: int) -> tuple[list[list[Fraction]], list[str]]:
    """A key's noisy count published from the threshold on and otherwise nothing; the state 0, an absent key, publishes nothing."""
    kept = [o for o in outputs if o >= threshold]
    labels = ["nothing", *map(str, kept)]
    done = []
    for state, row in enumerate(rows):
        shown = {o: p for o, p in zip(outputs, row, strict=True) if o >= threshold}
        silent = 1 - sum(shown.values(), Fraction(0))
        done.append([Fraction(1), *[Fraction(0)] * len(kept)] if state == 0 else [silent, *(shown[o] for o in kept)])
    return done, labels


def _fits(entries: int) -> None:
    if entries > MOST:
        raise TooLarge(
            "This noise has too many states and outputs to be listed",
            size=f"{entries:,} entries",
            fits=f"{MOST:,} entries",
            remedy="ask for fewer states or a smaller reach",
        )
