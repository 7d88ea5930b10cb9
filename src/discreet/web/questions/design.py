"""Designs: the best mechanism of a problem, or a family of them for the cells of a table, with all that is said beside the loss."""

from __future__ import annotations

from fractions import Fraction

from discreet.design import design as best_mechanism
from discreet.design.questions.family import design_family
from discreet.design.questions.hedge import hedge as hedged_against
from discreet.design.questions.hedge import must_be_hedgeable, never_more
from discreet.design.schedule import until_all_is_shown
from discreet.files import (
    certificate_path,
    record_path,
    write_certificate,
    write_family,
    write_mechanism,
    write_records,
)
from discreet.files.atomic import write_atomically
from discreet.files.problem import problem_from_text
from discreet.files.sizes import read_sizes
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.numerics.exact import share
from discreet.present import comparison_figure, family_figure, mechanism_figure
from discreet.views.design import design_view
from discreet.views.family import family_view
from discreet.views.reliance import relied_on
from discreet.views.shape import shape_view
from discreet.views.sharing import shares_view
from discreet.views.words import problem_words
from discreet.web.keeping import name_of
from discreet.web.questions import Reply, Setting, drawn
from discreet.web.questions.frontier import keep_point
from discreet.web.typed import amount

MECHANISM = "design.mechanism.json"
FAMILY = "design.family.json"
SIZES = "sizes.csv"


def read(toml: str, epsilon: str | None) -> Problem:
    """The problem, at another ε when one is asked for."""
    problem = problem_from_text(toml, "problem")
    return problem if epsilon is None else problem.with_epsilon(amount(epsilon, "ε", 0, 50))


def design(
    setting: Setting,
    toml: str,
    gap: str,
    seconds: float,
    hedge: str | None = None,
    never: str | None = None,
    epsilon: str | None = None,
) -> Reply:
    """One mechanism, certified, beside what people do today, and what it loses when the prior is wrong."""
    problem = read(toml, epsilon)
    radius: Fraction | None = None if hedge is None else share(hedge, "hedge")
    most = never_more(never)
    if radius is not None:
        must_be_hedgeable(problem)
    place = setting.kept / MECHANISM

    def keep(mechanism: Mechanism, certificate: Certificate) -> None:
        write_mechanism(place, mechanism)
        write_certificate(certificate_path(place), certificate)

    whole = until_all_is_shown(seconds, setting.watch)
    found = best_mechanism(problem, setting.watch, gap=float(amount(gap, "gap", 0, 0.5)), seconds=seconds, keep=keep)
    promise = problem.promise
    if epsilon is None and len(promise.keys) == 1 and promise.level:  # a point of the problem's frontier is solved, too
        name = name_of("problem", toml)
        keep_point(setting, name, promise.keys[0], promise.level, found, sum(found.seconds.values()), own=True)
    hedged = None if radius is None else hedged_against(found.mechanism, found.certificate, radius, most, whole)
    mechanism, certificate = (found.mechanism, found.certificate) if hedged is None else (hedged.mechanism, hedged.certificate)
    keep(mechanism, certificate)
    view = design_view(found, whole) + relied_on(found, hedged, whole) + shape_view(mechanism)
    write_records(record_path(place), [found.record(looked=True)] if hedged is None else [])
    if len(problem.decisions) > 1 and not setting.watch.cancelled():
        from discreet.design.questions.decision_makers import prices

        view += shares_view(prices(found, setting.watch, workers=1))
    figures = drawn(lambda: comparison_figure(found), lambda: mechanism_figure(mechanism))
    outputs = [output.label for output in mechanism.outputs[:400]]
    return Reply(view, figures, {"question": problem_words(problem), "name": problem.name, "outputs": outputs})


def family(
    setting: Setting, toml: str, sizes: str, gap: str, seconds: float, hedge: str | None = None, never: str | None = None
) -> Reply:
    """A mechanism for every size of cell that a key set or a list names."""
    problem = read(toml, None)
    listed = setting.kept / SIZES
    write_atomically(listed, sizes.encode())
    found = design_family(
        problem,
        read_sizes(listed),
        setting.watch,
        gap=float(amount(gap, "gap", 0, 0.5)),
        seconds=seconds,
        limit=seconds,
        workers=1,
        folder=setting.home / "members",
        hedged=None if hedge is None else share(hedge, "hedge"),
        never=never_more(never),
    )
    place = setting.kept / FAMILY
    write_family(place, found.family)
    write_records(record_path(place), [how.record for how in found.made])
    extra = {"question": problem_words(problem), "name": problem.name, "sizes": found.family.words}
    return Reply(family_view(found), drawn(lambda: family_figure(found)), extra)
