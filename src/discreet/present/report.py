"""A report: one printable HTML page about a mechanism or a release, with nothing fetched from anywhere.

The problem in words, the design beside what people do today, the proof, the pictures, how to read a value, the limits, what it
is not for, and how to cite it. Pictures are SVG inside the page; without the extra `figures` the page says how to get them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from discreet import __version__
from discreet.certify.unbiased import UnbiasedProof, unbiased
from discreet.design.comparison.baselines import baselines
from discreet.design.comparison.behaviour import behaviour
from discreet.design.comparison.large import large_baselines
from discreet.design.program.sections import ground
from discreet.design.questions.both import both
from discreet.errors import DiscreetError, MissingExtra
from discreet.files.mechanism_document import mechanism_hash
from discreet.interpret.bounds import moved_bracket
from discreet.interpret.column_errors import OFF, column_values, errors_of, missed_prior
from discreet.interpret.reading import readings
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.promises import PurePromise
from discreet.model.record import Baseline, Record
from discreet.numerics.digits import (
    about,
    at_least,
    at_most,
    between,
    percent_about,
    percent_at_most,
    percent_given,
)
from discreet.present.blocks import SCROLLS
from discreet.present.figure import Figure
from discreet.present.figures.adding import CELLS, adding_figure, named
from discreet.present.figures.posterior import posterior_figure
from discreet.present.style import STYLE
from discreet.views.both import HEADS, both_rows, both_words
from discreet.views.reading import is_code
from discreet.views.words import (
    UNBIASED,
    USE,
    adding_words,
    attacker_words,
    gain_words,
    guarantee_words,
    loss_name,
    number,
    problem_words,
    proof_words,
    theorem_words,
    tight_words,
)

MOST_ROWS = 60
ENDS = {"no information": "", "full information": " (not private)"}
"""The two ends of the scale, shown after what people do today."""
LEANS = {
    None: "The design leans on its prior: where the prior is wrong, recommended actions are biased towards it. Compare with "
    "discreet design --radius before using it elsewhere.",
    "everywhere": "A single value is noisy and may be negative or larger than any possible total: that is how errors cancel in "
    "sums. Whoever acts on one cell should use its mean.",
    "nearby": "A single value is noisy and may be negative or larger than any possible total: that is how errors cancel in sums. "
    "Whoever acts on one cell should use its mean. Where the prior is far off, sums are off in second order.",
}
"""What a design is not for, by how it is unbiased."""


@dataclass(frozen=True)
class Chapter:
    """A heading and what stands under it, as HTML."""

    title: str
    body: str


def mechanism_report(
    mechanism: Mechanism,
    certificate: Certificate | None,
    *,
    record: Record | None = None,
    figures: Sequence[Figure] = (),
    first: Sequence[Chapter] = (),
    extra: Sequence[Chapter] = (),
    title: str | None = None,
    lead: str | None = None,
) -> str:
    """The page about one mechanism; `figures` come after the comparison, `first` and `extra` sections before and after.

    What the design's record holds is taken from it; without one the baselines are computed here.
    """
    others = _compared(mechanism) if record is None else record.baselines
    sections = [
        *first,
        Chapter("The question", f"<p>{escape(problem_words(mechanism.problem))}</p>{_prior(mechanism)}"),
        Chapter("The design", _design(mechanism, others, record) + "".join(map(picture, figures))),
        Chapter("The proof", _proof(mechanism, certificate)),
        Chapter("How to read a value", _reading(mechanism)),
        Chapter("The limits", _limits(mechanism)),
        Chapter("To add up", _adding(mechanism)),
        Chapter("What this is not for", _not_for(mechanism, record)),
        *extra,
        Chapter("Citation", _citation(mechanism)),
    ]
    name = title or mechanism.problem.name or "A private statistic"
    return html_page(name, lead or _lead(mechanism, others), sections)


def html_page(title: str, lead: str, sections: Sequence[Chapter]) -> str:
    """A whole page from its sections."""
    body = "\n".join(f"<section><h2>{escape(s.title)}</h2>{s.body}</section>" for s in sections)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{STYLE}</style></head>
<body><main><header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>
{body}
<footer><p>Made with discreet {escape(__version__)}.</p></footer></main></body></html>
"""


def picture(figure: Figure) -> str:
    """A picture inside the page with its words beside it, or how to get pictures."""
    try:
        drawn = figure.svg()
    except MissingExtra as missing:
        return f'<p class="note">{escape(str(missing))}</p><p>{escape(figure.alt)}</p>'
    return f"<figure>{scrolled(drawn)}<figcaption>{escape(figure.alt)}</figcaption></figure>"


