"""A prior that was learned: the release that it follows from travels with every release that uses it, and the prior is computed
again.

`learned.json` holds the whole learning release, file by file. Whoever gathers, commits or verifies a plan under such a prior
checks

    the learning release      every check of `verify`, and that no file differs from its manifest
    what it is about          the same population, unit, data, key set and recoding as the plan, in the same ledger
    the rule                  the prior of every mechanism is exactly what `learning.fit` finds in the published numbers

A prior with a `change` may come from elsewhere (an earlier year, another ledger): then only the number of types must agree.
"""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, Refuted
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.files.plan import key_set_from_text, plan_document, plan_from_document
from discreet.files.problem_document import problem_document
from discreet.learning.fit import RULE, WITH_KINDS, Learned, LearnedPrior, fit, priors
from discreet.learning.noise import noise_of
from discreet.learning.questions import questions
from discreet.model.certificate import Counterexample
from discreet.model.origin import Origin
from discreet.model.plan import Plan
from discreet.model.priors import Prior
from discreet.publish.spreadsheets import rearmed

if TYPE_CHECKING:
    from discreet.publish.bundle import Bundle

LEARNED = "learned.json"
FORMAT = "discreet-learned/1"
LARGEST = 1 << 30
OWN = ("manifest.json", "signature.json")
"""Files that no manifest lists."""


@dataclass(frozen=True, eq=False)
class LearnedFolder:
    """A learning release as its files; `digest` is the hash of its manifest."""

    files: Mapping[str, bytes]
    digest: str

    def packed(self) -> bytes:
        """All files as one document."""
        packed = {name: base64.b64encode(data).decode() for name, data in self.files.items()}
        return canonical_bytes({"format": FORMAT, "files": packed}) + b"\n"

    def document(self, name: str) -> Any:
        """A JSON document of the release."""
        return parse_json(self.files[name], name)

    @property
    def plan(self) -> Plan:
        """The plan that it was learned by."""
        return plan_from_document(self.document("plan.json"))

    def written_to(self, folder: Path) -> None:
        """The folder as it was."""
        folder.mkdir(parents=True)
        for name, data in self.files.items():
            write_atomically(folder / name, data)

    def fitted(self, change: Fraction = Fraction(0)) -> dict[tuple[str, ...], Learned]:
        """What the rule finds in the published numbers."""
        return _fitted(_Whole(self), change)

    @property
    def rule(self) -> str:
        """The rule by which priors follow from it."""
        learning = self.plan.learning
        return WITH_KINDS if learning is not None and learning.kinds else RULE

    def priors(self, change: Fraction = Fraction(0)) -> dict[tuple[str, ...], LearnedPrior]:
        """The prior of each stratum, each naming this release."""
        return priors(self.fitted(change), self.digest, change, self.rule)


