"""The bound by boxes re-proved: never above exact optima, below the prior at every histogram, strict about its witness."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from box_worlds import FIVE, FOUR, SCALE, WIDE, any_witness, asked, box, chance, histograms, optimum, proposed, rising, whole_stage
from forger import change, places

from discreet.certify.bounds import boxes
from discreet.certify.bounds.boxes import SHARES, boxes_upper_bound, told_worth, unknown_in_box
from discreet.certify.bounds.urn import Urn, urn_of
from discreet.certify.duality import chords, pulls
from discreet.certify.optimality import upper_bound
from discreet.errors import DiscreetError, InputError, Refuted, TooLarge
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.model.certificate import BoxesWitness, BoxPart, Certificate, Multipliers, OptimalityClaim, PrivacyProof
from discreet.model.problem import Problem

THREE = ("3", "1", "1/2")
HALVES = ["1/2", "3/2", "5/2"]
WORLDS = [
    (asked(6, ("2", "1")), (0, 1), (), [box([(0, 6)], (6, 6), 6)], 0.999999),
    (asked(6, ("2", "1")), (0, 1), (), [box([(0, 2)], (6, 6), 6), box([(3, 6)], (6, 6), 6)], 0.5),
    (asked(5, THREE), (0, 2), (1,), [box([(0, 2)], (3, 3), 3), box([(0, 3)], (4, 5), 4)], 0.65),
    (asked(5, THREE), (1, 2), (0,), [box([(0, 1)], (1, 3), 2), box([(2, 3)], (4, 5), 5)], 0.05),
    (asked(5, THREE), (0, 1, 2), (), [box([(0, 3), (0, 2)], (5, 5), 5)], 0.64),
    (asked(6, ("4", "1", "1/2"), values=[0, 1, 3]), (0, 2), (1,), [box([(0, 3)], (4, 4), 4), box([(0, 5)], (6, 6), 6)], 0.93),
    (asked(4, FOUR), (0, 3), (1, 2), [box([(0, 1)], (3, 4), 4)], 0.27),
    (asked(4, FOUR), (0, 3), (1,), [box([(0, 1)], (2, 4), 3), box([(2, 3)], (4, 4), 4)], 0.31),
    (asked(4, FOUR), (2,), (3,), [box([], (1, 2), 1), box([], (3, 4), 4)], 0.025),
    (asked(5, THREE, chances=["1/2", "3/10", "1/5"]), (0, 2), (1,), [box([(0, 2)], (3, 3), 3), box([(0, 3)], (4, 5), 4)], 0.4),
    (asked(5, THREE, "1/2", values=HALVES, actions=["1/2", "7/2", "9/2", "21/2"]), (0, 2), (1,), [box([(0, 3)], (4, 5), 4)], 0.2),
    (asked(6, THREE), (0, 2), (1,), [box([(0, 3)], (4, 5), 4), box([(0, 5)], (5, 6), 6)], 0.6),
    (asked(6, THREE), (0, 2), (), [box([(0, 2)], (3, 5), 3), box([(1, 3)], (4, 6), 5), box([(4, 5)], (5, 6), 6)], 0.1),
    (asked(5, THREE, kind="absolute-error"), (0, 2), (1,), [box([(0, 2)], (3, 3), 3), box([(0, 3)], (4, 5), 4)], 0.72),
]  # fmt: skip
FIRST = WORLDS[2]


@pytest.mark.parametrize(("problem", "faces", "pairs", "parts", "near"), WORLDS + WIDE)
def test_never_above_the_optimum_and_near_it(
    problem: Problem, faces: tuple[int, ...], pairs: tuple[int, ...], parts: list[BoxPart], near: float
) -> None:
    best, witness = optimum(problem), proposed(problem, faces, pairs, parts)
    proved = -boxes_upper_bound(problem, witness)
    assert near * best < proved < best
    assert upper_bound(problem, witness) == -proved
    for seed in range(3):
        assert -boxes_upper_bound(problem, any_witness(Random(seed), problem, faces, pairs, parts)) <= best


def named(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart) -> BoxPart:
    """A part that names all states that anybody may have."""
    unknown = unknown_in_box(law, faces, pairs, part)
    every = [h for h, state in enumerate(unknown.states) if sum(state) <= part.reference]
    return replace(part, multipliers=(Multipliers(Fraction(0), tuple((h, h, 0) for h in every)),))


def told_below(
    law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], parts: Sequence[BoxPart], least: Callable[..., Fraction] = min,
    odd: Callable[..., Fraction] = min, twice: bool = False, alone: bool = False,
) -> tuple[Fraction, dict[tuple[int, ...], Fraction]]:  # fmt: skip
    """From the theorem's words: what parts prove together that lose 1, 2, …, and Σ λ·α·q of every histogram."""
    scale = 1 if law.grows else law.respondents
    h = lambda t, n: rising(law, law.contents[t], n) * scale**n if n >= 0 else Fraction(0)  # noqa: E731
    whole = rising(law, sum(law.contents, Fraction(0)), law.respondents) * scale**law.respondents
    below: dict[tuple[int, ...], Fraction] = {}
    laws, total = [], Fraction(0)
    for part in parts:
        states = unknown_in_box(law, faces, pairs, part).states
        states = [s for s in states if sum(s) <= part.reference]
        laws.append({s: h(faces[0], part.reference - sum(s)) * math.prod(map(h, faces[1:], s)) for s in states})
    worths = [sum(q.values()) * (i + 1) for i, q in enumerate(laws)]

    def best(players: int, group: list[int]) -> list[Fraction]:
        """α of the parts that share so many players."""
        ways = [[Fraction(1)]]
        if len(group) == 2:
            one, other = (worths[i] for i in group)
            ways = [[(SHARES - k) * other, k * one] for k in range(SHARES + 1)]
        found = []
        for way in ways:
            needed: dict[int, Fraction] = {}
            for a, i in zip(way, group, strict=True):
                for u in {sum(s) for s in laws[i]} if a else ():
                    needed[u] = needed.get(u, Fraction(0)) + a * h(faces[0], parts[i].reference - u)
            factor = least(h(faces[0], players - u) / amount for u, amount in needed.items())
            found.append([a * factor for a in way])
        return max(found, key=lambda each: sum(a * worths[i] for a, i in zip(each, group, strict=True)))

    for told in histograms(len(law.contents) + 1, law.respondents):
        known, players = told[:-1], told[-1]
        if any(known[f] for f in faces) or any(known[g] % (1 if twice else 2) for g in pairs):
            continue
        here = [i for i, part in enumerate(parts) if part.players[0] <= players <= part.players[1]]
        groups = {tuple(j for j in here if j == i or (parts[i].meets(parts[j]) and not alone)) for i in here}
        others = math.prod((h(t, n) for t, n in enumerate(known) if t not in pairs), start=Fraction(1))
        evens = math.prod((odd(h(g, known[g]), h(g, known[g] + 1)) for g in pairs), start=Fraction(1))
        for group in groups:
            for a, i in zip(best(players, list(group)), group, strict=True):
                factor = a * others * evens / whole
                total += factor * worths[i]
                for s, mass in laws[i].items() if factor else ():
                    n = list(known)
                    n[faces[0]] = players - sum(s)
                    for t, x in zip((*faces[1:], *pairs), s, strict=True):
                        n[t] += x
                    below[tuple(n)] = below.get(tuple(n), Fraction(0)) + factor * mass
    return total, below


