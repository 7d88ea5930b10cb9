"""How the time of a design is spent: every share and every guess of speed in one place.

`seconds` is what whoever asks allows for everything: search, proof and comparison. Guesses of speed only decide what is tried;
they never decide what is true.
"""

from __future__ import annotations

import time

DEFAULT_SECONDS = 60.0
COMPARE_SECONDS = 5.0
"""Baselines have at least so much time of their own."""
QUICK_SECONDS = 2.0
"""What weighted sums may take before a program, when the gap asked for is loose."""

SHORTEST_RUNG = 2.0
"""Seconds below which no program and no quotient bound is begun."""

SHARES = {
    "weights by search": 1 / 20,
    "program on the sum": 0.12,
    "program on two counts": 0.12,
    "quotient bound": 0.15,
}
"""Share of the time left that a rung may take; the search has a share of the whole, and more of it gains little."""
SHORTEST_SEARCH = 2.0
LAST_SHARE = 0.7
"""Share of the time left for the last bound: proving it again takes time too."""


class LadderTime:
    """The time of one climb."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.ends = seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    def share(self, rung: str, last: bool) -> float:
        """What one rung may take now, the last one most of what is left."""
        if last:
            return LAST_SHARE * self.left
        if rung == "weights by search":
            return min(self.left, max(SHORTEST_SEARCH, SHARES[rung] * self.seconds))
        return SHARES[rung] * self.left