class _Whole:
    """A learning release that is known by its hash."""

    def __init__(self, folder: LearnedFolder) -> None:
        self.folder = folder

    def __hash__(self) -> int:
        return hash(self.folder.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and dict(other.folder.files) == dict(self.folder.files)


@lru_cache(maxsize=8)
def _fitted(whole: _Whole, change: Fraction) -> dict[tuple[str, ...], Learned]:
    from discreet.publish.bundle import mechanism_for, members_of
    from discreet.publish.tables import texts_of

    folder = whole.folder
    plan = folder.plan
    if plan.learning is None:
        raise InputError(
            "This release holds nothing to learn a prior from",
            found="a release of cells",
            allowed="a release of a plan with [learning]",
            remedy="name the folder that was published to learn from",
        )
    key_set = key_set_from_text(rearmed(folder.files["key_set.csv"].decode("utf-8-sig")), plan)
    asked = questions(key_set, plan.recoding.types, plan.learning.strata, kinds=plan.learning.kinds)
    members = members_of(folder.document("mechanism.json"))
    noise = noise_of({mechanism_for(members[q.largest]).kernel for q in asked})
    published = [int(text) for text in texts_of(folder.files["release.csv"], "code")]
    return fit(asked, published, key_set, plan.recoding.types, noise, change=change)


def read_learned(folder: str | Path) -> LearnedFolder:
    """The learning release in a folder; what differs from its manifest is refused."""
    from discreet.publish.folder import altered, document_in

    where = Path(folder)
    wrong, extra = altered(where)
    if wrong or extra:
        raise Refuted(
            "the learning release was changed after it was published",
            Counterexample(
                "release",
                f"Files of the release {where} are not as its manifest says",
                found=", ".join([*wrong, *extra]),
                allowed="the files that were published",
            ),
        )
    manifest = document_in(where, "manifest.json")
    names = [*manifest["files"], *(name for name in OWN if os.path.lexists(where / name))]
    return LearnedFolder({name: read_bytes(where / name, name) for name in sorted(names)}, document_hash(manifest))


def packed_in(where: Path) -> LearnedFolder | None:
    """The learning release that a release folder carries."""
    if not (where / LEARNED).is_file():
        return None
    if (where / LEARNED).stat().st_size > LARGEST:
        raise InputError(
            "The learning release in this folder is too large",
            found=f"more than {LARGEST:,} bytes",
            allowed=f"{LARGEST:,} bytes",
            remedy="check that this is a release folder",
        )
    document = parse_json(read_bytes(where / LEARNED, LEARNED), LEARNED)
    try:
        files = {str(name): base64.b64decode(text, validate=True) for name, text in document["files"].items()}
        named = all(Path(name).name == name and name not in ("", ".", "..") for name in files)
        digest = document_hash(parse_json(files["manifest.json"], "manifest.json"))
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error):
        named = False
    if not named or document.get("format") != FORMAT:
        raise InputError(
            f"{LEARNED} holds no learning release",
            found="another document",
            allowed=f"format {FORMAT}",
            remedy="ask the publisher for the folder as it was published",
        )
    return LearnedFolder(files, digest)


def learned_priors(bundle: Bundle) -> list[tuple[Prior, Origin]]:
    """The priors in use that say what they were learned from."""
    used = [mechanism.problem.prior for mechanism in bundle.used.values()]
    return [(p, p.origin) for p in used if isinstance(p, LearnedPrior) and isinstance(p.origin, Origin)]


def must_follow(bundle: Bundle) -> None:
    """Refuse a plan whose prior claims a release that it does not follow from."""
    wrong = does_not_follow(bundle)
    if wrong is not None:
        raise Refuted("the prior does not follow from the release that it names", wrong)


def does_not_follow(bundle: Bundle, ledger: str | None = None) -> Counterexample | None:
    """None when every prior is what its release says, or none names one; else what is wrong. `ledger` is that of the bundle."""
    named = learned_priors(bundle)
    folder = bundle.learned
    if folder is None:
        words = "A prior names a learning release that the plan does not bring"
        return None if not named else _wrong(words, named[0][1].release, "learned = the folder of that release, in the plan")
    if len(named) != len(bundle.used):
        return _wrong(
            "The plan brings a learning release, but not every prior names it",
            f"{len(named)} of {len(bundle.used)}",
            "all",
        )
    changes = {origin.change for _, origin in named}
    other = next((origin for _, origin in named if origin.release != folder.digest), None)
    if other is not None:
        return _wrong("A prior names another learning release than the plan brings", other.release, folder.digest)
    unknown = next((origin for _, origin in named if origin.rule != folder.rule), None)
    if unknown is not None:
        return _wrong("A prior follows by a rule that is not known here", unknown.rule, folder.rule)
    if len(changes) != 1:
        return _wrong("The priors of a plan discount their release differently", f"{len(changes)} discounts", "one")
    change = changes.pop()
    if LEARNED in folder.files:
        return _wrong(
            "The learning release was itself made under a learned prior",
            LEARNED,
            "a release of a plan with [learning]",
        )
    return fails(folder) or _elsewhere(bundle, folder, change, ledger) or _differs(named, folder.priors(change), bundle)


