"""Mutation tests of verdicts: change any comparison of what accepts a claim, and some claim gets another answer.

As in `test_mutants`. Claims stand exactly at what is proved, just above and just below it; certificates, families and robust files
are real ones (`forger`) and forgeries of each part.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from counted_mechanisms import counted_on, kernel_of
from forger import honest
from mutation import unexplained

import discreet
from discreet.certify.edges.privacy import privacy
from discreet.certify.optimality import proved_bound, proved_value
from discreet.files.certificate import certificate_from_document, write_certificate
from discreet.files.family import family_from_document, write_family
from discreet.files.mechanism import mechanism_from_document, mechanism_hash, write_mechanism
from discreet.files.robust import RobustFile, robust_from_document, write_robust
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate, DualWitness, OptimalityClaim, SeveralWitness, TheoremWitness
from discreet.model.family import Family
from discreet.model.gaussian_kernel import GaussianKernel
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, TableKernel
from discreet.model.losses import AbsoluteLoss
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.priors import ExchangeablePrior, IndependentPrior
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, PurePromise
from discreet.model.statistic import CountStatistic
from discreet.model.summary import LinearSummary
from discreet.watch import Deadline

Question = Callable[[ModuleType], Any]

CERTIFY = Path(discreet.__file__).parent / "certify"
TINY = Fraction(1, 10**30)
EQUIVALENT: dict[str, str] = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


def mechanisms(folder: Path) -> list[tuple[Mechanism, Certificate]]:
    documents = [json.loads(text) for text in honest("mechanism", str(folder))]
    return [(mechanism_from_document(d["m"]), certificate_from_document(d["c"])) for d in documents]


def families(folder: Path) -> list[Family]:
    return [family_from_document(json.loads(text)) for text in honest("family", str(folder))]


def robusts(folder: Path) -> list[RobustFile]:
    return [robust_from_document(json.loads(text)) for text in honest("robust", str(folder))]


def claim_of(certificate: Certificate) -> OptimalityClaim:
    assert certificate.optimality is not None
    return certificate.optimality


def around(mechanism: Mechanism, claim: OptimalityClaim) -> list[tuple[Mechanism, OptimalityClaim]]:
    """Claims exactly at what is proved, above and below it, and files that claim the same, something else or nothing."""
    bare = replace(mechanism, claims=Claims())
    value, bound = proved_value(bare, claim), proved_bound(bare, claim)
    exact = replace(claim, value=value, bound=bound)
    found = [
        (bare, replace(claim, value=v, bound=b)) for v in (value, value + TINY, value - 1) for b in (bound, bound - TINY, bound + 1)
    ]
    stated = [(None, None), (value, None), (None, bound), (value, bound), (value - 1, None), (None, bound + 1), (value, bound + 1)]
    return found + [(replace(bare, claims=Claims(*numbers)), exact) for numbers in stated]


def test_no_comparison_of_optimality_can_change_unnoticed(folder: Path) -> None:
    made = mechanisms(folder)
    cases = [case for mechanism, certificate in made for case in around(mechanism, claim_of(certificate))]
    table = next(m for m, _ in made if isinstance(m.kernel, TableKernel))
    claim = claim_of(next(c for m, c in made if m is table))
    bare = replace(table, claims=Claims())
    assert isinstance(claim.witness, DualWitness)
    counted = replace(bare, problem=replace(bare.problem, statistic=CountStatistic((1, 2))))
    theorems = ("full information", "SY Thm 3", "chain", "dual", "nothing")
    cases += [(bare, replace(claim, witness=TheoremWitness(name))) for name in theorems]
    misread = [replace(counted, summary=LinearSummary(weights), kernel=_short(table)) for weights in ((0, 1, 1), (1, 0, 0))]
    cases += [
        (m, replace(claim, witness=replace(claim.witness, reduction=name, multipliers=())))
        for m in (bare, counted, *misread)
        for name in ("merged-count", "nothing")
    ]  # fmt: skip
    questions: list[Question] = [lambda module, case=case: module.optimality(*case) for case in cases]
    questions += [lambda module, case=case: module.proved_value(*case) for case in cases[-8:]]
    makers = [replace(bare.problem, decisions=bare.problem.decisions * k) for k in (1, 2)]
    parts = [SeveralWitness((TheoremWitness("full information"),) * k) for k in range(4)]
    questions += [lambda module, case=case: module.upper_bound(*case) for case in product(makers, parts)]
    asked = bare.problem.with_promise(ConcentratedPromise(Fraction(1)))
    uneven = IndependentPrior(((Fraction(1, 3),) * 3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))))
    noise = GaussianKernel(0, 4, 2, Fraction(4), tuple(map(Fraction, range(5))))
    gaussian = Mechanism(asked, LinearSummary((0, 1, 2)), noise, asked.guarantee)
    ordered = replace(gaussian, problem=replace(asked, prior=uneven))
    absolute = replace(asked.decision, loss=AbsoluteLoss())
    others = [replace(gaussian, problem=replace(asked, decisions=(absolute,)))]
    pairs = noise.with_actions([(Fraction(k), Fraction(k)) for k in range(5)])
    others += [replace(gaussian, problem=replace(asked, decisions=two), kernel=pairs) for two in (asked.decisions * 2,)]
    named = replace(bare, problem=replace(bare.problem, prior=uneven))  # nine databases, six histograms
    for mechanism in (misread[0], bare, gaussian, ordered, named, *others, *(m for m, _ in made)):
        for most in (5, 6, 8, 9, 30_000):
            questions.append(lambda module, m=mechanism, most=most: _route(module, m, claim, most))
    kernel = kernel_of([[2, 20, 3], [5, 9, 4], [7, 3, 8]], low=0, high=6)
    counted = counted_on(kernel.with_actions([Fraction(k) for k in range(7)]))  # ten histograms, seven outputs
    full = OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("full information"))
    for few, pairs in product((9, 10, 30_000), (69, 70, 71)):
        questions.append(lambda module, few=few, pairs=pairs: _counted_route(module, counted, full, few, pairs))
    assert unexplained(CERTIFY / "optimality.py", questions, EQUIVALENT) == []


def _counted_route(module: ModuleType, mechanism: Mechanism, claim: OptimalityClaim, few: int, pairs: int) -> Fraction:
    """The value of noise that follows a count when so many histograms, and pairs of these and outputs, may be listed."""
    module.MOST_LISTED, module.MOST_PAIRS = few, pairs
    return Fraction(module.proved_value(mechanism, claim))


def _short(mechanism: Mechanism) -> TableKernel:
    """A table on the counts 0, 1, 2 with the outputs of a mechanism's."""
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    rows = tuple((i * i + 1, 3, 7 - i) for i in range(len(kernel.outputs)))
    rest = [128 - sum(row[k] for row in rows[1:]) for k in range(3)]
    return TableKernel(("0", "1", "2"), kernel.outputs, ((rest[0], rest[1], rest[2]), *rows[1:]), 128)