def above_somewhere(law: Urn, below: dict[tuple[int, ...], Fraction]) -> bool:
    """Whether a measure exceeds the prior at a histogram, or is at none."""
    return any(min(n) < 0 or mass > chance(law, n) for n, mass in below.items())


@pytest.mark.parametrize(("problem", "faces", "pairs", "parts", "_"), WORLDS + WIDE)
def test_what_is_told_apart_stays_below_the_prior(
    problem: Problem, faces: tuple[int, ...], pairs: tuple[int, ...], parts: list[BoxPart], _: float
) -> None:
    """In exact fractions over all histograms; what is proved is that of the theorem, rounded down."""
    law = urn_of(problem)
    assert sum(chance(law, n) for n in histograms(len(law.values), law.respondents)) == 1
    total, below = told_below(law, faces, pairs, parts)
    assert not above_somewhere(law, below) and sum(below.values()) <= 1
    every = [named(law, faces, pairs, part) for part in parts]
    worth = told_worth(law, faces, pairs, every, [Fraction(i + 1) for i in range(len(parts))])
    assert 0 <= total - worth < Fraction(1, 2**150)
    for part in parts:
        masses = whole_stage(law, faces, pairs, part).masses
        assert 1 - Fraction(len(masses), 2**160) <= sum(masses) <= 1


