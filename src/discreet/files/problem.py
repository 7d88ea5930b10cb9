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
from discreet.model.actions import Actions, ListedActions, NamedActions, RealActions, is_number
from discreet.model.decision import MOST_ACTIONS, Decision, integer_actions
from discreet.model.invariants import compiled
from discreet.model.losses import MatchLoss, TableLoss, loss_of
from discreet.model.neighbours import AddRemoveOne, GivenGraph, Neighbours, ReplaceOne
from discreet.model.origin import Origin, PublicCounts
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    Prior,
    ReferencePrior,
    TablePrior,
)
from discreet.model.problem import Problem
from discreet.model.promises import LETTERS, Promise, promise_of
from discreet.model.statistic import CountStatistic, MeanStatistic, Statistic, SumStatistic, TableStatistic
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe
from discreet.numerics.exact import brief, counted, exact, normalised

LARGEST_PROBLEM = 64 << 20


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
    fixed, shape.data.invariants = shape.data.invariants, None
    found = problem_from_shape(shape)
    return found if fixed is None else compiled(found, [tuple(types) for types in fixed])


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
    prior = _prior(shape.prior, universe, notes)
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


def _distribution(given: list[Fraction], key: str, notes: list[str]) -> tuple[Fraction, ...]:
    found, changed = normalised(given, what=key)
    if changed:
        notes.append(f"{key} summed to {float(sum(given, Fraction(0))):.12g} and was rescaled to sum to one")
    return found


def _prior(shape: schema.Prior, universe: AnyUniverse, notes: list[str]) -> Prior:
    allowed_keys = {
        "iid": {"probabilities", "size"},
        "independent": {"probabilities"},
        "exchangeable": {"histogram", "concentration", "size"},
        "mixture": {"components", "size"},
        "table": {"probabilities"},
        "reference": {"counts", "source", "pseudo_count", "size", "change", "noise"},
        "release": {"probabilities", "concentration", "components", "release", "rule", "stratum", "change"},
    }[shape.kind]
    given = {key for key in shape.model_fields_set - {"kind"} if getattr(shape, key) is not None}
    if given - allowed_keys:
        raise InputError(
            f"A prior of kind {shape.kind!r} has no such key",
            found=", ".join(sorted(given - allowed_keys)),
            allowed=sorted(allowed_keys),
            remedy="remove it or choose another kind",
        )
    size = _size(shape.size, universe, notes)
    if shape.kind == "release":
        return _learned(shape)
    if shape.kind == "reference":
        counts, source = tuple(_needed(shape.counts, "prior.counts")), _needed(shape.source, "prior.source")
        raised = shape.pseudo_count or Fraction(0)
        if shape.change is None and shape.noise is None:
            return ReferencePrior(counts, source, raised, size)
        public = PublicCounts(counts, source, shape.change or Fraction(0), shape.noise or Fraction(0), raised)
        return DirichletMultinomialPrior(public.concentration, size, public)
    if shape.kind == "exchangeable":
        if (shape.histogram is None) == (shape.concentration is None):
            raise InputError(
                "An exchangeable prior is given in one of two ways",
                found="both" if shape.histogram is not None else "neither",
                allowed="histogram or concentration",
                remedy="give one of them",
            )
        if shape.concentration is not None:
            return DirichletMultinomialPrior(tuple(shape.concentration), size)
        assert shape.histogram is not None
        chances = _distribution(list(shape.histogram.values()), "prior.histogram", notes)
        return ExchangeablePrior(tuple(zip(map(_counts, shape.histogram), chances, strict=True)))
    if shape.kind == "mixture":
        return _mixture(_needed(shape.components, "prior.components"), size, None)
    probabilities = _needed(shape.probabilities, "prior.probabilities")
    if shape.kind == "table":
        if not isinstance(probabilities, dict):
            raise _wrong_form("a table from databases to numbers", probabilities)
        chances = _distribution(list(probabilities.values()), "prior.probabilities", notes)
        return TablePrior(tuple(zip(probabilities, chances, strict=True)))
    if not isinstance(probabilities, list) or not probabilities:
        raise _wrong_form("a list of numbers", probabilities)
    if shape.kind == "independent":
        rows = [row for row in probabilities if isinstance(row, list)]
        if len(rows) != len(probabilities):
            raise _wrong_form("one list of numbers for each respondent", probabilities)
        return IndependentPrior(tuple(_distribution(row, f"prior.probabilities[{i}]", notes) for i, row in enumerate(rows)))
    numbers = [p for p in probabilities if isinstance(p, Fraction)]
    if len(numbers) != len(probabilities):
        raise _wrong_form("a list of numbers", probabilities)
    return IidPrior(_distribution(numbers, "prior.probabilities", notes), size)


