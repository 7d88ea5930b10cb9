"""What is said of one mechanism, said of all sizes of a family or release: the worst size by name, the others as a range.

Whoever is in one cell of a table is protected by the mechanism of that cell's size, so what nobody exceeds over all sizes is what
nobody exceeds at the worst of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.model.family import sizes_in_words
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import about, at_most
from discreet.views.comparison import promised_words, valued
from discreet.views.limits import limits_told, limits_view
from discreet.views.profile import profile_view
from discreet.views.subject import Subject
from discreet.views.view import Block, Grid, Sentence, View
from discreet.watch import SILENT, Watch

CURRENCIES: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "tight ε": lambda facts: facts["epsilon"],
    "zCDP ρ": lambda facts: facts["rho"],
    "relative entropy": lambda facts: facts["kl"][1],
    "mutual information": lambda facts: facts["mi"][1],
    "advantage": lambda facts: facts["advantage"][1],
    "attack success": lambda facts: facts["attack"]["success"][1],
    "even guess": lambda facts: facts["attack"]["even_guess"][1],
}
"""Upper ends of what a profile says, by name."""
SHIFTS = {"alone": "log odds, alone", "everybody": "log odds, everybody"}
"""How far odds move when others' answers say nothing about a respondent's, and whatever they say."""
HEADS = ("over all sizes", "at most", "size", "where least", "size")


def must_be_one_size(option: str) -> InputError:
    """The refusal of an option that is about one mechanism."""
    return InputError(
        f"{option} is about cells of one size",
        found="several sizes",
        allowed="one of them",
        remedy=f"give --size, or leave {option} out",
    )


def profile_of_sizes(
    held: Sequence[Subject],
    *,
    epsilons: Sequence[str] = (),
    deltas: Sequence[str] = (),
    group: int = 1,
    times: int = 1,
    alpha: str = "0.05",
    watch: Watch = SILENT,
) -> View:
    """The guarantee of every size in every currency; asked points of δ(ε) as well."""
    each: list[dict[str, Any]] = []
    for count, one in enumerate(held):
        watch.report(stage=f"size {one.size}: {count} of {len(held)} done")
        seen = profile_view(one.mechanism, epsilons=epsilons, deltas=deltas, size=group, times=times, alpha=alpha).facts
        points = {
            **{f"δ at ε = {at}": high for at, _, high in seen["delta_for_epsilon"]},
            **{f"ε at δ = {at}": high for at, _, high in seen["epsilon_for_delta"]},
            **{
                f"δ at ε = {at}, {times} releases": high for at, _, high in seen.get("composition", {}).get("delta_for_epsilon", ())
            },
        }
        each.append({"size": one.size, "at_most": {name: found(seen) for name, found in CURRENCIES.items()} | points})
    promises = sorted({str(one.mechanism.guarantee) for one in held})
    facts = _ranged(held, each) | {"guarantees": promises, "group": group, "alpha": alpha}
    who = "" if group == 1 else f" for groups of {group} respondents"
    first = (
        *(Sentence(promise, "Promised:") for promise in promises),
        Sentence(f"over every edge of every size{who}:", "Computed"),
    )
    return View(facts, (*first, *_rows(facts), _closing(held, "all of it")))


def limits_of_sizes(held: Sequence[Subject], *, sure: float = 0.5, together: int = 4, alpha: float = 0.05) -> View:
    """What nobody exceeds in a cell of any size: the promise's limits at the largest, and each mechanism's own."""
    seen = {one.size: limits_view(one.mechanism, sure=sure, together=together, alpha=alpha).facts for one in held}
    each: list[dict[str, Any]] = []
    for size, facts in seen.items():
        shifts = {SHIFTS[who]: facts["mechanism"][who]["log_odds"] for who in SHIFTS if who in facts["mechanism"]}
        each.append({"size": size, "at_most": shifts})
    level = held[0].mechanism.guarantee.promise.keys[0]
    widest = max(seen.values(), key=lambda facts: (facts[level], facts["tests"][-1]["distance"]))
    shared = {key: fact for key, fact in widest.items() if key != "mechanism"}
    facts = shared | _ranged(held, each)
    return View(facts, (*limits_told(shared), *_rows(facts), _closing(held, "each published value's limits")))


def comparison_of_sizes(named: Sequence[tuple[str, Mapping[int, Mechanism]]]) -> View:
    """Families side by side, size by size, each valued for the first one's problem at that size."""
    names = [name for name, _ in named]
    each: list[dict[str, Any]] = []
    for size in shared_sizes(named):
        first = named[0][1][size]
        each.append({"size": size, "mechanisms": [valued(name, by_size[size], first) for name, by_size in named]})
    facts = {"sizes": sizes_in_words((row["size"], row["size"]) for row in each), "each": each}
    rows, said = [], []
    for place, name in enumerate(names):
        found = [(row["mechanisms"][place], row["mechanisms"][0], row["size"]) for row in each]
        losses = [float(own["followed"]) for own, _, _ in found]
        promises = list(dict.fromkeys(promised_words(own) if own["private"] else "refuted" for own, _, _ in found))
        rows.append((name, f"{about(min(losses), 6)} to {about(max(losses), 6)}", about(sum(losses), 6), ", ".join(promises)))
        if place:
            less = sum(float(own["followed"]) < float(other["followed"]) for own, other, _ in found)
            own, other, size = max(found, key=lambda row: float(row[0]["followed"]) - float(row[1]["followed"]))
            said.append(
                f"{name} loses less than {names[0]} at {less} of {len(each)} sizes; it does worst beside it in cells of {size}: "
                f"{about(own['followed'], 6)} against {about(other['followed'], 6)}."
            )
    grid = Grid(("mechanisms", "loss when followed", "sum over sizes", "ε"), rows)
    closing = Sentence(f"Sizes {facts['sizes']}; --size {each[-1]['size']} shows one size, and which of each pair tells more.")
    return View(facts, (grid, *map(Sentence, said), closing))