def test_near_misses_of_the_theorem_exceed_the_prior() -> None:
    """λ that is not the least ratio, the likelier half of a pair, pairs counted at every number, shared players counted twice."""
    _, faces, pairs, parts, _ = FIRST
    law = urn_of(asked(5, ("3", "3/2", "1/2")))
    assert not above_somewhere(law, told_below(law, faces, pairs, parts)[1])
    for wrong in ({"least": max}, {"odd": max}, {"twice": True}):
        assert above_somewhere(law, told_below(law, faces, pairs, parts, **wrong)[1])  # type: ignore[arg-type]
    shared = [*parts, box([(3, 3)], (5, 5), 5)]
    assert not above_somewhere(law, told_below(law, faces, pairs, shared)[1])
    assert above_somewhere(law, told_below(law, faces, pairs, shared, alone=True)[1])


def patched(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    monkeypatch.setattr(boxes, name, value, raising=False)
    boxes._told.cache_clear()


def test_near_misses_of_the_checker_prove_more_than_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    far = asked(6, ("3", "1/100", "3"), values=[0, 1, 1])
    short = proposed(far, (0, 2), (), [box([(0, 4)], (6, 6), 4)])
    rare = asked(4, ("2", "1/10"))
    pair = proposed(rare, (0,), (1,), [box([], (1, 4), 4)])
    largest = lambda *numbers, **more: max(*numbers, **more)  # noqa: E731
    for problem, witness in ((far, short), (rare, pair)):
        assert -boxes_upper_bound(problem, witness) < optimum(problem)
        patched(monkeypatch, "min", largest)
        assert -boxes_upper_bound(problem, witness) > optimum(problem)
        monkeypatch.undo()
        boxes._told.cache_clear()
    whole, faces, pairs, parts, _ = WORLDS[0]
    witness = proposed(whole, faces, pairs, parts)
    twice = replace(witness, parts=witness.parts * 2)
    assert -boxes_upper_bound(whole, twice) == pytest.approx(float(-boxes_upper_bound(whole, witness)))
    with pytest.raises(Refuted, match="two others"):
        boxes_upper_bound(whole, replace(witness, parts=witness.parts * 3))
    patched(monkeypatch, "combinations", lambda *_: ())
    assert -boxes_upper_bound(whole, twice) > optimum(whole)


def test_neighbours_are_those_of_the_database() -> None:
    """One respondent replaced: between faces, between pairs, and from a face to a pair; never two at once."""
    problem, (first, *others) = asked(4, FOUR), (0, 3, 1, 2)
    part = box([(0, 1)], (4, 4), 4)
    unknown = unknown_in_box(urn_of(problem), (0, 3), (1, 2), part)
    stage = whole_stage(urn_of(problem), (0, 3), (1, 2), part)

    def histogram(state: Iterable[int]) -> list[int]:
        n = [0, 0, 0, 0]
        for t, x in zip(others, state, strict=True):
            n[t] += x
        n[first] = 4 - sum(n)
        return n

    apart = lambda a, b: sum(abs(x - y) for x, y in zip(histogram(a), histogram(b), strict=True))  # noqa: E731
    states = list(enumerate(unknown.states))
    assert stage.edges == {(i, j) for i, a in states for j, b in states if i < j and apart(a, b) == 2}
    values = [Fraction(sum(t * n for t, n in enumerate(histogram(state)))) / 3 for _, state in states]
    assert list(stage.omegas) == values


def test_small_boxes_prove_more_than_one_wide_one() -> None:
    """A reference near the players of each box: with one for all, the least ratio is far below the others."""
    problem = asked(8, ("4", "1", "1/2"), values=[0, 1, 3])
    wide = [box([(0, 2)], (4, 8), 6)]
    narrow = [box([(0, 2)], (m, m), m) for m in range(4, 9)]
    proved = [-boxes_upper_bound(problem, proposed(problem, (0, 2), (), parts)) for parts in (wide, narrow)]
    assert proved[0] < 0.95 * proved[1] < 0.95 * optimum(problem)


def test_two_references_serve_the_players_between_them() -> None:
    """Shared, they prove nearly what a reference for every number of players does; each by itself much less."""
    problem = asked(8, ("4", "1", "1/2"), values=[0, 1, 3])
    every = [box([(0, 2)], (m, m), m) for m in range(4, 9)]
    apart = [box([(0, 2)], (4, 7), 4), box([(0, 2)], (8, 8), 8)]
    shared = [box([(0, 2)], (4, 7), 4), box([(0, 2)], (5, 8), 8)]
    proved = [-boxes_upper_bound(problem, proposed(problem, (0, 2), (), parts)) for parts in (every, shared, apart)]
    assert proved[0] > proved[1] > 0.97 * proved[0] and proved[2] < 0.93 * proved[0]


def test_states_without_multipliers_hinder_no_others() -> None:
    """A box that is wider than its multipliers reach proves what one without its last counts does."""
    problem = asked(8, ("4", "1", "1/2"), values=[0, 1, 3])
    narrow = proposed(problem, (0, 2), (), [box([(0, 2)], (4, 8), 6)])
    own, wide = narrow.parts[0], replace(narrow.parts[0], windows=((0, 5),))
    less = [whole_stage(urn_of(problem), (0, 2), (), part).masses[0] for part in (wide, own)]
    each = [replace(m, flows=tuple((i, j, int(flow * less[0] / less[1])) for i, j, flow in m.flows)) for m in own.multipliers]
    each += [replace(each[-1], action=Fraction(k, 3)) for k in range(7, 16)]
    found = -boxes_upper_bound(problem, replace(narrow, parts=(replace(wide, multipliers=tuple(each)),)))
    assert float(found) == pytest.approx(float(-boxes_upper_bound(problem, narrow)), rel=1e-6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"faces": (0, 3)}, "type 3"), ({"faces": (-1, 2)}, "type -1"), ({"pairs": (7,)}, "type 7"),
        ({"parts": (box([(0, 3)], (4, 6), 4),)}, "players up to 6 of 5"), ({"parts": (box([(0, 3)], (4, 5), 6),)}, "up to 3 of 6"),
        ({"parts": (box([(0, 4)], (4, 5), 3),)}, "up to 4 of 3"), ({"parts": (box([(0, 9)], (4, 5), 5),)}, "up to 9 of 5"),
        ({"parts": (box([(0, 1)], (2, 3), 3), box([(1, 2)], (3, 4), 4), box([(0, 2)], (1, 5), 4))}, "two others"),
    ],
)  # fmt: skip
def test_boxes_that_are_not_of_the_problem_are_refuted(wrong: dict[str, Any], words: str) -> None:
    problem, faces, pairs, parts, _ = FIRST
    with pytest.raises(Refuted, match=words):
        boxes_upper_bound(problem, replace(any_witness(Random(1), problem, faces, pairs, parts), **wrong))