def _learned(shape: schema.Prior) -> Prior:
    """A prior that follows from a release, exactly as it is written: nothing is rescaled."""
    release, rule = _needed(shape.release, "prior.release"), _needed(shape.rule, "prior.rule")
    origin = Origin(release, rule, tuple(shape.stratum or ()), shape.change or Fraction(0))
    given = [key for key in ("concentration", "probabilities", "components") if getattr(shape, key) is not None]
    if len(given) != 1:
        raise InputError(
            "A learned prior is given in one of three ways",
            found=" and ".join(given) or "none of them",
            allowed="concentration, or components of a mixture, or probabilities where cells are alike",
            remedy="copy the prior that discreet learn wrote",
        )
    if shape.components is not None:
        return _mixture(shape.components, None, origin)
    if shape.concentration is not None:
        return DirichletMultinomialPrior(tuple(shape.concentration), origin=origin)
    if not isinstance(shape.probabilities, list):
        raise _wrong_form("a list of numbers", shape.probabilities)
    numbers = [p for p in shape.probabilities if isinstance(p, Fraction)]
    if len(numbers) != len(shape.probabilities):
        raise _wrong_form("a list of numbers", shape.probabilities)
    return IidPrior(tuple(numbers), origin=origin)


def _mixture(shapes: list[schema.Component], size: tuple[Fraction, ...] | None, origin: Origin | None) -> MixturePrior:
    """A mixture exactly as it is written: nothing is rescaled."""
    found: list[IidPrior | DirichletMultinomialPrior] = []
    for one in shapes:
        if (one.concentration is None) == (one.probabilities is None):
            raise InputError(
                "A component of a mixture is given in one of two ways",
                found="both" if one.concentration is not None else "neither",
                allowed="concentration, or probabilities where cells of the kind are alike",
                remedy="give one of them",
            )
        law = None if one.concentration is None else DirichletMultinomialPrior(tuple(one.concentration))
        found.append(law or IidPrior(tuple(one.probabilities or ())))
    return MixturePrior(tuple(one.weight for one in shapes), tuple(found), size, origin)


def _size(given: Any, universe: AnyUniverse, notes: list[str]) -> tuple[Fraction, ...] | None:
    if given is None:
        return None
    if given == "uniform":
        if not isinstance(universe, Universe):
            raise InputError(
                "Databases listed by name have no number of respondents",
                found="prior.size",
                allowed="no prior.size",
                remedy="remove it",
            )
        count = universe.largest - universe.smallest + 1
        universe.must_list(count, "sizes")
        return (Fraction(1, count),) * count
    return _distribution(given, "prior.size", notes)


def _counts(label: str) -> tuple[int, ...]:
    parts = label.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and len(part) < 12 for part in parts):
        raise InputError(
            "A histogram is written as counts of types",
            found=label,
            allowed='for instance "38,2,0"',
            remedy="correct prior.histogram",
        )
    return tuple(int(part) for part in parts)


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
        return CountStatistic(tuple(_needed(shape.of, "statistic.of")))
    if shape.kind == "table":
        return TableStatistic(tuple(_needed(shape.values, "statistic.values").items()), shape.by or "histogram")
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


def _needed(value: Any, key: str) -> Any:
    if value is None:
        raise InputError("The problem lacks a key", found=f"no {key}", allowed=f"{key} must be given", remedy="add it")
    return value


def _wrong_form(wanted: str, found: Any) -> InputError:
    return InputError(
        "prior.probabilities does not fit its kind",
        found=type(found).__name__,
        allowed=wanted,
        remedy="correct it or choose another kind of prior",
    )
