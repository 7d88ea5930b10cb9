"""Mutation tests of what binds a release beforehand and what is said of it afterwards: commitments, and cells against their prior.

As in `certify/test_mutants`. Bundles, ledgers, batches and readings are stand-ins, so that what they say can be chosen; real ones
are for `test_faults`, `test_batches` and `tests/face/test_learned.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from mutation import unexplained

import discreet

Question = Callable[[ModuleType], Any]
Space = SimpleNamespace

HOME = Path(discreet.__file__).parent / "publish"
EQUIVALENT: dict[str, str] = {}


def a_bundle(population: str = "p", unit: str = "u", hashes: str = "1", prior: Any = None, path: Any = "plan") -> Any:
    prior = prior or Space(kind="iid")
    used = {0: Space(problem=Space(prior=prior))}
    plan = Space(population=population, unit=Space(name=unit), exposure=1, source="s")
    return Space(plan=plan, hashes={"plan": hashes}, used=used, cost="c", least_cost="least", path=path, prove=lambda: None)


def an_event(hashes: str = "1", members: int | None = None) -> dict[str, Any]:
    one = {"hashes": {"plan": hashes, "nonce": "00"}, "cost": "stated", "attested": {"mine": hashes}}
    event = {"population": "p", "unit": "u", "attested": {"all": "x"}}
    return event | (one if members is None else {"members": [one] * members})


def with_stand_ins(
    module: ModuleType, *, covers: bool = True, holds: bool = True, short: str | None = None, wrong: Any = None
) -> None:
    """Costs that cover or do not, parts that hold or do not, a batch with a shortfall or none, a prior that follows or not."""
    batch = Space(members=[Space(part=0), Space(part=1)], shortfall=lambda: short)
    module.Batch = Space(from_event=lambda _: batch)
    module.Cost = Space(from_document=lambda _: Space(covers=lambda _: covers))
    module.part_holds = lambda *_: holds
    module.part_of = lambda *_, with_pair: with_pair
    module.BatchMember = lambda *words: words
    module.compose_batch = lambda *words: words[:1] + words[2:] + tuple(member[2] for member in words[1])
    module.problem_document = lambda _: {"prior": "?"}
    module.attested_files = lambda _: {}
    module.does_not_follow = lambda *_: wrong
    module.must_charge = lambda *_: None
    module.freeze = lambda *_: {"seal": "x"}
    module.private_list = lambda _: "list"
    module.secrets = Space(token_hex=lambda _: "00")


def described(module: ModuleType, event: dict[str, Any], member: int | None, bundle: Any, **said: Any) -> Any:
    with_stand_ins(module, **said)
    made = module.Commitment("name", event, member)
    short = str(made.shortfall(bundle)).replace(str(bundle.cost), "c")
    return sorted(made.entry), made.attested, made.batch is None, made.binds(bundle), short[-40:]


def found(module: ModuleType, events: dict[str, Any], wanted: str | None, **said: Any) -> Any:
    with_stand_ins(module, **said)
    state = Space(commitments=events, publishers={"a": "by a"})
    made = module.find_commitment(a_bundle(), Space(state=state), wanted)
    return made.name, made.member, made.publisher


def a_ledger(currency: str, left: Any) -> Any:
    account = ("p", "u")
    budget = Space(remaining_delta=lambda _: Fraction(left))
    state = Space(
        currency=currency, budgets={account: budget}, spent={account: 0}, account=lambda *_: account, trust=Space(ledger="l")
    )
    return Space(state=state, commit=lambda *words: words, commit_batch=lambda *words: words)


def batched(module: ModuleType, bundles: list[Any], currency: str, left: Any, delta: Fraction | None, **said: Any) -> Any:
    with_stand_ins(module, **said)
    return module.commit_batch(bundles, a_ledger(currency, left), None, delta=delta)


def committed(module: ModuleType, bundle: Any, signer: Any, freeze: bool, **said: Any) -> Any:
    with_stand_ins(module, **said)
    return module.commit(bundle, a_ledger("pure", 0), signer, freeze=freeze)


def about_commitments() -> list[Question]:
    questions: list[Question] = []
    yes = (True, False)
    others = (a_bundle(), a_bundle("q"), a_bundle(unit="v"), a_bundle(hashes="2"))
    for bundle, member, covers, holds in product(others, (None, 0, 1), yes, yes):
        event = an_event(members=None if member is None else 2)
        questions.append(
            lambda module, c=(event, member, bundle), covers=covers, holds=holds: described(module, *c, covers=covers, holds=holds)
        )
    single, batch, other = an_event(), an_event(members=2), an_event("2")
    for events, wanted in product(
        ({}, {"a": single}, {"a": single, "b": single}, {"a": single, "b": other}, {"b": batch}, {"a": other, "b": batch}),
        (None, "a", "b", "c"),
    ):
        questions.append(lambda module, events=events, wanted=wanted: found(module, events, wanted))
    for events, covers, short in product(({"a": single}, {"b": batch}), yes, (None, "x")):
        questions.append(lambda module, e=events, covers=covers, short=short: found(module, e, None, covers=covers, short=short))
    one, two = a_bundle(), a_bundle("q")
    for bundles in ([one], [one, one], [one, two], []):
        questions.append(lambda module, bundles=bundles: batched(module, bundles, "pure", 0, None))
    shares = (None, Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(3, 2), Fraction(2), Fraction(3))
    for currency, left, delta in product(("pure", "approximate"), (0, 2), shares):
        questions.append(lambda module, case=(currency, left, delta): batched(module, [one], *case))
    questions += [lambda module: batched(module, [one], "pure", 0, None, wrong="w")]
    priors = [Space(kind="iid", source="s"), Space(kind="iid", source=""), Space(kind="iid", source="", origin="o"),
              Space(kind="iid", source="s", origin="o"), Space(kind="iid", origin=None)]  # fmt: skip
    for prior, signer in product(priors, (None, "key")):
        questions.append(lambda module, prior=prior, signer=signer: committed(module, a_bundle(prior=prior), signer, False))
    for path, freeze, wrong in product((None, "plan"), yes, (None, "w")):
        questions.append(lambda module, p=path, f=freeze, w=wrong: committed(module, a_bundle(path=p), None, f, wrong=w))
    return questions


class Plain:
    """NumPy, with probabilities in place of their logarithms."""

    def __getattr__(self, name: str) -> Any:
        return (lambda law: law) if name == "exp" else getattr(np, name)


def laws(module: ModuleType, law: list[float], means: list[float]) -> Any:
    module.np = Plain()
    module.readings = lambda *_, **__: Space(log_probability=np.array(law), mean=np.array(means))
    got = module._Laws.of(None)
    return got.scores.tolist(), got.inside.tolist(), got.promised, got.fourth


def agreed(module: ModuleType, where: Path, wrong: list[str], extra: list[str], asked: Any, codes: str) -> Any:
    (where / "release.csv").write_bytes(b"")
    module.np = Plain()
    module.readings = lambda *_, **__: Space(log_probability=np.array([0.25, 0.5, 0.25]), mean=np.array([0.0, 1.0, 4.0]))
    module.altered = lambda _: (wrong, extra)
    used = {7: Space(outputs=[Space(label=label) for label in "abc"])}
    module.bundle_in = lambda _: Space(asked=asked, served=None, used=used, cells=list(codes))
    module.texts_of = lambda *_: list(codes)
    module.places_of = lambda _: {7: np.arange(len(codes))}
    got = module.agreement(where)
    return vars(got), got.holds


def about_agreement(where: Path) -> list[Question]:
    alarm = 3.7
    questions: list[Question] = [
        lambda module, at=at: module.Agreement(9, *at[:1], 0.0, at[1], 1.0, at[2], 0.9, 0.9).holds
        for value in (alarm, np.nextafter(alarm, 9), -alarm, -5.0, 0.0)
        for at in ((value, 0.0, 0.0), (0.0, value, 0.0), (0.0, 0.0, value))
    ]
    low, high = (1 - 0.9) / 2, (1 + 0.9) / 2
    for law, means in (
        ([0.25, 0.5, 0.25], [0.0, 1.0, 4.0]), ([0.25, 0.5, 0.25], [2.0, 2.0, 2.0]), ([1.0, 0.0], [3.0, 5.0]),
        ([0.5, 0.0, 0.5], [1.0, 9.0, 2.0]), ([low, 0.5, 0.5 - low], [1.0, 2.0, 3.0]), ([high, 1 - high], [1.0, 1.5]),
        ([0.04, 0.05, 0.86, 0.05], [1.0, 1.2, 1.4, 1.6]), ([0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.2, 0.3, 0.4, 0.5]),
        ([0.1, 0.45, 0.3, 0.15], [5.0, 6.0, 7.0, 8.0]), ([0.02, 0.02, 0.96], [1.0, 2.0, 3.0]),
    ):  # fmt: skip
        questions.append(lambda module, law=law, means=means: laws(module, law, means))
    for wrong, extra, asked in product(([], ["w"]), ([], ["e"]), (None, 1)):
        questions.append(lambda module, c=(wrong, extra, asked): agreed(module, where, *c, "abcba"))
    return [*questions, lambda module: agreed(module, where, [], [], None, "a" * 40)]


def test_no_comparison_of_the_commitments_can_change_unnoticed() -> None:
    assert unexplained(HOME / "commitment.py", about_commitments(), EQUIVALENT) == []


def test_no_comparison_of_cells_with_their_prior_can_change_unnoticed(tmp_path: Path) -> None:
    assert unexplained(HOME / "agreement.py", about_agreement(tmp_path), EQUIVALENT) == []
