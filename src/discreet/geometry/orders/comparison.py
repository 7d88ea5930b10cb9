"""Two mechanisms side by side in every order, about the statistic of their problem.

Both must be about the same databases, neighbours, prior and statistic. Each order is decided exactly; kernels that are
rounded to a file's denominator miss equalities by a hair, so an order that fails exactly is also tried within a
tolerance (relative 10^−9; for Blackwell a deficiency of 10^−6) and reported as `within` when it holds there.
Mechanisms whose numbers are too long for exact work are rounded to 2^−256 first (`exact` is then False): what fails
by more than the tolerance still fails for certain, what holds is reported as `within` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import InputError, TooLarge
from discreet.geometry.channel import Channel, averaged_own, own_channel
from discreet.geometry.hyper import Hyper, hyper_of_channel
from discreet.geometry.of_problem import StatedProblem, stated
from discreet.geometry.orders.blackwell import BlackwellAnswer, blackwell
from discreet.geometry.orders.frechet import frechet
from discreet.geometry.orders.likelihood_ratio import Chain, first_order, mlrp
from discreet.geometry.orders.monotone import CutDecision, cut_against
from discreet.geometry.orders.supermodular_order import supermodular_violation
from discreet.geometry.orders.uprr import UprrAnswer, uprr
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import number_at_least
from discreet.numerics.exact import format_exact

WITHIN = Fraction(1, 10**9)
"""The relative difference that counts as rounding."""
CLOSE = 1e-6
"""The deficiency below which a garbling exists for all practical purposes: what a solver's tolerance leaves behind."""
MOST_BITS = 400_000
"""The most bits of probabilities that are compared without rounding."""
ROUNDED_BITS = 256
MOST_ENTRIES = 60_000
"""The most probabilities [output, value of ω] that are compared exactly."""


def compare_orders(mechanism: Mechanism, other: Mechanism) -> dict[str, Any]:
    """Every order in both directions, as plain values: names, numbers, lists and None.

    Keys: `statistic`, `exact`, `outputs`, `oblivious`, and per order a mapping with `first_over_second` and
    `second_over_first` (blackwell, monotone, uprr, supermodular) or `first` and `second` (mlrp, first_order). Each verdict has
    `holds` (True, False or None when it is not decided), `within` and its evidence. `monotone` is what follows for all decisions
    in which a higher statistic asks for a higher action: from Blackwell's order, from UPRR, or from one such decision.
    """
    check_same_problem(mechanism, other)
    whole = any(m.summary.ordered for m in (mechanism, other))
    listed = stated(mechanism.problem, "databases" if whole else "finest")
    own = [own_channel(m) for m in (mechanism, other)]
    exact = sum(channel.bits() for channel in own) <= MOST_BITS
    if not exact:
        own = [channel.rounded(ROUNDED_BITS) for channel in own]
    both = [averaged_own(c, m, listed) for c, m in zip(own, (mechanism, other), strict=True)]
    oblivious = [reads_only for _, reads_only in both]
    first, second = (channel.merged() for channel, _ in both)
    _must_be_small(first, second)
    mu0 = listed.statistic_prior
    hypers = [hyper_of_channel(channel, mu0) for channel in (first, second)]
    omegas = [format_exact(omega) for omega in listed.omegas]
    found: dict[str, Any] = {
        "statistic": omegas,
        "exact": exact,
        "outputs": [list(first.outputs), list(second.outputs)],
        "oblivious": oblivious,
        "blackwell": {
            "first_over_second": _blackwell(blackwell(first, second, exact), omegas),
            "second_over_first": _blackwell(blackwell(second, first, exact), omegas),
        },
        "monotone": {},
        "uprr": {
            "first_over_second": _uprr(first, second, omegas),
            "second_over_first": _uprr(second, first, omegas),
        },
        "supermodular": {
            "first_over_second": _supermodular(hypers[0], hypers[1], listed),
            "second_over_first": _supermodular(hypers[1], hypers[0], listed),
        },
        "mlrp": {"first": _chain(mlrp, first, hypers[0]), "second": _chain(mlrp, second, hypers[1])},
        "first_order": {
            "first": _chain(first_order, first, hypers[0]),
            "second": _chain(first_order, second, hypers[1]),
        },
    }
    if not exact:
        for order in ("uprr", "supermodular", "mlrp", "first_order"):
            for verdict in found[order].values():
                verdict["holds"] = None if verdict["within"] else False
    for way, (ours, theirs) in {"first_over_second": (first, second), "second_over_first": (second, first)}.items():
        against = cut_against(ours, theirs, mu0, exact=exact)
        found["monotone"][way] = _monotone(found["blackwell"][way], found["uprr"][way], against, omegas)
    return found


