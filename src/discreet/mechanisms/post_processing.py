"""Post-processing: what is done to an output without looking at the data again costs no privacy.

    (g ∘ m)(z | x) = Σ_y g(z | y) m(y | x).

Composition of two exact kernels, the second reading the outputs of the first: integer weights multiply and the
denominators 2^B and 2^C give 2^(B+C), so the result is as exact as its parts. A ratio of sums of terms whose ratios are
at most e^ε is at most e^ε: every guarantee of m is one of g ∘ m.

Reference: DR (post-processing, deterministic and randomised); SY on recommended actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import InputError
from discreet.model.kernel import Output, TableKernel


def composed(first: TableKernel, second: TableKernel) -> TableKernel:
    """second ∘ first: the states of `second` are the output labels of `first`, in any order."""
    labels = [output.label for output in first.outputs]
    position = {state: index for index, state in enumerate(second.states)}
    missing = [label for label in labels if label not in position]
    if missing:
        raise InputError(
            "the second kernel does not say what to do with every output of the first",
            found=f"no state {missing[0]!r}",
            allowed="a state for each of the first kernel's outputs",
            remedy="Add the missing states to the second kernel.",
        )
    columns = [position[label] for label in labels]
    weights = tuple(
        tuple(
            sum(row[column] * before[state] for column, before in zip(columns, first.weights, strict=True))
            for state in range(len(first.states))
        )
        for row in second.weights
    )
    return _in_lowest_terms(first.states, second.outputs, weights, first.denominator * second.denominator)


def merged(first: TableKernel, meaning: Mapping[str, Output] | Sequence[Output]) -> TableKernel:
    """Deterministic post-processing: each output is published as the output that `meaning` gives for its label.

    Outputs of the same meaning are added up. A sequence gives the meanings in the order of the outputs.
    """
    if isinstance(meaning, Mapping):
        missing = [output.label for output in first.outputs if output.label not in meaning]
        meanings = [] if missing else [meaning[output.label] for output in first.outputs]
    else:
        meanings = list(meaning)
    if len(meanings) != len(first.outputs):
        raise InputError(
            "every output needs a meaning",
            found=f"{len(meaning)} meanings for {len(first.outputs)} outputs",
            allowed="one for each output",
            remedy="Complete the list.",
        )
    rows: dict[Output, list[int]] = {}
    for output, row in zip(meanings, first.weights, strict=True):
        total = rows.setdefault(output, [0] * len(first.states))
        for state, weight in enumerate(row):
            total[state] += weight
    return TableKernel(first.states, tuple(rows), tuple(map(tuple, rows.values())), first.denominator)


def _in_lowest_terms(
    states: tuple[str, ...],
    outputs: tuple[Output, ...],
    weights: tuple[tuple[int, ...], ...],
    denominator: int,
) -> TableKernel:
    """The same kernel over the smallest power of two that holds it."""
    union = denominator
    for row in weights:
        for weight in row:
            union |= weight
    spare = (union & -union).bit_length() - 1
    shrunk = tuple(tuple(weight >> spare for weight in row) for row in weights)
    return TableKernel(states, outputs, shrunk, denominator >> spare)
