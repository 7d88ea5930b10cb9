"""The best table under ρ on few states: the convex program with several orders, rounded to whole numbers.

The program (`design.solver.renyi`) has a cut for every directed edge and every order of a short list, with a ρ that is smaller by
one part in ten thousand. Its kernel is mixed with a constant one, which only lowers every divergence, until the checker's own
search over all orders proves ρ of the whole-number weights. Real actions start from nodes and end as the best replies to their
outputs.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np

from discreet.certify.edges.concentrated import concentrated_privacy
from discreet.design.concentrated.cuts import likely_states, with_losses
from discreet.design.program.listed import label_of
from discreet.design.program.sections import Ground, Recommendation, Section
from discreet.design.solver.renyi import RenyiProgram, solve_renyi
from discreet.errors import TooLarge
from discreet.model.certificate import PrivacyProof
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ConcentratedPromise
from discreet.model.replies import best_replies
from discreet.watch import Watch

ORDERS = (1 + 1 / 64, 1.125, 1.25, 1.5, 2.0, 3.0, 4.5)
SPARED = 1e-4
"""The share of ρ that is left to the rounding and to orders between."""
NODES = 48
MOST_ROWS = 700
"""Cuts and states of the program at most."""
LEAST_MIXED, HALVINGS = 1e-6, 8
"""The smallest share of the constant kernel, and how often the share is halved between what fails and what is proved."""
FAINT = 1e-9
"""An output whose probability is below this at every state is left out."""


def best_table(base: Ground, gap: float, watch: Watch) -> tuple[Section, TableKernel] | None:
    """The states and the exact kernel, or None when the program is too large or nothing it found could be proved."""
    rho = base.problem.rho
    try:
        section = likely_states(base, with_losses(base, NODES)[1])
        actions, table = with_losses(base, NODES)
    except TooLarge:
        return None
    if section is None or len(actions) < 2:
        return None
    edges = section.space.edges
    if 2 * len(edges) * len(ORDERS) + len(section.space) > MOST_ROWS:
        return None
    first, second = (np.repeat(np.concatenate([edges[:, i], edges[:, 1 - i]]), len(ORDERS)) for i in (0, 1))
    order = np.tile(ORDERS, 2 * len(edges))
    cost = section.upper(table)
    program = RenyiProgram(cost - cost.min(axis=0), first, second, order, np.exp(order * (order - 1) * float(rho) * (1 - SPARED)))
    found = solve_renyi(program, np.full(cost.shape, 1 / len(cost)), max(gap, 1e-5), watch)
    return _proved(section, found.kernel, actions, ConcentratedPromise(rho))


def _proved(
    section: Section, kernel: np.ndarray, actions: list[Recommendation], promise: ConcentratedPromise
) -> tuple[Section, TableKernel] | None:
    used = np.flatnonzero(kernel.max(axis=1) > FAINT)
    kept = kernel[used] / kernel[used].sum(axis=0)
    base = section.ground
    joint = np.zeros((len(section.space), len(base.exact_omegas)))
    np.add.at(joint, (section.image, base.column), base.masses)
    constant = kept @ joint.sum(axis=1)
    constant = np.maximum(constant, FAINT) / np.maximum(constant, FAINT).sum()
    shown = [actions[i] for i in used.tolist()]

    def proved(share: float) -> TableKernel | None:
        mixed = (1 - share) * kept + share * constant[:, None]
        replies = shown
        if base.problem.real_actions:
            replies = list(best_replies(base.problem.decision, mixed @ joint, base.exact_omegas).actions)
        exact = _rounded(section, mixed, replies)
        bare = Mechanism(base.problem, section.summary, exact, base.problem.guarantee)
        return exact if isinstance(concentrated_privacy(bare, promise), PrivacyProof) else None

    share, best, fails = LEAST_MIXED, proved(LEAST_MIXED), 0.0
    while best is None and share < 1 / 2:
        fails, share = share, min(4 * share, 0.5)
        best = proved(share)
    for _ in range(HALVINGS if fails and best is not None else 0):
        middle = (fails + share) / 2
        found = proved(middle)
        if found is None:
            fails = middle
        else:
            share, best = middle, found
    return None if best is None else (section, best)


def _rounded(section: Section, kernel: np.ndarray, actions: list[Recommendation]) -> TableKernel:
    """Weights rounded down, what is left given to the likeliest output; outputs with the same reply are one."""
    place: dict[Recommendation, int] = {}
    for action in actions:
        place.setdefault(action, len(place))
    rows = np.zeros((len(place), kernel.shape[1]))
    np.add.at(rows, [place[a] for a in actions], kernel)
    bits = 80 + max(0, ceil(-log2(float(rows.min()))))
    whole = 1 << bits
    weights = [[int(Fraction(float(p)) * whole) for p in row] for row in rows / (rows.sum(axis=0) * (1 + 1e-12))]
    likeliest = int(rows.sum(axis=1).argmax())
    left = [whole - sum(column) for column in zip(*weights, strict=True)]
    weights[likeliest] = [w + extra for w, extra in zip(weights[likeliest], left, strict=True)]
    outputs = tuple(Output(label_of(action), action) for action in place)
    return TableKernel(section.space.labels, outputs, tuple(map(tuple, weights)), whole)
