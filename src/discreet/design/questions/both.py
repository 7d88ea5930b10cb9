"""Adding up and acting, from one draw: what each costs.

An unbiased value is for adding up; whoever acts on one cell re-reads the same draw by Bayes' rule, which costs no privacy
(post-processing). Beside it stands the best mechanism for acting alone, which usually has no unbiased reading at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.design.best_mechanism import design
from discreet.design.questions.regret import under
from discreet.errors import DiscreetError, InputError
from discreet.model.mechanism import Mechanism
from discreet.watch import SILENT, Watch

GAP, SECONDS = 1e-2, 20.0


@dataclass(frozen=True)
class Both:
    """Variance of the value to add up, and loss of the best action, of an unbiased design and of the best for acting alone.

    `alone_variance` is None where that one has no unbiased reading; no mechanism with this promise acts better than `alone_bound`.
    """

    variance: float
    action: float
    alone_variance: float | None
    alone_action: float
    alone_bound: float


def both(mechanism: Mechanism, watch: Watch = SILENT) -> Both:
    """What adding up and acting cost from one draw of an unbiased design, and of the best design for acting."""
    problem = mechanism.problem
    if problem.unbiased is None:
        raise InputError(
            "Only a design for unbiased values is for adding up",
            found="a problem without decision.unbiased",
            allowed='unbiased = "everywhere" or "nearby"',
            remedy="ask for it in the problem",
        )
    seen = under(mechanism, problem)
    alone = design(problem.biased, watch, gap=GAP, seconds=SECONDS, compare=False)
    try:
        variance = alone.evaluation.unbiased_variance
    except DiscreetError:
        variance = None
    return Both(seen.followed, seen.reread, variance, float(alone.loss), float(alone.lower_bound))