def scrolled(drawn: str) -> str:
    """A picture that keeps its size on a narrow screen and moves sideways there."""
    return f'<div class="drawn" tabindex="0" role="group" aria-label="Picture, moves sideways when narrow">{drawn}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, numeric: bool = True, first: bool = False) -> str:
    """A table with a header row; all columns but the first are numbers, and `first` sets the first row apart."""
    kind = ' class="n"' if numeric else ""
    name = ' class="first"' if first else ""
    top = "".join(f"<th scope='col'{kind if i else ''}>{escape(h)}</th>" for i, h in enumerate(head))
    lines = "".join(
        "<tr>" + "".join(f"<td{kind if i else ''}>{escape(str(x))}</td>" for i, x in enumerate(row)) + "</tr>" for row in rows
    )
    return f"{SCROLLS}<table{name}><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"


def _compared(mechanism: Mechanism) -> Mapping[str, Baseline]:
    try:
        return baselines(ground(mechanism.problem), oblivious=False)
    except DiscreetError:
        return large_baselines(mechanism.problem)


def _lead(mechanism: Mechanism, others: Mapping[str, Baseline]) -> str:
    usual = others.get("geometric")
    own = mechanism.claims.value
    if own is None or usual is None or usual.loss is None or not all(d.is_loss for d in mechanism.problem.decisions):
        return guarantee_words(mechanism.guarantee)
    return gain_words(-float(own), usual.loss, "the usual geometric noise")


def _prior(mechanism: Mechanism) -> str:
    problem = mechanism.problem
    p = getattr(problem.prior, "probabilities", None)
    if p is None:
        return f"<p>Beforehand: a prior of kind {escape(problem.prior.kind)}.</p>"
    values = getattr(problem.universe, "values", ())
    rows = [(number(v), about(x)) for v, x in zip(values, p, strict=True)]
    source = getattr(problem.prior, "source", "")
    said = f" Source: {escape(source)}." if source else ""
    intro = f"<p>Believed beforehand, for each {escape(problem.unit)} independently:{said}</p>"
    return intro + table(["value", "probability"], rows)


def _design(mechanism: Mechanism, others: Mapping[str, Baseline], record: Record | None) -> str:
    loss = all(d.is_loss for d in mechanism.problem.decisions)
    rows = []
    own = mechanism.claims.value
    if own is not None:
        rows.append(("this design", about(-own if loss else own)))
    known = [b for b in others.values() if b.value is not None]
    ranked = sorted((b for b in known if b.name not in ENDS), key=lambda b: -(b.value or 0.0))
    ranked += [b for name in ENDS for b in known if b.name == name]
    rows += [(f"{b.words}{ENDS.get(b.name, '')}", about(-(b.value or 0.0) if loss else (b.value or 0.0))) for b in ranked]
    how = _found_by(mechanism) + ("" if record is None else _story(record))
    return table(["way to publish", loss_name(mechanism.problem) if loss else "expected payoff"], rows, first=True) + how


def _found_by(mechanism: Mechanism) -> str:
    made = mechanism.provenance
    if not made:
        return ""
    theorem = theorem_words(made.get("theorem", ""))
    cited = f" ({escape(theorem)})" if theorem else ""
    hedged = "; ".join(f"{name}: {text}" for name, text in made.items() if name.startswith("hedge"))
    guarded = f"<p>Hedged, as computed when it was made: {escape(hedged)}.</p>" if hedged else ""
    return f"<p>Found by: {escape(made.get('rung', made.get('reduction', 'as given')))}{cited}.</p>{guarded}"


def _story(record: Record) -> str:
    """Which routes were considered and which rungs were climbed, as the record of the design tells it."""
    steps = "".join(f"<li>{escape(str(step))}</li>" for step in record.steps)
    rungs = [(r.name, at_most(r.loss), at_least(r.lower_bound), percent_at_most(r.relative_gap, 2)) for r in record.rungs]
    climbed = table(["rung", "expected loss", "lower bound", "gap"], rungs) if rungs else ""
    return f"<p>What was considered:</p><ul>{steps}</ul>{climbed}" if steps else climbed


def _proof(mechanism: Mechanism, certificate: Certificate | None) -> str:
    words = [guarantee_words(mechanism.guarantee)]
    if certificate is None:
        words.append("There is no certificate beside this mechanism: run discreet certify to prove it.")
    else:
        proof = certificate.privacy
        words.append(
            f"Checked in exact arithmetic: {proof.edges:,} pairs of neighbouring states × "
            f"{proof.outputs:,} outputs. {tight_words(proof.tight_low, proof.tight_high)}"
        )
        claim = certificate.optimality
        if claim is not None and all(d.is_loss for d in mechanism.problem.decisions):
            words.append(proof_words(-claim.value, -claim.bound, mechanism.guarantee.promise.adjective))
    asked = mechanism.problem.unbiased
    if asked is not None and isinstance(unbiased(mechanism), UnbiasedProof):
        words.append(UNBIASED[asked])
    return "".join(f"<p>{escape(w)}</p>" for w in words)


