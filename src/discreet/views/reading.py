"""What published values mean, viewed: the posterior of the statistic, an interval, the best action, the cost of face value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import InputError
from discreet.interpret.acting import best_action, expected_loss
from discreet.interpret.channel import output_at, position_of
from discreet.interpret.posteriors import Posterior, posterior_after
from discreet.interpret.predictive import tail_probability
from discreet.interpret.regions import check_level
from discreet.interpret.sentences import reading_sentence
from discreet.model.kernel import Output
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.digits import about as near
from discreet.numerics.digits import percent_about
from discreet.numerics.exact import exact as exactly
from discreet.numerics.exact import format_exact
from discreet.views.subject import Subject
from discreet.views.view import BREAK, Bars, Block, Fact, Sentence, View, told

OWN = "the design's"
MOST_ROWS = 20
LEAST = 5e-5


def cell_view(subject: Subject) -> View:
    """Which cell of a release, or member of a family, is spoken of."""
    return told({"cell": dict(subject.cell), "size": subject.size}, Sentence(f"About {subject.words}:"))


def reading_view(
    mechanism: Mechanism,
    outputs: Sequence[str],
    prior: Prior | None = None,
    *,
    prior_name: str = "another",
    about: str = "statistic",
    level: float = 0.9,
    exact: bool = False,
) -> View:
    """The posterior after published values about one database, under the design's prior or another one."""
    level = check_level(level)
    believed = mechanism.problem.prior if prior is None else prior
    found = posterior_after([(mechanism, output) for output in outputs], believed, about=about, exact=exact)
    published = [output_at(mechanism, position_of(mechanism, output)) for output in outputs]
    shown = found.exact if exact and found.exact is not None else [float(p) for p in found.probabilities]
    facts: dict[str, Any] = {
        "output": [o.label for o in published] if len(published) > 1 else published[0].label,
        "about": about,
        "prior": OWN if prior is None else prior_name,
        "probability": found.exact_probability if exact else found.probability,
    }
    if len(published) == 1:
        facts["recommended"] = _plain(published[0].action)
        if mechanism.problem.unbiased is not None:
            facts["unbiased"] = mechanism.problem.unbiased
        facts["surprise"] = tail_probability(mechanism, outputs[0], believed)
    if found.values is None:
        facts["posterior"] = {"values": list(found.labels), "probabilities": shown}
        facts["mode"] = found.mode()
        return View(facts, tuple(_told(facts)))
    actions = [_plain(best_action(decision, found)) for decision in mechanism.problem.decisions]
    credible = found.credible_set(level)
    dense = found.credible_set(level, "highest-density")
    low, high = found.values[credible.first], found.values[credible.last]
    facts |= {
        "mean": found.exact_mean() if exact else found.mean(),
        "standard_deviation": found.variance() ** 0.5,
        "median": _plain(found.quantile(Fraction(1, 2))),
        "mode": _plain(found.values[found.labels.index(found.mode())]),
        "action": actions[0] if len(actions) == 1 else actions,
        "level": level,
        "interval": [_plain(low), _plain(high)],
        "interval_probability": float(credible.probability),
        "highest_density": [_plain(found.values[i]) for i in dense.positions],
        "highest_density_probability": float(dense.probability),
        "posterior": {"values": [_plain(v) for v in found.values], "probabilities": shown},
    }
    if len(published) == 1:
        facts["naive"] = None if is_code(mechanism, published[0]) else _face_value(mechanism, published[0].label, found)
    label = " and ".join(_published(mechanism, o) for o in published)
    whose = f"{OWN} prior" if prior is None else f"the prior of {prior_name}"
    facts["sentence"] = reading_sentence(label, found.mean(), low, high, level, float(credible.probability), whose)
    return View(facts, tuple(_told(facts)))


def is_code(mechanism: Mechanism, output: Output) -> bool:
    """Whether the output is a total of other weights than the statistic's: its label then only names a draw."""
    summary, universe = mechanism.summary, mechanism.problem.universe
    if not isinstance(summary, LinearSummary) or not isinstance(universe, Universe) or not isinstance(output.action, Fraction):
        return False
    own = mechanism.problem.statistic.kind == "sum" and tuple(map(Fraction, summary.weights)) == tuple(universe.values)
    return not own and output.label != format_exact(output.action)


def _published(mechanism: Mechanism, output: Output) -> str:
    """A published value in the statistic's units; where the output is only a code, the number that stands beside it."""
    if not is_code(mechanism, output) or not isinstance(output.action, Fraction):
        return output.label
    return f"{near(output.action, 10)} (code {output.label})"


def _face_value(mechanism: Mechanism, label: str, found: Posterior) -> dict[str, Any] | None:
    """What it costs to take the published number for the truth, beside the best action; None when it is no number."""
    decision = mechanism.problem.decisions[0]
    if not decision.is_loss:
        return None
    try:
        number = exactly(label)
    except InputError:
        return None
    return {
        "value": float(number),
        "expected_loss": expected_loss(decision, found, number),
        "expected_loss_of_best_action": expected_loss(decision, found, best_action(decision, found)),
        "bias": float(number) - found.mean(),
    }


def _plain(value: Any) -> Any:
    """Whole numbers as integers, other numbers as floats, names as they are."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _told(facts: dict[str, Any]) -> Iterator[Block]:
    if "sentence" in facts:
        yield Sentence(facts["sentence"])
        yield Fact("best action", _shown(facts["action"]))
        yield Fact("standard error", near(facts["standard_deviation"]))
    if "unbiased" in facts:
        yield Fact("to add up", f"use {_shown(facts['recommended'])}, which is unbiased {facts['unbiased']}; not the best action")
    naive = facts.get("naive")
    if naive is not None:
        yield Fact(
            "at face value",
            (
                f"expected loss {near(naive['expected_loss'])} instead of {near(naive['expected_loss_of_best_action'])} (off by "
                f"{near(naive['bias'], 3, signed=True)} on average)"
            ),
        )
    yield Fact("prior", facts["prior"])
    if "surprise" in facts:
        yield Fact("values as rare", f"{percent_about(facts['surprise'])} of the time under this prior")
    yield BREAK
    values, chances = facts["posterior"]["values"], [float(p) for p in facts["posterior"]["probabilities"]]
    likely = [i for i in range(len(chances)) if chances[i] >= LEAST]
    wanted = sorted(sorted(likely, key=lambda i: -chances[i])[:MOST_ROWS])
    left = 1 - sum(chances[i] for i in wanted)
    yield Bars([(_shown(values[i]), chances[i]) for i in wanted], facts["about"], left if left > LEAST else 0.0)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return near(value, 6) if isinstance(value, float) else str(value)