def _route(module: ModuleType, mechanism: Mechanism, claim: OptimalityClaim, most: int) -> Any:
    """By which way the value is found when so many histograms may be listed."""
    module.MOST_LISTED = most
    module.face_value_payoff = module.line_payoff = lambda _: None
    module.listed_payoff = lambda *_: ("noise, histogram by histogram",)
    module.weighted_sum_payoff = lambda _: ("by the law of the sum",)
    module.expected_payoff = lambda _: ("histogram by histogram",)
    plain = replace(claim.witness, reduction=None) if isinstance(claim.witness, DualWitness) else claim.witness
    return module.proved_value(mechanism, replace(claim, witness=plain))


def test_no_comparison_of_the_worst_regret_can_change_unnoticed(folder: Path) -> None:
    questions: list[Question] = []
    for robust in robusts(folder):
        claims = [claim_of(c) for c in (robust.certificate, *(c for _, c in robust.references))]
        mechanism, (first, second) = robust.mechanism, robust.references
        problem, priors = mechanism.problem, robust.priors
        assert isinstance(problem.prior, ExchangeablePrior)
        dearer = replace(first[0], guarantee=Guarantee(PurePromise(Fraction(1, 2)), "replace-one", problem.unit))
        elsewhere = replace(first[0], problem=problem.with_epsilon(Fraction(2)))
        table = problem.prior.histogram
        moved = ((table[0][0], table[0][1] + table[1][1]), (table[1][0], Fraction(0)), *table[2:])
        forged = [
            robust, replace(robust, weights=robust.weights[::-1]), replace(robust, references=((dearer, first[1]), second)),
            replace(robust, references=((elsewhere, first[1]), second)), replace(robust, references=(second, first)),
            replace(robust, mechanism=replace(mechanism, problem=replace(problem, prior=priors[0]))),
            replace(robust, mechanism=replace(mechanism, problem=replace(problem, prior=ExchangeablePrior(moved)))),
        ]  # fmt: skip
        questions += [lambda module, f=f, claims=claims: repr(module.regret_sides(f, claims)) for f in forged]
        humble = [replace(claim, bound=claim.bound + 5) for claim in claims]
        questions.append(lambda module, robust=robust, humble=humble: repr(module.regret_sides(robust, humble)))
        others = problem.people.types - 1
        uneven = [(share, *((1 - share) / others,) * others) for share in (Fraction(1, 2), Fraction(1, 3))]
        ordered = IndependentPrior(tuple(uneven))
        every = ("1/2 1/2", "1 0", "2 -1", "1/2 1/4", "1", "1/2 1/4 1/4", "-1/2 3/2", "3/2 -1/2")
        for weights in (tuple(map(Fraction, words.split())) for words in every):
            questions += [
                lambda module, p=problem, each=each, weights=weights: repr(module.mixture(p, each, weights).prior)
                for each in (priors, (priors[0], ordered))
            ]
    assert unexplained(CERTIFY / "robust.py", questions, EQUIVALENT) == []