def test_conditions_of_the_theorem_are_checked() -> None:
    problem, faces, pairs, parts, _ = FIRST
    witness = any_witness(Random(1), problem, faces, pairs, parts)
    known = asked(5, THREE, chances=["1/2", "1/2", "0"])
    with pytest.raises(Refuted, match="no respondent has"):
        boxes_upper_bound(known, witness)
    alike = asked(5, THREE, values=[1, 1, 1])
    with pytest.raises(Refuted, match="moves the statistic"):
        boxes_upper_bound(alike, witness)
    own = asked(5, THREE, prior={"kind": "independent", "probabilities": [["1/2", "1/4", "1/4"]] * 5})
    with pytest.raises(Refuted, match="a condition of bounds under an urn"):
        boxes_upper_bound(own, witness)
    first, *others = witness.parts
    far = replace(first, multipliers=(Multipliers(first.multipliers[0].action, ((0, 5, 1),)), *first.multipliers[1:]))
    with pytest.raises(Refuted, match="where no edge is"):
        boxes_upper_bound(problem, replace(witness, parts=(far, *others)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"windows": ((2, 1),)}, {"windows": ((-1, 1),)}, {"players": (3, 2)}, {"players": (-1, 2)}, {"reference": -1}, {"scale": 0},
        {"multipliers": (Multipliers(Fraction(0), ((0, 1, -1),)),)},
    ],
)  # fmt: skip
def test_what_is_no_box_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="A box has windows"):
        replace(FIRST[3][0], **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"faces": ()}, {"faces": (0, 0)}, {"faces": (0, 1)}, {"pairs": (0,)}, {"pairs": (1, 1)}, {"parts": ()},
        {"faces": (0, 2, 1), "pairs": ()},
        {"faces": (0,), "pairs": (), "parts": (box([], (1, 2), 1),)},
    ],
)  # fmt: skip
def test_what_is_no_witness_of_boxes_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="A witness of boxes"):
        replace(BoxesWitness((0, 2), (1,), tuple(FIRST[3])), **wrong)


