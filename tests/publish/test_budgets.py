"""Publications against budgets in every currency, and what each promise costs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import log, sqrt, tanh
from pathlib import Path

import pytest
from towns import Town, make_town, town_mechanism

from discreet.design.program.unbiased_noise import unbiased_noise
from discreet.errors import BudgetExceeded
from discreet.model.actions import RealActions
from discreet.model.mechanism import Mechanism
from discreet.publish import verify


def published(town: Town) -> int:
    """How many publications the budget allows."""
    for count in range(100):
        try:
            folder = town.publish(town.folder / f"release{count}")
        except BudgetExceeded:
            return count
        assert verify(folder).holds
    raise AssertionError("a budget without end")


def test_zcdp_takes_the_tight_rho_of_the_mechanism(tmp_path: Path) -> None:
    """Geometric noise at ε = 1 has ρ = ε·tanh(ε/2), less than 1/2: three fit into three times that, and not into a hair less."""
    town = make_town(tmp_path / "town", currency="zcdp", cap=Fraction(3, 2))
    rho = town.bundle().cost.zcdp
    assert tanh(0.5) < rho < tanh(0.5) * (1 + 1e-7)
    town = make_town(tmp_path / "exactly", currency="zcdp", cap=3 * rho)
    assert published(town) == 3 and town.remaining() == 0
    assert published(make_town(tmp_path / "less", currency="zcdp", cap=3 * rho - Fraction(1, 10**12))) == 2


@pytest.mark.parametrize(("epsilon", "cap", "delta", "better"), [("1/2", 6, 4, "sum"), ("1/4", 4, 1, "filter")])
def test_the_approximate_currency_allows_the_better_of_sum_and_filter(
    tmp_path: Path, epsilon: str, cap: int, delta: int, better: str
) -> None:
    """Σ ε ≤ cap, or √(2·ln(2/δ)·S) + S/2 ≤ cap with S = Σ 2ρ, ρ = ε·tanh(ε/2); δ is a power of ten."""
    town = make_town(
        tmp_path / "town", currency="approximate", cap=Fraction(cap), delta=Fraction(1, 10**delta),
        mechanism=town_mechanism(epsilon=epsilon),
    )  # fmt: skip
    each = float(Fraction(epsilon))
    square = 2 * each * tanh(each / 2)
    by_filter = max(k for k in range(100) if sqrt(2 * log(2 * 10**delta) * k * square) + k * square / 2 <= cap)
    by_sum = int(cap / Fraction(epsilon))
    assert (by_sum > by_filter) == (better == "sum")
    assert published(town) == max(by_sum, by_filter) > 0


def test_pure_adds_up_and_a_thousandth_is_missed(tmp_path: Path) -> None:
    assert published(make_town(tmp_path / "enough", cap=Fraction(2))) == 2
    assert published(make_town(tmp_path / "short", cap=Fraction(2) - Fraction(1, 10**9))) == 1


@pytest.mark.parametrize(("protects", "cost"), [("values", 1), ("presence", 1), ("moves", 2)])
def test_cells_are_parallel_within_one_partition_and_moves_touch_two(tmp_path: Path, protects: str, cost: int) -> None:
    """Three streets cost as much as one: a person is in one. Moving house touches two."""
    town = make_town(tmp_path / "town", protects=protects)
    town.publish()
    assert town.remaining() == 5 - cost
    stated = json.loads((town.target / "facts.json").read_text())
    assert stated["privacy_loss"]["epsilon"] == str(cost) and stated["privacy_loss"]["cells_per_unit"] == cost


def test_two_tables_of_the_same_people_are_not_parallel(tmp_path: Path) -> None:
    """The near-miss: the same streets in another plan are another partition, and its cost adds up."""
    from discreet.publish import commit

    town = make_town(tmp_path / "town")
    town.publish()
    town.plan.write_text(town.plan.read_text().replace("answers by street", "answers again"))
    with town.ledger() as book:
        commit(town.bundle(), book, town.signer)
    town.publish(town.folder / "again")
    assert town.remaining() == 3


def test_the_facts_say_what_was_promised_exactly(tmp_path: Path) -> None:
    stated = json.loads((make_town(tmp_path / "town").publish() / "facts.json").read_text())
    assert stated["privacy_loss"]["privacy_unit"] == "person" and stated["privacy_loss"]["per_cell"] == {"epsilon": "1"}
    assert stated["promise"] == "pure" and stated["accounting"]["currency"] == "pure"


def test_the_page_for_readers_stands_alone(tmp_path: Path) -> None:
    text = (make_town(tmp_path / "town").publish() / "index.html").read_text()
    for outside in ("<script", "http://", "https://", "<img", "url(", "@import"):
        assert outside not in text
    for words in ("What is promised", "How to read a value", "How to check it", "ε = 1", "unbiased"):
        assert words in text


@pytest.mark.parametrize(
    ("unbiased", "there", "absent"),
    [
        ("everywhere", ["is for adding up", "which rest on no prior", "unbiased whatever is believed"], ["pull towards", "second"]),
        ("nearby", ["is for adding up", "second order only", "off in second order"], ["pull towards", "rest on no prior"]),
        (None, ["the number to use in", "pull towards the prior"], ["is for adding up", "whatever is believed"]),
    ],
)
def test_the_page_says_what_its_values_are_for(tmp_path: Path, unbiased: str | None, there: list[str], absent: list[str]) -> None:
    mechanism = None if unbiased is None else unbiased_town(unbiased)
    text = (make_town(tmp_path / "town", mechanism=mechanism).publish() / "index.html").read_text()
    assert all(words in " ".join(text.split()) for words in [*there, "discreet total"])
    assert not any(words in " ".join(text.split()) for words in absent)


def unbiased_town(unbiased: str) -> Mechanism:
    """The town's noise with its ends read as what they stand for, which is unbiased in both ways."""
    like = town_mechanism()
    decision = replace(like.problem.decision, actions=RealActions(), unbiased=unbiased)
    problem = replace(like.problem, decisions=(decision,))
    made = unbiased_noise(problem, "geometric")
    return Mechanism(problem, made.summary, made.kernel, problem.guarantee)
