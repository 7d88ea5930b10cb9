"""What every shape of a file is made of: exact numbers, texts, tables without strangers; and complaints in words.

Unknown keys are refused with the nearest known one, exact numbers are read by `numerics.exact`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from discreet.errors import InputError, suggest
from discreet.numerics.exact import exact


class _NotExact(ValueError):
    """Carries the words of `numerics.exact` through pydantic, which goes on to try the other forms of a key."""

    def __init__(self, error: InputError) -> None:
        self.error = error
        super().__init__(error.wrong)


def _exact(value: Any, info: ValidationInfo) -> Fraction:
    try:
        return exact(value, info.field_name or "a number")
    except InputError as error:
        raise _NotExact(error) from None


Exact = Annotated[
    Fraction,
    BeforeValidator(_exact),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer"},
                {"type": "string", "pattern": r"^-?[0-9]+(/[0-9]+|(\.[0-9]+)?([eE][+-]?[0-9]+)?)$"},
            ],
            "description": 'an exact number: a whole number, or text such as "1/3" or "0.25"',
        }
    ),
]
Integer = Annotated[int, Field(strict=True)]
Digits = Annotated[str, Field(strict=True, pattern=r"^(0|[1-9][0-9]*)$")]
Text = Annotated[str, Field(strict=True, max_length=10_000)]


class Shape(BaseModel):
    """A table of keys; nothing else may stand in it."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, populate_by_name=True, defer_build=True)


S = TypeVar("S", bound=Shape)


def read_shape(shape: type[S], document: Any, what: str) -> S:
    """The document as a shape, or an `InputError` that names the key, what was found and what is allowed."""
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        raise _in_words(shape, error, what) from None
    except RecursionError:
        raise InputError(
            f"{what} is nested too deeply", found="many levels", allowed="the keys of the format", remedy="flatten it"
        ) from None


def _in_words(shape: type[Shape], error: ValidationError, what: str) -> InputError:
    """The most telling complaint: an unknown key, then something that should be a number, then the deepest one.

    Unions report every branch that did not fit, so a container where a number may stand says little.
    """
    complaints = error.errors(include_url=False)
    first = max(complaints, key=_telling)
    place = ".".join(str(part).removesuffix("_") for part in first["loc"] if not _is_branch(part))
    if first["type"] == "extra_forbidden":
        allowed = _keys_at(shape, first["loc"][:-1])
        key = str(first["loc"][-1])
        near = suggest(key, allowed)
        return InputError(
            f"{what} has a key that is not known",
            found=place,
            allowed=allowed,
            remedy=f"did you mean {near!r}?" if near else "remove it",
        )
    if first["type"] == "missing":
        return InputError(f"{what} lacks a key", found=f"no {place}", allowed=f"{place} must be given", remedy="add it")
    found = first.get("input")
    if first["type"] == "value_error" and isinstance(cause := first.get("ctx", {}).get("error"), _NotExact):
        words = cause.error
        return InputError(f"{what}: {place} is not a number", found=words.found, allowed=words.allowed, remedy=words.remedy)
    shown = found if isinstance(found, (str, int)) else f"{type(found).__name__}"
    return InputError(
        f"{what}: {place} is not of the right kind",
        found=shown,
        allowed=first["msg"].removeprefix("Input should be "),
        remedy="correct it",
    )


def _telling(complaint: Any) -> tuple[bool, bool, int]:
    scalar = not isinstance(complaint.get("input"), (list, dict))
    return complaint["type"] == "extra_forbidden", complaint["type"] == "value_error" and scalar, len(complaint["loc"])


def _is_branch(part: Any) -> bool:
    """Union branches appear in pydantic's path under the name of their type."""
    return isinstance(part, str) and (
        part[:1].isupper() or "[" in part or part in ("int", "str", "dict", "list", "tuple", "function-before")
    )


def _keys_at(shape: type[Shape], path: tuple[Any, ...]) -> list[str]:
    """The keys that the table at `path` may have."""
    here: type[Shape] = shape
    for part in path:
        found = _shapes_in(here, part)
        if found is not None:
            here = found
    return [field.alias or name for name, field in here.model_fields.items()]


def _below(shape: type[Shape]) -> Iterator[type[Shape]]:
    for sub in shape.__subclasses__():
        yield from (sub, *_below(sub))


def _shapes_in(shape: type[Shape], part: Any) -> type[Shape] | None:
    named = {sub.__name__: sub for sub in _below(Shape)}
    if part in named:
        return named[part]
    field = shape.model_fields.get(part) if isinstance(part, str) else None
    if field is None:
        return None
    inside = [sub for sub in named.values() if sub.__name__ in re.findall(r"\w+", str(field.annotation))]
    text = str(field.annotation)
    candidates = [sub for sub in named.values() if f"schema.{sub.__name__}" in text] or inside
    return candidates[0] if len(candidates) == 1 else None
