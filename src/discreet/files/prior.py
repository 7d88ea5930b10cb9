"""The [prior] of a problem file: which keys belong to each kind, and the prior that they state.

Probabilities within 10^-9 of summing to one are normalised and the fact is noted; priors that were learned, and mixtures, are taken
exactly as they are written.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import InputError
from discreet.files import schema
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
from discreet.model.universe import AnyUniverse, Universe
from discreet.numerics.exact import normalised


def prior_from_shape(shape: schema.Prior, universe: AnyUniverse, notes: list[str]) -> Prior:
    """The prior, with what was rescaled added to the notes."""
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
        counts, source = tuple(needed(shape.counts, "prior.counts")), needed(shape.source, "prior.source")
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
        return _mixture(needed(shape.components, "prior.components"), size, None)
    probabilities = needed(shape.probabilities, "prior.probabilities")
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
    release, rule = needed(shape.release, "prior.release"), needed(shape.rule, "prior.rule")
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


def _distribution(given: list[Fraction], key: str, notes: list[str]) -> tuple[Fraction, ...]:
    found, changed = normalised(given, what=key)
    if changed:
        notes.append(f"{key} summed to {float(sum(given, Fraction(0))):.12g} and was rescaled to sum to one")
    return found


def needed(value: Any, key: str) -> Any:
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
