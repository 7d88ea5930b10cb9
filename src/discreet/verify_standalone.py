#!/usr/bin/env python3
"""Is the mechanism in this file differentially private? A proof you can read in one sitting. Standard library only.

    python verify_standalone.py X.mechanism.json (or X.family.json, or either as .gz)
    exit 0: proved; 1: refuted, with the reason; 2: neither, because it is not readable or too large to be checked here

A mechanism reads a *summary* of the database and draws an output from exact probabilities (a *kernel*). It is
e-differentially private if (1) neighbouring databases have equal or adjacent summaries, and (2) every output's
probabilities at adjacent states differ by a factor of at most exp(e). Other promises bound the same pairs differently:
(e, delta) by sum max(p - exp(e)*q, 0) <= delta, and rho (zCDP) by D_alpha(p || q) <= rho*alpha for every order alpha > 1.
Nothing in the file is believed: states and edges are derived here from the data, the neighbour relation and the summary, and all
arithmetic is on whole numbers and fractions (of logarithms, on decimals that are rounded correctly).
"""

import hashlib
import json
import re
import sys
import zlib
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import comb, isqrt, lcm
from operator import mul
from pathlib import Path


class Refuted(Exception):
    """A claim of the file is false."""
class TooLarge(Exception):
    """The file may be true or false: telling would take too long or too much memory."""
def need(condition, words):
    if not condition:
        raise Refuted(words)

STEPS = 20_000_000  # elementary steps that listing states and edges may take: some ten seconds and a gigabyte at most
BYTES, DIGITS, CHARACTERS = 1 << 30, 50_000, 5_000  # of a file, of a whole number, of any other exact number
BROKEN, ASKED = zlib.error, [0, 0, 1 << 60]  # steps of the members of a family before, of the one at hand, and the most of all

def affordable(count, limit=STEPS, what="steps"):
    """Asked before any work whose amount the file decides."""
    if count > limit:
        raise TooLarge(f"about {count:.1e} {what}, and {limit:,} are allowed" if count < 10**300 else f"far too many {what}")
    ASKED[1] = max(ASKED[1], count * (what == "steps"))
    if what == "steps" and sum(ASKED[:2]) > ASKED[2]:
        raise TooLarge(f"more than {ASKED[2]:,} steps for all members together")

def whole(text):
    """A whole number in the only way to write it: ASCII digits, no sign but a minus, no leading zero."""
    if not isinstance(text, str) or not re.fullmatch("0|-?[1-9][0-9]*", text):
        raise ValueError("a whole number is not written in decimal digits")
    affordable(len(text), DIGITS, "digits")
    return int(text)

def number(text):
    """An exact number of the file: a whole number, or text such as "1/3" or "0.25". Never a float."""
    written = str(text) if type(text) is int else text
    if not isinstance(written, str) or not re.fullmatch("-?(0|[1-9][0-9]*)(/[1-9][0-9]*|[.][0-9]+)?", written):
        raise ValueError("a number is not written exactly")
    affordable(len(written), CHARACTERS, "characters of a number")
    return Fraction(written)

