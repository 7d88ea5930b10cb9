"""Mechanisms of three peers, certified or refuted: the table in docs/exchange.md says what is found here.

Verdicts belong to the versions named in the table; where another version of a peer is installed a refuted claim may have been
mended, and the table is then compared only where the claim is still the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.exchange import from_accounting, from_opendp, judge, repeated
from discreet.exchange.cell_keys import entropy_table
from discreet.exchange.cell_keys.ons_csv import from_ons
from discreet.exchange.delimited import parse_delimited
from discreet.exchange.judgement import Judgement

opendp = pytest.importorskip("opendp.prelude")
accounting = pytest.importorskip("dp_accounting")
opendp.enable_features("contrib", "honest-but-curious")


def numbers() -> tuple[Any, Any]:
    return opendp.atom_domain(T=int), opendp.absolute_distance(T=int)


def keyed(metric: Callable[[Any], Any]) -> tuple[Any, Any]:
    inner = opendp.map_domain(opendp.atom_domain(T=str), opendp.atom_domain(T=int))
    return inner, metric(opendp.absolute_distance(T=int))


def accounted(event: Any, distribution: Any, epsilon: float) -> Judgement:
    return judge(from_accounting(event), epsilon=epsilon, delta=Fraction(float(distribution.get_delta_for_epsilon(epsilon))))


def loss(name: str, **options: Any) -> Any:
    from dp_accounting.pld import privacy_loss_distribution

    return getattr(privacy_loss_distribution, name)(**options)


def ten_answers() -> Judgement:
    from dp_accounting.pld import pld_privacy_accountant

    event = accounting.dp_event.RandomizedResponseDpEvent(0.5, 2)
    accountant = pld_privacy_accountant.PLDAccountant(accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(event, 10)
    return judge(repeated(from_accounting(event), 10), epsilon=Fraction(accountant.get_epsilon(1e-6)), delta="1e-6")


def rounding_rule() -> Judgement:
    from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

    text = generate_ptable_10_5_rule(key_range=1).to_csv(index=False)
    return judge(from_ons(parse_delimited(text, "rule"), "rule").mechanism(), epsilon=5, delta="0.999")


RESPONSE = accounting.dp_event.RandomizedResponseDpEvent(0.5, 3)
LAPLACE = accounting.dp_event.DiscreteLaplaceDpEvent(0.5, 1)
FOUND: dict[str, Callable[[], Judgement]] = {
    "make_laplace(scale=1)": lambda: from_opendp(opendp.m.make_laplace(*numbers(), scale=1.0)).judged(),
    "make_geometric(scale=1, bounds=(0, 10))": lambda: from_opendp(
        opendp.m.make_geometric(*numbers(), scale=1.0, bounds=(0, 10))
    ).judged(),
    "make_gaussian(scale=2)": lambda: from_opendp(opendp.m.make_gaussian(*numbers(), scale=2.0)).judged(),
    "make_randomized_response_bool(0.75)": lambda: from_opendp(opendp.m.make_randomized_response_bool(0.75)).judged(),
    "make_randomized_response(4 answers, 0.7)": lambda: from_opendp(
        opendp.m.make_randomized_response([0, 1, 2, 3], 0.7, T=int)
    ).judged(),
    "make_laplace_threshold(scale=1, threshold=5)": lambda: from_opendp(
        opendp.m.make_laplace_threshold(*keyed(opendp.l01inf_distance), scale=1.0, threshold=5)
    ).judged(),
    "make_gaussian_threshold(scale=2, threshold=8)": lambda: from_opendp(
        opendp.m.make_gaussian_threshold(*keyed(opendp.l02inf_distance), scale=2.0, threshold=8)
    ).judged(),
    "randomised response (0.5, 3), pessimistic": lambda: accounted(
        RESPONSE, loss("from_randomized_response", noise_parameter=0.5, num_buckets=3), 0.5
    ),
    "discrete Laplace (0.5), pessimistic": lambda: accounted(LAPLACE, loss("from_discrete_laplace_mechanism", parameter=0.5), 0.25),
    "discrete Laplace (0.5), optimistic": lambda: accounted(
        LAPLACE,
        loss("from_discrete_laplace_mechanism", parameter=0.5, pessimistic_estimate=False, value_discretization_interval=0.03),
        0.25,
    ),
    "PLDAccountant, randomised response (0.5, 2) ten times": ten_answers,
    "maximum entropy, D = 5, V = 3": lambda: judge(entropy_table(5, 3).mechanism(), epsilon=1, delta="0.375155"),
    "10-5 rounding rule": rounding_rule,
}


def told() -> dict[str, tuple[str, str]]:
    """Verdict and edge of every mechanism in the documentation's table."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ") and line.count("|") == 6]
    return {row[1].strip().strip("`"): (row[3].strip(), row[4].strip()) for row in rows}


@pytest.mark.parametrize("name", FOUND)
def test_the_documentation_tells_what_is_found(name: str) -> None:
    found = FOUND[name]().findings[0]
    verdict, edge = told()[name]
    if "*" in verdict and found.holds:
        return  # a defect of the version that the table names, mended in this one
    assert verdict.strip("*") == {True: "certified", False: "refuted"}[found.holds is True]
    if found.holds is False:
        assert found.counterexample is not None and found.counterexample.edge is not None
        assert re.split(r" → ", edge) == list(found.counterexample.edge)


def test_there_are_ten_of_three_peers() -> None:
    assert len(FOUND) >= 10 and set(told()) >= set(FOUND)
