"""A step as it goes: its time is watched while it lasts, since a machine may be slower than was guessed, or become so.

Guesses of speed decide what is tried. Where they are wrong by ten, or other work begins beside a search, a step must end in the
middle rather than take away the time in which what is known already is rounded and proved.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.design.schedule import TimeIsUpError, now, spend, time_left
from discreet.watch import Watch

SLOW, HOPELESS = 1.2, 1.1
"""A search is given up where work takes so many times what is guessed, and the rest of it so many times the time that is left."""
JUDGED = 0.1
"""Of a step, what a pace is judged by."""


@dataclass(frozen=True)
class Timing:
    """What a search on windows is told about its time, in guessed seconds."""

    steps: float = 0.0
    """How many are usual; given to a search that is to be given up at once where a machine is too slow for them."""
    after: float = 0.0
    """What comes after the search,"""
    beyond: float = 0.0
    """and what of it may be taken beyond the time, at whatever pace."""

    def kept(self, pace: float) -> float:
        """Seconds to leave to what comes after, on a machine that takes so many times what is guessed."""
        return max(0.0, max(pace, 1.0) * self.after - self.beyond)


class TooSlowError(TimeIsUpError):
    """A search was given up early: here work takes `pace` times what is guessed."""

    def __init__(self, pace: float) -> None:
        super().__init__(f"the machine takes {pace:.1f} times as long as usual")
        self.pace = pace


class Stride:
    """Steps as they go: how much is done, how long that took. They end where the time does, in the middle of one if need be."""

    def __init__(self, guess: float, timing: Timing, watch: Watch) -> None:
        """`guess` is what a step takes."""
        self.guess, self.timing, self.watch = guess, timing, watch
        self.done, self.took, self.steps, self.last = 0.0, 0.0, 0.0, now()

    def begin(self, steps: float) -> None:
        """Another step, of so many that are usually left: 0 where the search is not to be given up for being slow."""
        self.done, self.took, self.steps, self.last = self.done / 2, self.took / 2, steps, now()

    @property
    def pace(self) -> float:
        """What work takes against what is guessed, the last step before all others; 1 where there is nothing to judge by."""
        return self.took / (self.guess * self.done) if self.done > JUDGED else 1.0

    def __call__(self, share: float) -> None:
        """A share of the step is done; raises `TimeIsUpError` where the rest is not to be."""
        spend(share * self.guess)
        before, self.last = self.last, now()
        self.took += self.last - before
        self.done += share
        pace, left = self.pace, time_left(self.watch)
        if self.watch.cancelled() or left <= self.timing.kept(pace):
            raise TimeIsUpError("the time was up in the middle of a step")
        needed = pace * self.guess * self.steps + self.timing.kept(pace)
        if self.steps > 0 and pace > SLOW and needed > HOPELESS * left:
            raise TooSlowError(pace)
