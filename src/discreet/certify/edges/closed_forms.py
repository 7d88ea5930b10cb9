"""Closed-form kernels are proved by their formula, in constant work for any number of states.

Both families add noise f to a whole number and gather the tails at the ends. Lemma: if f(j) ≤ c·f(j′) whenever
|j − j′| ≤ d, then every output's probability changes by a factor of at most c between states at most d apart (for the
ends sum the inequality over the tail). The summary moves by at most d, its own step, between neighbours.

geometric: f(j) ∝ r^|j| changes by at most r^−d.   staircase: the exponent ⌊(x + W − m)/W⌋ changes by at most one when x
moves by at most W ≥ d, so f changes by at most r^−1.

(1/r)^d > e^ε is decided as 1/r > e^(ε/d), so no power is ever formed and a step of a million costs nothing.

The other side of the tight ε comes from neighbours that exist: one respondent of the lightest or the heaviest weight
among others of these weights, clipped as the summary clips. Without clipping some are d apart, and there the factor c is
attained: by the geometric at the nearer total's own output, by the staircase where a plateau ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from discreet.errors import Refuted
from discreet.frozen import dataclass
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import ClosedKernel, GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, Neighbours
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import compare_ratio_exp, log_bracket
from discreet.numerics.exact import format_exact

TIGHT_BITS = 64
FEW_OUTPUTS = 64
"""Kernels of so many outputs are searched whole for the lower side of the tight ε."""


@dataclass(frozen=True)
class Fall:
    """Two neighbouring totals and an output whose probability at `near` is base^times the one at `far`."""

    near: int
    far: int
    output: int
    base: Fraction
    times: int

    def exceeds(self, epsilon: Fraction) -> bool:
        """Whether base^times > e^ε."""
        return self.times > 0 and compare_ratio_exp(self.base.numerator, self.base.denominator, epsilon / self.times) > 0

    def log(self) -> tuple[Fraction, Fraction]:
        """Both sides of times · log base."""
        low, high = log_bracket(self.base, TIGHT_BITS + self.times.bit_length())
        return self.times * low, self.times * high


def closed_form_privacy(mechanism: Mechanism, kernel: ClosedKernel, promise: PurePromise) -> PrivacyProof | Counterexample:
    """The proof for a geometric or staircase kernel on a weighted sum."""
    proved, shown, states = falls(mechanism, kernel)
    epsilon = promise.epsilon
    if proved.exceeds(epsilon):
        return _counterexample(proved, shown, epsilon)
    return PrivacyProof(
        promise,
        shown.log()[0],
        min(proved.log()[1], epsilon),
        (str(shown.near), str(shown.far)),
        str(shown.output),
        states,
        kernel.width,
        "closed-form",
    )


def falls(mechanism: Mechanism, kernel: ClosedKernel) -> tuple[Fall, Fall, int]:
    """The lemma's fall, which no neighbours exceed; the largest that is shown by some; and how many steps the totals span."""
    summary, universe, neighbours = mechanism.summary, mechanism.problem.universe, mechanism.problem.neighbours
    if not isinstance(summary, LinearSummary) or not isinstance(universe, Universe):
        raise Refuted("a closed-form kernel reads a weighted sum", f"summary {summary.kind!r}")
    low, high = summary.range(universe)
    proved = steepest(kernel, min(summary.step(neighbours), high - low))
    return proved, largest(kernel, real_pairs(summary, universe, neighbours)), high - low


def _counterexample(proved: Fall, shown: Fall, epsilon: Fraction) -> Counterexample:
    """With the edge and output that break the promise, or without when only the lemma's factor is too large."""
    allowed = f"a log-ratio of at most {format_exact(epsilon)}"
    if not shown.exceeds(epsilon):
        words = "The noise falls too fast for this ε to be proved"
        return Counterexample("privacy", words, found=log_words(proved), allowed=allowed)
    return Counterexample(
        "privacy",
        f"Output {shown.output} is too much likelier at state {shown.near} than at its neighbour {shown.far}",
        edge=(str(shown.near), str(shown.far)),
        output=str(shown.output),
        found=log_words(shown),
        allowed=allowed,
    )


def log_words(fall: Fall) -> str:
    """Both sides of its logarithm, for readers."""
    low, high = map(float, fall.log())
    return f"a log-ratio between {low:.15g} and {high:.15g}"


def steepest(kernel: ClosedKernel, moved: int) -> Fall:
    """The lemma's factor for states at most `moved` apart."""
    times = -(-moved // kernel.stair)
    return Fall(kernel.low, kernel.low, kernel.low, 1 / kernel.ratio, times)


def largest(kernel: ClosedKernel, pairs: Iterable[tuple[int, int]]) -> Fall:
    """The largest fall between the given pairs of totals."""
    falls = [fall for near, far in pairs for fall in _falls(kernel, near, far)]
    return max(falls, key=lambda fall: (fall.log()[0], fall.near < fall.far))


def _falls(kernel: ClosedKernel, near: int, far: int) -> Iterator[Fall]:
    """Falls of a pair at the outputs where they are largest. The geometric's ends fall like its inner outputs."""
    if isinstance(kernel, GeometricKernel):
        yield Fall(near, far, near, 1 / kernel.ratio, abs(far - near))
        return
    back = kernel.plateau - 1 if near < far else 1 - kernel.plateau
    few = range(kernel.low, kernel.high + 1) if kernel.high - kernel.low < FEW_OUTPUTS else (near, near - back)
    for output in few:
        if kernel.low <= output <= kernel.high:
            at_near, at_far = (kernel.mass(output, total) for total in (near, far))
            if at_near >= at_far:
                yield Fall(near, far, output, at_near / at_far, 1)


def real_pairs(summary: LinearSummary, universe: Universe, neighbours: Neighbours) -> Iterator[tuple[int, int]]:
    """Totals of neighbouring databases, clipped, both ways round; among them some as far apart as any, if unclipped."""
    light, heavy = min(summary.weights), max(summary.weights)
    presence = isinstance(neighbours, AddRemoveOne)
    for others in {universe.smallest, universe.largest - 1} if presence else {universe.largest - 1}:
        for heavies in _splits(summary, others, light, heavy):
            rest = heavies * heavy + (others - heavies) * light
            start = rest if presence else rest + light
            for end in (rest + light, rest + heavy):
                near, far = summary.clip(start), summary.clip(end)
                yield from ((near, far), (far, near))


def _splits(summary: LinearSummary, others: int, light: int, heavy: int) -> list[int]:
    """How many of the others are heavy: none, all, and as many as bring the total close to where it is clipped."""
    found = {0, others}
    for bound in (summary.low, summary.high):
        if bound is not None and heavy > light:
            meets = (bound - others * light) // (heavy - light)
            found |= {min(max(meets + by, 0), others) for by in (-2, -1, 0, 1, 2)}
    return sorted(found)
