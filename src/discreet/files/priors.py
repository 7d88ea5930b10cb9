"""Files of several priors: TOML with one [[prior]] for each, written as in a problem file."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files.atomic import read_bytes
from discreet.files.problem import problem_from_document
from discreet.files.problem_document import problem_document
from discreet.model.priors import Prior
from discreet.model.problem import Problem


def read_priors(path: str | Path, problem: Problem) -> tuple[Prior, ...]:
    """The priors of a file, each checked against the problem's universe."""
    try:
        document: dict[str, Any] = tomllib.loads(
            read_bytes(Path(path), "the file of priors").decode("utf-8"), parse_float=Decimal
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(
            "The file of priors is not valid TOML", found=str(error)[:200], allowed="one [[prior]] for each prior",
            remedy="write each prior as in a problem file",
        ) from None
    found = document.get("prior")
    if set(document) != {"prior"} or not isinstance(found, list) or not found:
        raise InputError(
            "The file of priors holds something else", found=", ".join(document) or "nothing",
            allowed="one [[prior]] for each prior", remedy="write each prior as in a problem file",
        )
    own = problem_document(problem)
    return tuple(problem_from_document(own | {"prior": prior}, f"Prior {i}").prior for i, prior in enumerate(found, 1))
