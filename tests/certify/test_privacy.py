"""The checker proves what is private and refutes what is not, down to one unit in the last place of one weight.

Executes SY eq. (1).
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from random_worlds import label, mechanism_on, neighbouring_pairs, problem_of, random_mechanism

from discreet import certify
from discreet.certify.edges import pure
from discreet.certify.edges.pure import tight_bracket, worst_ratio
from discreet.errors import InputError, Refuted, TooLarge
from discreet.mechanisms.geometric import TruncatedGeometric, geometric_mechanism
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import GivenGraph, ReplaceOne
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, Promise, PurePromise
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.brackets import compare_ratio_exp, log_bracket

TWO = (Fraction(0), Fraction(1))
FORTY = problem_of(Universe.of(40, TWO), ReplaceOne())


@pytest.fixture(scope="module")
def geometric() -> Mechanism:
    """The truncated geometric at N = 40, ε = 1 as a table."""
    return mechanism_on(FORTY, LinearSummary((0, 1)), TruncatedGeometric(Fraction(1), 0, 40).table())


def raised(mechanism: Mechanism, output: int, state: int, by: int, other: int) -> Mechanism:
    """One weight raised and another of the same state lowered."""
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    rows = [list(row) for row in kernel.weights]
    rows[output][state] += by
    rows[other][state] -= by
    return replace(mechanism, kernel=replace(kernel, weights=tuple(map(tuple, rows))))


def room(mechanism: Mechanism, output: int, state: int, neighbour: int) -> int:
    """The most that one weight can grow while its ratio to the neighbour's stays within e^ε."""
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    here, there = kernel.weights[output][state], kernel.weights[output][neighbour]
    with mpmath.workdps(80):
        return int(mpmath.floor(mpmath.e ** mpmath.mpf(1) * there)) - here


