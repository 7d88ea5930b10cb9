"""Problem files: TOML that a person writes, and the same document in exact form inside other artefacts.

TOML numbers are read as decimals, never as binary floats. Probabilities within 10^-9 of summing to one are normalised
and the fact is noted in `Problem.notes`; others are refused.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files import schema
from discreet.files.atomic import read_bytes
from discreet.files.canonical import must_be_shallow
from discreet.files.prior import needed, prior_from_shape
from discreet.model.actions import Actions, ListedActions, NamedActions, RealActions, is_number
from discreet.model.decision import MOST_ACTIONS, Decision, integer_actions
from discreet.model.invariants import compiled
from discreet.model.losses import MatchLoss, TableLoss, loss_of
from discreet.model.neighbours import AddRemoveOne, GivenGraph, Neighbours, ReplaceOne
from discreet.model.problem import Problem
from discreet.model.promises import LETTERS, Promise, PurePromise, promise_of
from discreet.model.statistic import CountStatistic, MeanStatistic, Statistic, SumStatistic, TableStatistic
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe
from discreet.numerics.exact import brief, counted, exact, must_fit_floats

LARGEST_PROBLEM = 64 << 20
SMALLEST_EPSILON = Fraction(1, 10**12)


def read_problem(path: str | Path) -> Problem:
    """The problem in a TOML file."""
    path = Path(path)
    data = read_bytes(path, "the problem file")
    if len(data) > LARGEST_PROBLEM:
        raise InputError(
            "The problem file is too large",
            found=f"{len(data):,} bytes",
            allowed=f"{LARGEST_PROBLEM:,} bytes",
            remedy="check that this is the right file",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            "The problem file is not text", found="bytes that are not UTF-8", allowed="a TOML file", remedy="check it"
        ) from None
    return problem_from_text(text, path.name.removesuffix(".toml"))


def read_question(path: str | Path, respondents: int) -> Problem:
    """A problem file without a prior, for cells of so many respondents: what is asked, before anything is believed.

    The prior of what is returned is even over the types, and stands for a prior that is still to be learned.
    """
    path = Path(path)
    document = _toml(read_bytes(path, "the problem file").decode("utf-8", "replace"))
    if "prior" in document:
        raise InputError(
            "This problem brings a prior, and none is learned where there is one",
            found="a section [prior]",
            allowed="[data], [statistic], [decision] and [privacy]",
            remedy="remove [prior] to learn one, or use discreet design to design under it",
        )
    data = document.get("data")
    if isinstance(data, dict):
        data.setdefault("respondents", respondents)
        values = data.get("values")
        types = len(values) if isinstance(values, list) and values else 1
        document["prior"] = {"kind": "iid", "probabilities": [f"1/{types}"] * types}
    if document.get("name") is None:
        document["name"] = path.name.removesuffix(".toml")
    return problem_from_document(document, "The problem file")


def problem_from_text(text: str, name: str) -> Problem:
    """The problem in TOML text; `name` is used when the text gives none."""
    document = _toml(text)
    if document.get("name") is None:
        document["name"] = name
    return problem_from_document(document, "The problem file")


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(
            "The problem file is not valid TOML",
            found=str(error)[:200] or type(error).__name__,
            allowed="a TOML file with [data], [prior], [statistic], [decision] and [privacy]",
            remedy="compare it with the example in the documentation",
        ) from None


def problem_from_document(document: Any, what: str = "The problem") -> Problem:
    """The problem that a document of dicts and lists describes."""
    must_be_shallow(document, what)
    shape = schema.read_shape(schema.Problem, document, what)
    must_fit_floats(shape.data.values or (), "The value of a type")
    fixed, shape.data.invariants = shape.data.invariants, None
    found = problem_from_shape(shape)
    _must_be_computable(found)
    return found if fixed is None else compiled(found, [tuple(types) for types in fixed])


def _must_be_computable(problem: Problem) -> None:
    """Refuse numbers that no search can tell from others; what is proved of them elsewhere is judged exactly, whatever they are."""
    if isinstance(problem.statistic, TableStatistic):
        must_fit_floats(problem.statistic.values.values(), "A value of the statistic")
    promise = problem.promise
    if isinstance(promise, PurePromise) and 0 < promise.epsilon < SMALLEST_EPSILON:
        raise InputError(
            "A privacy level ε this small tells nothing that floats can tell from nothing",
            found=brief(promise.epsilon),
            allowed=f"0, or {float(SMALLEST_EPSILON):g} and more",
            remedy="set privacy.epsilon to 0, which publishes nothing about the data, or larger",
        )


def problem_from_shape(shape: schema.Problem) -> Problem:
    """The problem that a checked shape describes; invariants are for people's files, others state their graph itself."""
    if shape.data.invariants is not None:
        raise InputError(
            "A problem inside another file states its graph itself",
            found="data.invariants",
            allowed="data.neighbours = { states, edges }",
            remedy="design from the problem file: what is written then holds the graph",
        )
    notes: list[str] = []
    universe, neighbours = _universe(shape.data)
    statistic = _statistic(shape.statistic)
    statistic.check(universe)
    promise = promise_from_shape(shape.privacy, "privacy")
    prior = prior_from_shape(shape.prior, universe, notes)
    listed = shape.decision if isinstance(shape.decision, list) else [shape.decision]
    placeholder = (Decision(MatchLoss(), ListedActions((Fraction(0),))),)
    unlisted = Problem(universe, neighbours, prior, statistic, placeholder, promise)
    decisions = tuple(_decision(d, unlisted) for d in listed)
    return Problem(
        universe,
        neighbours,
        prior,
        statistic,
        decisions,
        promise,
        unit=shape.privacy.unit or "respondent",
        name=shape.name or "",
        notes=tuple(notes),
    )