def shared_sizes(named: Sequence[tuple[str, Mapping[int, Mechanism]]]) -> list[int]:
    """Sizes that all of them have."""
    found = sorted(set.intersection(*(set(by_size) for _, by_size in named)))
    if not found:
        raise InputError(
            "No size of cells is common to what is to be compared",
            found="; ".join(f"{name}: {sizes_in_words((n, n) for n in by_size)}" for name, by_size in named),
            allowed="mechanisms for the same sizes",
            remedy="design them for the same sizes",
        )
    return found


def _ranged(held: Sequence[Subject], each: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every size's numbers, and for each number the sizes where it is largest and least."""
    names = list(dict.fromkeys(name for row in each for name in row["at_most"]))
    ends = {}
    for name in names:
        known = [(row["at_most"][name], row["size"]) for row in each if name in row["at_most"]]
        (most, at), (least, there) = max(known), min(known)
        ends[name] = {"at_most": most, "size": at, "least": least, "least_size": there, "sizes": len(known)}
    words = sizes_in_words((one.size, one.size) for one in held if one.size is not None)
    return {"sizes": words, "each": list(each), "worst": ends}


def _rows(facts: Mapping[str, Any]) -> Iterator[Block]:
    worst: Mapping[str, Mapping[str, Any]] = facts["worst"]
    yield Grid(
        HEADS,
        [
            (name, at_most(end["at_most"], 9), str(end["size"]), at_most(end["least"], 9), str(end["least_size"]))
            for name, end in worst.items()
        ],
    )
    partly = [name for name, end in worst.items() if end["sizes"] < len(facts["each"])]
    if partly:
        yield Sentence(f"Not known at every size, and told where it is: {', '.join(partly)}.")


def _closing(held: Sequence[Subject], what: str) -> Sentence:
    words = sizes_in_words((one.size, one.size) for one in held if one.size is not None)
    return Sentence(f"Sizes {words}; --size {max(one.size or 0 for one in held)} shows {what} at one size.")
