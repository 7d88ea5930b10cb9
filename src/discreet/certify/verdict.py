"""What holds of a file that claims something: one function for each artefact, one kind of verdict for all.

Every number that a file states is in one of three places of its verdict: proved (`privacy`, `optimality`, `values`, `regret`),
refuted (`counterexample`), or named in `not_proved` because the file brings nothing that could prove it. What a file says about how
it was made (`provenance`) and the names in it are words, not claims. A claim may be weaker than the truth, never stronger:

    promise, edge, output, edges, outputs, witness      exactly what `privacy` finds
    unbiased    as the problem asks for it: bias exactly 0, or the state where it is not
    tight       an interval around the tight ε (δ, ρ)   value, values      at most what the mechanism is worth
    bound       at least what the witness proves        claims             the certificate's own value and bound

Dispatch is by the document's `format`; who calls decides nothing but whether worth is proved as well as privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from discreet.certify.edges.privacy import privacy
from discreet.certify.optimality import listed_value, optimality
from discreet.certify.robust import RobustProof, regret_sides
from discreet.certify.unbiased import UnbiasedProof, unbiased
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.artefact import read_artefact
from discreet.files.certificate import certificate_path, read_certificate
from discreet.files.mechanism_document import mechanism_hash
from discreet.files.robust import RobustFile
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim, PrivacyProof
from discreet.model.family import Family, Member
from discreet.model.guarantee import Guarantee
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.sizes import at_size
from discreet.model.together import together
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch


@dataclass(frozen=True, eq=False)
class Verdict:
    """Proved when nothing refutes it; `not_proved` names what the artefact states without any proof."""

    hash: str
    guarantee: Guarantee
    counterexample: Counterexample | None
    not_proved: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """Whether everything that was stated with a proof is true."""
        return self.counterexample is None


@dataclass(frozen=True, eq=False)
class MechanismVerdict(Verdict):
    """Of one mechanism, with its certificate where there is one."""

    problem: Problem
    privacy: PrivacyProof | None = None
    optimality: OptimalityClaim | None = None
    unbiased: UnbiasedProof | None = None


@dataclass(frozen=True, eq=False)
class MemberVerdict(Verdict):
    """Of one member of a family: its mechanism, and its expected payoff at each size where it is stated."""

    low: int
    high: int
    mechanism: MechanismVerdict
    values: tuple[tuple[int, Fraction], ...] = ()


@dataclass(frozen=True, eq=False)
class FamilyVerdict(Verdict):
    """Of a family: of every member."""

    sizes: str
    members: tuple[MemberVerdict, ...]


@dataclass(frozen=True, eq=False)
class RobustVerdict(Verdict):
    """Of a mechanism for several priors: of it, of the reference for each prior, and both sides of its worst regret."""

    mechanism: MechanismVerdict
    references: tuple[MechanismVerdict, ...]
    regret: RobustProof | None = None


def of_file(path: str | Path, certificate: str | Path | None = None, watch: Watch = SILENT) -> Verdict:
    """The verdict on a mechanism, family or robust file; a mechanism's certificate is the file beside it unless one is named."""
    artefact, digest = read_artefact(path)
    if not isinstance(artefact, Mechanism):
        if certificate is not None:
            raise InputError(
                "This file holds its certificates itself",
                found=f"another certificate, {certificate}",
                allowed="a second file for a mechanism only",
                remedy="leave the second file out",
            )
        return of_family(artefact, digest, watch) if isinstance(artefact, Family) else of_robust(artefact, digest)
    beside = certificate_path(path) if certificate is None else Path(certificate)
    stated = read_certificate(beside) if certificate is not None or beside.exists() else None
    return of_mechanism(artefact, stated)


def of_mechanism(mechanism: Mechanism, certificate: Certificate | None = None, *, worth: bool = True) -> MechanismVerdict:
    """What holds of a mechanism and of everything that its certificate states; without `worth`, of its privacy alone."""
    digest = mechanism_hash(mechanism)
    found = privacy(mechanism)
    shown = found.privacy if isinstance(found, Certificate) else None
    refuted = found if isinstance(found, Counterexample) else None
    claim = None if certificate is None else certificate.optimality
    if refuted is None and certificate is not None and shown is not None:
        refuted = _another_mechanism(certificate.mechanism, digest) or _wrong_privacy(certificate.privacy, shown)
    means: UnbiasedProof | None = None
    if refuted is None:
        refuted, means = _means(mechanism)
    proved = None
    if refuted is None and claim is not None and worth:
        outcome = optimality(mechanism, claim)
        refuted, proved = (outcome, None) if isinstance(outcome, Counterexample) else (None, outcome)
    stated = {"value": mechanism.claims.value, "bound": mechanism.claims.bound}
    if claim is not None:
        stated = {"value": claim.value, "bound": claim.bound}
    unproved = tuple(key for key, number in stated.items() if number is not None and proved is None)
    if mechanism.problem.unbiased is not None and means is None:
        unproved = (*unproved, "unbiased")
    return MechanismVerdict(digest, mechanism.guarantee, refuted, unproved, mechanism.problem, shown, proved, means)


def _means(mechanism: Mechanism) -> tuple[Counterexample | None, UnbiasedProof | None]:
    """Whether values are unbiased as the problem asks; where that cannot be told, neither."""
    try:
        found = unbiased(mechanism)
    except TooLarge:
        return None, None
    return (found, None) if isinstance(found, Counterexample) else (None, found)