def test_what_would_take_too_long_is_refused_before_any_work() -> None:
    """A witness of a few characters could otherwise ask for days of work."""
    law = urn_of(asked(10**6, FIVE, actions="real"))
    with pytest.raises(TooLarge, match=r"more than 10\^18 states of 4 counts"):
        told_worth(law, (0, 1, 2, 3, 4), (), [box([(0, 10**6)] * 4, (10**6, 10**6), 10**6)], [Fraction(1)])
    with pytest.raises(TooLarge, match="too finely"):
        told_worth(law, (0, 3), (), [box([(0, 10)], (10**6, 10**6), 10**6)], [Fraction(1)])
    fine = urn_of(asked(5000, [str(Fraction(10**400 + 1, 10**400)), "1"]))
    with pytest.raises(TooLarge, match="too finely"):
        whole_stage(fine, (0, 1), (), box([(0, 10)], (5000, 5000), 5000))
    many = urn_of(asked(20_000, FOUR))
    with pytest.raises(TooLarge, match="too many ways"):
        whole_stage(many, (0, 3), (1,), box([(0, 10)], (15_000, 20_000), 20_000))
    ten = urn_of(asked(11, ["1"] * 10))
    with pytest.raises(TooLarge, match="9 counts"):
        whole_stage(ten, tuple(range(10)), (), box([(0, 1)] * 9, (9, 11), 11))
    with pytest.raises(TooLarge, match="9,999 counts"):
        unknown_in_box(
            urn_of(asked(9999, ["1"] * 10_000, actions="real")), tuple(range(10_000)), (), box([(0, 9999)] * 9999, (0, 9999), 9999)
        )