def fails(folder: LearnedFolder) -> Counterexample | None:
    """The first check of the learning release that fails."""
    from discreet.publish.verification import verified

    with tempfile.TemporaryDirectory(prefix="discreet-") as place:
        where = Path(place) / "learned"
        folder.written_to(where)
        failed = next((check for check in verified(where).checks if check.holds is False), None)
    return (
        None
        if failed is None
        else _wrong(f"The learning release fails: {failed.words}", failed.found or "not so", "every check holds")
    )


def _elsewhere(bundle: Bundle, folder: LearnedFolder, change: Fraction, ledger: str | None) -> Counterexample | None:
    """What the learning release is about that the plan is not."""
    theirs, mine = folder.plan, bundle.written
    if theirs.recoding.types != mine.recoding.types:
        return _wrong(
            "The learning release is about other types",
            f"{theirs.recoding.types} types",
            f"{mine.recoding.types}",
        )
    if change:
        return None
    for name, found, wanted in (
        ("population", theirs.population, mine.population),
        ("unit", theirs.unit.name, mine.unit.name),
        (
            "ledger",
            str(folder.document("ledger.json").get("ledger")),
            ledger or str(folder.document("ledger.json").get("ledger")),
        ),
        ("plan", document_hash(_about(theirs)), document_hash(_about(mine))),
        ("key set", _key_set_hash(folder), bundle.hashes["key_set"]),
    ):
        if found != wanted:
            return _wrong(f"The learning release is of another {name}", found, wanted)
    return None


def _about(plan: Plan) -> dict[str, Any]:
    """Which data a plan is about, and how it is read."""
    plain = replace(plan, mechanism="-", ledger="", most=None, learning=None, learned="", dataset="-", key_set="-")
    plain = replace(plain, source=replace(plain.source, location=Path(plain.source.location).name or "-"))
    return plan_document(plain)


def _key_set_hash(folder: LearnedFolder) -> str:
    from discreet.files.plan import key_set_hash

    return key_set_hash(key_set_from_text(rearmed(folder.files["key_set.csv"].decode("utf-8-sig")), folder.plan))


def _differs(named: list[tuple[Prior, Origin]], found: Mapping[tuple[str, ...], Prior], bundle: Bundle) -> Counterexample | None:
    """The first prior that is not the one computed here, or that serves another stratum than its own."""
    from discreet.publish.bundle import is_stratified

    strata = [kind[:-1] if isinstance(kind, tuple) and is_stratified(bundle.mechanism_document) else () for kind in bundle.used]
    for (prior, origin), served in zip(named, strata, strict=True):
        if origin.stratum != served:
            mine, theirs = (" / ".join(map(str, stratum)) or "all" for stratum in (origin.stratum, served))
            return _wrong("A prior is of another stratum than its cells", mine, theirs)
        computed = found.get(origin.stratum)
        if computed != prior:
            mechanism = next(m for m in bundle.used.values() if m.problem.prior == prior)
            stated = problem_document(mechanism.problem)["prior"]
            right = {} if computed is None else problem_document(replace(mechanism.problem, prior=computed))["prior"]
            key = next((k for k in {**right, **stated} if right.get(k) != stated.get(k)), "stratum")
            return _wrong(
                "A prior is not what follows from the learning release",
                f"{key} = {stated.get(key)}",
                f"{right.get(key)}",
            )
    return None


def told(wrong: Counterexample) -> str:
    """What is wrong, with what was found and what follows."""
    return f"{wrong.words}: {wrong.found}, not {wrong.allowed}"


def _wrong(words: str, found: str, allowed: str) -> Counterexample:
    return Counterexample("prior", words, found=found, allowed=allowed)