def told(found: Any) -> Any:
    """A verdict by its contents, whichever module made it."""
    if found is None or isinstance(found, (str, int, Fraction)):
        return found
    inner = [told(part) for part in (*getattr(found, "members", ()), *getattr(found, "references", ()))]
    parts = [repr(getattr(found, name, None)) for name in ("privacy", "optimality", "values", "regret", "sizes", "low", "high")]
    return type(found).__name__, found.hash, found.counterexample, found.not_proved, found.proved, parts, inner


def certificates(mechanism: Mechanism, certificate: Certificate) -> list[Certificate]:
    """A certificate, weaker ones that hold as well, and lies about each thing that it says."""
    shown, claim = certificate.privacy, claim_of(certificate)
    low, high = shown.tight_low, shown.tight_high
    privacy = [
        replace(shown, tight_low=low - TINY), replace(shown, tight_high=high + TINY), replace(shown, tight_low=low + TINY),
        replace(shown, tight_high=high - TINY), replace(shown, tight_low=high + 1, tight_high=high + 2),
        replace(shown, promise=PurePromise(Fraction(2))), replace(shown, promise=ApproximatePromise(Fraction(1), Fraction(1, 9))),
        replace(shown, edge=("0", "9")), replace(shown, output="?"), replace(shown, edges=0), replace(shown, outputs=0),
        replace(shown, witness="?"),
    ]  # fmt: skip
    found = [certificate, replace(certificate, mechanism="0" * 64), replace(certificate, optimality=None)]
    found += [replace(certificate, privacy=p) for p in privacy]
    return [*found, *(replace(certificate, optimality=c) for _, c in around(mechanism, claim))]


