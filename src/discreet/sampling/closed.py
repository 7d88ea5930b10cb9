"""Exact draws from closed-form kernels of any range, without a table.

A state s of `geometric`, `staircase` or `discrete-gaussian` on low..high is published as

    output = min(max(s + J, low), high),      J two-sided noise on all integers,

which gathers the tails at the ends exactly as the kernel says. |J| needs to be known up to high − low only, so geometric and
staircase noise take about log₂(high − low) coins for each draw: twenty for a million outputs. Gaussian noise is drawn by rejection
(`gaussian`), whose number of proposals is independent of what is drawn.

The noise's probabilities have the factor 1/(1+r), which no finite number of bits can realise exactly. The coins solve
this: 128 bits each are read and compared whatever they are, and in the rare event (below 2^−120 a draw) that these do
not decide, more are read. That event is a function of the bits alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.kernel import ClosedKernel, GaussianKernel
from discreet.numerics.arrays import Integers
from discreet.sampling.gaussian import GaussianNoise
from discreet.sampling.noise import StaircaseNoise
from discreet.sampling.randomness import Randomness, Stream

FIXED_LIMBS = 2
LAZY_LIMBS = 1
CHUNK = 1 << 16
"""Draws made at a time, which bounds the memory for their bits."""


class ClosedSampler:
    """Draws for states that are whole numbers low..high; outputs are positions, 0 for low."""

    def __init__(self, kernel: ClosedKernel | GaussianKernel, *, lazy: bool = False) -> None:
        self.low, self.high = kernel.low, kernel.high
        limbs = LAZY_LIMBS if lazy else FIXED_LIMBS
        reach = kernel.high - kernel.low
        self.noise: StaircaseNoise | GaussianNoise
        match kernel:
            case GaussianKernel():
                self.noise = GaussianNoise(kernel.sigma_squared, reach)
            case ClosedKernel():
                self.noise = StaircaseNoise(kernel.stair, kernel.plateau, kernel.ratio, reach, limbs)

    def draw(self, states: NDArray[np.integer]) -> Integers:
        """One output (its position) for each state (a whole number), independent, on operating-system randomness."""
        return self.decode(states, Stream())

    def decode(self, states: NDArray[np.integer], randomness: Randomness) -> Integers:
        """As `draw`, on the given words."""
        states = np.asarray(states)
        if states.ndim != 1 or not np.issubdtype(states.dtype, np.integer):
            raise InputError(
                "States are drawn from as a list of whole numbers",
                found=f"{states.ndim} axes of {states.dtype}",
                allowed="one axis of whole numbers",
                remedy="pass the total of each cell",
            )
        if len(states) and not (self.low <= int(states.min()) and int(states.max()) <= self.high):
            raise InputError(
                "A state is outside the kernel",
                allowed=f"{self.low}..{self.high}",
                remedy="compute states with the mechanism's own summary",
            )
        found = np.empty(len(states), dtype=np.int64)
        for start in range(0, len(states), CHUNK):
            here = states[start : start + CHUNK].astype(np.int64) - self.low
            moved = here + self.noise.draw(len(here), randomness)
            found[start : start + CHUNK] = np.clip(moved, 0, self.high - self.low)
        return found
