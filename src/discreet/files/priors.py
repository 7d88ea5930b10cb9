"""Files of priors: TOML with one [[prior]] for each of several, or one [prior], written as in a problem file."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files.atomic import read_bytes
from discreet.files.problem import problem_from_document, read_problem
from discreet.files.problem_document import problem_document
from discreet.model.priors import Prior
from discreet.model.problem import Problem


def read_priors(path: str | Path, problem: Problem) -> tuple[Prior, ...]:
    """The priors of a file, each checked against the problem's universe."""
    document = _read(Path(path), "the file of priors", "one [[prior]] for each prior")
    found = document.get("prior")
    if set(document) != {"prior"} or not isinstance(found, list) or not found:
        raise InputError(
            "The file of priors holds something else",
            found=", ".join(document) or "nothing",
            allowed="one [[prior]] for each prior",
            remedy="write each prior as in a problem file",
        )
    own = problem_document(problem)
    return tuple(problem_from_document(own | {"prior": prior}, f"Prior {i}").prior for i, prior in enumerate(found, 1))


def read_prior(path: str | Path, problem: Problem) -> Prior:
    """The [prior] of a file, or that of a whole problem about the same universe."""
    document = _read(Path(path), "the prior file", "a TOML file with [prior]")
    if "data" in document:
        other = read_problem(path)
        if other.universe != problem.universe:
            raise InputError(
                "The prior is about another universe",
                found="another [data] section",
                allowed="the same respondents and values as the mechanism's",
                remedy="give a file that holds only [prior]",
            )
        return other.prior
    if set(document) != {"prior"}:
        raise InputError(
            "A prior file holds one section",
            found=", ".join(document) or "nothing",
            allowed="[prior]",
            remedy="copy the [prior] of a problem file and change its numbers",
        )
    return problem_from_document(problem_document(problem) | {"prior": document["prior"]}, "The prior file").prior


def _read(path: Path, what: str, allowed: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_bytes(path, what).decode("utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(
            f"{what[0].upper()}{what[1:]} is not valid TOML",
            found=str(error)[:200],
            allowed=allowed,
            remedy="write each prior as in a problem file",
        ) from None
