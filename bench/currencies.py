"""Speed of the currencies, each beside a peer in the same run.

- The profile (tight ε exact, attack curve, all kinks of δ(ε)) of a mechanism with 1,000 states and 100 outputs, beside
  one NumPy pass over its edges in log space that reads δ at a single ε. Goal: within 10 times.
- Its mutual-information privacy, certified to 1e-9. Goal: within a minute.
- 1,000 releases of a geometric mechanism with 40 outputs, beside dp-accounting: time and width of what is known.
  Goal: no slower, at equal or better width.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.currencies.channel import LossChannel, channel_from_rows, with_edges
from discreet.currencies.divergences import renyi
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.currencies.repeated import compose
from discreet.currencies.zcdp import rho
from discreet.model.kernel import GeometricKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.states import state_space
from discreet.model.summary import HistogramSummary
from discreet.model.universe import Universe

STATES, OUTPUTS, BITS = 990, 100, 80


def histogram_channel(*, private: bool) -> LossChannel:
    """All histograms of 43 respondents of three types, 990 states; integer weights over 2^80.

    `private`: log-probabilities that are 1-Lipschitz in the histogram, so that many bounds bind at once.
    """
    space = state_space(Universe.of(43, (Fraction(0), Fraction(1), Fraction(2))), ReplaceOne(), HistogramSummary())
    rng = np.random.default_rng(0)
    if private:
        centres = space.vectors[rng.integers(0, len(space), OUTPUTS)]
        steps = np.abs(space.vectors[None] - centres[:, None]).sum(axis=2) / 2
        rows = np.exp(-0.5 * steps)
    else:
        rows = rng.dirichlet(np.full(OUTPUTS, 20.0), len(space)).T
    rows /= rows.sum(axis=0)
    weights = [[int(p * 2**53) << (BITS - 53) for p in row] for row in rows.tolist()]
    for state in range(len(space)):
        weights[0][state] += 2**BITS - sum(row[state] for row in weights)
    plain = np.array([[w / 2**BITS for w in row] for row in weights])
    return LossChannel(
        space.labels, tuple(map(str, range(OUTPUTS))), plain, np.log(plain), space.edges, space.blocks,
        lambda output, state: Fraction(weights[output][state], 2**BITS), (weights, 2**BITS), BITS + 1,
    )  # fmt: skip


def one_pass(channel: LossChannel, epsilon: float) -> float:
    """δ(ε) in log space over all edges, both directions, as plain NumPy writes it."""
    first, second = channel.logs[:, channel.edges[:, 0]], channel.logs[:, channel.edges[:, 1]]
    losses = first - second
    up = (np.exp(first) * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum(axis=0)
    down = (np.exp(second) * -np.expm1(np.minimum(epsilon + losses, 0.0))).sum(axis=0)
    return float(max(up.max(), down.max()))


def whole_profile(channel: LossChannel) -> object:
    """What `discreet profile` needs of δ(ε)."""
    seen = profile(channel)
    return seen.epsilon, seen.breakpoints


def best_of(work: Callable[[], object], rounds: int = 5) -> tuple[float, object]:
    """The shortest time of a few, and the result."""
    times, result = [], None
    for _ in range(rounds):
        started = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - started)
    return min(times), result


def profiles() -> None:
    """Profile and MI-DP of two mechanisms with 990 states."""
    for name, private in (("random rows", False), ("many binding bounds", True)):
        channel = histogram_channel(private=private)
        print(f"{name}: {len(channel.labels)} states, {OUTPUTS} outputs, {len(channel.edges)} edges")
        peer = ours = math.inf
        for _ in range(9):  # in turn, so that a busy machine slows both alike
            peer = min(peer, best_of(lambda channel=channel: one_pass(channel, 0.1), rounds=1)[0])
            ours = min(ours, best_of(lambda channel=channel: whole_profile(channel), rounds=1)[0])
        print(f"  one NumPy pass            {peer * 1e3:9.1f} ms")
        print(f"  profile                   {ours * 1e3:9.1f} ms   {ours / peer:5.1f} times the pass")
        seconds, found = best_of(lambda channel=channel: mutual_information(channel), rounds=2)
        print(f"  mutual information        {seconds:9.2f} s    certified gap {found.gap:.1e}")  # type: ignore[attr-defined]
        seconds, found = best_of(lambda channel=channel: rho(channel), rounds=1)
        width = found.bracket.width / found.upper  # type: ignore[attr-defined]
        print(f"  zCDP                      {seconds:9.2f} s    relative width {width:.1e}")
        seconds, _ = best_of(lambda channel=channel: renyi(channel, 2), rounds=1)
        print(f"  Rényi of order 2          {seconds:9.2f} s")


def compositions() -> None:
    """1,000 releases of a 40-output geometric mechanism."""
    from dp_accounting.pld import privacy_loss_distribution

    ratio = Fraction(19, 21)
    kernel = GeometricKernel(0, 39, 1, ratio)
    rows = [[kernel.mass(y, s) for y in range(40)] for s in range(40)]
    channel = channel_from_rows(rows, edges=[(s, s + 1) for s in range(39)])
    level = 12.0
    # A fresh channel each time: nothing is kept from one round to the next.
    seconds, found = best_of(lambda: compose(with_edges(channel, channel.edges), 1000, level), rounds=3)
    width = found.upper - found.lower  # type: ignore[attr-defined]
    print(f"1,000 releases of a geometric mechanism, ε = {-math.log(ratio):.4f} each, δ at ε = {level:g}")
    print(f"  discreet, all 39 edges    {seconds:9.3f} s    δ = {found.upper:.12g}, width {width:.1e}")  # type: ignore[attr-defined]
    for step in (1e-3, 1e-4):

        def theirs(pessimistic: bool, step: float = step) -> float:
            lower, upper = ({y: math.log(p) for y, p in enumerate(rows[s])} for s in (20, 19))
            law = privacy_loss_distribution.from_two_probability_mass_functions(
                lower, upper, pessimistic_estimate=pessimistic, value_discretization_interval=step
            )
            return float(law.self_compose(1000).get_delta_for_epsilon(level))

        seconds, high = best_of(lambda theirs=theirs: theirs(True), rounds=2)
        low = theirs(False)
        print(f"  dp-accounting, one edge   {seconds:9.3f} s    step {step:g}: δ from {low:.6g} to {high:.6g}")


if __name__ == "__main__":
    profiles()
    compositions()