def test_no_comparison_of_the_verdicts_can_change_unnoticed(folder: Path, tmp_path: Path) -> None:
    questions: list[Question] = []
    for mechanism, certificate in mechanisms(folder)[2:]:
        for stated in [None, *certificates(mechanism, certificate)]:
            for worth in (True, False):
                questions.append(lambda module, m=mechanism, c=stated, worth=worth: told(module.of_mechanism(m, c, worth=worth)))
        silent = replace(mechanism, claims=Claims(value=Fraction(0)))
        questions.append(lambda module, m=silent: told(module.of_mechanism(m)))
        greedy = replace(mechanism, guarantee=Guarantee(PurePromise(Fraction(1, 9)), "replace-one", mechanism.problem.unit))
        own = replace(certificate, mechanism=mechanism_hash(greedy))
        questions += [lambda module, m=greedy, c=c: told(module.of_mechanism(m, c)) for c in (None, own)]
    constant = TableKernel(("0", "1", "2"), (Output("x"),), ((2, 2, 2),), 2)
    level = replace(mechanism, claims=Claims(), summary=LinearSummary((0, 1)), kernel=constant)
    shown = privacy(level)
    assert isinstance(shown, Certificate) and shown.privacy.tight_low == shown.privacy.tight_high == 0
    questions.append(lambda module: told(module.of_mechanism(level, shown)))
    fair = replace(level.problem, decisions=(replace(level.problem.decision, actions=RealActions(), unbiased="everywhere"),))
    for of in (replace(level, problem=fair), replace(mechanism, problem=fair)):
        questions.append(lambda module, of=of: told(module.of_mechanism(of)))
    questions += _of_families(families(folder)[2:]) + _of_robusts(robusts(folder)[1:]) + _of_files(folder, tmp_path)
    assert unexplained(CERTIFY / "verdict.py", questions, EQUIVALENT) == []


def _of_families(found: list[Family]) -> list[Question]:
    questions: list[Question] = []
    for family in found:
        for member in family.members:
            exact = tuple((size, value) for size, value in member.values)
            others = [replace(member, values=tuple((size, value + by) for size, value in exact)) for by in (TINY, 1, -1)]
            others.append(replace(member, certificate=replace(member.certificate, mechanism="0" * 64)))
            others.append(replace(member, certificate=replace(member.certificate, optimality=None)))
            if member.absent is not None:
                others += [replace(member, absent=int(not member.absent)), replace(member, absent_probability=None)]
            problem = member.mechanism.problem
            nearby = replace(problem, decisions=(replace(problem.decision, actions=RealActions(), unbiased="nearby"),))
            served = replace(member, values=(), mechanism=replace(member.mechanism, problem=nearby))
            for asked in (served, replace(served, low=member.high, absent=None, absent_probability=None)):
                questions.append(lambda module, m=asked: repr(module._wrong_sizes(m)))
            for each in [member, *others]:
                for worth in (True, False):
                    questions.append(lambda module, m=each, worth=worth: told(module.of_member(m, worth=worth)))
                both = replace(family, members=tuple(each if m is member else m for m in family.members))
                questions.append(lambda module, f=both: told(module.of_family(f, "digest")))
        questions.append(lambda module, f=family: _stopped(module, f))
    return questions


def _stopped(module: ModuleType, family: Family) -> str:
    try:
        return repr(told(module.of_family(family, "digest", Deadline(-1))))
    except KeyboardInterrupt:
        return "stopped"


def _of_robusts(found: list[RobustFile]) -> list[Question]:
    questions: list[Question] = []
    for robust in found:
        first, *rest = robust.references
        unproved = (first[0], replace(first[1], optimality=None))
        lying = (first[0], replace(first[1], mechanism="0" * 64))
        files = [
            robust, replace(robust, references=(unproved, *rest)), replace(robust, references=(lying, *rest)),
            replace(robust, weights=robust.weights[::-1]),
            replace(robust, certificate=replace(robust.certificate, optimality=None)),
        ]  # fmt: skip
        questions += [lambda module, f=f: told(module.of_robust(f, "digest")) for f in files]
        questions += [lambda module, f=f: repr(module.robust_proof(f)) for f in files]
    return questions


def _of_files(folder: Path, tmp_path: Path) -> list[Question]:
    """Files with and without a certificate beside them, with another one named, and with one too many."""
    mechanism, certificate = mechanisms(folder)[1]
    here, alone, other = tmp_path / "a.mechanism.json", tmp_path / "b.mechanism.json", tmp_path / "c.json"
    for path in (here, alone):
        write_mechanism(path, mechanism)
    write_certificate(tmp_path / "a.certificate.json", certificate)
    write_certificate(other, replace(certificate, mechanism="0" * 64))
    family, robust = tmp_path / "f.json", tmp_path / "r.json"
    write_family(family, families(folder)[2])
    write_robust(robust, robusts(folder)[1])
    cases = [(here,), (alone,), (here, other), (alone, other), (alone, tmp_path / "nowhere"), (family,), (robust,), (family, other)]
    return [lambda module, case=case: told(module.of_file(*case)) for case in cases]
