"""Boxes of the counts of a few types, all else told: a lower bound under ε where respondents are drawn from an urn.

The prior is an urn (`certify.bounds.urn`) with contents c: a Dirichlet-multinomial (θ = 1) or one law of independent respondents
(θ = 0). ω = Σ_t n_t·v_t over a histogram n, neighbours replace one of N respondents, and the loss is one of a − ω. Put

    h_c(n) = Π_{k<n} s·(c + θ·k)/(k + 1),    s = 1 for θ = 1 and s = N for θ = 0.

A histogram has probability Π_t h_t(n_t) / h_C(N), h_t that of c_t and C = Σ c_t; and Σ_i h_a(i)·h_b(n − i) = h_{a+b}(n).

The witness names faces f_0, …, f_k and pair types g; all others are known types. Of a histogram let n_g = 2·j_g + b_g with b_g ∈
{0, 1}, M = N − Σ_{t known} n_t − Σ_g 2·j_g the number of players, and x = (n_{f_1}, …, n_{f_k}). So n_{f_0} = M − u with u = Σ x
+ Σ b. A part i is a window for each count of x, a range of M and a reference M_i. Let q_i(x, b) = h_0(M_i − u)·Π_f h_f(x_f) for the
states (x, b) of its windows that its multipliers name, and 0 elsewhere; h of a negative number is 0.

Theorem. For each M let the parts whose range holds it have numbers α_i(M) ≥ 0 with Σ_i α_i(M)·q_i(x, b) ≤ h_0(M − u)·Π_f h_f(x_f)
for all x and b. Then

    loss ≥ Σ_M T(M)·Σ_i α_i(M)·L(q_i),    T(M) = Σ_j h_R(N − M − 2·Σ_g j_g)·Π_g min(h_g(2·j_g), h_g(2·j_g + 1)) / h_C(N),

R all known types together, and L(q) is the least Σ q(x, b)·Σ_a K(a|x, b)·ℓ(a − ω(x, b)) of kernels K of which those of neighbours
differ by factors of at most e^ε; ω(x, b) adds up v_t − v_{f_0} of what x and b count, and neighbours are as in `counts`.

Proof. Under an exchangeable prior a mechanism may read the histogram alone. Let everybody learn n_t of the known types and all
j_g: a function of the histogram. The least loss can only fall, and is then a sum over what may be told. Given it, a histogram is
(x, b), of probability P = A·h_0(M − u)·Π_f h_f(x_f)·Π_g h_g(2·j_g + b_g) with A told; (x, b) that differ by one respondent are
neighbours, and ω is known but for ω(x, b), by which an action may be moved. Now P ≥ λ·Σ_i α_i(M)·q_i(x, b) for all x and b, where
λ = A·Π_g min(h_g(2·j_g), h_g(2·j_g + 1)). A least loss does not rise when the measure falls, because losses are not negative; it
is homogeneous in the measure; and that of a sum is at least the sum of those of its terms, of which each may choose a kernel of
its own, on fewer states. So the least loss of what is told is at least λ·Σ_i α_i(M)·L(q_i), and the λ of one M add up to T(M),
because the n_t of known types enter by their sum alone.  ∎  [ours]

Which α. Parts with windows apart do not hinder each other. One alone has the least h_0(M − u)/h_0(M_i − u) over the sums u of its
states. Two that share players and counts divide these in the best of several proportions; no part may share with two others at
once. A law between two references is nearly a mean of theirs: h_0(M − u) is nearly a power ρ^u, and a sum of two powers that meets
it at two u lies below it between them. So few parts serve all M.

A chain tells all counts but those of two types. Here two or three far types stay unknown together, and so does one respondent of
each pair type: the steps of neighbours are those of nearly all types. The counts of an overdispersed prior have long tails: a box
of small counts holds most of the probability, and boxes that widen with the counts hold the rest.

Arithmetic. Each h is rounded down to 2^−BITS at every step, and so are all sums and products; α is taken with the rounded numbers
of the references, of which q is made. The masses of a part are q divided by the sum of its windows, rounded down; that sum is in
its worth. L(q) is bounded as that of any unknown counts (`counts`); a state without multipliers counts as no loss, because ω itself
is an action. So only states that multipliers name are listed, and windows may be as wide as the reference: a state of more players
than that has no probability, no edge leads there, and no multiplier may stand there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod
from operator import mul

from discreet.certify.bounds.counts import UnknownCounts
from discreet.certify.bounds.urn import Urn, urn_of
from discreet.certify.duality.pulls import PRIOR_BITS, Looks, PullStage
from discreet.errors import Refuted, TooLarge
from discreet.frozen import dataclass
from discreet.model.certificate import BoxesWitness, BoxPart
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.numerics.exact import brief

BITS = 256
"""Of every h below the point."""
MOST_BITS = 1 << 21
"""Of the total probability before it is divided, which a problem decides by how it writes concentrations."""
TABLES = 16
"""Of h, one for each type that is unknown and one for all that are told, are kept: more than the checker takes."""
MOST_WORK = 1 << 32
"""Binary digits that are multiplied with each other, of all parts together."""
HELD = 8
"""A digit that is kept takes as much room as so many that are multiplied may take time."""
MOST_IN_BOX, MOST_IN_ALL = 20_000, 60_000
"""States of a part that its multipliers name, and of all parts."""
MOST_NUMBERED = 1 << 62
"""States of the windows of a part: they are numbered, by what fits into a file, and only those that are named are ever listed."""
SHARES = 16
"""Proportions in which two parts may share what is told."""
MOST_PARTS = 500
"""Parts, of which any two are compared."""


@dataclass(frozen=True)
class Offer:
    """What a part offers: its reference, the sums u of its states, and the loss of its law in parts of 2^−2·BITS."""

    reference: int
    sums: frozenset[int]
    worth: int


def boxes_upper_bound(problem: Problem, witness: BoxesWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    law, number = urn_of(problem), len(witness.parts)
    if number > MOST_PARTS:
        raise TooLarge("The boxes of this witness", size=f"{number:,} boxes", fits=f"{MOST_PARTS:,}", remedy="use fewer boxes")
    each = [unknown_in_box(law, witness.faces, witness.pairs, part) for part in witness.parts]
    named = _all_named(witness.parts, each)
    sums = [len(_sums(*both)) for both in zip(each, named, strict=True)]
    ask(must_be_told_soon(law, witness.faces, witness.pairs, witness.parts, sum(map(len, named)), sums), MOST_WORK)
    losses, looks = [], Looks()
    for part, unknown, numbers in zip(witness.parts, each, named, strict=True):
        stage = boxes_stage(law, witness.faces, witness.pairs, part, numbers)
        losses.append(unknown.least_loss(problem, stage, part.scale, part.multipliers, looks, numbers))
    return -told_worth(law, witness.faces, witness.pairs, witness.parts, losses)


def unknown_in_box(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart) -> UnknownCounts:
    """What is left in a box; refutes one that is not of this problem, and refuses one that is too large, before any work."""
    for t in (*faces, *pairs):
        if not 0 <= t < len(law.contents) or not law.contents[t]:
            raise Refuted("a box names a type that no respondent has", f"type {t}")
    most = max((part.fewest, *(last for _, last in part.windows)))
    if not most <= part.reference <= law.respondents or part.players[1] > law.respondents:
        raise Refuted(
            "a box has more players than there are respondents, or counts that do not fit its reference",
            f"counts up to {brief(most)} of {brief(part.reference)}, players up to {brief(part.players[1])} of {law.respondents}",
        )
    ends = tuple((faces[0], t) for t in (*faces[1:], *pairs))
    occurring = tuple(v for v, c in zip(law.values, law.contents, strict=True) if c)
    unknown = UnknownCounts(law.respondents, law.values, occurring, ends, (*part.windows, *((0, 1) for _ in pairs)))
    unknown.must_be_few(MOST_NUMBERED)
    return unknown


def _all_named(parts: Sequence[BoxPart], each: Sequence[UnknownCounts]) -> list[list[int]]:
    """The states of its windows that multipliers of every part name, ascending; refuses too many."""
    found = [sorted(number for number in _named(part) if 0 <= number < one.size) for part, one in zip(parts, each, strict=True)]
    most, states = max(map(len, found), default=0), sum(map(len, found))
    if most > MOST_IN_BOX or states > MOST_IN_ALL:
        raise TooLarge(
            "The boxes of this witness",
            size=f"{states:,} states, {most:,} in one box",
            fits=f"{MOST_IN_ALL:,}, and {MOST_IN_BOX:,} in one box",
            remedy="use fewer boxes, or multipliers between fewer states",
        )
    return found


def must_be_told_soon(
    law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], parts: Sequence[BoxPart], states: int, sums: Sequence[int]
) -> int:
    """Binary digits to be computed; refuses numbers that are too long and too many ways to tell parts, before any work.

    `states` of all parts together are named, with so many different `sums` in each.
    """
    digits = _digits(law)
    if digits > MOST_BITS:
        raise TooLarge(
            "The probabilities of this urn are written too finely for so many respondents",
            size=f"numbers of {digits:,} binary digits",
            fits=f"{MOST_BITS:,} binary digits",
            remedy="use concentrations with a smaller common denominator, or another witness",
        )
    above, below = _total(law)
    width = BITS + max(above.bit_length() - below.bit_length(), 0) + 1
    terms = law.respondents * (HELD * (len(faces) + len(pairs) + 2) + law.respondents * len(pairs) // 4)
    terms += 2 * len(faces) ** 2 * states + 2 * sum(_ways_to_sum(part, len(pairs)) for part in parts)
    for held, together in _sharing(parts):
        terms += (SHARES + 1 if together[1:] else 1) * (len(held) + 1) * sum(sums[i] for i in together)
    if terms * width > MOST_WORK:
        raise TooLarge(
            "What boxes are told can be in too many ways",
            size=f"{terms:,} products of {width:,} binary digits",
            fits=f"{MOST_WORK:,} binary digits",
            remedy="use fewer boxes or another witness",
        )
    return terms * width


def _ways_to_sum(part: BoxPart, pairs: int) -> int:
    """Products, by their digits, of summing the law of a box over its windows."""
    terms, sums = 0, 1
    for k, (first, last) in enumerate((*part.windows, *((0, 1),) * pairs), 1):
        terms += k * sums * (last - first + 1)
        sums = min(sums + last - first, part.reference + 1)
    return terms


def boxes_stage(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart, numbers: Sequence[int]) -> PullStage:
    """The states of these numbers, with masses of the reference law (those of all states come to nearly one), ω and neighbours."""
    unknown = unknown_in_box(law, faces, pairs, part)
    must_be_told_soon(law, faces, pairs, [part], len(numbers), [len(_sums(unknown, numbers))])
    whole, masses = _whole(law, faces, pairs, part), _reference(law, faces, part, list(map(unknown.state, numbers)))
    return unknown.stage([Fraction((mass << PRIOR_BITS) // whole, 1 << PRIOR_BITS) for mass in masses], numbers)


def told_worth(
    law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], parts: Sequence[BoxPart], losses: Sequence[Fraction]
) -> Fraction:
    """What parts prove together whose reference laws, divided by the sums of their windows, lose at least so much; rounded down."""
    every = [unknown_in_box(law, faces, pairs, part) for part in parts]
    sums = [_sums(*both) for both in zip(every, _all_named(parts, every), strict=True)]
    must_be_told_soon(law, faces, pairs, parts, 0, list(map(len, sums)))
    offers = [_offer(law, faces, pairs, *each) for each in zip(parts, sums, losses, strict=True)]
    own, told, total = _h(law, law.contents[faces[0]]), _told(law, faces, pairs), 0
    for held, together in _sharing(parts):
        ways = _ways(own, [offers[i] for i in together])
        for players in held:
            total += told[law.respondents - players] * max((_worth(own, players, *way) for way in ways), default=0)
    above, below = _total(law)
    return Fraction((total * below << PRIOR_BITS) // (above << 5 * BITS), 1 << PRIOR_BITS)


def _named(part: BoxPart) -> set[int]:
    """The states at which multipliers stand; the others count as no loss."""
    return {h for node in part.multipliers for start, end, _ in node.flows for h in (start, end)}


def _sums(unknown: UnknownCounts, named: Sequence[int]) -> frozenset[int]:
    """The sums u of named states."""
    return frozenset(map(sum, map(unknown.state, named)))


def _offer(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart, sums: frozenset[int], loss: Fraction) -> Offer:
    whole = _whole(law, faces, pairs, part)
    if any(u > part.reference for u in sums):
        raise Refuted("a box names counts that nobody has", f"{max(sums)} of {part.reference} players")
    return Offer(part.reference, sums, (whole * loss.numerator << BITS) // loss.denominator)


def _sharing(parts: Sequence[BoxPart]) -> list[tuple[range, tuple[int, ...]]]:
    """Each part for the players that it shares with none, and each two for those that they share; refutes the rest at once."""
    shared: list[list[range]] = [[] for _ in parts]
    found: list[tuple[range, tuple[int, ...]]] = []
    for (i, one), (j, other) in combinations(enumerate(parts), 2):
        if one.meets(other):
            common = range(max(one.players[0], other.players[0]), min(one.players[1], other.players[1]) + 1)
            if any(common[0] in held or held[0] in common for held in (*shared[i], *shared[j])):
                raise Refuted("a box has players and counts in common with two others", f"from {common[0]} players on")
            shared[i].append(common)
            shared[j].append(common)
            found.append((common, (i, j)))
    for i, part in enumerate(parts):
        start = part.players[0]
        for held in sorted(shared[i], key=lambda held: held[0]):
            found.append((range(start, held[0]), (i,)))
            start = held[-1] + 1
        found.append((range(start, part.players[1] + 1), (i,)))
    return found


def _ways(own: Sequence[int], shares: Sequence[Offer]) -> list[tuple[dict[int, int], int]]:
    """Proportions in which parts may share: by u the Σ_i a_i·h_0(M_i − u), and the Σ_i a_i·worth_i."""
    shares = [share for share in shares if share.worth]
    found: list[tuple[int, ...]] = [(1,)] if shares else []
    if len(shares) > 1:
        drop = max(max(share.worth.bit_length() for share in shares) - BITS, 0)
        one, other = (share.worth >> drop for share in shares)
        found = [((SHARES - k) * other, k * one) for k in range(SHARES + 1)]
    ways = []
    for each in found:
        needed: dict[int, int] = {}
        for a, share in zip(each, shares, strict=True):
            for u in share.sums if a else ():
                needed[u] = needed.get(u, 0) + a * own[share.reference - u]
        if needed:
            ways.append((needed, sum(a * share.worth for a, share in zip(each, shares, strict=True))))
    return ways


def _worth(own: Sequence[int], players: int, needed: Mapping[int, int], worth: int) -> int:
    """The worth times the largest number with which what is needed of every u stays below the law of so many players."""
    if max(needed) > players:
        return 0
    return worth * min((own[players - u] << 2 * BITS) // amount for u, amount in needed.items())


def _reference(law: Urn, faces: tuple[int, ...], part: BoxPart, states: Sequence[tuple[int, ...]]) -> list[int]:
    """q of some states of a box in parts of 2^−BITS; nothing where there are more players than the reference."""
    own, *tables = (_h(law, law.contents[t]) for t in faces)
    found = []
    for state in states:
        left = part.reference - sum(state)
        ways = own[left] * prod(table[x] for table, x in zip(tables, state, strict=False)) if left >= 0 else 0
        found.append(ways >> BITS * len(tables))
    return found


def _whole(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart) -> int:
    """The sum of q over all states of a box in parts of 2^−BITS, by how many players have no first face."""
    own, *tables = (_h(law, law.contents[t]) for t in faces)
    most = min(part.most + len(pairs), part.reference)
    if not min(own[part.reference - most : part.reference - part.fewest + 1]):
        raise Refuted("the reference of a box is too unlikely to be counted with", f"{part.reference} players")
    ways = [1]
    for table, (first, last) in (*zip(tables, part.windows, strict=True), *(([1, 1], (0, 1)) for _ in pairs)):
        grown = [0] * min(len(ways) + last - first, most - part.fewest + 1)
        for u, way in enumerate(ways):
            for x, chance in enumerate(table[first : last + 1][: len(grown) - u]):
                grown[u + x] += way * chance
        ways = grown
    total = sum(way * own[part.reference - part.fewest - u] for u, way in enumerate(ways)) >> BITS * len(tables)
    if not total:
        raise Refuted("the counts of a box are too unlikely to be counted with", f"counts up to {part.most}")
    return total


@lru_cache(maxsize=1)
def _told(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...]) -> list[int]:
    """Of 0, 1, …, N respondents who are no players: Σ_j h_R·Π_g min(h_g, h_g) in parts of 2^−BITS."""
    known = (c for t, c in enumerate(law.contents) if t not in faces and t not in pairs)
    found = _h(law, sum(known, Fraction(0)))
    for g in pairs:
        own = _h(law, law.contents[g])
        least = list(map(min, own[:-1:2], own[1::2]))
        found = [sum(map(mul, found[n::-2], least)) >> BITS for n in range(len(found))]
    return found


def _h(law: Urn, content: Fraction) -> list[int]:
    """h of 0, 1, …, N in parts of 2^−BITS, rounded down."""
    return _table(law.respondents, law.grows, _scale(law), content)


@lru_cache(maxsize=TABLES)
def _table(respondents: int, grows: int, scale: int, content: Fraction) -> list[int]:
    found = [1 << BITS]
    for k in range(respondents):
        above = scale * (content.numerator + grows * k * content.denominator)
        found.append(found[-1] * above // (content.denominator * (k + 1)))
    return found


@lru_cache(maxsize=1)
def _total(law: Urn) -> tuple[int, int]:
    """h_C(N) of all contents together, exactly: above and below the line."""
    content, scale = sum(law.contents, Fraction(0)), _scale(law)
    rising = (scale * (content.numerator + law.grows * k * content.denominator) for k in range(law.respondents))
    return prod(rising), prod(content.denominator * (k + 1) for k in range(law.respondents))


def _scale(law: Urn) -> int:
    return 1 if law.grows else law.respondents


def _digits(law: Urn) -> int:
    """About how many binary digits h_C(N) has above and below the line."""
    content = sum(law.contents, Fraction(0))
    longest = content.numerator.bit_length() + content.denominator.bit_length() + 2 * law.respondents.bit_length()
    return law.respondents * longest
