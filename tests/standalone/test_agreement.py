"""The standalone verifier and the checker agree on random mechanisms, a hair above and below their largest ratio."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
import random_worlds as worlds
from counted_mechanisms import at_random
from the_verifier import SCRIPT, both_refuse_or_agree, run, verifier

from discreet import certify
from discreet.certify.edges.counted import steepest
from discreet.cli import main as shell
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.certificate import Counterexample
from discreet.model.kernel import CountedKernel, GeometricKernel, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import log_bracket

PAGE = SCRIPT.with_name("verify.html")


def with_epsilon(mechanism: Mechanism, epsilon: Fraction) -> dict[str, Any]:
    return mechanism_document(worlds.mechanism_on(mechanism.problem, mechanism.summary, mechanism.kernel, epsilon))


@pytest.mark.parametrize("seed", range(250))
def test_it_agrees_with_the_checker(seed: int) -> None:
    """Random mechanisms at ε a hair above and below their largest log-ratio, and with one weight moved."""
    rng = random.Random(seed)
    mechanism = worlds.random_mechanism(rng, zeros=seed % 10 == 0)
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    edges = mechanism.space.edges.tolist()
    ratios = [Fraction(max(row[a], row[b]), min(row[a], row[b])) for row in kernel.weights for a, b in edges if min(row[a], row[b])]
    worst = max(ratios, default=Fraction(1))
    low, high = (Fraction(0), Fraction(1)) if worst == 1 else log_bracket(worst, 150)
    assert both_refuse_or_agree(with_epsilon(mechanism, high)) == 0
    assert both_refuse_or_agree(with_epsilon(mechanism, low)) == (0 if worst == 1 else 1)
    if len(kernel.outputs) > 1:
        moved = mechanism_document(mechanism)
        weights = moved["kernel"]["weights"]
        s, t = rng.sample(range(len(weights)), 2)
        h = rng.randrange(len(weights[0]))
        by = rng.randint(0, int(weights[t][h]))
        weights[s][h], weights[t][h] = str(int(weights[s][h]) + by), str(int(weights[t][h]) - by)
        both_refuse_or_agree(moved)


@pytest.mark.parametrize("seed", range(60))
def test_the_brackets_agree(seed: int) -> None:
    rng = random.Random(seed)
    x = Fraction(rng.randint(1, 3000), rng.randint(1, 300))
    low, high = verifier.exp_between(x, 80)
    with mpmath.workdps(60 + int(x)):
        true = mpmath.e ** (mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator < true < mpmath.mpf(high.numerator) / high.denominator
    assert (high - low) / low < Fraction(1, 2**60)
    top, bottom = rng.randint(2, 10**9), rng.randint(1, 10**4)
    if top > bottom:
        ours = log_bracket(Fraction(top, bottom), 100)
        limit = Fraction(rng.randint(25, 30))
        theirs = verifier.log_between(top, bottom, limit)
        assert theirs[0] <= ours[1] and ours[0] <= theirs[1] and theirs[1] - theirs[0] == limit / 2**60


@pytest.mark.parametrize("family", ["geometric", "staircase"])
def test_closed_forms_agree_with_the_checker(family: str) -> None:
    rng = random.Random(family)
    verdicts = set()
    for _ in range(70):
        values = tuple(map(Fraction, range(rng.choice([2, 3]))))
        fixed = rng.random() < 0.5
        universe = Universe.of(rng.randint(1, 30), values) if fixed else Universe(values, 2, rng.randint(3, 30))
        summary = LinearSummary(tuple(rng.randint(-3, 4) for _ in values), *rng.choice([(None, None), (-3, 12), (0, None)]))
        neighbours = ReplaceOne() if fixed else AddRemoveOne()
        low, high = summary.range(universe)
        step = max(1, summary.step(neighbours))
        epsilon = Fraction(rng.randint(1, 40), 10)
        falls = step if family == "geometric" else 1
        ratio = 1 / log_exp(epsilon / falls) + Fraction(rng.choice([-3, -1, 1, 3]), 10**9)
        if not 0 < ratio < 1:
            continue
        kernel = GeometricKernel(low, high + 1, step, ratio)
        if family == "staircase":
            kernel = StaircaseKernel(low, high + 1, step, rng.randint(1, step), ratio)
        mechanism = worlds.mechanism_on(worlds.problem_of(universe, neighbours, epsilon), summary, kernel)
        verdicts.add(both_refuse_or_agree(mechanism_document(mechanism)))
    assert verdicts == {0, 1}


def test_noise_that_follows_a_count_agrees_with_the_checker() -> None:
    """At its factor rounded up, and at it rounded down."""
    for mechanism in at_random(40, seed=3):
        assert isinstance(mechanism.kernel, CountedKernel)
        found = steepest(mechanism, mechanism.kernel)
        low, high = (Fraction(0), Fraction(0)) if found.top == found.bottom else log_bracket(Fraction(found.top, found.bottom), 150)
        assert both_refuse_or_agree(with_epsilon(mechanism, high)) == 0
        assert both_refuse_or_agree(with_epsilon(mechanism, low)) == (0 if low == high else 1)
        _, least, most, _, _ = verifier.prove(with_epsilon(mechanism, high))
        assert least == 0 and most >= low, "no database may show the largest factor of tables"


def log_exp(x: Fraction) -> Fraction:
    """e^x to about 30 digits."""
    with mpmath.workdps(40):
        return Fraction(mpmath.nstr(mpmath.e ** (mpmath.mpf(x.numerator) / x.denominator), 32))


def formulas() -> list[Mechanism]:
    """Kernels by formula: noise that follows counts, ranges near and far, and noise on a sum that is clipped."""
    types, found = (Fraction(0), Fraction(1), Fraction(4)), at_random(40, seed=9)
    problem = worlds.problem_of(Universe.of(3, types), ReplaceOne())
    for summary in (LinearSummary((0, 1, 4)), LinearSummary((0, 1, 4), 3, 9), LinearSummary((0, 0, 4), 2, 3)):
        found.append(worlds.mechanism_on(problem, summary, GeometricKernel(0, 12, 4, Fraction(1, 2))))
        found.append(worlds.mechanism_on(problem, summary, StaircaseKernel(0, 12, 4, 2, Fraction(1, 2))))
    return found


def test_what_is_not_proved_is_told_in_the_same_words(tmp_path: Path) -> None:
    """The checker names databases that show a factor, or says that it proves nothing; the others never look for databases."""
    page, unproved = PAGE.read_text(encoding="utf-8"), Counter[bool]()
    for mechanism in formulas():
        document = with_epsilon(mechanism, Fraction(1, 50))
        found = certify.privacy(mechanism_from_document(document))
        with pytest.raises(verifier.Refuted, match=r"to be proved: output .* times as likely at .* if databases show it") as told:
            verifier.verify(json.dumps(document))
        assert isinstance(found, Counterexample)
        words, _, _ = str(told.value).partition(":")
        assert words in page
        unproved[found.edge is None] += 1
        if found.edge is None:
            assert found.words.lower() == words.replace("epsilon", "ε")
    assert min(unproved.values()) > 3 and len(unproved) == 2
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run(path)
    assert done.returncode == shell.run(["certify", str(path)]) == 1 and done.stdout.startswith("REFUTED: the noise falls too fast")