def promise_from_shape(shape: schema.Promised, where: str) -> Promise:
    """The promise that stands in a table of a file."""
    return promise_of({key: getattr(shape, key) for key in LETTERS}, where)


def _universe(data: schema.Data) -> tuple[AnyUniverse, Neighbours]:
    if isinstance(data.neighbours, schema.GivenNeighbours):
        if data.respondents is not None or data.values is not None:
            raise InputError(
                "Databases listed by name have no respondents or values",
                found="data.respondents or data.values",
                allowed="only data.neighbours = { states, edges }",
                remedy="remove the others",
            )
        return ListedUniverse(tuple(data.neighbours.states)), GivenGraph(tuple(data.neighbours.edges))
    if data.respondents is None or data.values is None:
        missing = "data.respondents" if data.respondents is None else "data.values"
        raise InputError(
            "The problem does not say who is in the data",
            found=f"no {missing}",
            allowed="respondents = 40 and values = [0, 1, 2]",
            remedy=f"add {missing}",
        )
    values = tuple(data.values)
    if isinstance(data.respondents, int):
        universe = Universe.of(data.respondents, values)
    else:
        universe = Universe(values, data.respondents.from_, data.respondents.to)
    return universe, AddRemoveOne() if data.neighbours == "add-remove-one" else ReplaceOne()


def _statistic(shape: schema.Statistic) -> Statistic:
    if shape.kind != "count" and shape.of is not None:
        raise InputError(
            f"A statistic of kind {shape.kind!r} has no 'of'",
            found="statistic.of",
            allowed="only for kind = 'count'",
            remedy="remove it",
        )
    if shape.kind != "table" and (shape.values is not None or shape.by is not None):
        raise InputError(
            f"A statistic of kind {shape.kind!r} has no table",
            found="statistic.values or statistic.by",
            allowed="only for kind = 'table'",
            remedy="remove it",
        )
    if shape.kind == "count":
        return CountStatistic(tuple(needed(shape.of, "statistic.of")))
    if shape.kind == "table":
        return TableStatistic(tuple(needed(shape.values, "statistic.values").items()), shape.by or "histogram")
    return SumStatistic() if shape.kind == "sum" else MeanStatistic()


def _decision(shape: schema.Decision, problem: Problem) -> Decision:
    payoff = tuple(map(tuple, shape.payoff)) if isinstance(shape.payoff, list) else shape.payoff
    loss = loss_of(shape.kind, quantile=shape.quantile, payoff=payoff)
    return Decision(
        loss,
        _actions(shape.actions, problem, in_order=isinstance(loss, TableLoss)),
        weight=Fraction(1) if shape.weight is None else shape.weight,
        name=shape.name or "",
        unbiased=shape.unbiased,
    )


def _actions(given: Any, problem: Problem, in_order: bool) -> Actions:
    """The actions; a payoff table's rows follow its list of actions, so that list is never sorted behind its back."""
    if given == "real":
        return RealActions()
    if given == "integer":
        return integer_actions(*problem.omega_range)
    if isinstance(given, schema.Range):
        if given.step is None:
            return RealActions(given.from_, given.to)
        if given.step <= 0 or given.to < given.from_:
            raise InputError(
                "The range of actions is empty",
                found=f"from {brief(given.from_)} to {brief(given.to)} by {brief(given.step)}",
                allowed="from <= to and a positive step",
                remedy="correct decision.actions",
            )
        count = (given.to - given.from_) // given.step + 1
        if count > MOST_ACTIONS:
            raise InputError(
                "The range of actions is too fine",
                found=f"{counted(count)} actions",
                allowed=f"{MOST_ACTIONS:,}",
                remedy="take a larger step, or leave it out for real actions",
            )
        return ListedActions(tuple(given.from_ + k * given.step for k in range(count)))
    words = [isinstance(action, str) and not is_number(action) for action in given]
    if all(words):
        return NamedActions(tuple(given))
    if any(words):
        raise InputError(
            "Actions are either all numbers or all names",
            found="a mixture",
            allowed='[0, 1, 2] or ["open", "wait"]',
            remedy="give the payoff as a table and name every action",
        )
    numbers = [exact(action, "an action") for action in given]
    return ListedActions(tuple(numbers if in_order else sorted(numbers)))
