"""`design(problem)`: the best private mechanism with its proof. Reductions first, then a program, then the ladder.

Order: SY Thm 3 (closed form) on the problem or on its reduction to two types; the program over counts or histograms (SY Thm 2,
Prop. 5) or over databases; the ladder of weighted sums when there are too many states. Whatever proposes the mechanism, it is
rounded to exact numbers and `certify` proves privacy, value and bound again.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from discreet import __version__
from discreet.certify import privacy
from discreet.certify.bounds.theorems import why_not_geometric
from discreet.certify.optimality import proved_bound, proved_value
from discreet.design.comparison.baselines import baselines, ladder_baselines
from discreet.design.ladder.climb import climb, why_not_climb
from discreet.design.program.listed import Proposal, programmed
from discreet.design.program.real import continuous
from discreet.design.program.sections import ground
from discreet.design.result import Baseline, Design, Step
from discreet.design.routes.geometric import geometric_kernel, theorem_witness
from discreet.design.routes.oblivious import oblivious_proposal
from discreet.errors import InputError, Refuted
from discreet.model.certificate import (
    Certificate,
    Counterexample,
    DualWitness,
    OptimalityClaim,
    QuotientWitness,
)
from discreet.model.kernel import Kernel, TableKernel
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.problem import Problem
from discreet.model.reductions import NotReduced, Reduced, anonymous_pair, merged_count
from discreet.model.summary import LinearSummary, Summary
from discreet.model.universe import ListedUniverse, Universe
from discreet.watch import SILENT, Deadline, Watch

MOST_PROGRAM_STATES = 30_000
"""Histograms beyond which the ladder serves the problem."""
MOST_PROGRAM_DATABASES = 4_096
CLASSES = ("oblivious", "permutation-invariant")
DEFAULT_SECONDS = 60.0
COMPARE_SECONDS = 5.0
"""Baselines have at least so much time of their own."""
DIGITS = 12
LOOSE = 1e-3
"""From this gap on a weighted sum is tried before any program."""
QUICK_SECONDS = 2.0


def design(
    problem: Problem,
    watch: Watch = SILENT,
    *,
    gap: float = 1e-6,
    seconds: float = DEFAULT_SECONDS,
    within: str | None = None,
    compare: bool = True,
) -> Design:
    """The best private mechanism for a problem, proved private and within `relative_gap` of best.

    `seconds` bounds the search, `within` restricts it to a class of mechanisms and shows the price, `compare` adds baselines.
    Cancelling returns the best certified mechanism so far.
    """
    if not 0 < gap < 1:
        raise InputError(
            "The gap is a small positive number", found=gap, allowed="between 0 and 1", remedy="for instance 1e-6"
        )
    if within is not None and within not in CLASSES:
        raise InputError(
            "This class of mechanisms is not known", found=within, allowed=CLASSES, remedy="choose one of these"
        )
    begun = time.perf_counter()
    limited = AsPayoffs(Deadline(seconds, watch))
    steps, proposal, reduction = _propose(problem, gap, limited, seconds)
    solved = time.perf_counter()
    best = certified(problem, proposal, steps, reduction)
    proved = time.perf_counter()
    # a search that took all its time must not take the comparison away as well
    more = AsPayoffs(Deadline(max(seconds - (proved - begun), COMPARE_SECONDS), watch))
    shown = _baselines(problem, more) if compare else {}
    took = {"solve": solved - begun, "certify": proved - solved, "baselines": time.perf_counter() - proved}
    found = Design(*best, tuple(steps), shown, took, proposal.solver, notes=_notes(problem), rungs=proposal.tried)
    if within == "oblivious":
        return _restricted(found, gap, limited)
    if within == "permutation-invariant" and not problem.exchangeable:
        raise InputError(
            "Mechanisms that ignore the order of respondents are only solved under an exchangeable prior",
            found=problem.prior.kind,
            allowed="an exchangeable or iid prior",
            remedy="leave out the restriction",
        )
    return found if within is None else replace(found, within=within, price=0.0)


class AsPayoffs:
    """Solvers report losses from above and below; whoever watches a design hears payoffs."""

    def __init__(self, inner: Watch) -> None:
        self.inner = inner

    def report(
        self,
        *,
        stage: str,
        value: float | None = None,
        bound: float | None = None,
        seconds: float | None = None,
        message: str | None = None,
    ) -> None:
        """Pass the report on with its signs turned."""
        self.inner.report(
            stage=stage,
            value=None if value is None else -value,
            bound=None if bound is None else -bound,
            seconds=seconds,
            message=message,
        )

    def cancelled(self) -> bool:
        """Whether the one who watches wants to stop."""
        return self.inner.cancelled()


def _propose(
    problem: Problem, gap: float, watch: Watch, seconds: float
) -> tuple[list[Step], Proposal, Reduced | None]:
    """The steps that were considered, the first proposal that applied, and the reduction it speaks about."""
    steps: list[Step] = []
    reduction: Reduced | None = None
    for attempt in (merged_count, anonymous_pair):
        found = attempt(problem)
        if isinstance(found, NotReduced):
            steps.append(Step(found.name, False, "", found.reason))
        elif reduction is None:
            reduction = found
    inner = reduction.problem if reduction is not None else problem
    label = "" if reduction is None else f"{reduction.name}, then "
    because = "" if reduction is None else f"{reduction.theorem}; "
    reason = why_not_geometric(inner)
    if reason is None:
        kernel = geometric_kernel(inner)
        weights = reduction.summary.weights if reduction is not None else (0, 1)
        summary = LinearSummary(weights, kernel.low, kernel.high)
        witness = theorem_witness(None if reduction is None else reduction.name)
        steps.insert(
            0,
            Step(
                f"{label}geometric",
                True,
                "SY Thm 3",
                f"{because}two types, an exchangeable prior, ordered actions and a supermodular "
                "payoff: the geometric mechanism is optimal",
            ),
        )
        width = kernel.high - kernel.low + 1
        return steps, Proposal(summary, kernel, witness, "closed form", width, "closed form"), reduction
    steps.append(Step("geometric", False, "SY Thm 3", reason))
    too_large = _too_large(inner)
    ladder = why_not_climb(problem)
    if too_large is None:
        name, theorem = label + _program_name(inner), _program_theorem(inner)
        if gap >= LOOSE and ladder is None:
            quick = climb(problem, watch, QUICK_SECONDS, gap)
            if quick.relative_gap <= 0.9 * gap:
                steps.append(Step(name, False, theorem, "a weighted sum reaches the gap that was asked for"))
                steps.insert(0, Step("ladder", True, _bound_name(quick), quick.rung))
                return steps, quick, None
        proposal = continuous(inner, gap, watch) if inner.real_actions else programmed(inner, gap, watch)
        steps.insert(0, Step(name, True, theorem, because + _program_reason(inner)))
        if proposal.solver == "cancelled" and ladder is None and reduction is None:
            proposal = _rescued(problem, proposal)
        return steps, proposal, reduction
    steps.append(Step(_program_name(inner), False, _program_theorem(inner), too_large))
    proposal = climb(problem, watch, seconds, gap)
    steps.insert(0, Step("ladder", True, _bound_name(proposal), f"{too_large}; {proposal.rung}"))
    return steps, proposal, None


def _bound_name(proposal: Proposal) -> str:
    return "quotient bound" if isinstance(proposal.witness, QuotientWitness) else "chain bound"


def _rescued(problem: Problem, interrupted: Proposal) -> Proposal:
    """What an interrupted program and a weighted sum have to offer: the better mechanism with the better bound."""
    other = climb(problem, SILENT, 0.0)
    both = [(p, _bare(problem, p.summary, p.kernel, {})) for p in (interrupted, other)]
    mechanism, _ = max(both, key=lambda pair: proved_value(pair[1], _unproved(pair[0])))
    bound, _ = min(both, key=lambda pair: proved_bound(pair[1], _unproved(pair[0])))
    rung = f"{interrupted.rung}, interrupted; {mechanism.rung}" if mechanism is other else interrupted.rung
    return replace(mechanism, witness=bound.witness, rung=rung, solver=interrupted.solver)


def _unproved(proposal: Proposal) -> OptimalityClaim:
    """A claim that carries the proposal's witness to whoever proves it."""
    assert proposal.witness is not None
    return OptimalityClaim(Fraction(0), Fraction(0), proposal.witness)


