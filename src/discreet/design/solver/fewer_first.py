"""A path on windows that is led up to by few actions: every eighth, every fourth, every second, then all.

Early steps of an interior point tell rough things about the prices of states, and a few of many neighbouring actions tell these as
well. A step costs as much as it has variables, so the first half of the path costs little. What a path on few actions shows is
shared out among more: each action's row by hats to those around it, which keeps sums of probabilities, and flows interpolated,
which price what lies between at nearly its cost. A little noise (`NOISE`) gives room to edges that are tight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.solver.program import Integers
from discreet.design.solver.repair import cap
from discreet.design.solver.stride import Stride, Timing
from discreet.watch import Watch

if TYPE_CHECKING:
    from discreet.design.solver.windowed import WindowedIterate

Levels = Sequence[tuple[int, float]]
"""Every how manyth action is played, and to which relative gap."""
COARSEST, ENOUGH = 0.65, 0.75
"""Actions are at most so far apart, in steps between neighbours over ε, and are solved to a gap of so many times that."""
NOISE = 0.01
"""Share of the noise that any path begins with."""
OFF_CENTRE = 0.1
"""No product of slack and multiplier is left below this share of what it has on average."""
MISSED = 0.5
"""No path goes on where some state's probabilities sum to so much less than one: rows were capped by a dead end."""
INWARD = 1e-9
"""By so little less than ε rows are private that trees let overstep where they meet."""
FAINT = 1e-9
"""Trees end where what hangs there counts by this share."""
MOST_STEPS = 15
"""At a level."""
TRIED = 2
"""Steps in which a search may be given up for being slow."""


def levels(width: float, unit: float) -> Levels:
    """For actions of this spacing, where a step between neighbours over ε is the unit."""
    found, every = [], 2
    while every * width <= COARSEST * unit:
        found.append((every, ENOUGH * every * width / unit))
        every *= 2
    return found[::-1]


def led_up_to(
    fine: WindowedIterate, on: Callable[[Integers], WindowedIterate], fewer: Levels, watch: Watch, timing: Timing
) -> None:
    """Bring an iterate to where paths on fewer of its actions lead; `on` is the beginning of a path on some of them.

    Raises `TimeIsUpError` where the time is up before, and leaves the iterate as it was; `TooSlowError` where the first steps
    show that the others, of which `timing` names how many are usual, would not end in time.
    """
    last, count, taken = None, len(fine.windows.centres), 0
    for every, enough in fewer:
        state = on(np.unique(np.append(np.arange(0, count, every), count - 1)))
        if last is not None:
            carry(last, state)
        stride = Stride(state.step_seconds, Timing(0.0, timing.after, timing.beyond), watch)
        for _ in range(MOST_STEPS):
            value = state.value()
            if value - state.bound() + state.unfair() <= enough * abs(value):
                break
            stride.begin(timing.steps * fine.step_seconds / state.step_seconds if taken < TRIED else 0.0)
            taken += 1
            with np.errstate(all="ignore"):
                if not state.advance(stride):
                    break
        last = state
    if last is not None:
        carry(last, fine)


def carry(few: WindowedIterate, many: WindowedIterate) -> None:
    """Move an iterate on many actions to where one on few of them is; one without room there stays where it was."""
    before, after = few.windows, many.windows
    right = np.clip(np.searchsorted(before.centres, after.centres), 1, len(before.centres) - 1)
    left = right - 1
    share = np.clip((after.centres - before.centres[left]) / (before.centres[right] - before.centres[left]), 0.0, 1.0)
    heirs = np.bincount(left, 1 - share, len(before.centres)) + np.bincount(right, share, len(before.centres))
    rows = cap(before.whole(few.x), before.lattice.edges, few.q * (1 - INWARD))
    action, state = after.action, after.state
    x = ((1 - share) / heirs[left])[action] * rows[left[action], state] + (share / heirs[right])[action] * rows[
        right[action], state
    ]
    x = (1 - NOISE) * x + NOISE * many.x
    s = many.q * x[many.head] - x[many.tail]
    if not (np.isfinite(s).all() and s.min() > 0) or np.abs(1 - after.hang(x)).max() > MISSED:
        return
    edges, order = few.program.edges, before.lattice.order
    place = np.empty(before.states, dtype=np.int64)
    place[order] = np.arange(before.states)
    turned = (place[edges[:, 0]] > place[edges[:, 1]])[after.number]
    flows = few.multipliers(few.z, few.price, FAINT)
    column = np.concatenate([after.number + len(edges) * turned, after.number + len(edges) * ~turned])
    action = np.tile(action[many.one], 2)
    z = (1 - share)[action] * flows[left[action], column] + share[action] * flows[right[action], column]
    many.x, many.s, z = x, s, np.append(z, np.zeros(len(after.alone))) / many.scale
    many.z = np.maximum(z, OFF_CENTRE * float((s * z).mean()) * many.weights() / s)
    many.price = (few.price * few.scale + few.base - many.base) / many.scale
