"""Everything for someone without a prior: learn, design, publish. Plan and question in, release out; every step may be
interrupted.

    DIR/learning.toml, learning.family.json      the plan to learn from and its mechanisms
    DIR/learned/                                 the learning release
    DIR/problem.toml (problem-1.toml, …)         the problem under the learned prior, one for each stratum
    DIR/mechanism.family.json (.strata.json)     the designs; DIR/designs keeps each as soon as it is made
    DIR/plan.toml                                the plan under the learned prior
    DIR/release/                                 the release
    DIR/choices.json                             what was asked for, written first: the same command goes on from wherever it was

ε (or ρ) of the question is the total: the share is spent on learning, the rest on the release, both on one account of one ledger.
Each file is an ordinary one: `discreet commit`, `publish`, `design` and `verify` work on them one by one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.certify.whole_set import must_be_whole
from discreet.design.questions.family import FamilyDesign, design_family
from discreet.design.reports import Among
from discreet.engines import Engine
from discreet.errors import InputError
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.files.family import write_family
from discreet.files.plan import key_set_hash, located, plan_document, read_key_set, read_plan
from discreet.files.problem import read_problem, read_question
from discreet.files.problem_document import problem_document
from discreet.files.strata import Strata, write_strata
from discreet.files.toml_text import toml_text
from discreet.learning.fit import RULE, WITH_KINDS, Learned
from discreet.learning.mechanisms import learning_family
from discreet.learning.questions import Question, by_stratum, questions
from discreet.learning.split import LearningShare, split
from discreet.ledger.book import Ledger
from discreet.ledger.keys import Signer
from discreet.model.key_set import KeySet
from discreet.model.plan import Learning, Plan
from discreet.model.problem import Problem
from discreet.model.promises import Promise
from discreet.model.universe import Universe
from discreet.numerics.exact import exact, format_exact
from discreet.publish import commit, gather, publish
from discreet.publish.bundle import Bundle
from discreet.publish.commitment import find_commitment
from discreet.publish.costs import most_cost
from discreet.publish.folder import carried
from discreet.publish.learned import LearnedFolder, read_learned
from discreet.watch import SILENT, Watch

STEPS = ("learn", "fit", "design", "publish")
CHOICES, FAMILY = "choices.json", "mechanism.family.json"


@dataclass(frozen=True, eq=False)
class LearningChoices:
    """What is to be done: plan, question, key set, questions to the cells, and the split of the promise."""

    folder: Path
    plan: Plan
    problem: Problem
    key_set: KeySet
    strata: tuple[str, ...]
    asked: tuple[Question, ...]
    split: LearningShare
    hedged: bool = False
    """Whether designs have the least worst regret over the whole confidence set."""
    kinds: bool = False
    """Whether cells are also asked of what kinds they are."""

    @property
    def located(self) -> Plan:
        """The plan with paths from here."""
        return located(self.plan, self.folder)

    @property
    def total(self) -> Promise:
        """What both releases together promise a respondent."""
        return self.problem.promise

    @property
    def for_learning(self) -> Promise:
        """What learning promises a respondent."""
        return self.total.at(self.total.level * self.split.share)

    @property
    def for_release(self) -> Promise:
        """What is left for the release."""
        return self.total.at(self.total.level * (1 - self.split.share))

    @property
    def to_learn(self) -> Plan:
        """The plan of the learning release."""
        dataset = f"{self.plan.dataset}: to learn from"
        return replace(self.plan, learning=Learning(self.strata, self.kinds), mechanism="learning.family.json", dataset=dataset)


@dataclass(frozen=True, eq=False)
class LearnedRelease:
    """What came of it, as far as it went."""

    choices: LearningChoices
    learned: Path
    found: Mapping[tuple[str, ...], Learned] | None = None
    designs: Mapping[tuple[str, ...], FamilyDesign] | None = None
    release: Path | None = None


def chosen(
    plan: str | Path,
    question: str | Path,
    folder: str | Path,
    *,
    share: str = "auto",
    strata: tuple[str, ...] = (),
    hedged: bool = False,
    kinds: bool = False,
) -> LearningChoices:
    """Read everything, refuse what cannot work, and write down what was chosen; a folder begun with other choices is refused."""
    where, target = Path(plan), Path(folder)
    written = read_plan(where, made=FAMILY)
    if written.learning is not None or written.learned:
        raise InputError(
            "This plan is already one to learn from, or under a learned prior",
            found="learning or learned in the plan",
            allowed="a plan of the cells to publish",
            remedy="remove both: discreet learn writes plans of its own",
        )
    base = located(written, where.parent)
    key_set = read_key_set(base.key_set, base)
    problem = read_question(question, max(key_set.sizes))
    weights = _must_fit(problem, base)
    if hedged:
        must_be_whole(problem)
    if hedged and kinds:
        raise InputError(
            "A release is hedged over priors of one kind of cells: over sets of mixtures no regret is proved",
            found="kinds and hedged",
            allowed="one of them",
            remedy="leave out --kinds, or --hedge: discreet design --hedge 50% guards a mixture against means that are off",
        )
    asked = questions(key_set, base.recoding.types, strata, kinds=kinds)
    halves = split(asked, key_set, weights, problem.promise, share if share == "auto" else exact(share, "--share"))
    target.mkdir(parents=True, exist_ok=True)
    found = LearningChoices(target, _moved(base, target), problem, key_set, strata, asked, halves, hedged, kinds)
    _must_be_the_same(found)
    return found


def _must_fit(problem: Problem, plan: Plan) -> list[float]:
    """What each type adds to the statistic; refuses what cannot be learned for."""
    universe = problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) and universe.fixed else None
    if weights is None or len(problem.promise.keys) > 1 or not isinstance(universe, Universe):
        raise InputError(
            "A prior is learned for the sum, mean or count of a fixed number of respondents, under ε or ρ",
            found=f"statistic {problem.statistic.kind}, {problem.promise.brief()}",
            allowed="sum, mean or count, and one of privacy.epsilon and privacy.rho",
            remedy="state the question so, or bring a prior",
        )
    if universe.types != plan.recoding.types or universe.types < 2:
        raise InputError(
            "The question has other types than the plan's recoding",
            found=f"{universe.types} values",
            allowed=f"{plan.recoding.types}, as many as the plan has types, and at least 2",
            remedy="make data.values and recoding agree",
        )
    if problem.unit != plan.unit.name:
        raise InputError(
            "The question protects another unit than the plan",
            found=problem.unit,
            allowed=plan.unit.name,
            remedy="use the same name for the privacy unit",
        )
    return [float(weight) for weight in weights]


def _moved(plan: Plan, folder: Path) -> Plan:
    """The plan with paths as they are written in `folder`."""

    def seen(place: str) -> str:
        return os.path.relpath(Path(place).resolve(), folder.resolve())

    source = plan.source
    if source.on_disk:
        source = replace(source, location=seen(source.location))
    ledger = plan.ledger if not plan.ledger or "://" in plan.ledger else seen(plan.ledger)
    return replace(plan, source=source, key_set=seen(plan.key_set), ledger=ledger, mechanism=FAMILY)


def _must_be_the_same(choices: LearningChoices) -> None:
    """LearningChoices are written once, before anything is spent."""
    document = {
        "format": "discreet-choices/1",
        "plan": plan_document(choices.plan),
        "question": {k: v for k, v in problem_document(choices.problem).items() if k != "prior"},
        "key_set": key_set_hash(choices.key_set),
        "strata": list(choices.strata),
        "share": format_exact(choices.split.share),
        "rule": WITH_KINDS if choices.kinds else RULE,
        **({"hedged": True} if choices.hedged else {}),
    }
    place = choices.folder / CHOICES
    data = canonical_bytes(document) + b"\n"
    if not place.exists():
        write_atomically(place, data)
    elif read_bytes(place, CHOICES) != data:
        before = parse_json(read_bytes(place, CHOICES), CHOICES)
        other = next(
            (key for key in document if not isinstance(before, dict) or before.get(key) != document[key]),
            "format",
        )
        raise InputError(
            "This folder was begun with other choices",
            found=f"another {other.replace('_', ' ')}",
            allowed="the same command as before",
            remedy="run the same command again, or name another folder",
        )


def learn(
    choices: LearningChoices,
    ledger: Ledger,
    *,
    signer: Signer | None = None,
    engine: Engine | None = None,
    until: str = "publish",
    gap: float = 0.01,
    seconds: float = 60.0,
    workers: int | None = None,
    watch: Watch = SILENT,
    publishing: Watch = SILENT,
    frame: object = None,
    step: Callable[[str], None] | None = None,
) -> LearnedRelease:
    """Do every step that is not done yet, up to `until`; asked again, it goes on from where it was.

    `watch` follows the designs alone. What follows the releases is `publishing`, and it should tell no times: how long counting
    takes depends on the data.
    """
    if until not in STEPS:
        raise InputError("There is no such step", found=until, allowed=STEPS, remedy="choose one of these")
    _must_afford(choices, ledger)
    begin = step or _nothing
    begin("learn")
    plan = choices.to_learn
    place = _plan_file(choices.folder / "learning.toml", plan)
    family = choices.folder / plan.mechanism
    if not family.exists():
        write_family(family, learning_family(choices.asked, choices.for_learning, choices.problem.unit))
    learned = _published(place, choices.folder / "learned", ledger, signer, engine, publishing, frame)
    if until == "learn":
        return LearnedRelease(choices, learned)
    begin("fit")
    folder = read_learned(learned)
    found = folder.fitted()
    problems = _problems(choices, folder)
    if until == "fit":
        return LearnedRelease(choices, learned, found)
    begin("design")
    designs = _designed(choices, problems, found, gap, seconds, workers, watch)
    name = "mechanism.strata.json" if choices.strata else FAMILY
    if not (choices.folder / name).exists():
        families = {stratum: made.family for stratum, made in designs.items()}
        if choices.strata:
            write_strata(choices.folder / name, Strata(choices.strata, families))
        else:
            write_family(choices.folder / name, families[()])
    if until == "design":
        return LearnedRelease(choices, learned, found, designs)
    begin("publish")
    final = _plan_file(choices.folder / "plan.toml", replace(choices.plan, mechanism=name, learned="learned"))
    release = _published(final, choices.folder / "release", ledger, signer, engine, publishing, frame)
    return LearnedRelease(choices, learned, found, designs, release)


def _nothing(_step: str) -> None:
    """Nobody wants to know which step begins."""


def _must_afford(choices: LearningChoices, ledger: Ledger) -> None:
    """Before anything is spent, the budget holds both releases, or what of them is still to be spent."""
    parts = {
        "learned": most_cost(choices.to_learn.exposure, choices.for_learning),
        "release": most_cost(choices.plan.exposure, choices.for_release),
    }
    stages = [name for name in parts if any(choices.folder.glob(f".{name}.*"))]
    wanted = [cost for name, cost in parts.items() if not (choices.folder / name).exists()]
    if not stages:
        ledger.must_afford(choices.plan.population, choices.plan.unit.name, wanted)


def _plan_file(place: Path, plan: Plan) -> Path:
    text = toml_text(plan_document(plan)).encode()
    if not place.exists():
        write_atomically(place, text)
    elif read_bytes(place, place.name) != text:
        raise InputError(
            "A plan in this folder was changed",
            found=str(place),
            allowed="the plan as it was written",
            remedy="commit and publish changed plans by hand, or name another folder",
        )
    return place


def _published(
    plan: Path,
    target: Path,
    ledger: Ledger,
    signer: Signer | None,
    engine: Engine | None,
    watch: Watch,
    frame: object,
) -> Path:
    """The release of a plan: committed unless it was, drawn unless it was."""
    bundle = gather(plan)
    if target.exists() and _recorded(target, ledger):
        return target
    if not _is_committed(bundle, ledger):
        commit(bundle, ledger, signer)
    return publish(bundle, target, ledger, signer=signer, engine=engine, watch=watch, frame=frame)


def _recorded(target: Path, ledger: Ledger) -> bool:
    _, name, digest = carried(target)
    held = ledger.state.reservations.get(name)
    return held is not None and held.stage == "released" and held.release == digest


def _is_committed(bundle: Bundle, ledger: Ledger) -> bool:
    try:
        find_commitment(bundle, ledger)
    except InputError:
        return False
    return True


def _problems(choices: LearningChoices, folder: LearnedFolder) -> dict[tuple[str, ...], Problem]:
    """The problem of each stratum under what was learned, also as files."""
    found = {}
    for number, (stratum, prior) in enumerate(sorted(folder.priors().items()), start=1):
        problem = replace(choices.problem, prior=prior, promise=choices.for_release)
        place = choices.folder / (f"problem-{number}.toml" if choices.strata else "problem.toml")
        if not place.exists():
            write_atomically(place, toml_text(problem_document(problem)).encode())
        found[stratum] = read_problem(place)
    return found


def _designed(
    choices: LearningChoices,
    problems: Mapping[tuple[str, ...], Problem],
    believed: Mapping[tuple[str, ...], Learned],
    gap: float,
    seconds: float,
    workers: int | None,
    watch: Watch,
) -> dict[tuple[str, ...], FamilyDesign]:
    """A family for each stratum, over the sizes of its own cells; what was made for one stratum may serve another."""
    found: dict[tuple[str, ...], FamilyDesign] = {}
    parts, begun = sorted(by_stratum(choices.key_set, choices.strata).items()), time.monotonic()
    for number, (stratum, places) in enumerate(parts, start=1):
        within = Among(watch, "stratum", number, len(parts), begun) if len(parts) > 1 else watch
        sizes = [choices.key_set.sizes[place] for place in places]
        found[stratum] = design_family(
            problems[stratum],
            sizes,
            within,
            gap=gap,
            seconds=seconds,
            folder=choices.folder / "designs",
            workers=workers,
            hedged=believed[stratum].believed() if choices.hedged else None,
            nearby=[made.family for made in found.values()],
        )
    return found
