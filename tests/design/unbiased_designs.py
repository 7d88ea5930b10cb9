"""Problems that ask for unbiased values, their noise, and the bias of a mechanism by plain sums."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from discreet.design import design
from discreet.design.program.unbiased_noise import unbiased_noise
from discreet.design.result import Design
from discreet.files.problem import problem_from_document
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem


def asked(
    respondents: int = 3,
    unbiased: str | None = "everywhere",
    values: tuple[object, ...] = (0, 1, 2),
    epsilon: object = 1,
    **other: Any,
) -> Problem:
    """The school problem with so many pupils."""
    chances: list[object] = ["0.89", "0.11"] if len(values) == 2 else ["0.89", "0.09", "0.02"]
    decision = {"kind": "squared-error", "actions": "real"} | ({} if unbiased is None else {"unbiased": unbiased})
    document: dict[str, Any] = {
        "data": {"respondents": respondents, "values": list(values)},
        "prior": {"kind": "iid", "probabilities": chances},
        "statistic": {"kind": "sum"},
        "decision": decision,
        "privacy": {"epsilon": epsilon},
    }
    return problem_from_document(document | other)


def noise(problem: Problem, name: str) -> Mechanism:
    proposal = unbiased_noise(problem, name)
    return Mechanism(problem, proposal.summary, proposal.kernel, problem.guarantee)


def bias_at(mechanism: Mechanism, state: int) -> Fraction:
    """E[a | state] − ω by plain sums of fractions."""
    numbers = [output.action for output in mechanism.outputs]
    vector = mechanism.space.vectors[state].tolist()
    mean = sum((a * mechanism.probability(k, state) for k, a in enumerate(numbers) if isinstance(a, Fraction)), Fraction(0))
    omega = vector[0] if len(vector) == 1 else sum(v * n for v, n in zip((0, 1, 2), vector, strict=True))
    return mean - omega


TINY = Fraction(1, 10**12)


@cache
def everywhere() -> Design:
    """Three pupils, unbiased at every state: designed once for all tests."""
    return design(asked(), gap=0.03, seconds=600)