def _too_large(problem: Problem) -> str | None:
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        return None
    if problem.exchangeable:
        if universe.histogram_count > MOST_PROGRAM_STATES:
            return (
                f"{universe.histogram_count:,} histograms are more than the {MOST_PROGRAM_STATES:,} a program takes"
            )
        return None
    if universe.database_count > MOST_PROGRAM_DATABASES:
        return f"there are more than the {MOST_PROGRAM_DATABASES:,} databases a program takes"
    return None


def _program_name(problem: Problem) -> str:
    if not problem.exchangeable:
        return "database program"
    return (
        "count program"
        if isinstance(problem.universe, Universe) and problem.universe.types == 2
        else "histogram program"
    )


def _program_theorem(problem: Problem) -> str:
    return {"database program": "SY Prop. 1", "count program": "SY Thm 2", "histogram program": "SY Prop. 5"}[
        _program_name(problem)
    ]


def _program_reason(problem: Problem) -> str:
    return {
        "database program": "the order of respondents matters, so every database is a state",
        "count program": "two types and an exchangeable prior: a mechanism may read the count alone",
        "histogram program": "the prior is exchangeable: a mechanism may read the histogram alone",
    }[_program_name(problem)]


def certified(
    problem: Problem, proposal: Proposal, steps: list[Step], reduction: Reduced | None
) -> tuple[Mechanism, Certificate]:
    """The proposal with everything about it proved; claims are the proved numbers rounded outward."""
    summary, witness = proposal.summary, proposal.witness
    if reduction is not None and not isinstance(summary, LinearSummary):
        summary = reduction.carried(summary)
        if isinstance(witness, DualWitness):
            witness = replace(witness, reduction=reduction.name)
    kernel = proposal.kernel
    if reduction is not None and isinstance(kernel, TableKernel):
        kernel = reduction.counted(kernel)
    provenance = {
        "made by": f"discreet {__version__}",
        "reduction": steps[0].name,
        "theorem": steps[0].theorem,
        "rung": proposal.rung,
    }
    bare = _bare(problem, summary, kernel, provenance)
    assert witness is not None
    open_claim = OptimalityClaim(Fraction(0), Fraction(0), witness)
    value = outward(proved_value(bare, open_claim), down=True)
    bound = max(outward(proved_bound(bare, open_claim), down=False), value)
    mechanism = replace(bare, claims=Claims(value, bound))
    proof = privacy(mechanism)
    if isinstance(proof, Counterexample):
        raise Refuted("the designed mechanism is not private, which is a defect of the design", proof)
    return mechanism, replace(proof, optimality=OptimalityClaim(value, bound, witness))


