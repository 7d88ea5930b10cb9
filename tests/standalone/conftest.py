"""The file that most tests of the standalone verifier begin with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import random_worlds as worlds

from discreet.files.mechanism import mechanism_document
from discreet.mechanisms.geometric import TruncatedGeometric
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


@pytest.fixture(scope="module")
def geometric() -> dict[str, Any]:
    """The document of the truncated geometric table at N = 40, ε = 1."""
    problem = worlds.problem_of(Universe.of(40, (Fraction(0), Fraction(1))), ReplaceOne())
    kernel = TruncatedGeometric(Fraction(1), 0, 40).table()
    return mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), kernel))
