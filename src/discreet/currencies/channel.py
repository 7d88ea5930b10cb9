"""A channel: the rows of a finite mechanism with its neighbour graph, as the currencies read it.

Floats [output, state] propose over all edges at once; exact pairs are taken out for the few edges that decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.currencies.pair import Pair, distribution, exact_pair
from discreet.errors import InputError, TooLarge
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, GeometricKernel, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.priors.weights import log_ratio
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.concentrated import Rows
from discreet.numerics.moments import log_error

Edges = Integers

CHUNK = 1 << 21
"""Entries of [output, edge] arrays that are worked on at once."""
TINIEST = 1e-300
"""Probabilities below this have their logarithms from integers, since their floats may have lost digits."""
MOST_ENTRIES = 2_000_000_000
MOST_COUNTED = 500_000
"""Outputs × states of noise that follows a count which are written out."""
LARGEST_EXPANDED = 4_096
"""Entries beyond which a geometric kernel is not expanded but reduced, exactly, to the offsets of one respondent: at 64 states its
rationals still have few digits, at a few hundred every exact pair takes a good part of a second."""


@dataclass(frozen=True, eq=False)
class LossChannel:
    """Probabilities [output, state] as floats and logarithms, exact ones by a function, edges and blocks.

    `whole` has them as whole numbers over one denominator, where there is one. In a reduced channel an output stands for several
    that say the same; `named` gives one of them at a state, and `alike` numbers outputs at pairs of states so that equal numbers
    have equal ratios.
    """

    labels: tuple[str, ...]
    outputs: tuple[str, ...]
    probabilities: Floats
    logs: Floats
    edges: Edges
    blocks: Edges
    exact: Callable[[int, int], Fraction] = field(repr=False)
    whole: tuple[Callable[[int, int], int], int] | None = field(default=None, repr=False)
    bits: int = 1
    named: Callable[[int, int], str] | None = field(default=None, repr=False)
    alike: Callable[[Edges, Edges, Edges], Edges] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if 2 * len(self.outputs) * len(self.edges) > MOST_ENTRIES:
            raise TooLarge(
                "This mechanism has too many outputs and edges to be compared one by one",
                size=f"{len(self.outputs):,} outputs × {len(self.edges):,} edges",
                fits=f"outputs × edges up to {MOST_ENTRIES // 2:,}",
                remedy="use a coarser summary or fewer outputs",
            )

    @cached_property
    def log_error(self) -> float:
        """A bound on the error of each finite entry of `logs`."""
        return log_error(self.logs, self.bits)

    @cached_property
    def rows(self) -> Rows:
        """What moments of losses are computed from."""
        return Rows(self.probabilities, self.logs, self.edges, self.log_error)

    @property
    def directed(self) -> int:
        """Twice the number of edges: each is read in both directions."""
        return 2 * len(self.edges)

    def states_of(self, direction: int) -> tuple[int, int]:
        """The states (of P, of Q) of a directed edge: the edges as listed first, then all of them reversed."""
        first, second = self.edges[direction % len(self.edges)].tolist()
        return (first, second) if direction < len(self.edges) else (second, first)

    def edge_labels(self, direction: int) -> tuple[str, str]:
        """The labels of the states of a directed edge."""
        first, second = self.states_of(direction)
        return self.labels[first], self.labels[second]

    def pair(self, first: int, second: int) -> Pair:
        """The exact pair of two states."""
        outputs = range(len(self.outputs))
        if self.whole is not None:
            weight, denominator = self.whole
            return Pair(tuple(weight(y, first) for y in outputs), tuple(weight(y, second) for y in outputs), denominator)
        return exact_pair([self.exact(y, first) for y in outputs], [self.exact(y, second) for y in outputs])

    def output_label(self, output: int, state: int) -> str:
        """An output by its label; at a state of a reduced channel one of those that it stands for."""
        return self.outputs[output] if self.named is None else self.named(output, state)

    def chunks(self) -> Iterator[Edges]:
        """The edges in portions small enough to be worked on at once."""
        size = max(CHUNK // max(len(self.outputs), 1), 1)
        for start in range(0, len(self.edges), size):
            yield self.edges[start : start + size]


def is_reduced(mechanism: Mechanism) -> bool:
    """Whether currencies are read from a smaller channel: noise by stairs, and geometric noise on many states."""
    kernel = mechanism.kernel
    wide = isinstance(kernel, GeometricKernel) and kernel.width**2 > LARGEST_EXPANDED
    return wide or isinstance(kernel, StaircaseKernel)


def channel_of(source: Mechanism | LossChannel) -> LossChannel:
    """The channel whose currencies are those of a mechanism, reduced where it can be; a channel is its own."""
    if isinstance(source, LossChannel) or not is_reduced(source):
        return whole_channel(source)
    from discreet.currencies.closed import reduced_channel
    from discreet.currencies.stairs import stairs_channel

    return reduced_channel(source) if isinstance(source.kernel, GeometricKernel) else stairs_channel(source)


def whole_channel(source: Mechanism | LossChannel) -> LossChannel:
    """The channel with every state and every output of a mechanism, for what depends on the outputs themselves."""
    if isinstance(source, LossChannel):
        return source
    kernel = source.kernel
    whole: tuple[Callable[[int, int], int], int] | None
    match kernel:
        case TableKernel():
            weights, bits = kernel.weights, kernel.denominator.bit_length()
            whole = (lambda output, state: weights[output][state]), kernel.denominator
        case ClosedKernel():
            whole, bits = None, (kernel.width + 4) * (kernel.ratio.denominator.bit_length() + 1) + 64
        case CountedKernel():
            _must_be_few(kernel)
            falls = max(kernel.width // kernel.step, 1) + 2
            whole, bits = None, kernel.denominator.bit_length() + falls * kernel.ratio.denominator.bit_length() + 128
        case GaussianKernel():
            kernel.whole_rows([])  # refused in words: what follows works with rationals
    space = source.space
    return LossChannel(
        space.labels,
        tuple(output.label for output in source.outputs),
        source.probabilities,
        source.log_probabilities,
        space.edges,
        space.blocks,
        source.probability,
        whole,
        bits,
    )


def _must_be_few(kernel: CountedKernel) -> None:
    """Refuse, before any work, noise that follows a count in a large cell: every state has to be written out."""
    if kernel.width * kernel.state_count > MOST_COUNTED:
        raise TooLarge(
            "What noise that follows a count is worth in this currency is not computed for so large a cell",
            size=f"{kernel.width:,} outputs × {kernel.state_count:,} sums and counts",
            fits=f"{MOST_COUNTED:,} of both",
            remedy="convert its ε, which is proved (discreet convert), or ask for a smaller cell",
        )


def channel_from_rows(
    rows: Sequence[Sequence[object]],
    *,
    edges: Sequence[tuple[int, int]] | None = None,
    blocks: Sequence[Sequence[int]] | None = None,
    labels: Sequence[str] | None = None,
) -> LossChannel:
    """A channel from one distribution per state, read exactly.

    Without `edges` every two states are neighbours and all states are one block; with `edges` each is a block.
    """
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(
            "A channel needs one distribution per state, all over the same outputs",
            found=f"{len(rows)} rows of lengths {sorted({len(row) for row in rows})}",
            allowed="equally long rows, at least one",
            remedy="write 0 where an output is impossible",
        )
    exacts = [distribution(row) for row in rows]
    count = len(rows)
    joined = list(combinations(range(count), 2)) if edges is None else [tuple(sorted(edge)) for edge in edges]
    grouped = ([range(count)] if count > 1 and edges is None else joined) if blocks is None else blocks
    width = max((len(block) for block in grouped), default=2)
    padded = [[*block, *[-1] * (width - len(block))] for block in grouped]
    plain = np.array([[float(row[y]) for row in exacts] for y in range(len(rows[0]))])
    with np.errstate(divide="ignore"):
        logs = np.log(plain)
    for output, state in np.argwhere(plain < TINIEST).tolist():
        p = exacts[state][output]
        logs[output, state] = log_ratio(p.numerator, p.denominator)
    return LossChannel(
        tuple(labels) if labels is not None else tuple(str(i) for i in range(count)),
        tuple(str(y) for y in range(len(rows[0]))),
        plain,
        logs,
        np.array(joined, dtype=np.int64).reshape(-1, 2),
        np.array(padded, dtype=np.int64).reshape(-1, width),
        lambda output, state: exacts[state][output],
        None,
        max(p.denominator.bit_length() for row in exacts for p in row),
    )


def with_edges(channel: LossChannel, edges: Edges) -> LossChannel:
    """The same rows under another neighbour graph; every edge is a block of its own."""
    return replace(channel, edges=edges, blocks=edges)
