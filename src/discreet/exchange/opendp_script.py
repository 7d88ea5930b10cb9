"""A mechanism with discrete Gaussian noise as a script for OpenDP alone: its own noise on our total, then our clip and actions.

OpenDP draws discrete Gaussian noise on integers exactly and maps a distance d to ρ = d²/2σ². Its scale is a float: σ = √σ² is
rounded up by a few places, so that OpenDP's own map stays below the ρ that was proved. Clipping and looking up an action are
post-processing.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from discreet.errors import InputError
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.digits import float_above
from discreet.numerics.exact import format_exact

WIDER = Fraction(2**50 + 8, 2**50)
"""By so much the scale is larger: room for OpenDP's roundings."""


def opendp_script(mechanism: Mechanism) -> str:
    """The text of the script; refuses mechanisms whose noise OpenDP does not have."""
    kernel, summary, universe = mechanism.kernel, mechanism.summary, mechanism.problem.universe
    if not isinstance(kernel, GaussianKernel) or not isinstance(summary, LinearSummary) or not isinstance(universe, Universe):
        raise InputError(
            "OpenDP has no noise of this kind",
            found=f"a kernel of family {kernel.family!r}",
            allowed="discrete-gaussian",
            remedy="plug it in as a measurement: discreet.exchange.to_opendp",
        )
    low, high = summary.range(universe)
    step = summary.step(mechanism.problem.neighbours)
    actions = [o.label if o.action is None else _shown(o.action) for o in mechanism.outputs]
    return f'''"""{mechanism.problem.name or "A private statistic"}: {mechanism.guarantee}. Needs nothing but OpenDP."""

import opendp.prelude as dp

dp.enable_features("contrib")

WEIGHTS = {list(summary.weights)!r}  # of each type: the total is the sum over respondents
TOTALS = ({low}, {high})  # beyond them it is clipped before any noise
OUTPUTS = ({kernel.low}, {kernel.high})  # and after it
ACTIONS = {actions!r}  # the recommended action after each output, the lowest first
STEP = {step}  # the most that one neighbour moves the total
SCALE = {scale(kernel.sigma_squared)!r}  # the root of {format_exact(kernel.sigma_squared)}, rounded up

noise = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=SCALE)


def publish(types):
    """One draw for the types of all respondents: the published number and the action recommended after it."""
    total = min(max(sum(WEIGHTS[t] for t in types), TOTALS[0]), TOTALS[1])
    drawn = min(max(noise(total), OUTPUTS[0]), OUTPUTS[1])
    return drawn, ACTIONS[drawn - OUTPUTS[0]]


if __name__ == "__main__":
    print("rho of one release, by OpenDP's own map:", noise.map(STEP))
'''


def scale(sigma_squared: Fraction) -> float:
    """A float above σ, by a few places."""
    whole = 1 << 200
    root = Fraction(isqrt(sigma_squared.numerator * whole**2 // sigma_squared.denominator) + 1, whole)
    return float_above(root * WIDER)


def _shown(action: object) -> object:
    if isinstance(action, tuple):
        return tuple(_shown(a) for a in action)
    return action if isinstance(action, str) else format_exact(action)  # type: ignore[arg-type]
