"""What following a mechanism comes to in one truth (`truths`), and in cells of which each has its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What following a mechanism comes to in one truth: its mean of ω, the loss, the bias of the first decision's action."""

    mean: float
    loss: float
    bias: float | None
    exact: bool = True


def mixed(outcomes: list[Outcome]) -> Outcome:
    """Cells that differ: each truth holds in an equal share of them."""
    biases = [o.bias for o in outcomes]
    return Outcome(
        float(np.mean([o.mean for o in outcomes])),
        float(np.mean([o.loss for o in outcomes])),
        None if None in biases else float(np.mean([b for b in biases if b is not None])),
        all(o.exact for o in outcomes),
    )
