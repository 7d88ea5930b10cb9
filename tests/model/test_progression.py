"""Numbers at even distances are the tuple of them, whoever asks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from random_worlds import mechanism_on

from discreet import files
from discreet.files.problem import problem_from_document
from discreet.model.kernel import GeometricKernel
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary
from discreet.numerics.exact import format_exact

EVEN = [
    Progression(Fraction(-3), Fraction(2), 9),
    Progression(Fraction(1, 3), Fraction(-5, 7), 9),
    Progression(Fraction(4), Fraction(0), 3),
]


@pytest.mark.parametrize("numbers", EVEN)
def test_it_is_the_tuple_of_its_numbers(numbers: Progression) -> None:
    listed = tuple(numbers.start + numbers.step * k for k in range(numbers.size))
    assert tuple(numbers) == listed and numbers == listed and listed == numbers and hash(numbers) == hash(listed)
    assert len(numbers) == len(listed) and numbers[-1] == listed[-1] and numbers[1:3] == listed[1:3]
    assert all(type(number) is Fraction for number in (*numbers, numbers[0]))
    assert list(numbers.texts()) == [format_exact(number) for number in listed]
    assert np.allclose(numbers.floats(), [float(number) for number in listed])
    assert numbers.moved(Fraction(7), Fraction(-1, 2)) == tuple(7 - number / 2 for number in listed)
    with pytest.raises(IndexError):
        numbers[numbers.size]


def test_other_numbers_are_others() -> None:
    one = EVEN[0]
    assert one != Progression(one.start, one.step, one.size + 1) and one != (*tuple(one)[:-1], Fraction(0))
    assert one != tuple(one)[:-1] and one != list(one) and one == Progression(one.start, one.step, one.size)


def test_noise_that_recommends_them_is_written_and_read_as_with_a_list(tmp_path: Path) -> None:
    even, size = EVEN[1], 9
    asked = problem_from_document(
        {
            "data": {"respondents": size - 1, "values": [0, 1]},
            "prior": {"kind": "iid", "probabilities": ["1/2", "1/2"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": "1"},
        }
    )
    one, other = (
        mechanism_on(asked, LinearSummary((0, 1)), GeometricKernel(0, size - 1, 1, Fraction(1, 2), a)) for a in (even, tuple(even))
    )
    assert one == other and files.mechanism_hash(one) == files.mechanism_hash(other)
    files.write_mechanism(tmp_path / "m.json", one)
    assert files.read_mechanism(tmp_path / "m.json") == one