def of_family(family: Family, digest: str, watch: Watch = SILENT, *, worth: bool = True) -> FamilyVerdict:
    """What holds of every member. Whoever stops the watch gets no verdict at all rather than half of one."""
    members = []
    with together(len(family.members), "members"):
        for number, member in enumerate(family.members):
            watch.report(stage=f"proving member {number + 1} of {len(family.members)}")
            if watch.cancelled():
                raise KeyboardInterrupt
            members.append(of_member(member, worth=worth))
    refuted = next((m.counterexample for m in members if m.counterexample is not None), None)
    unproved = tuple(f"{_sizes(m)}: {name}" for m in members for name in m.not_proved)
    return FamilyVerdict(digest, family.members[0].mechanism.guarantee, refuted, unproved, family.words, tuple(members))


def of_member(member: Member, *, worth: bool = True) -> MemberVerdict:
    """What holds of a member's mechanism, of the type that absent places share, and of the payoff at each size."""
    inner = of_mechanism(member.mechanism, member.certificate, worth=worth)
    refuted = inner.counterexample or _wrong_absence(member) or _wrong_sizes(member)
    known: list[tuple[int, Fraction]] = []
    unproved = [*inner.not_proved]
    for size, stated in member.values:
        try:
            payoff = _payoff_at(member, size, inner.optimality) if worth and refuted is None else None
        except InputError as error:
            payoff, refuted = None, Counterexample("values", f"The payoff at size {size} cannot be checked: {error}")
        if payoff is None:
            unproved.append(f"payoff at size {size}")
        elif stated > payoff:
            words = f"The mechanism is worth less at size {size} than the family claims"
            refuted = Counterexample("values", words, found=f"{float(payoff):.12g}", allowed=f"at least {float(stated):.12g}")
        else:
            known.append((size, stated))
    return MemberVerdict(inner.hash, inner.guarantee, refuted, tuple(unproved), member.low, member.high, inner, tuple(known))


def of_robust(robust: RobustFile, digest: str) -> RobustVerdict:
    """What holds of the mechanism and its references, and both sides of the worst regret that follow from them."""
    with together(1 + len(robust.references), "mechanisms"):
        mine = of_mechanism(robust.mechanism, robust.certificate)
        references = tuple(of_mechanism(*reference) for reference in robust.references)
    refuted = next((v.counterexample for v in (mine, *references) if v.counterexample is not None), None)
    regret = None
    if refuted is None:
        try:
            regret = regret_sides(robust, [_claim(v) for v in (mine, *references)])
        except (Refuted, InputError) as reason:
            refuted = Counterexample("robust", str(reason))
    return RobustVerdict(digest, mine.guarantee, refuted, (), mine, references, regret)


def robust_proof(robust: RobustFile) -> RobustProof:
    """Both sides of the worst regret, everything they rest on proved; refutes what does not hold or fit together."""
    found = of_robust(robust, "")
    if found.regret is None:
        raise Refuted("the proof of the worst regret does not hold", found.counterexample)
    return found.regret


def _claim(verdict: MechanismVerdict) -> OptimalityClaim:
    if verdict.optimality is None:
        raise Refuted("a mechanism of the file has no witness of optimality", "no witness")
    return verdict.optimality


def _another_mechanism(stated: str, digest: str) -> Counterexample | None:
    if stated == digest:
        return None
    return Counterexample("certificate", "The certificate belongs to another mechanism", found=stated, allowed=digest)


def _wrong_privacy(stated: PrivacyProof, shown: PrivacyProof) -> Counterexample | None:
    """The first thing that a certificate says of a mechanism's privacy and that is not so."""
    letter = shown.promise.letter
    if stated.promise != shown.promise or not stated.tight_low <= shown.tight_low <= shown.tight_high <= stated.tight_high:
        return Counterexample(
            "certificate",
            f"The certificate claims another {letter} than the mechanism has",
            found=f"{stated.promise}, tight {letter} from {stated.tight_low} to {stated.tight_high}",
            allowed=f"{shown.promise}, tight {letter} from {shown.tight_low} to {shown.tight_high}",
        )
    for key in ("edge", "output", "edges", "outputs", "witness"):
        said, true = getattr(stated, key), getattr(shown, key)
        if said != true:
            words = f"The certificate names another {key} than the proof of privacy"
            return Counterexample("certificate", words, found=str(said), allowed=str(true))
    return None


def _wrong_absence(member: Member) -> Counterexample | None:
    """Absent places must add nothing to the statistic, or the mechanism would count people who are not there."""
    if member.absent is None:
        return None
    problem = member.mechanism.problem
    weights = problem.statistic.weights(problem.universe) if isinstance(problem.universe, Universe) else None
    if weights is not None and weights[member.absent] == 0:
        return None
    return Counterexample(
        "absent",
        f"Absent places count as type {member.absent}, which changes the statistic",
        found="no sum or count" if weights is None else str(weights[member.absent]),
        allowed="a type that adds 0",
    )


def _wrong_sizes(member: Member) -> Counterexample | None:
    """Values unbiased nearby are so under the prior of one size."""
    if member.low == member.high or member.mechanism.problem.unbiased != "nearby":
        return None
    return Counterexample(
        "unbiased",
        "Values unbiased nearby serve cells of other sizes",
        found=f"sizes {member.low} to {member.high}",
        allowed=f"size {member.high}",
    )


def _payoff_at(member: Member, size: int, proved: OptimalityClaim | None) -> Fraction | None:
    """A lower side of the expected payoff in a cell of this size; None when the file does not say what is believed there."""
    if member.absent is None:
        return None if proved is None else proved.value
    if member.absent_probability is None:
        return None
    problem = at_size(member.mechanism.problem, member.absent, member.absent_probability, size)
    return listed_value(replace(member.mechanism, problem=problem))


def _sizes(member: MemberVerdict) -> str:
    return f"size {member.low}" if member.low == member.high else f"sizes {member.low} to {member.high}"