def _bare(problem: Problem, summary: Summary, kernel: Kernel, provenance: dict[str, str]) -> Mechanism:
    """A mechanism that promises what the problem asks and claims nothing yet."""
    return Mechanism(problem, summary, kernel, problem.guarantee, Claims(), provenance)


def outward(number: Fraction, *, down: bool) -> Fraction:
    """The number with twelve significant decimals, rounded down or up."""
    if number == 0:
        return number
    size = abs(number)
    places = DIGITS
    while size < 1:
        size *= 10
        places += 1
    while size >= 10:
        size /= 10
        places -= 1
    scale = Fraction(10) ** places
    scaled = number * scale
    whole = scaled.numerator // scaled.denominator
    return Fraction(whole if down or whole == scaled else whole + 1) / scale


def _baselines(problem: Problem, watch: Watch) -> dict[str, Baseline]:
    if _too_large(problem) is not None:
        return ladder_baselines(problem)
    return baselines(ground(problem), watch)


def _restricted(best: Design, gap: float, watch: Watch) -> Design:
    """The best mechanism that reads only the statistic, and what that costs against the best of all."""
    problem = best.mechanism.problem
    begun = time.perf_counter()
    proposal = oblivious_proposal(ground(problem), gap, watch)
    solved = time.perf_counter()
    step = Step("oblivious program", True, "SY Prop. 3", "asked for: the mechanism reads only the statistic")
    shared = replace(proposal, witness=best.claim.witness)
    mechanism, certificate = certified(problem, shared, [step], None)
    took = {"solve": solved - begun, "certify": time.perf_counter() - solved}
    price = float(best.value - (certificate.optimality.value if certificate.optimality else 0))
    steps = (step, *(replace(s, applied=False, reason=f"not asked for ({s.reason})") for s in best.steps))
    return replace(
        best,
        mechanism=mechanism,
        certificate=certificate,
        steps=steps,
        seconds=took,
        within="oblivious",
        price=price,
    )


def _notes(problem: Problem) -> tuple[str, ...]:
    zeros = problem.zeros
    if not zeros:
        return problem.notes
    named = ", ".join(zeros[:3]) + (f" and {len(zeros) - 3} more" if len(zeros) > 3 else "")
    return (
        *problem.notes,
        f"The prior gives no probability to {named}: the theory assumes full support, so what the mechanism "
        "does there is private but not chosen for any payoff",
    )
