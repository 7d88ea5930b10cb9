"""Windows as wide as the reference: few states that are named prove what is true, and nobody is in states of more players."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from box_worlds import FOUR, WIDE, asked, box, optimum, proposed

from discreet.certify.bounds import boxes
from discreet.certify.bounds.boxes import boxes_upper_bound, told_worth
from discreet.certify.bounds.urn import urn_of
from discreet.errors import Refuted, TooLarge
from discreet.model.certificate import BoxesWitness, BoxPart, Multipliers
from discreet.model.problem import Problem


@pytest.mark.parametrize(("problem", "faces", "pairs", "parts", "_"), WIDE)
def test_few_states_of_wide_windows_prove_less_and_more_states_more(
    problem: Problem, faces: tuple[int, ...], pairs: tuple[int, ...], parts: list[BoxPart], _: float
) -> None:
    best = optimum(problem)
    few = [proposed(problem, faces, pairs, parts, most) for most in (2, 5, 8, None)]
    proved = [float(-boxes_upper_bound(problem, witness)) for witness in few]
    assert 0 < proved[0] < proved[1] < proved[2] < proved[3] < best


def test_any_states_of_wide_windows_prove_no_more_than_is_true() -> None:
    """Worlds, windows, references and multipliers at random; the optimum is that of all histograms."""
    rng, above = Random(11), 0
    for _ in range(40):
        contents = [str(Fraction(rng.randint(1, 30), 10)) for _ in range(rng.choice((3, 3, 4)))]
        number = 7 - len(contents) + rng.randint(0, 1)
        problem = asked(number, contents, rng.choice(("1/2", "1", "2")))
        types = rng.sample(range(len(contents)), len(contents))
        far = rng.randint(2, len(types))
        faces, pairs = tuple(types[:far]), tuple(types[far:][: rng.randint(0, 1)])
        reference = number - rng.randint(0, 1)
        part = box([(rng.randint(0, 1), reference) for _ in faces[1:]], (reference, number), reference)
        if part.fewest > reference:
            continue
        witness = proposed(problem, faces, pairs, [part], rng.choice((3, 6, 12, None)))
        proved = -boxes_upper_bound(problem, witness)
        assert proved <= optimum(problem)
        above += proved > optimum(problem) / 4
    assert above > 5


def test_states_are_counted_that_multipliers_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of thirty thousand states are little work where few are named; many names, or wide sums, are refused at once."""
    problem = asked(4000, FOUR)
    wide = box([(0, 3999), (0, 3999)], (3999, 3999), 3999)
    few = replace(wide, multipliers=(Multipliers(Fraction(0), ((0, 1, 1), (4000, 0, 1))), Multipliers(Fraction(12_000), ())))
    worked = Counter[str]()
    for name in ("_h", "_told", "_ways", "_worth", "_reference", "_whole"):
        monkeypatch.setattr(boxes, name, lambda *_, name=name: worked.update([name]))
    with pytest.raises(TooLarge, match="too many ways"):
        boxes_upper_bound(problem, BoxesWitness((0, 2, 3), (), (few,)))
    small = replace(few, windows=((0, 999), (0, 3)))
    for most, parts in ((20_001, 1), (4_300, 14)):
        one = replace(
            box([(0, 2999), (0, 9)], (3900, 3999), 3999),
            multipliers=(Multipliers(Fraction(0), tuple((h, 0, 1) for h in range(most))),),
        )
        with pytest.raises(TooLarge, match=f"{most * parts:,} states, {most:,} in one box"):
            boxes_upper_bound(problem, BoxesWitness((0, 2, 3), (), (one,) * parts))
        with pytest.raises(TooLarge, match=f"{most * parts:,} states, {most:,} in one box"):
            told_worth(urn_of(problem), (0, 2, 3), (), (one,) * parts, [Fraction(1)] * parts)
    assert not worked
    with pytest.raises(TypeError):
        boxes_upper_bound(problem, BoxesWitness((0, 2, 3), (), (small,)))
    assert worked


@pytest.mark.parametrize(
    ("flow", "words"),
    [
        ((0, 9, 1), "states 0 and 9"), ((0, 2, 1), "states 0 and 2"), ((15, 14, 1), "states 15 and 14"),
        ((11, 10, 0), "states 11 and 10"), ((0, 16, 1), "states 0 and 16"), ((16, 0, 0), "states 16 and 0"),
        ((-16, 1, 1), "states -16 and 1"), ((-1, -2, 1), "states -1 and -2"), ((0, 1 << 62, 1), "states 0 and 46"),
        ((5, 5, 0), "states 5 and 5"),
    ],
)  # fmt: skip
def test_a_multiplier_stands_on_an_edge_between_states_that_somebody_has(flow: tuple[int, int, int], words: str) -> None:
    """Of windows with sixteen states ten are of three players or fewer: 0 to 3, 4 to 6, 8, 9 and 12; each has a neighbour."""
    problem, part = asked(4, FOUR), box([(0, 3), (0, 3)], (3, 4), 3)
    good = Multipliers(Fraction(0), ((0, 1, 1), (4, 1, 1), (9, 12, 1), (3, 6, 1)))
    each = [good, *(Multipliers(Fraction(k, 3), ()) for k in range(1, 16))]
    boxes_upper_bound(problem, BoxesWitness((0, 3, 2), (), (replace(part, multipliers=tuple(each)),)))
    each[3] = replace(each[3], flows=(flow,))
    with pytest.raises(Refuted, match=f"where no edge is.*{words}"):
        boxes_upper_bound(problem, BoxesWitness((0, 3, 2), (), (replace(part, multipliers=tuple(each)),)))


def test_what_states_that_nobody_has_are_worth_is_refuted() -> None:
    law, part = urn_of(asked(4, FOUR)), box([(0, 3), (0, 3)], (3, 4), 3)
    for h, most in ((15, 6), (7, 4)):
        with pytest.raises(Refuted, match=f"nobody has.*{most} of 3 players"):
            told_worth(law, (0, 3, 2), (), [replace(part, multipliers=(Multipliers(Fraction(0), ((0, h, 0),)),))], [Fraction(1)])


def test_multipliers_that_are_said_twice_are_added() -> None:
    problem, faces, pairs, parts, _ = WIDE[0]
    witness = proposed(problem, faces, pairs, parts, 12)
    twice = lambda m: Multipliers(m.action, tuple(x for i, j, f in m.flows for x in ((i, j, f // 2), (i, j, f - f // 2))))  # noqa: E731
    apart = [replace(part, multipliers=tuple(map(twice, part.multipliers))) for part in witness.parts]
    assert boxes_upper_bound(problem, replace(witness, parts=tuple(apart))) == boxes_upper_bound(problem, witness)