def _reading(mechanism: Mechanism) -> str:
    try:
        found = readings(mechanism)
    except DiscreetError as error:
        return f"<p>{escape(str(error))}</p>"
    labels, outputs = found.labels(), mechanism.outputs
    import numpy as np

    weights = np.exp(found.log_probability)
    likely = np.flatnonzero(weights > 1e-4)
    if len(likely) > MOST_ROWS:  # so many that about the same probability lies between neighbours
        reached = np.cumsum(weights[likely]) / weights[likely].sum()
        likely = likely[np.unique(np.searchsorted(reached, (np.arange(MOST_ROWS) + 0.5) / MOST_ROWS))]
    shown = likely.tolist()
    rows = [
        (
            labels[i],
            _action(outputs[i].action),
            percent_about(weights[i]),
            about(found.mean[i], 3),
            between(found.lower[i], found.upper[i], 12, words="{} to {}"),
        )
        for i in shown
    ]
    summed = mechanism.problem.unbiased is not None
    coded = bool(shown) and is_code(mechanism, outputs[shown[0]])
    head = [
        "code" if coded else "published value",
        "to add up" if summed else "do this",
        "how often",
        "mean",
        f"{percent_given(found.level)} interval",
    ]
    intro = "<p>For someone who holds the prior above. Other readers should use their own prior with the mechanism file.</p>"
    if coded:
        intro += "<p>A code names the draw; the number to use stands beside it.</p>"
    if len(shown) < len(labels):
        intro += f"<p>{len(shown)} of {len(labels):,} possible draws, from unlikely low ones to unlikely high ones.</p>"
    if summed:
        intro += "<p>To act on one cell, use the mean, which is nearest to the truth; it comes from the same draw.</p>"
    try:
        drawn = picture(posterior_figure(mechanism))
    except DiscreetError as error:
        drawn = f'<p class="note">Not drawn: {escape(str(error))}</p>'
    return intro + table(head, rows) + drawn


def _action(action: Any) -> str:
    if isinstance(action, tuple):
        return "; ".join(_action(a) for a in action)
    if action is None:
        return ""
    return action if isinstance(action, str) else number(action)


def _limits(mechanism: Mechanism) -> str:
    guarantee = mechanism.guarantee
    said = f"<p>{escape(attacker_words(guarantee))}</p>"
    if not isinstance(guarantee.promise, PurePromise):
        return said
    rows = [(percent_given(sure), percent_at_most(moved_bracket(sure, guarantee.epsilon).upper)) for sure in (0.01, 0.1, 0.5, 0.9)]
    return (
        said
        + table(["sure today", "at most sure afterwards"], rows)
        + "<p>Where respondents' answers are correlated, more can be learnt about one of them through the others; the promise then "
        "still bounds what changes because this one took part.</p>"
    )


def _not_for(mechanism: Mechanism, record: Record | None) -> str:
    known = None if record is None else record.behaviour
    try:
        slope = (known or behaviour(mechanism)).slope
        words = adding_words(slope) if slope == slope else ""
    except DiscreetError as error:
        words = f"Whether recommended actions may be added up was not computed: {error}"
    notes = () if record is None else record.notes
    lean = LEANS[mechanism.problem.unbiased]
    return "".join(f'<p class="note">{escape(w)}</p>' for w in (words, lean, *notes) if w)


def _adding(mechanism: Mechanism) -> str:
    """What to use for sums over cells, and how far the sum of each column is off."""
    try:
        columns = column_values(mechanism)
        right, other = errors_of(mechanism, columns), missed_prior(mechanism)
        wrong = None if other is None else errors_of(mechanism, columns, other)
    except DiscreetError as error:
        return f'<p>{escape(USE)}</p><p class="note">How far sums are off was not computed: {escape(str(error))}</p>'
    beside = _both(mechanism)
    series = named(right, wrong)
    rows = [[f"{n:,}", *(about(error.of_total(n), 3) for error in series.values())] for n in CELLS]
    words = (
        f"{USE} Below: how far the sum of a column over so many cells is off (root mean squared error), where the prior is right "
        f"and where every probability of it is off by {percent_given(OFF)}, those of high values too low. Biases add up, errors "
        "average out."
    )
    return f"{beside}<p>{escape(words)}</p>{table(['cells', *series], rows)}{picture(adding_figure(right, wrong))}"


def _both(mechanism: Mechanism) -> str:
    """Adding up and acting from one draw, where values are for adding up."""
    if mechanism.problem.unbiased is None:
        return ""
    try:
        found = both(mechanism)
    except DiscreetError as error:
        return f'<p class="note">What acting on one cell costs was not computed: {escape(str(error))}</p>'
    return f"<p>{escape(both_words(found))}</p>{table(HEADS, both_rows(found), first=True)}"


def _citation(mechanism: Mechanism) -> str:
    made = mechanism.provenance.get("made by", f"discreet {__version__}")
    return (
        f"<p>Mechanism <code>sha256:{mechanism_hash(mechanism)}</code>, "
        f"{escape(str(mechanism.guarantee))}, made with {escape(made)}. "
        "Theory: Schmutte and Yoder (2024), Information Design for Differential Privacy.</p>"
    )
