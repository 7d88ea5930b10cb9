"""Ticks of logarithmic scales: powers of ten, with 2 and 5 between them where there is room, written as people do."""

from __future__ import annotations

from math import ceil, floor, log10

from discreet.numerics.digits import given

MOST = 8


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers that reach from `low` or a little below to `high` or a little above."""
    first = floor(log10(low) + 1e-12)
    last = max(ceil(log10(high) - 1e-12), first + 1)
    decades = last - first
    digits = (1, 2, 5) if decades <= 2 else (1, 3) if decades <= 4 else (1,)
    step = ceil(decades / MOST)
    powers = range(last - step * ceil(decades / step), last + 1, step)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    start = max(t for t in ticks if t <= low * (1 + 1e-9))
    end = min(t for t in ticks if t >= high * (1 - 1e-9) and t > start)
    return [t for t in ticks if start <= t <= end]


def power_words(tick: float) -> str:
    """0.0005, 1, 20, 1e-6, 3e5: raised digits are missing from many fonts."""
    if 1e-4 <= tick < 1e5:
        return given(tick)
    power = floor(log10(tick) + 1e-12)
    return f"{round(tick / 10.0**power)}e{power}"


def label_expression(ticks: list[float]) -> str:
    """A Vega expression that writes these ticks as `power_words` does and leaves others out."""
    # Vega's own ticks are floats of the same numbers; half a percent tells neighbours apart and forgives rounding.
    text = "''"
    for tick in reversed(ticks):
        text = f"abs(datum.value / {tick!r} - 1) < 0.005 ? '{power_words(tick)}' : {text}"
    return text