def test_boxes_that_share_with_two_others_are_refuted_before_they_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand copies of one box are half a million pairs, each for all players."""
    problem, faces, pairs, _, _ = FIRST
    law = urn_of(problem)
    part = named(law, faces, pairs, box([(0, 3)], (4, 5), 4))

    def shared(*_: object) -> int:
        raise AssertionError("two of them were shared")

    monkeypatch.setattr(boxes, "_worth", shared)
    with pytest.raises(Refuted, match="two others"):
        told_worth(law, faces, pairs, [part] * 50, [Fraction(1)] * 50)
    with pytest.raises(AssertionError, match="were shared"):
        told_worth(law, faces, pairs, [part] * 2, [Fraction(1)] * 2)
    with pytest.raises(TooLarge, match="501 boxes"):
        boxes_upper_bound(problem, BoxesWitness(faces, pairs, (part,) * 501))


def test_five_hundred_boxes_are_refused_together_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone is little work; a file of a megabyte held 500 of them, and took minutes."""
    problem = asked(20_000, ("3", "1", "1/2"))
    parts = [box([(40 * k, 40 * k + 39)], (0, 20_000), 20_000) for k in range(500)]
    named_all = [named(urn_of(problem), (0, 2), (), part) for part in parts]
    worked = Counter[str]()
    for name in ("_h", "_told", "_ways", "_worth", "_reference"):
        monkeypatch.setattr(boxes, name, lambda *_, name=name: worked.update([name]))
    with pytest.raises(TooLarge, match="too many ways"):
        boxes_upper_bound(problem, BoxesWitness((0, 2), (), tuple(named_all)))
    with pytest.raises(TooLarge, match="too many ways"):
        told_worth(urn_of(problem), (0, 2), (), named_all, [Fraction(1)] * 500)
    assert not worked
    with pytest.raises(TypeError):
        boxes_upper_bound(problem, BoxesWitness((0, 2), (), tuple(named_all[:1])))
    assert worked


def test_tables_are_made_once_for_all_boxes() -> None:
    problem = asked(300, ("3", "1", "1/2"))
    parts = [named(urn_of(problem), (0, 2), (), box([(5 * k, 5 * k + 4)], (290, 300), 300)) for k in range(20)]
    boxes._table.cache_clear()
    told_worth(urn_of(problem), (0, 2), (), parts, [Fraction(1)] * 20)
    assert boxes._table.cache_info().misses == 3


def test_tables_of_as_many_types_as_there_may_be_are_kept() -> None:
    """The adversary: nine types of different concentrations, whose tables were made anew for every box."""
    problem = asked(60, [f"{7 + k}/10" for k in range(10)])
    law, faces = urn_of(problem), tuple(range(9))
    parts = [named(law, faces, (), box([(0, 1)] * 8, (50 + k, 50 + k), 50 + k)) for k in range(3)]
    boxes._table.cache_clear()
    told_worth(law, faces, (), parts, [Fraction(1)] * 3)
    assert boxes._table.cache_info().misses == 10