# --- exp(x) between two fractions, and log the same way -------------------------------------------------------------
def exp_between(x, bits):
    """low <= exp(x) < high for a fraction x >= 0 (low < exp(x) if x > 0): Taylor at x/2^k with remainder, squared k times."""
    k = max(0, (x.numerator // x.denominator).bit_length() + 1)
    affordable(bits // 16 * (1 + bits * x.denominator.bit_length() // 200_000))  # terms, and digits of each
    one, small = 1 << (bits + 2 * k + 16), x / (1 << k)
    term, low, n = one, one, 0
    while term:
        n += 1
        term = term * small.numerator // (small.denominator * n)
        low += term
    high = low + 2 * n + 5  # every term lost less than 2 to rounding, and what follows the last one is below 3
    for _ in range(k):
        low, high = low * low // one, high * high // one + 1
    return Fraction(low, one), Fraction(high, one)

def exceeds_exp(top, bottom, epsilon):
    """Is top/bottom > exp(epsilon)? Decided for sure: exp is a fraction only at 0, where low is exactly 1."""
    bits = 64
    while True:
        low, high = exp_between(epsilon, bits)
        if top * low.denominator <= low.numerator * bottom:
            return False
        if top * high.denominator >= high.numerator * bottom:
            return True
        bits *= 2

def log_between(top, bottom, limit):
    """log(top/bottom) from both sides to 60 binary digits, by halving [0, limit]."""
    low, high = Fraction(0), limit
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds_exp(top, bottom, middle) else (low, middle)
    return low, high

# --- states and edges, derived from data, neighbours and summary ----------------------------------------------------
def graph(problem, summary):
    """State labels in the file's order, and the set of pairs (i, j), i < j, that neighbouring databases can reach."""
    data = problem["data"]
    neighbours = data["neighbours"]
    if isinstance(neighbours, dict):
        need(summary["kind"] == "database", "databases listed by name have no other summary than 'database'")
        need(len(set(neighbours["states"])) == len(neighbours["states"]), "two databases have the same name")
        at = {name: i for i, name in enumerate(neighbours["states"])}
        return neighbours["states"], {tuple(sorted((at[a], at[b]))) for a, b in neighbours["edges"]}
    types, fixed = len(data["values"]), neighbours == "replace-one"
    low, high = sizes(data)
    if summary["kind"] == "database":
        need(fixed, "the summary 'database' needs a fixed number of respondents")
        affordable(4 * low * types ** min(low + 1, 99))
        states = list(product(range(types), repeat=low))
        near = ([(*d[:i], t, *d[i + 1:]) for i in range(low) for t in range(types)] for d in states)
    elif summary["kind"] == "histogram":
        states, near = histogram_graph(types, low, high, fixed, summary.get("clamp"))
    else:
        need(summary["kind"] == "linear" and len(summary["weights"]) == types, "a sum needs one weight for every type")
        states, near = linear_graph(summary, low, high, fixed)
    at = {state: i for i, state in enumerate(states)}
    pairs = ((at[s], at[t]) for s, ts in zip(states, near, strict=True) for t in ts if t in at)
    edges = {(a, b) if a < b else (b, a) for a, b in pairs if a != b}
    return [",".join(map(str, s)) for s in states], edges

def sizes(data):
    """The smallest and largest number of respondents; without a neighbour to hide, every promise would be kept."""
    size, fixed = data["respondents"], data["neighbours"] == "replace-one"
    low, high = (size, size) if fixed else (size["from"], size["to"])
    need(type(low) is int and type(high) is int, "the number of respondents is not a whole number")
    need(low >= 1 if fixed else 0 <= low < high, "no database here has a neighbour")
    return low, high

def histogram_graph(types, low, high, fixed, clamp):
    """Counts of types. A clamp clips every count but the reference's, then moves respondents between the clipped types (first
    ones first) and the reference until the latter is within `rest`: a list cut to a fixed length changes by one entry at most."""
    affordable(types * types)
    floor, roof = ([0] * types, [high] * types) if clamp is None else (clamp["lower"], clamp["upper"])
    need(len(floor) == len(roof) == types, "a clamp needs bounds for every type")
    reference = clamp.get("reference") if clamp else 0 if fixed else None
    need(reference in (range(types) if fixed else (None,)), "a clamp has a reference type when the size is fixed, only")
    need(fixed or not any(floor), "without a fixed size, counts are only clipped from above")
    clipped = [j for j in range(types) if j != reference]
    least, most = (0, high) if not clamp or clamp.get("rest") is None else clamp["rest"] if fixed else (1, 0)
    ends = [(least, most), *((floor[j], roof[j]) for j in clipped)]
    need({type(x) for x in (*sum(ends, ()), *[reference] * fixed)} == {int}, "a clamp is written in whole numbers")
    need(all(0 <= x <= y for x, y in ends), "a clamp's bounds are the wrong way round, or it has a rest but no fixed size")
    partial = [((), 0)]
    for j in reversed(clipped):
        affordable(sum(max(0, min(roof[j], high - least - n) - floor[j] + 1) for _, n in partial) * types)
        partial = [((c, *rest), n + c) for rest, n in partial for c in range(floor[j], min(roof[j], high - least - n) + 1)]
    if fixed:
        states = [(*rest[:reference], high - n, *rest[reference:]) for rest, n in partial if high - n <= most]
        need(states, "this clamp asks for more respondents than there are")
        moves = [(i, j) for i in range(types) for j in range(types) if i != j]
    else:
        states = [rest for rest, n in partial if n >= low or (clamp and any(c == roof[j] for j, c in enumerate(rest)))]
        states.sort(key=lambda s: (sum(s), s[::-1]))
        moves = [(None, j) for j in range(types)]
    affordable(4 * len(states) * len(moves))
    return states, ([tuple(c - (t == i) + (t == j) for t, c in enumerate(s)) for i, j in moves] for s in states)

def linear_graph(summary, low, high, fixed):
    """Totals of whole-number weights, clipped to [low, high] of the summary; a changed respondent joins two totals."""
    weights = sorted(set(summary["weights"]))
    reached, states, near, steps = {0}, set(), {}, 0  # the totals of the first n respondents
    affordable(high)
    for n in range(high + 1):
        joined = (low - 1 if fixed else low) <= n < high
        affordable(steps := steps + len(reached) * len(weights) * (4 * len(weights) if joined else 1))
        if n >= low:
            states |= {clip(summary, total) for total in reached}
        for rest in reached if joined else ():
            ends = [rest + w for w in weights]
            for a, b in combinations(ends, 2) if fixed else [(rest, end) for end in ends]:
                near.setdefault(clip(summary, a), set()).add((clip(summary, b),))
        reached = {total + w for total in reached for w in weights}
    return [(s,) for s in sorted(states)], [near.get(s, ()) for s in sorted(states)]

def clip(summary, total):
    bottom, top = summary.get("low", total), summary.get("high")
    total = max(total, total if bottom is None else bottom)
    return total if top is None else min(total, top)

# --- values that can be added up ------------------------------------------------------------------------------------
def unbiased(mechanism):
    """How the problem asks for unbiased values, "everywhere" or "nearby"; None when it does not."""
    asked = mechanism["problem"].get("decision", {})
    return (asked[0] if isinstance(asked, list) else asked).get("unbiased")

def statistic(mechanism):
    """The statistic as a function of a state: of counts, or of a total that is the statistic up to a unit and an origin."""
    summary, data, asked = mechanism["summary"], mechanism["problem"]["data"], mechanism["problem"]["statistic"]
    if summary["kind"] == "database" or asked["kind"] not in ("sum", "count", "mean"):
        raise TooLarge("whether values are unbiased is checked for sums, counts and means of all histograms, or of their totals")
    low, high = sizes(data)
    need(asked["kind"] != "mean" or low == high, "a mean of any number of respondents is no sum")
    share = low if asked["kind"] == "mean" else 1
    values = [Fraction(t in asked.get("of", ())) if asked["kind"] == "count" else number(v) / share
              for t, v in enumerate(data["values"])]
    if summary["kind"] == "histogram":
        return lambda state: sum(v * n for v, n in zip(values, state, strict=True))
    pairs = sorted(zip(summary["weights"], values, strict=True))
    unit = (pairs[-1][1] - pairs[0][1]) / ((pairs[-1][0] - pairs[0][0]) or 1)
    base = pairs[0][1] - unit * pairs[0][0]
    need(all(v == base + unit * w for w, v in pairs) and base * (high - low) == 0, "the summary is not the statistic")
    need(all(clip(summary, n * w) == n * w for n in (low, high) for w, _ in pairs), "totals are clipped, so values are biased")
    return lambda state: base * low + unit * state[0]

def check_means(mechanism, states, means, scale):
    """Unbiased everywhere: the mean of what outputs recommend is the statistic at every state. Nearby: at least the error has
    mean 0 and no covariance with any count under the prior, that is E[error * count] = 0 for every type. Means are over `scale`."""
    problem, summary, omega = mechanism["problem"], mechanism["summary"], statistic(mechanism)
    data, clamp = problem["data"], summary.get("clamp")
    wrong = next((state for state, mean in zip(states, means, strict=True) if not equal(mean, scale, omega(state))), None)
    need(unbiased(mechanism) == "nearby" or wrong is None, f"the published value is biased at {wrong}")
    if wrong is None and not clamp:
        return
    asked = (problem["prior"]["kind"], summary["kind"], data["neighbours"], unbiased(mechanism))
    if asked != ("iid", "histogram", "replace-one", "nearby"):
        raise TooLarge("values unbiased nearby are checked for iid priors and mechanisms that read the histogram")
    heads, chances = sizes(data)[0], [number(p) for p in problem["prior"]["probabilities"]]
    need(len(chances) == len(data["values"]) and min(chances) >= 0 and sum(chances) == 1, "the prior is no distribution of types")
    bottom, types = 1, range(len(chances))
    for p in chances:
        bottom = lcm(bottom, p.denominator)
        affordable(bottom.bit_length(), 10**6, "digits of the prior")
    longest = heads * bottom.bit_length() // 1024
    affordable(heads * len(types) * (1 + longest))
    affordable(comb(heads + len(types) - 1, len(types) - 1) * len(types) * (40 + longest))
    powers = [[int(p * bottom) ** n for n in range(heads + 1)] for p in chances]
    held = {state: [0] * len(types) for state in states}  # of all histograms that are read as this one: sum of probability * count
    for counts, weight in drawn(powers, heads):
        row = held[clamped(clamp, counts)]
        for t in types:
            row[t] += weight * counts[t]
    for t in types:  # E[count u * count t] = heads * p_t * ((heads - 1) * p_u + [u = t])
        told = sum(mean * held[state][t] for state, mean in zip(states, means, strict=True))
        true = sum(omega([u == v for v in types]) * heads * chances[t] * ((heads - 1) * chances[u] + (u == t)) for u in types)
        need(equal(told, scale * bottom**heads, true), f"the published value's error moves with the count of type {t}")

def equal(top, bottom, fraction):
    """Is top/bottom this fraction? Without a common divisor of large numbers, which takes long."""
    return top * fraction.denominator == fraction.numerator * bottom

def drawn(powers, left):
    """Every histogram of so many respondents with its probability, over one denominator; powers[t][n] is that of n of type t."""
    if len(powers) == 1:
        yield (left,), powers[0][left]
        return
    for n in range(left + 1):
        for rest, weight in drawn(powers[1:], left - n):
            yield (n, *rest), weight * powers[0][n] * comb(left, n)

def clamped(clamp, counts):
    """The histogram that one is read as: counts clipped, then moved to or from the reference until it is within `rest`."""
    if not clamp:
        return counts
    reference, (least, most) = clamp["reference"], (0, sum(counts)) if clamp.get("rest") is None else clamp["rest"]
    ends = list(zip(clamp["lower"], clamp["upper"], strict=True))
    found = [0 if j == reference else min(max(n, ends[j][0]), ends[j][1]) for j, n in enumerate(counts)]
    for j, (floor, roof) in enumerate(ends):
        if j != reference:
            others = sum(found) - found[j]
            fewer = max(min(found[j], sum(counts) - least - others), floor)
            found[j] = min(max(fewer, sum(counts) - most - others), roof)
    found[reference] = sum(counts) - sum(found)
    return tuple(found)

# --- kernels --------------------------------------------------------------------------------------------------------
def read_table(mechanism):
    """(states, edges, labels, weights[output][state], total) of a table kernel, checked in everything but its promise."""
    kernel = mechanism["kernel"]
    states, edges = graph(mechanism["problem"], mechanism["summary"])
    need(kernel["states"] == states, "the kernel's states are not those of its summary")
    stated = sorted(tuple(sorted(edge)) for edge in kernel["edges"])
    need(stated == sorted(edges), f"the listed edges differ from those of the neighbours: {edges ^ set(stated)}")
    total = whole(kernel["denominator"])
    need(total > 0 and total & (total - 1) == 0, "the denominator is not a power of two")
    weights, labels = [[whole(w) for w in row] for row in kernel["weights"]], [output["label"] for output in kernel["outputs"]]
    need(len(labels) == len(set(labels)) == len(weights), "outputs repeat or lack weights")
    affordable(len(edges) * len(labels) * (total.bit_length() // 512) ** 2 // 4)  # products of long numbers
    need(all(len(row) == len(states) and min(row) >= 0 for row in weights), "a row of weights is short or negative")
    need(all(sum(column) == total for column in zip(*weights, strict=True)), "some probabilities do not sum to one")
    if unbiased(mechanism) is not None:
        numbers = [number(output["action"]["number"]) for output in kernel["outputs"]]
        bottom = 1
        for a in numbers:
            bottom = lcm(bottom, a.denominator)
            affordable(bottom.bit_length() // 2048 * len(numbers) * len(states))
        whole_numbers = [a.numerator * (bottom // a.denominator) for a in numbers]
        means = [sum(map(mul, whole_numbers, column)) for column in zip(*weights, strict=True)]
        check_means(mechanism, [tuple(map(int, s.split(","))) for s in states], means, bottom * total)
    return states, edges, labels, weights, total

def check_table(mechanism):
    """(top, bottom, 1, where): the largest ratio top/bottom of probabilities at adjacent states, compared exactly."""
    states, edges, labels, weights, _ = read_table(mechanism)
    best = (0, 1, 1, None)
    for label, row in zip(labels, weights, strict=True):
        for a, b in edges:
            big, small = (a, b) if row[a] >= row[b] else (b, a)
            if row[big] * best[1] > best[0] * row[small]:
                best = (row[big], row[small], 1, (states[big], states[small], label))
    return best

def largest_step(mechanism):
    """How far neighbours move the total that a kernel by formula reads, and how far totals can be apart at all."""
    kernel, summary, data = mechanism["kernel"], mechanism["summary"], mechanism["problem"]["data"]
    need(summary["kind"] == "linear" and isinstance(data["neighbours"], str), "a closed-form kernel reads a weighted sum")
    weights, fixed = summary["weights"], data["neighbours"] == "replace-one"
    need(len(weights) == len(data["values"]), "the summary needs one weight for every type")
    step = max(weights) - min(weights) if fixed else max(map(abs, weights))
    low = clip(summary, min(n * min(weights) for n in sizes(data)))
    high = clip(summary, max(n * max(weights) for n in sizes(data)))
    need(kernel["from"] <= low <= high <= kernel["to"], "the kernel does not cover every total")
    need(step <= kernel["step"], "one neighbour can move the total further than the kernel's step")
    return step, high - low

def check_closed(mechanism):
    """(top, bottom, power, where): if the noise falls by at most (top/bottom)^power over `step`, so does the kernel."""
    kernel = mechanism["kernel"]
    if kernel["family"] == "counted":
        return check_counted(mechanism)
    need(kernel["family"] in ("geometric", "staircase"), "this family of kernels keeps no promise of this kind, or is not known")
    step, span = largest_step(mechanism)
    ratio = number(kernel["ratio"])
    need(0 < ratio < 1, "the ratio is not between 0 and 1")
    if kernel["family"] == "staircase":
        need(1 <= kernel["plateau"] <= kernel["step"], "the plateau is longer than the step")
    if unbiased(mechanism) is not None:  # a tail of geometric noise has the same mean for all
        need(kernel["family"] == "geometric" and kernel["to"] > kernel["from"], "only geometric noise is known to be unbiased")
        affordable(kernel["to"] - kernel["from"])
        past, omega, read = ratio / (1 - ratio), statistic(mechanism), [number(a["number"]) for a in kernel["actions"]]
        need(len(read) == kernel["to"] - kernel["from"] + 1, "an output is not read as what it stands for")
        places = [kernel["from"] - past, *range(kernel["from"] + 1, kernel["to"]), kernel["to"] + past]
        need(read == [omega((x,)) for x in places], "an output is not read as what it stands for")
    power = min(step, span) if kernel["family"] == "geometric" else min(step, span, 1)
    where = ("one total", f"another {step} away", "of the noise")
    return (ratio.denominator, ratio.numerator, power, where) if power else (1, 1, 1, where)

def check_counted(mechanism):
    """(top, bottom, 1, where) of noise that follows counts. The total is s + stride*(c1*radix^(m-1) + ... + cm), each c how many
    have types of a class (radix 1: a single one). s + z is published with z from the table found in `tables` by one count after the
    other: the last place of a list is for all larger ones, and a number says how many tables the last class has. A table: weights
    for |z| <= reach, beyond it stairs of width `step` that fall by `ratio` and hold `tail` on either side, the same for all.
    Neighbours' sums are at most one stair apart, so beyond two stairs nothing new is compared: there both are stairs, the same one
    or the next. All but one respondent count the same on both sides."""
    kernel, summary, data = mechanism["kernel"], mechanism["summary"], mechanism["problem"]["data"]
    need(summary["kind"] == "linear" and isinstance(data["neighbours"], str), "a counted kernel reads a weighted sum")
    need(summary.get("low") is None and summary.get("high") is None, "a total that tells a count is not clipped")
    if unbiased(mechanism) is not None:
        raise TooLarge("whether values are unbiased is not checked of noise that follows a count")
    weights, stride, step, (least, most) = summary["weights"], kernel["stride"], kernel["step"], sizes(data)
    several = kernel.get("tables") is not None or kernel.get("radix") is not None
    radix, ways = kernel.get("radix") if several else 1, branches(kernel.get("tables") if several else len(kernel["weights"]))
    ends, last = (stride, step, kernel["from"], kernel["to"], radix), len(ways) - 1
    need({type(x) for x in (*ends, *weights)} == {int} and stride > 0 < step, "weights, stride, step and range are whole numbers")
    need(len(weights) == len(data["values"]), "the summary needs one weight for every type")
    need(not several or (radix > 1 and last > 0), "several counts need a radix above one")
    need(sum(ways[-1][1]) == len(kernel["weights"]), "some counts have no table, or some table no counts")
    affordable(last * (radix.bit_length() - 1), 62, "binary digits of a total")
    affordable(max(most * max(weights), stride * len(kernel["weights"]), radix**last), 2**62 - 1, "in a total")
    classes = {radix ** (last - c): c for c in range(last + 1)} | {0: None}
    types, values = [(classes.get(w // stride, -1), w % stride) for w in weights], [w % stride for w in weights]
    need(all(c != -1 for c, _ in types) and most * max(values) < stride and (most < radix or not several),
         "totals do not tell the sum and the counts")
    need(kernel["from"] <= least * min(values) and most * max(values) <= kernel["to"], "the kernel does not cover every sum")
    need(kernel["from"] < kernel["to"], "a kernel with one output")
    rows, tail, total = [list(map(whole, row)) for row in kernel["weights"]], whole(kernel["tail"]), whole(kernel["denominator"])
    reach, ratio = len(rows[0]) // 2, number(kernel["ratio"])
    need(0 < ratio < 1 and tail > 0, "the tails are empty, or do not fall")
    need(total.bit_count() == 1, "the denominator is not a power of two")
    need(all(len(row) == 2 * reach + 1 and min(row) >= 0 and sum(row) + 2 * tail == total for row in rows),
         "some table is no distribution, or goes further than another")
    far, down, up = reach + 2 * step, ratio.numerator, ratio.denominator
    longest = 1 + (total.bit_length() + step.bit_length() + 2 * up.bit_length()) // 1024
    affordable((len(types) ** 2 + len(rows)) * (2 * far + 1) * longest)
    stairs = [tail * (up - down) * up] * step + [tail * (up - down) * down] * step
    noise = [[*stairs[::-1], *(w * step * up * up for w in row), *stairs] for row in rows]
    moves = list(product(types if data["neighbours"] == "replace-one" else [(None, 0)], types))
    places = read_by_both(ways, {(a[0], b[0]) for a, b in moves}, most, (2 * far + 1) * longest)
    affordable(sum(len(places[a[0], b[0]]) for a, b in moves) * (2 * far + 1) * longest)
    pairs = {(*place, b[1] - a[1]) for a, b in moves for place in places[a[0], b[0]]}
    need(all(abs(moved) <= step for _, _, moved in pairs), "one neighbour can move the sum further than the kernel's step")
    best = (1, 1, 1, ("one sum", "another", "of the noise"))
    for here, there, moved in sorted(pairs):
        for z in range(max(-far, moved - far), min(far, moved + far) + 1):
            x, y = noise[here][z + far], noise[there][z - moved + far]
            if max(x, y) * best[1] > best[0] * min(x, y):
                best = (max(x, y), min(x, y), 1, (f"table {here}", f"table {there} and a sum {moved} away", f"noise {z}"))
    return best

def branches(shape):
    """For each class, of every place in the tables that asks for it: where its ways to go on begin, and how many there are."""
    nodes, found = [shape], []
    while nodes:
        need(len(found) < 32 and set(map(type, nodes)) in ({int}, {list}), "some branch of the tables asks for other classes")
        sizes = nodes if type(nodes[0]) is int else [len(node) for node in nodes]
        need(min(sizes) > 0, "some counts have no table, or some table no counts")
        found.append(([0, *accumulate(sizes)], sizes))
        nodes = [] if nodes is sizes else [child for node in nodes for child in node]
    return found

def read_by_both(ways, sides, most, each):
    """The tables of both sides, one more of a class on one and of another on the other, beside any others, fewer than `most`."""
    known, looks = {}, 0
    for side in sides:
        found = {(0, 0): 0}  # places on both sides, and the fewest others who lead there
        for asked, (starts, sizes) in enumerate(ways):
            looks += sum(max(sizes[a], sizes[b]) for a, b in found)
            affordable(looks * each)
            grown, (here, there) = {}, (one == asked for one in side)
            for (a, b), others in found.items():
                for count in range(min(max(sizes[a], sizes[b]), most - others)):
                    place = starts[a] + min(count + here, sizes[a] - 1), starts[b] + min(count + there, sizes[b] - 1)
                    grown[place] = min(others + count, grown.get(place, most))
            found = grown
        known[side] = found
    return known

# --- (epsilon, delta): what exp(epsilon) does not cover, added up on every directed edge ------------------------------
def check_approximate(mechanism, epsilon, delta):
    """(0, largest sum, where): sum max(p - low*q, 0) with low <= exp(epsilon) is no less than the truth; if it fits, that does."""
    states, edges, _, weights, total = read_table(mechanism)
    bits, worst = 64, (Fraction(0), None)
    while True:  # it ends: near exp(epsilon), which is no fraction, every sum is a line
        low, high = exp_between(epsilon, bits)
        sums = {d: [excess(weights, d, end) / total for end in (high, low)] for a, b in edges for d in ((a, b), (b, a))}
        worst = max(((most, d) for d, (_, most) in sums.items()), default=worst)
        if worst[0] <= delta:
            return Fraction(0), worst[0], worst[1] and (states[worst[1][0]], states[worst[1][1]], "all outputs")
        for (a, b), (least, _) in sums.items():
            need(least <= delta, f"more than delta = {delta} of the outputs at {states[a]} are not covered by those at {states[b]}")
        bits *= 2

def excess(weights, directed, factor):
    (a, b), up, down = directed, factor.numerator, factor.denominator
    return Fraction(sum(max(row[a] * down - up * row[b], 0) for row in weights), down)

# --- rho (zCDP): D_alpha <= rho*alpha for every order alpha > 1 -------------------------------------------------------
SCALE, EXACT, SLACK = 192, Context(prec=50), Decimal("1e-30")  # bits of powers, digits of logarithms, more than either errs
SURE = Fraction(3 * SLACK)  # a logarithm above its limit by this much is above it in truth

def check_concentrated(mechanism, rho):
    """(0, rho that is proved, where). Gaussian noise by D_alpha = alpha*d^2/(2*sigma^2) at a shift d, other noise by its factor."""
    family = mechanism["kernel"]["family"]
    if family == "table":
        states, edges, _, weights, total = read_table(mechanism)
        for a, b in sorted(edges):
            for p, q in ((a, b), (b, a)):
                concentrated([(row[p], row[q]) for row in weights if row[p] or row[q]], total, rho, (states[p], states[q]))
        return Fraction(0), rho, None
    if family == "discrete-gaussian":
        need(unbiased(mechanism) is None, "only geometric noise is known to be unbiased")
        step, variance = min(largest_step(mechanism)), number(mechanism["kernel"]["sigma_squared"])
        need(0 < variance <= 10**8, "sigma^2 is not above 0, or too large to be drawn from")
        found = Fraction(step * step) / (2 * variance)
    else:
        top, bottom, power, _ = check_closed(mechanism)
        above = power * log_between(top, bottom, Fraction(20_000))[1]  # a factor c = exp(e) keeps rho = e*(c - 1)/(c + 1)
        affordable(above, 20_000, "of a log-ratio")
        factor = exp_between(above, 64)[1]
        step, found = mechanism["kernel"]["step"], above * (factor - 1) / (factor + 1)
    need(found <= rho, f"a shift of the total by {step} has D_alpha/alpha = {found}, more than rho = {rho}")
    return Fraction(0), found, ("one total", f"another {step} away", "the noise")

def concentrated(pairs, total, rho, where):
    """log sum p^alpha q^(1-alpha) is convex in alpha and 0 at 1: below its chords, which are held against rho*alpha*(alpha-1)."""
    top, bottom = 0, 1
    for p, q in pairs:
        need(q > 0, f"an output is possible at {where[0]} and impossible at {where[1]}")
        top, bottom = (p, q) if p * bottom > top * q else (top, bottom)
    pairs, roots, last = [(p, q) for p, q in pairs if p], [], 2
    while exceeds_exp(top, bottom, rho * last):  # beyond this order D_alpha <= log(top/bottom) <= rho*alpha is enough
        last *= 2
    logs = {Fraction(1): Fraction(0)}
    pieces = [(Fraction(1), Fraction(2)), *((Fraction(2**k), Fraction(2 ** (k + 1))) for k in range(1, last.bit_length() - 1))]
    while pieces:
        a, b = pieces.pop()
        for order in (a, b):
            if order not in logs:
                logs[order] = moment(pairs, total, order - 1, roots)
                need(logs[order] - SURE <= rho * order * (order - 1),
                     f"the divergence of order {float(order):.6g} between {where[0]} and {where[1]} is above rho*alpha")
        slope = (logs[b] - logs[a]) / (b - a)
        turn = min(max((slope / rho + 1) / 2, a), b)
        if logs[a] + slope * (turn - a) > rho * turn * (turn - 1):
            affordable((b - a).denominator, 1 << 30, "parts of an interval of orders: rho is too close to the truth")
            pieces += [(a, (a + b) / 2), ((a + b) / 2, b)]

def moment(pairs, total, extra, roots):
    """An upper side of log sum p*(p/q)^extra for a fraction n/2^k: k square roots, then n-th powers, all rounded up."""
    while len(roots) < extra.denominator.bit_length():
        before = roots[-1] if roots else None
        roots.append([isqrt(t << SCALE) + 1 for t in before] if before else [-((-p << SCALE) // q) for p, q in pairs])
    found = 0
    for (p, _), t in zip(pairs, roots[extra.denominator.bit_length() - 1], strict=True):
        power, n = 1 << SCALE, extra.numerator
        while n:
            power, t, n = ((power * t >> SCALE) + 1 if n & 1 else power), (t * t >> SCALE) + 1, n >> 1
        found += p * power
    return Fraction(EXACT.ln(EXACT.divide(Decimal(found), Decimal(total << SCALE))) + SLACK)

def inflated(data):
    """The text of a file that may be gzip, which is opened no further than fifty times its length."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    inflate, most = zlib.decompressobj(31), min(BYTES, 50 * len(data))
    found = inflate.decompress(data, most)
    affordable(len(found) + bool(inflate.unconsumed_tail), most, "bytes, unzipped")
    if not inflate.eof or inflate.unused_data:
        raise ValueError("the file is not one whole gzip")
    return found

def once(pairs):
    """A JSON object in which no key stands twice: two readers could otherwise see two mechanisms."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)

def members(text):
    """(words, mechanism) of a mechanism file, or of every member of a family: one mechanism for each range of cell sizes."""
    document = json.loads(text, object_pairs_hook=once, parse_int=whole, parse_float=whole, parse_constant=whole)
    if document["format"] != "discreet-family/1":
        return [("", document)]
    need(document["members"], "a family without members")
    for m in document["members"]:  # a smaller cell is filled up to the largest size, so that is what must be proved
        need(m["to"] == m["mechanism"]["problem"]["data"]["respondents"] >= m["from"] > 0, "a member serves other sizes")
    return [(f" for cells of {m['from']} to {m['to']}", m["mechanism"]) for m in document["members"]]

def verify(text):
    """What `prove` says of the one mechanism in a file."""
    return prove(*(mechanism for _, mechanism in members(text)))

def prove(mechanism, *, place=0, members=1):
    """(promise, its tightest number from below, from above, where, hash) of a mechanism document; raises Refuted."""
    need(mechanism["format"] == "discreet-mechanism/1", "not a mechanism file")
    ASKED[:] = sum(ASKED[:2]) * (place > 0), 0, 8 * STEPS + members * STEPS // 4
    promise, asked = mechanism["guarantee"], mechanism["problem"]["privacy"]
    keys, wanted = ([key for key in ("epsilon", "delta", "rho") if key in said and (key != "delta" or number(said[key]))]
                    for said in (promise, asked))
    need(keys in (["epsilon"], ["epsilon", "delta"], ["rho"]), "the promise is neither epsilon, nor epsilon with delta, nor rho")
    levels = {key: number(promise[key]) for key in keys}
    need(keys == wanted, "the problem asks for another kind of promise")
    need(all(0 <= level <= min(number(asked[key]), 10_000) for key, level in levels.items()),
         "the promise is weaker than the problem asks for, or absurd")
    relation = mechanism["problem"]["data"]["neighbours"]
    known = "given" if isinstance(relation, dict) else relation
    need(promise["neighbours"] == known in ("given", "replace-one", "add-remove-one"), "the promise names other neighbours")
    need(promise["unit"] == asked["unit"], "the promise names another unit than the problem")
    if "rho" in levels:
        need(levels["rho"] > 0, "a promise of rho = 0 is not proved here")
        low, high, where = check_concentrated(mechanism, levels["rho"])
    elif levels.get("delta"):
        need(mechanism["kernel"]["family"] == "table" and levels["delta"] < 1, "delta is proved of tables, and below 1")
        low, high, where = check_approximate(mechanism, levels["epsilon"], levels["delta"])
    else:
        low, high, where = check_pure(mechanism, levels["epsilon"])
    canonical = json.dumps(mechanism, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return promise, low, high, where, hashlib.sha256(canonical).hexdigest()

UNPROVED = dict.fromkeys(("geometric", "staircase"), "the noise falls too fast for this epsilon to be proved")
UNPROVED["counted"] = "the tables of noise differ by too much for this epsilon to be proved"

def check_pure(mechanism, epsilon):
    """(largest log-ratio from below, from above, where)."""
    family = mechanism["kernel"]["family"]
    top, bottom, power, where = check_table(mechanism) if family == "table" else check_closed(mechanism)
    if exceeds_exp(top, bottom, epsilon / power):  # (top/bottom)^power > exp(epsilon), without forming the power
        noted = f"output {where[2]} is more than exp({epsilon}) times as likely at {where[0]} as at {where[1]}"
        raise Refuted(f"{UNPROVED[family]}: {noted}, if databases show it" if family in UNPROVED else noted)
    low, high = log_between(top, bottom, epsilon / power) if top > bottom else (Fraction(0), Fraction(0))
    return power * low * (family != "counted"), power * high, where  # noise that follows a count: perhaps no database shows it

def say(text):
    """Print one line. What the file says is shown as text: line ends and terminal codes in it are written out."""
    print("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text))

def main(arguments):
    """Verify the file named on the command line and say what was found."""
    try:
        sys.set_int_max_str_digits(0)
        affordable(Path(arguments[0]).stat().st_size, BYTES, "bytes")
        named = members(inflated(Path(arguments[0]).read_bytes()).decode("utf-8"))
        found = [(words, *prove(m, place=k, members=len(named))) for k, (words, m) in enumerate(named)]
    except Refuted as reason:
        say(f"REFUTED: {reason}")
        return 1
    except (TooLarge, MemoryError) as reason:
        say(f"TOO LARGE to be checked here: {reason}")
        return 2
    except (IndexError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError, BROKEN) as error:
        say(f"NOT READABLE as a mechanism: {type(error).__name__}: {error}")
        return 2
    for words, promise, low, high, where, digest in found:
        level = ", ".join(f"{key} = {promise[key]}" for key in ("epsilon", "delta", "rho") if key in promise)
        promised = f"{level} for {promise['neighbours']} neighbours, unit {promise['unit']}"
        say(f"PROVED{words}: differentially private with {promised}. Mechanism sha256 {digest}")
        what = "rho" if "rho" in promise else "delta" if number(promise.get("delta", 0)) else "log-ratio"
        say(f"Largest {what} between {float(low):.15g} and {float(high):.15g}, at {where or 'no edge in particular'}")
    if any(unbiased(m) for _, m in named):
        say("PROVED: the published values are unbiased as the problem asks")
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
