"""How slow this machine is now, beside the quiet one on which guesses of speed were made (`schedule`).

Programs of a search are planned to end in time: how many states one may have follows from a guess of what each costs. On a machine
that takes twice as long, or that others use as well, such programs were cut off by the clock, and what is cut off proves next to
nothing. So a little work of the same kind is timed before plans are made: factors and products of small matrices, and steps along
arrays.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.design.schedule import is_counted, now
from discreet.numerics.arrays import Floats

ROUNDS, USUAL = 20, 0.00054
"""How often the work is done, and the seconds of once on the quiet machine."""
ALIKE = 1.25
"""Slower ones by less are taken for equal, so that plans do not change with every breath of a machine; and so are faster ones,
where what is read from memory may take as long as ever."""
SLOWEST = 16.0
OLD = 20.0
"""Seconds after which a measurement is made anew: others come and go."""

_measured: list[float] = []
"""When the pace was last measured, and what it was."""


def pace() -> float:
    """How many times longer work takes here, now, than is guessed; 1 where time is counted work."""
    if is_counted():
        return 1.0
    if not _measured or not 0 <= now() - _measured[0] < OLD:
        found = measured()
        _measured[:] = now(), found
    return _measured[1]


def measured() -> float:
    """The pace, by some work that is timed."""
    _once(_matrices())
    began = now()
    for _ in range(ROUNDS):
        _once(_matrices())
    return as_pace((now() - began) / (ROUNDS * USUAL))


def as_pace(longer: float) -> float:
    """What is planned with where the work took so many times longer."""
    return 1.0 if longer < ALIKE else min(longer, SLOWEST)


@cache
def _matrices() -> Floats:
    places = np.arange(40.0)
    near = np.exp(-np.abs(places[:, None] - places[None, :]) / 4)
    return np.stack([near + k * np.eye(40) for k in range(1, 9)])


def _once(matrices: Floats) -> float:
    factors = np.linalg.cholesky(matrices)
    products = factors @ np.linalg.inv(factors)
    steps = np.abs(products).ravel()
    for _ in range(12):
        steps = np.maximum(steps.take(np.arange(len(steps))[::-1]), 0.5 * steps + 1e-9)
    return float(steps.sum())
