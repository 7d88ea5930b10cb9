"""First stage: a mechanism is proved private in integers, a forged one is refuted, and size does not matter.

The school-planning problem (SY Example 1): 40 households with 0, 1 or 2 children each. The mechanism adds geometric
noise to how many households have any child. A forger who makes the noise fall a little faster is caught with the
very edge and output that break the promise, and the same mechanism for a million households needs no table.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from discreet.views.view import Sentence, View, told

TITLE = "Prove a mechanism private, refute a forgery"

PROBLEM = """\
# How many school places does a block of {households} households need?
[data]
respondents = {households}
values = [0, 1, 2]              # children in a household

[prior]
kind = "iid"
probabilities = [0.89, 0.09, 0.02]

[statistic]
kind = "sum"                    # all children in the block

[decision]
kind = "squared-error"
actions = "real"

[privacy]
epsilon = 1.0
unit = "household"
"""
ANY_CHILD = (0, 1, 1)
"""Weights of the types: a household counts once if it has any child."""
FORGED_BY = Fraction(99, 100)
"""The forger's noise falls faster by one part in a hundred."""


def run(folder: Path) -> View:
    """Write, certify, forge and refute; then certify at a million."""
    from discreet import certify, files
    from discreet.cli.commands.certify import checked
    from discreet.mechanisms.geometric import geometric_mechanism
    from discreet.model.certificate import Certificate
    from discreet.model.kernel import GeometricKernel
    from discreet.model.summary import LinearSummary

    problem = write_problem(folder / "any-child.toml", 40)
    mechanism = geometric_mechanism(problem, LinearSummary(ANY_CHILD))
    honest = folder / "any-child.mechanism.json"
    files.write_mechanism(honest, mechanism)
    proof = certify.privacy(mechanism)
    if isinstance(proof, Certificate):
        files.write_certificate(files.certificate_path(honest), proof)

    forged = folder / "forged.mechanism.json"
    kernel = cast(GeometricKernel, mechanism.kernel)
    faster = replace(kernel, ratio=kernel.ratio * FORGED_BY)
    files.write_mechanism(forged, replace(mechanism, kernel=faster))

    large = geometric_mechanism(write_problem(folder / "town.toml", 1_000_000), LinearSummary(ANY_CHILD))
    started = time.perf_counter()
    large_proof = certify.privacy(large)
    milliseconds = round(1000 * (time.perf_counter() - started), 1)
    proved = isinstance(large_proof, Certificate)
    first, second = checked(honest), checked(forged)
    facts = {
        "honest": first.facts,
        "forged": second.facts,
        "million": {"proved": proved, "milliseconds": milliseconds},
    }
    return told(
        facts,
        Sentence("A block of 40 households; geometric noise on how many have any child:"),
        *first.told,
        Sentence("The same with noise that falls one part in a hundred faster:"),
        *second.told,
        Sentence(f"The same for 1,000,000 households: {'proved' if proved else 'refuted'} in {milliseconds} ms, without a table."),
    )


def write_problem(path: Path, households: int) -> Any:
    """The problem file for a block of so many households, written and read back."""
    from discreet import files

    path.write_text(PROBLEM.format(households=households), encoding="utf-8")
    return files.read_problem(path)
