"""Several mechanisms side by side, viewed: what each is worth for the first one's problem, what it promises, which tells more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from discreet import certify
from discreet.design.concentrated.equal_promises import implied_epsilon, implied_rho
from discreet.design.questions.regret import under
from discreet.errors import DiscreetError, InputError
from discreet.geometry.orders import compare_orders, orders_in_words
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, at_most, given
from discreet.views.design import sizes
from discreet.views.plain import known
from discreet.views.view import Block, Fact, Grid, Sentence, View

IMPLIED = {"implied_rho": "ρ at most", "implied_epsilon": "at δ = 0.000001 ε at most"}
HEADS = ("mechanism", "loss when followed", "loss when re-read", "bias", "ε", "outputs")


def comparison_view(named: Sequence[tuple[str, Mechanism]], *, implied: bool = False) -> View:
    """Two mechanisms or more with their names; the first one's problem is what all are valued for.

    Where promises differ, or with `implied`, what each implies in ρ and in ε at a small δ is told as well.
    """
    if len(named) < 2:
        raise InputError(
            "There is nothing to compare",
            found=f"{len(named)} mechanism",
            allowed="two or more",
            remedy="name another mechanism",
        )
    first = named[0][1]
    mixed = implied or len({type(mechanism.guarantee.promise) for _, mechanism in named}) > 1
    facts: dict[str, Any] = {
        "mechanisms": [valued(name, mechanism, first) | (_implied(mechanism) if mixed else {}) for name, mechanism in named],
        "orders": [_ordered(one, other) for i, one in enumerate(named) for other in named[i + 1 :]],
    }
    return View(facts, tuple(_told(facts)))


def valued(name: str, mechanism: Mechanism, first: Mechanism) -> dict[str, Any]:
    """What a mechanism is worth for the first one's problem, and what it promises."""
    proof = certify.privacy(mechanism)
    seen = under(mechanism, first.problem)
    facts: dict[str, Any] = {
        "mechanism": name,
        "followed": seen.followed,
        "reread": seen.reread,
        "bias": known(seen.bias),
        "private": isinstance(proof, Certificate),
        **mechanism.guarantee.promise.numbers,
        "outputs": sizes(mechanism)["outputs"],
    }
    if isinstance(proof, Certificate):
        facts[f"tight_{mechanism.guarantee.promise.keys[-1]}"] = [proof.privacy.tight_low, proof.privacy.tight_high]
    return facts


def _implied(mechanism: Mechanism) -> dict[str, Fraction]:
    """What a promise says in the words of the others: the ρ that follows from it, and the ε at a δ of one in a million."""
    promise, found = mechanism.guarantee.promise, {}
    with suppress(DiscreetError):  # no ρ follows from a δ above 0
        found["implied_rho"] = implied_rho(promise)
    with suppress(DiscreetError):
        found["implied_epsilon"] = implied_epsilon(promise)
    return found


def _ordered(one: tuple[str, Mechanism], other: tuple[str, Mechanism]) -> dict[str, Any]:
    """Which of a pair tells more, where both are small enough to decide."""
    pair: dict[str, Any] = {"first": one[0], "second": other[0]}
    try:
        return pair | compare_orders(one[1], other[1])
    except DiscreetError as error:
        return pair | {"undecided": str(error)}


def _told(facts: dict[str, Any]) -> Iterator[Block]:
    yield Grid(
        HEADS,
        [
            (
                m["mechanism"],
                about(m["followed"], 6),
                about(m["reread"], 6),
                "–" if m["bias"] is None else about(m["bias"], 3),
                promised_words(m) if m["private"] else "refuted",
                str(m["outputs"]),
            )
            for m in facts["mechanisms"]
        ],
    )
    for m in facts["mechanisms"]:
        follows = [f"{words} {at_most(m[key])}" for key, words in IMPLIED.items() if key in m]
        if follows:
            yield Sentence(f"{m['mechanism']} promises {_lettered(m)}, hence {' and '.join(follows)}.")
    for pair in facts["orders"]:
        yield Sentence(f"{pair['first']} and {pair['second']}:", whole=True)
        undecided = "undecided" in pair
        lines = [f"orders not decided: {pair['undecided']}"] if undecided else orders_in_words(pair)
        yield from (Fact("", line) for line in lines)


def promised_words(facts: dict[str, Any]) -> str:
    """The numbers of a promise; ε alone stands without its letter under a head that names it."""
    if "epsilon" in facts and "delta" not in facts:
        return given(facts["epsilon"])
    return _lettered(facts)


def _lettered(facts: dict[str, Any]) -> str:
    return ", ".join(f"{LETTERS[key]} = {given(facts[key])}" for key in LETTERS if key in facts)