def check_same_problem(mechanism: Mechanism, other: Mechanism) -> None:
    """Refuse two mechanisms about different databases, neighbours, priors or statistics."""
    ours, theirs = mechanism.problem, other.problem
    for what, a, b in (
        ("universes", ours.universe, theirs.universe),
        ("relations between databases", ours.neighbours, theirs.neighbours),
        ("priors", ours.prior, theirs.prior),
        ("statistics", ours.statistic, theirs.statistic),
    ):
        if a != b:
            raise InputError(
                f"Mechanisms over different {what} have no order between them",
                found=f"{_short(a)} and {_short(b)}",
                allowed="two mechanisms of the same data, prior and statistic",
                remedy="design both for the same problem",
            )


def _short(thing: object) -> str:
    text = str(thing)
    return text if len(text) <= 80 else text[:77] + "..."


def _must_be_small(first: Channel, second: Channel) -> None:
    entries = max(len(c.outputs) for c in (first, second)) * len(first.states)
    if entries > MOST_ENTRIES:
        raise TooLarge(
            "These mechanisms have too many outputs and values for exact orders",
            size=f"{entries:,} probabilities",
            fits=f"{MOST_ENTRIES:,}",
            remedy="compare them for a smaller number of respondents",
        )


def _blackwell(answer: BlackwellAnswer, omegas: Sequence[str]) -> dict[str, Any]:
    near = answer.deficiency is not None and answer.deficiency < CLOSE
    found: dict[str, Any] = {"holds": answer.holds, "within": True if near else answer.holds}
    if answer.garbling is not None:
        found["garbling"] = [[float(g) for g in line] for line in answer.garbling]
    if answer.payoff is not None:
        assert answer.advantage is not None
        found["decision"] = _decision(answer.payoff, answer.advantage, omegas)
    if answer.holds is not True and answer.deficiency is not None:
        found["deficiency"] = answer.deficiency
    return found


def _uprr(ours: Channel, theirs: Channel, omegas: Sequence[str]) -> dict[str, Any]:
    # For one prior, likelihoods and posteriors have the same relative risks (SY fn 33).
    answer: UprrAnswer = uprr(ours.rows, theirs.rows)
    near = answer if answer.holds else uprr(ours.rows, theirs.rows, WITHIN)
    found: dict[str, Any] = {"holds": answer.holds, "within": near.holds}
    if near.peaks is not None:
        found["peaks"] = {label: omegas[low] for label, (low, _) in zip(ours.outputs, near.peaks, strict=True)}
    if near.counterexample is not None:
        c = near.counterexample
        found["counterexample"] = {
            "output": ours.outputs[c.posterior],
            "falls_between": [omegas[i] for i in c.falls],
            "against": theirs.outputs[c.falls_against],
            "rises_between": [omegas[i] for i in c.rises],
            "rises_against": theirs.outputs[c.rises_against],
        }
    return found


def _monotone(every: dict[str, Any], peaked: dict[str, Any], against: CutDecision | None, omegas: Sequence[str]) -> dict[str, Any]:
    """Two ways to show it, one to refute it; else not decided."""
    for by, verdict in (("blackwell", every), ("uprr", peaked)):
        if verdict["within"]:
            return {"holds": verdict["holds"], "within": True, "by": by}
    if against is None:
        return {"holds": None, "within": None}
    decision = _decision(against.payoff, against.advantage, omegas) | {"act_from": omegas[against.cut]}
    return {"holds": False, "within": False, "decision": decision}


def _decision(payoff: Sequence[Sequence[Fraction]], advantage: Fraction, omegas: Sequence[str]) -> dict[str, Any]:
    return {
        "values": list(omegas),
        "payoff_times_prior": [[format_exact(w) for w in line] for line in payoff],
        "advantage": number_at_least(advantage),
    }


def _supermodular(ours: Hyper, theirs: Hyper, listed: StatedProblem) -> dict[str, Any]:
    """Fréchet representations with respect to the posterior mean."""
    first, second = (frechet(h, [_mean(p, listed) for p in h.posteriors]) for h in (ours, theirs))
    worst = supermodular_violation(first, second)
    near = None if worst is None else supermodular_violation(first, second, WITHIN)
    found: dict[str, Any] = {"holds": worst is None, "within": near is None, "index": "posterior mean"}
    if near is not None:
        found["counterexample"] = {
            "statistic_at_most": format_exact(listed.omegas[near.w]),
            "rank_at_most": float(near.x),
            "probabilities": [float(near.first), float(near.second)],
        }
    return found


def _mean(posterior: Sequence[Fraction], listed: StatedProblem) -> Fraction:
    return sum((p * omega for p, omega in zip(posterior, listed.omegas, strict=True)), Fraction(0))


def _chain(test: Any, channel: Channel, hyper: Hyper) -> dict[str, Any]:
    answer: Chain = test(hyper.posteriors)
    near: Chain = answer if answer.holds else test(hyper.posteriors, WITHIN)
    found: dict[str, Any] = {"holds": answer.holds, "within": near.holds}
    if near.order is not None:
        found["order"] = [channel.outputs[i] for i in near.order]
    if near.counterexample is not None:
        found["counterexample"] = [channel.outputs[i] for i in (near.counterexample.lower, near.counterexample.higher)]
    return found
