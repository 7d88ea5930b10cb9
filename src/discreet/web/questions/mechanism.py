"""Questions about a mechanism that was designed here: what a value means, what is promised, and the report."""

from __future__ import annotations

from pathlib import Path

from discreet.currencies.profiles import profile
from discreet.design.questions.regret import regrets_around
from discreet.errors import DiscreetError, InputError
from discreet.files import certificate_path, mechanism_hash, read_certificate, read_mechanism
from discreet.files.atomic import write_atomically
from discreet.files.priors import read_prior
from discreet.files.record import record_beside
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.promises import PurePromise
from discreet.numerics.exact import exact, share
from discreet.present import delta_figure, posterior_figure, tradeoff_figure
from discreet.present.report import mechanism_report
from discreet.views.conversion import promised_view
from discreet.views.limits import limits_view, output_limits_view
from discreet.views.profile import profile_view
from discreet.views.reading import reading_view
from discreet.views.view import BREAK, Heading, View
from discreet.views.wrong_prior import regrets_view
from discreet.web.keeping import Shelf
from discreet.web.questions import Reply, Setting, drawn
from discreet.web.questions.design import MECHANISM
from discreet.web.typed import chance

MOST_OUTPUTS = 400
MOST_TOGETHER = 20


def held(setting: Setting, subject: str) -> tuple[Path, Mechanism]:
    """The mechanism of an answer, and where it lies."""
    place = Shelf(setting.home).found(subject) / MECHANISM
    if not place.is_file():
        raise InputError(
            "There is no mechanism under this name",
            found=subject,
            allowed="a design that has ended",
            remedy="design it first, or ask again",
        )
    return place, read_mechanism(place)


def reading(setting: Setting, subject: str, output: str | None, level: str, prior: str | None = None) -> Reply:
    """What a published value means under the design's prior, or under a prior that the reader brings."""
    sure_of = chance(level, "level")
    _, mechanism = held(setting, subject)
    labels = [o.label for o in mechanism.outputs[:MOST_OUTPUTS]]
    chosen = labels[len(labels) // 2] if output is None else output
    believed = None if prior is None else _brought(setting, prior, mechanism)
    view = reading_view(mechanism, [chosen], believed, prior_name="the reader", level=sure_of)
    view += output_limits_view(mechanism, chosen)
    pictures = drawn(lambda: posterior_figure(mechanism, sure_of, outputs=[chosen], prior=believed))
    return Reply(view, pictures, {"outputs": labels, "output": chosen, "name": mechanism.problem.name})


def _brought(setting: Setting, text: str, mechanism: Mechanism) -> Prior:
    """A prior that a reader wrote, read as the command line reads its file."""
    place = setting.kept / "prior.toml"
    write_atomically(place, text.encode())
    return read_prior(place, mechanism.problem)


def guarantees(setting: Setting, subject: str, sure: str = "0.5", delta: str = "1e-6", size: int = 1) -> Reply:
    """The promise in every currency, what follows from it alone, and what an attacker can still learn, in sentences."""
    beforehand, slack = chance(sure, "probability"), chance(delta, "δ")
    if not 1 <= size <= MOST_TOGETHER:
        raise InputError("A group has members", found=size, allowed=f"1 to {MOST_TOGETHER}", remedy="choose a smaller one")
    _, mechanism = held(setting, subject)
    promise = mechanism.guarantee.promise
    pure = isinstance(promise, PurePromise)
    told = profile_view(mechanism, deltas=[delta], size=size, watch=setting.watch)
    follows = promised_view(promise, exact(delta, "δ"))
    limits = limits_view(mechanism, sure=beforehand)
    facts = {"profile": told.facts, "conversions": follows.facts, "limits": limits.facts}
    words = (
        Heading("The attacker's view"), *limits.told, BREAK, Heading("In every currency"), *told.told, BREAK,
        Heading("What follows from the promise alone"), *follows.told,
    )  # fmt: skip
    view = View(facts, words, told.holds and limits.holds)
    level, seen = (float(mechanism.guarantee.epsilon), profile(mechanism)) if pure else (0.0, None)
    pictures = drawn(lambda: delta_figure(seen, level), lambda: tradeoff_figure(seen, level)) if seen is not None else ()
    return Reply(view, pictures, {"name": mechanism.problem.name, "delta": slack})


def regret(setting: Setting, subject: str, radius: str, seconds: float) -> Reply:
    """What following the design costs where its prior was wrong, against the best mechanism for the right one."""
    _, mechanism = held(setting, subject)
    found = regrets_around(mechanism, share(radius, "radius"), setting.watch, seconds=seconds)
    return Reply(regrets_view(found, radius), (), {"name": mechanism.problem.name})


def report(setting: Setting, subject: str) -> Reply:
    """The printable page about a design; it is written beside the question."""
    place, mechanism = held(setting, subject)
    beside_it = certificate_path(place)
    certificate = read_certificate(beside_it) if beside_it.is_file() else None
    try:
        record = record_beside(place, mechanism_hash(mechanism))
    except DiscreetError:
        record = None
    text = mechanism_report(mechanism, certificate, record=record)
    write_atomically(setting.kept / "report.html", text.encode())
    return Reply(View({"report": "report.html"}, ()), (), {"name": mechanism.problem.name})
