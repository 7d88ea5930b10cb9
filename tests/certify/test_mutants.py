"""Mutation tests of the checkers: change any comparison, and some mechanism gets another verdict.

`mutation` makes the mutants. One survives if it answers the whole corpus as the original does; the corpus holds only mechanisms
whose verdicts other tests establish independently. A survivor is a defect of the corpus, unless it is listed with the
reason why it cannot answer differently.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import random_worlds as worlds
from counted_mechanisms import counted_on, kernel_of, peaked
from mutation import limited, mutants, survivors, unexplained
from small_mechanisms import corpus, special, worlds_at_random

import discreet
from discreet.certify.edges import concentrated
from discreet.certify.edges.concentrated import concentrated_privacy
from discreet.certify.edges.pure import worst_ratio
from discreet.model.certificate import PrivacyProof
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.promises import ConcentratedPromise
from discreet.model.summary import HistogramSummary, LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import float_up, log_bracket
from discreet.numerics.concentrated import rho_bracket

SOURCE = Path(discreet.__file__).parent
EQUIVALENT: dict[str, str] = {
    "closed_forms: near < far [Lt→LtE at 0]": "a total does not fall towards itself, whatever the output",
    "closed_forms: fall.near < fall.far [Lt→LtE at 0]": "pairs of one total twice are alike",
    "closed_forms: kernel.high - kernel.low < FEW_OUTPUTS [Lt→LtE at 0]": "a wider search finds the same fall",
}


def facts(found: Any) -> Any:
    """A proof or counterexample by its contents, whichever module made it."""
    return repr(found)


def test_no_comparison_of_the_privacy_checker_can_change_unnoticed() -> None:
    tables = [m for m in corpus() if isinstance(m.kernel, TableKernel)]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, m=m: facts(module.privacy(m)) for m in tables]
    closed = worlds.problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    geometric = worlds.mechanism_on(closed, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, Fraction(1, 2)))
    questions.append(lambda module: facts(module.privacy(geometric)))
    assert unexplained(SOURCE / "certify" / "edges" / "privacy.py", questions, EQUIVALENT) == []
    pure: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m: facts(module.pure_privacy(m, m.guarantee.promise)) for m in [*tables, geometric]
    ]
    pure += [
        lambda module: module.tight_bracket(5, 5, Fraction(1)),
        lambda module: module.tight_bracket(6, 5, Fraction(1)),
    ]
    table, edges = tables[0].kernel, 40
    assert isinstance(table, TableKernel)
    work = edges * len(table.outputs) * table.denominator.bit_length() ** 2 // 4

    def compared(module: ModuleType, most: int) -> Any:
        within = lambda inner: limited(inner, "MOST_COMPARED", most, lambda at: at.must_be_compared_soon(table, edges))  # noqa: E731
        return limited(module, "LONG", 1, within)

    pure += [lambda module, most=most: compared(module, most) for most in (work - 1, work, work + 1)]
    assert unexplained(SOURCE / "certify" / "edges" / "pure.py", pure, EQUIVALENT) == []


def test_no_comparison_of_the_concentrated_checker_can_change_unnoticed() -> None:
    """Tables at the upper side of their ρ, just above it, inside the bracket and below it; closed forms around ε·tanh(ε/2)."""
    questions: list[Callable[[ModuleType], Any]] = []
    table, *others = [*worlds_at_random(6), *special()]
    for m in (table, *others):
        if isinstance(m.kernel, TableKernel) and m.kernel.stated_edges is None:
            best = concentrated_privacy(m, ConcentratedPromise(Fraction(10**6)))
            low, high = (best.tight_low, best.tight_high) if isinstance(best, PrivacyProof) else (Fraction(1), Fraction(1))
            table = m if isinstance(best, PrivacyProof) and low else table
            levels = {Fraction(0), low * Fraction(99, 100), low, (low + high) / 2, high, high * Fraction(101, 100)}
            questions += [
                lambda module, m=m, rho=rho: facts(module.concentrated_privacy(m, ConcentratedPromise(rho)))
                for rho in sorted(levels)
            ]
    closed = worlds.problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    geometric = worlds.mechanism_on(closed, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, Fraction(1, 2)))
    proved = concentrated_privacy(geometric, ConcentratedPromise(Fraction(1)))
    assert isinstance(proved, PrivacyProof)
    for rho in (proved.tight_high, proved.tight_high * (1 - Fraction(1, 10**15)), Fraction(0)):
        questions.append(lambda module, rho=rho: facts(module.concentrated_privacy(geometric, ConcentratedPromise(rho))))
    for m in (counted_on(peaked(2, 0, -2)), counted_on(kernel_of([[0, 6, 4], [4, 6, 4]]))):
        questions.append(lambda module, m=m: facts(module.concentrated_privacy(m, ConcentratedPromise(Fraction(10**6)))))
    top, bottom, *_ = worst_ratio(table.kernel.weights, table.space.edges.tolist())
    largest = float_up(log_bracket(Fraction(top, bottom), concentrated.LOG_BITS)[1])
    bracket = rho_bracket(concentrated._rows(table, table.kernel), largest)
    direction, order = bracket.at
    ends = table.space.edges[direction % len(table.space.edges)].tolist()
    first, second = ends if direction < len(table.space.edges) else ends[::-1]
    attained = concentrated.least_quotient(table.kernel, first, second, Fraction(order))
    for rho in (attained, Fraction(bracket.upper)):
        questions.append(lambda module, rho=rho: facts(module.concentrated_privacy(table, ConcentratedPromise(rho))))
    assert unexplained(SOURCE / "certify" / "edges" / "concentrated.py", questions, EQUIVALENT) == []


@pytest.mark.slow
def test_no_comparison_of_the_closed_forms_can_change_unnoticed() -> None:
    closed = [m for m in corpus() if not isinstance(m.kernel, TableKernel)]
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m: facts(module.closed_form_privacy(m, m.kernel, m.guarantee.promise)) for m in closed
    ]
    table = worlds.mechanism_on(
        worlds.problem_of(Universe.of(1, (Fraction(0), Fraction(1))), ReplaceOne()),
        HistogramSummary(),
        TableKernel(("1,0", "0,1"), (Output("x"),), ((2, 2),), 2),
    )
    edge = GeometricKernel(0, 3, 1, Fraction(1, 2))
    questions += [
        lambda module: facts(module.closed_form_privacy(table, edge, table.guarantee.promise)),
        lambda module: module.Fall(0, 0, 0, Fraction(2), 0).exceeds(Fraction(0)),
        lambda module: module.Fall(0, 0, 0, Fraction(1), 1).exceeds(Fraction(0)),
    ]
    assert unexplained(SOURCE / "certify" / "edges" / "closed_forms.py", questions, EQUIVALENT) == []


def test_every_file_that_can_accept_a_claim_is_mutated() -> None:
    """A new file of `certify` with a comparison needs a corpus: its path stands in one of the tests of this folder."""
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    forgotten = []
    for path in (SOURCE / "certify").rglob("*.py"):
        room = path.parent.name
        named = any(f'{word} / "{path.name}"' in tests for word in (f'"{room}"', room.upper()))
        if not named and any(mutants(path.read_text(encoding="utf-8"))):
            forgotten.append(f"{room}/{path.name}")
    assert forgotten == []


def test_the_mutator_itself_kills_and_spares(tmp_path: Path) -> None:
    """Near-miss: where equality makes no difference a mutant lives, where the order does it dies."""
    path = tmp_path / "sample.py"
    path.write_text("def larger(a, b):\n    return a if a > b and a != 7 else b\n", encoding="utf-8")
    questions: list[Callable[[ModuleType], Any]] = [lambda m, a=a, b=b: m.larger(a, b) for a, b in ((1, 2), (2, 1), (7, 1), (2, 2))]
    assert survivors(path, questions) == ["a > b [Gt→GtE at 0]"]
    assert len(list(mutants(path.read_text(encoding="utf-8")))) == 6