@pytest.mark.parametrize(
    "promise", [PurePromise(Fraction(1)), ApproximatePromise(Fraction(1), Fraction(1, 2)), ConcentratedPromise(Fraction(1, 2))]
)
def test_long_probabilities_on_many_edges_are_refused_before_they_are_compared(
    geometric: Mechanism, promise: Promise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adversary: a file of a few megabytes whose products take long, and of ten times the length a hundred times as long."""
    kernel = geometric.kernel
    assert isinstance(kernel, TableKernel) and kernel.denominator.bit_length() < pure.LONG  # whatever a design makes is short
    stated = replace(
        geometric, problem=geometric.problem.with_promise(promise), guarantee=replace(geometric.guarantee, promise=promise)
    )
    assert isinstance(certify.privacy(stated), Certificate)
    monkeypatch.setattr(pure, "LONG", 1)
    monkeypatch.setattr(pure, "MOST_COMPARED", 40 * len(kernel.outputs) * kernel.denominator.bit_length() ** 2 // 4)
    assert isinstance(certify.privacy(stated), Certificate)
    monkeypatch.setattr(pure, "MOST_COMPARED", pure.MOST_COMPARED - 1)
    with pytest.raises(TooLarge, match=r"41 probabilities .* on each of 40 edges"):
        certify.privacy(stated)


def test_the_tight_epsilon_of_the_table(geometric: Mechanism) -> None:
    proof = certify.privacy(geometric)
    assert isinstance(proof, Certificate)
    assert 1 - Fraction(1, 10**12) < proof.privacy.tight_low <= proof.privacy.tight_high <= 1
    assert proof.privacy.edges == 40 and proof.privacy.outputs == 41


def test_the_tight_epsilon_of_the_closed_form() -> None:
    proof = certify.privacy(geometric_mechanism(FORTY, LinearSummary((0, 1))))
    assert isinstance(proof, Certificate) and proof.privacy.witness == "closed-form"
    assert 1 - Fraction(1, 10**12) < proof.privacy.tight_low <= proof.privacy.tight_high <= 1


RAISED = [(0, 1, 2), (40, 39, 38), (7, 20, 21), (33, 20, 19), (0, 20, 21)]
"""Output, state and the neighbour further from the output; the output equal to the state has weight to spare."""


@pytest.mark.parametrize(("output", "state", "neighbour"), RAISED)
def test_one_unit_beyond_the_bound_is_refuted_with_that_edge(geometric: Mechanism, output: int, state: int, neighbour: int) -> None:
    most = room(geometric, output, state, neighbour)
    found = certify.privacy(raised(geometric, output, state, most + 1, state))
    assert isinstance(found, Counterexample) and found.claim == "privacy"
    assert found.edge == (str(state), str(neighbour)) and found.output == str(output)


@pytest.mark.parametrize(("output", "state", "neighbour"), RAISED)
def test_up_to_the_bound_it_is_proved(geometric: Mechanism, output: int, state: int, neighbour: int) -> None:
    proof = certify.privacy(raised(geometric, output, state, room(geometric, output, state, neighbour), state))
    assert isinstance(proof, Certificate)
    assert proof.privacy.edge == (str(state), str(neighbour)) and proof.privacy.output == str(output)
    assert proof.privacy.tight_high <= 1


def test_a_forged_epsilon_is_refuted(geometric: Mechanism) -> None:
    for forged in (Fraction(999_999, 10**6), Fraction(0)):
        found = certify.privacy(replace(geometric, guarantee=Guarantee(PurePromise(forged), "replace-one", "respondent")))
        assert isinstance(found, Counterexample) and found.edge is not None


def test_a_promise_weaker_than_the_problem_is_refused(geometric: Mechanism) -> None:
    with pytest.raises(InputError, match="promises less privacy"):
        replace(geometric, guarantee=Guarantee(PurePromise(Fraction(11, 10)), "replace-one", "respondent"))
    stronger = replace(geometric, problem=geometric.problem.with_epsilon(Fraction(2)))
    assert isinstance(certify.privacy(stronger), Certificate)


def test_a_promise_with_delta_is_proved_for_a_problem_that_asks_for_it(geometric: Mechanism) -> None:
    promise = ApproximatePromise(Fraction(1), Fraction(1, 10**6))
    with pytest.raises(InputError, match="another kind"):
        replace(geometric, guarantee=Guarantee(promise, "replace-one", "respondent"))
    asked = geometric.problem.with_promise(promise)
    found = certify.privacy(replace(geometric, problem=asked, guarantee=asked.guarantee))
    assert isinstance(found, Certificate) and found.privacy.promise == promise and found.privacy.tight_high == 0
    less = geometric.problem.with_promise(ApproximatePromise(Fraction(1, 2), Fraction(1, 10**6)))
    refuted = certify.privacy(replace(geometric, problem=less, guarantee=less.guarantee))
    assert isinstance(refuted, Counterexample) and refuted.edge is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda edges: edges[1:], "is missing"),
        (lambda edges: [*edges, (0, 2)], "joins no neighbours"),
        (lambda edges: [*edges, (0, 99)], "joins no neighbours"),
        (lambda edges: [*edges, edges[0][::-1]], "twice"),
    ],
)
def test_stated_edges_that_differ_are_refuted(geometric: Mechanism, change, words: str) -> None:
    edges = [tuple(edge) for edge in geometric.space.edges.tolist()]
    honest = replace(geometric, kernel=replace(geometric.kernel, stated_edges=tuple(e[::-1] for e in edges)))
    assert isinstance(certify.privacy(honest), Certificate)
    forged = replace(geometric, kernel=replace(geometric.kernel, stated_edges=tuple(change(edges))))
    found = certify.privacy(forged)
    assert isinstance(found, Counterexample) and found.claim == "edges" and words in found.words


def test_a_deleted_edge_is_named(geometric: Mechanism) -> None:
    edges = [tuple(edge) for edge in geometric.space.edges.tolist() if edge != [5, 6]]
    found = certify.privacy(replace(geometric, kernel=replace(geometric.kernel, stated_edges=tuple(edges))))
    assert isinstance(found, Counterexample) and found.edge == ("5", "6")


def test_an_altered_clamp_is_refuted() -> None:
    universe = Universe.of(6, TWO)
    problem, summary = problem_of(universe, ReplaceOne()), HistogramSummary(Clamp((0, 0), (0, 3), 0))
    states = ("6,0", "5,1", "4,2", "3,3")
    kernel = TableKernel(states, (Output("x"),), ((2,) * 4,), 2)
    assert isinstance(certify.privacy(mechanism_on(problem, summary, kernel)), Certificate)
    for upper in (2, 4):
        with pytest.raises(Refuted, match="not those that its summary makes"):
            mechanism_on(problem, HistogramSummary(Clamp((0, 0), (0, upper), 0)), kernel)


def test_another_problem_embedded_is_refuted(geometric: Mechanism) -> None:
    with pytest.raises(Refuted, match="not those that its summary makes"):
        replace(geometric, problem=problem_of(Universe.of(41, TWO), ReplaceOne()))


def test_zeros_next_to_masses_are_refuted_and_shared_zeros_are_not() -> None:
    problem = problem_of(Universe.of(1, TWO), ReplaceOne())
    outputs = (Output("x"), Output("y"))
    apart = TableKernel(("0", "1"), outputs, ((4, 3), (0, 1)), 4)
    found = certify.privacy(mechanism_on(problem, LinearSummary((0, 1)), apart))
    assert isinstance(found, Counterexample) and found.found == "an infinite ratio" and found.edge == ("1", "0")
    together = TableKernel(("0", "1"), outputs, ((4, 4), (0, 0)), 4)
    proof = certify.privacy(mechanism_on(problem, LinearSummary((0, 1)), together))
    assert isinstance(proof, Certificate) and proof.privacy.tight_high == 0


def test_no_edges_no_ratio() -> None:
    problem = problem_of(ListedUniverse(("a", "b")), GivenGraph(()))
    kernel = TableKernel(("a", "b"), (Output("x"), Output("y")), ((4, 0), (0, 4)), 4)
    proof = certify.privacy(mechanism_on(problem, DatabaseSummary(), kernel, Fraction(0)))
    assert isinstance(proof, Certificate)
    assert proof.privacy.edge is None and proof.privacy.tight_low == proof.privacy.tight_high == 0


def brute_ratio(mechanism: Mechanism) -> Fraction | None:
    """The largest probability ratio over all neighbouring databases and outputs; None when it is infinite."""
    universe, kernel = mechanism.problem.universe, mechanism.kernel
    assert isinstance(kernel, TableKernel)
    at = {state: i for i, state in enumerate(kernel.states)}
    if isinstance(universe, ListedUniverse):
        pairs = [(at[a], at[b]) for a, b in mechanism.problem.neighbours.edges]  # type: ignore[union-attr]
    else:
        pairs = [
            tuple(at[label(mechanism.summary, d, universe)] for d in pair)
            for pair in neighbouring_pairs(universe, mechanism.problem.neighbours)
        ]
    worst = Fraction(0)
    for row in kernel.weights:
        for i, j in {*pairs, *((b, a) for a, b in pairs)}:
            if row[i] and not row[j]:
                return None
            if row[i]:
                worst = max(worst, Fraction(row[i], row[j]))
    return max(worst, Fraction(1))


@pytest.mark.parametrize("seed", range(150))
def test_random_mechanisms_are_decided_at_the_edge(seed: int) -> None:
    """ε a hair above the largest log-ratio over all databases is proved, a hair below refuted."""
    mechanism = random_mechanism(random.Random(seed), zeros=seed % 10 == 0)
    worst = brute_ratio(mechanism)
    assert worst is not None
    if worst == 1:
        level = mechanism_on(mechanism.problem, mechanism.summary, mechanism.kernel, Fraction(0))
        assert isinstance(certify.privacy(level), Certificate)
        return
    low, high = log_bracket(worst, 200)
    proved = certify.privacy(mechanism_on(mechanism.problem, mechanism.summary, mechanism.kernel, high))
    assert isinstance(proved, Certificate)
    assert proved.privacy.tight_low <= low < high <= proved.privacy.tight_high + Fraction(1, 2**60)
    assert proved.privacy.tight_high <= high
    refuted = certify.privacy(mechanism_on(mechanism.problem, mechanism.summary, mechanism.kernel, low))
    assert isinstance(refuted, Counterexample) and refuted.claim == "privacy"


def test_the_optimum_of_a_plain_solver_is_refuted_with_a_witness() -> None:
    """Counts of 20 respondents, uniform prior, |x−y| loss, ε = 1: HiGHS leaves zeros beside masses."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    n, e = 21, float(np.e)
    loss = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])  # [output, state]
    rows = lil_matrix((2 * n * (n - 1), n * n))
    for k, (s, h) in enumerate((s, h) for s in range(n) for h in range(n - 1)):
        rows[2 * k, s * n + h], rows[2 * k, s * n + h + 1] = 1, -e
        rows[2 * k + 1, s * n + h + 1], rows[2 * k + 1, s * n + h] = 1, -e
    sums = lil_matrix((n, n * n))
    for h in range(n):
        sums[h, h::n] = 1
    found = linprog(loss.ravel() / n, rows.tocsr(), np.zeros(2 * n * (n - 1)), sums.tocsr(), np.ones(n), method="highs")
    assert found.status == 0
    weights = [[max(0, round(p * 2**60)) for p in row] for row in found.x.reshape(n, n)]
    for h in range(n):
        weights[h][h] += 2**60 - sum(row[h] for row in weights)
    kernel = TableKernel(tuple(map(str, range(n))), tuple(Output(str(s)) for s in range(n)), tuple(map(tuple, weights)), 2**60)
    problem = problem_of(Universe.of(20, TWO), ReplaceOne())
    refuted = certify.privacy(mechanism_on(problem, LinearSummary((0, 1)), kernel))
    assert isinstance(refuted, Counterexample) and refuted.edge is not None and refuted.output is not None
    a, b = map(int, refuted.edge)
    row = weights[int(refuted.output)]
    assert abs(a - b) == 1 and compare_ratio_exp(row[a], row[b], Fraction(1)) > 0


def test_the_worst_ratio_is_exact() -> None:
    weights = ((3, 1, 1), (1, 3, 0), (0, 0, 3))
    assert worst_ratio(weights, [[0, 1]]) == (3, 1, 0, 0, 1)
    assert worst_ratio(weights, [[1, 2]]) == (3, 0, 1, 1, 2)
    assert worst_ratio(weights, []) is None
    assert worst_ratio(((0, 0),), [[0, 1]]) is None
    ties = ((2, 1), (1, 2))
    assert worst_ratio(ties, [[0, 1]]) == (2, 1, 0, 0, 1), "the first of equal ratios is reported"


def test_the_tight_bracket_has_both_sides() -> None:
    assert tight_bracket(5, 5, Fraction(1)) == (0, 0)
    low, high = tight_bracket(2, 1, Fraction(1))
    assert low < Fraction(math_log2()) < high and high - low <= Fraction(1, 2**63)
    capped = Fraction(69_314_718_056, 10**11)
    assert tight_bracket(2, 1, capped)[1] <= capped


def math_log2() -> str:
    with mpmath.workdps(40):
        return mpmath.nstr(mpmath.log(2), 30)