def test_what_floats_cannot_tell_is_not_looked_at_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Actions that stand too near each other for floats are looked at exactly: so many, in all boxes together."""
    problem = asked(40, ("3", "1", "1/2"), actions="real")
    flows, looked = tuple((h, h + 1, 1) for h in range(9)), Counter[str]()
    near = [Multipliers(Fraction(10**9 + k, 10**9), flows) for k in range(50)]
    nodes = (Multipliers(Fraction(0), flows), *near, Multipliers(Fraction(40), flows))
    parts = [replace(box([(10 * k, 10 * k + 9)], (40, 40), 40), multipliers=nodes) for k in range(4)]
    least = chords._least_on_piece
    monkeypatch.setattr(chords, "_least_on_piece", lambda *each: looked.update(["piece"]) or least(*each))
    monkeypatch.setattr(pulls, "MOST_EXACT", 1000 * pulls.DEAR)
    with pytest.raises(TooLarge, match="Floats cannot tell"):
        boxes_upper_bound(problem, BoxesWitness((0, 2), (), tuple(parts)))
    assert 500 < looked["piece"] <= 1000
    boxes_upper_bound(problem, BoxesWitness((0, 2), (), tuple(parts[:1])))
    monkeypatch.setattr(pulls, "MOST_ROUGH", 1000)
    looked.clear()
    with pytest.raises(TooLarge, match="too many actions"):
        boxes_upper_bound(problem, BoxesWitness((0, 2), (), tuple(parts)))
    assert looked["piece"] < 600


def test_what_is_too_unlikely_to_be_counted_is_refuted() -> None:
    tiny = urn_of(asked(60, THREE, chances=["1/1000000", str(1 - Fraction(2, 10**6)), "1/1000000"]))
    with pytest.raises(Refuted, match="reference of a box"):
        whole_stage(tiny, (0, 1), (), box([(0, 1)], (60, 60), 60))
    with pytest.raises(Refuted, match="counts of a box"):
        told_worth(tiny, (1, 2), (), [box([(59, 60)], (60, 60), 60)], [Fraction(1)])


def written(problem: Problem, witness: BoxesWitness) -> dict[str, Any]:
    privacy = PrivacyProof(problem.promise, Fraction(1), Fraction(1), None, None, 0, 0)
    claim = OptimalityClaim(Fraction(-9), boxes_upper_bound(problem, witness), witness)
    return json.loads(json.dumps(certificate_document(Certificate("0" * 64, privacy, claim))))  # type: ignore[no-any-return]


def test_a_witness_of_boxes_is_written_and_read() -> None:
    problem, faces, pairs, parts, _ = FIRST
    witness = proposed(problem, faces, pairs, parts)
    document = written(problem, witness)
    found = certificate_from_document(document).optimality
    assert found is not None and found.witness == witness and upper_bound(problem, found.witness) == found.bound
    own = document["optimality"]["witness"]
    for key in ("faces", "pairs", "boxes"):
        held = own.pop(key)
        with pytest.raises(InputError, match="lacks a key"):
            certificate_from_document(document)
        own[key] = held
    with pytest.raises(InputError, match="another kind"):
        certificate_from_document(document | {"optimality": document["optimality"] | {"witness": own | {"weights": [[1]]}}})
    own["boxes"][0].pop("players")
    with pytest.raises(InputError):
        certificate_from_document(document)


@pytest.mark.parametrize("world", [FIRST, WIDE[0], WIDE[2]])
def test_no_forged_witness_proves_more_than_is_true(
    world: tuple[Problem, tuple[int, ...], tuple[int, ...], list[BoxPart], float],
) -> None:
    """Any digit, entry or multiplier changed: refused, refuted, or still below the optimum."""
    problem, faces, pairs, parts, _ = world
    best, rng, kept = optimum(problem), Random(7), 0
    document = written(problem, proposed(problem, faces, pairs, parts))
    for _ in range(250):
        forged = copy.deepcopy(document)
        own = forged["optimality"]["witness"]
        for _ in range(rng.choice((1, 1, 2))):
            change(own, rng.choice([way for way in places(own) if "action" not in way or rng.random() < 0.3]), rng)
        try:
            claim = certificate_from_document(forged).optimality
            assert claim is not None
            proved = -upper_bound(problem, claim.witness)
        except DiscreetError:
            continue
        kept += 1
        assert proved <= best
    assert 40 < kept < 220


def test_scale_is_what_multipliers_are_counted_in() -> None:
    problem, faces, pairs, parts, _ = FIRST
    witness = proposed(problem, faces, pairs, parts)
    eight = lambda m: Multipliers(m.action, tuple((i, j, 8 * f) for i, j, f in m.flows))  # noqa: E731
    finer = [replace(part, scale=8 * SCALE, multipliers=tuple(map(eight, part.multipliers))) for part in witness.parts]
    assert boxes_upper_bound(problem, replace(witness, parts=tuple(finer))) == boxes_upper_bound(problem, witness)


@pytest.mark.parametrize("windows", [[(0, 1)], [(0, 50)], [(1, 50)]])
def test_a_reference_too_unlikely_for_some_counts_is_refused_in_words(windows: list[tuple[int, int]]) -> None:
    """Of 50 players none may have to be of the first face, and 50 of it have no chance in so many digits."""
    tiny = asked(60, chances=["1/1000000", str(1 - Fraction(2, 10**6)), "1/1000000"])
    with pytest.raises(Refuted, match="too unlikely"):
        boxes_upper_bound(tiny, BoxesWitness((0, 1), (), (box(windows, (60, 60), 50),)))
