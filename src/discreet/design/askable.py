"""What a design may be asked for: a gap, and a class of mechanisms."""

from __future__ import annotations

from discreet.design.restricted import OBLIVIOUS
from discreet.errors import InputError
from discreet.model.problem import Problem

CLASSES = (OBLIVIOUS, "permutation-invariant")


def must_be_askable(problem: Problem, gap: float, within: str | None) -> None:
    """Refuse before any work what cannot be answered."""
    if not 0 < gap < 1:
        raise InputError("The gap is a small positive number", found=gap, allowed="between 0 and 1", remedy="for instance 1e-6")
    if within is not None and within not in CLASSES:
        raise InputError("This class of mechanisms is not known", found=within, allowed=CLASSES, remedy="choose one of these")
    if within == "permutation-invariant" and not problem.exchangeable:
        raise InputError(
            "Mechanisms that ignore the order of respondents are only solved under an exchangeable prior",
            found=problem.prior.kind,
            allowed="an exchangeable or iid prior",
            remedy="leave out the restriction",
        )
    if within == OBLIVIOUS:
        from discreet.design.routes.oblivious import Oblivious

        if (reason := Oblivious().why_not(problem)) is not None:
            raise InputError(
                "Mechanisms that read only the statistic are not solved for this problem",
                found=reason,
                allowed="a sum, mean or count of states that can be listed",
                remedy="leave out the restriction",
            )
