"""The page that travels with a release: what the table holds, how to read one value, what is promised and what is not.

One HTML file without scripts, styles from elsewhere or pictures from elsewhere; it prints well. Everything in it derives from
committed public facts and published values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from discreet.numerics.digits import about, at_least, at_most
from discreet.publish.bundle import Bundle
from discreet.publish.tables import ADDING

SHOWN = 20

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; color: #1b1b1f; background: #fff; }
body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.rows { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #d7d7dc; }
.n { text-align: right; }
code { background: #f2f2f5; padding: .1rem .3rem; overflow-wrap: anywhere; }
.note { border-left: 4px solid #8a5a00; padding-left: .8rem; }
@media print { body { margin: 0; } }
"""


def page(bundle: Bundle, facts: Mapping[str, Any], columns: Mapping[str, Any]) -> str:
    """The page as HTML text."""
    loss = facts["privacy_loss"]
    title = escape(str(facts["dataset"]))
    unit = escape(str(loss["privacy_unit"]))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: how to read this release</title><style>{STYLE}</style></head><body><main>
<h1>{title}</h1>
<p>{len(bundle.cells):,} {_what(bundle)}, published so that they are useful to those who act on them and discreet
about every {unit}.</p>
<h2>What is promised</h2>
<p>Protected: {escape(str(loss["protects"]).partition(": ")[2])}. Total privacy loss of this
release: {_level(loss)}.</p>
<p>{_attacker(bundle, loss, unit)}</p>
{_batch(facts["accounting"])}<h2>How to read a value</h2>
<p>A published value was drawn at random from a distribution that depends on the cell; it is not the
true count. {_published(bundle)}; <em>code</em> names the draw; <em>posterior mean</em>
and the interval say what the value
means to someone who believes the stated prior. {_adding(bundle, columns)}</p>
{_table(columns)}
<p>All cells: <a href="release.csv">release.csv</a>, <a href="release.parquet">release.parquet</a>.</p>
<h2>What this is not for</h2>
<p class="note">The table was designed for one decision ({escape(", ".join(facts["decision"]))}) under a prior of kind
{escape(str(facts["prior"]))}{_origin(facts)}. Readers with other beliefs should use the mechanism with their own
prior. {_pulled(bundle)} To add up, use
<code>discreet total .</code>, to rank, <code>discreet total . --by</code> and a key.</p>
<h2>How to check it</h2>
<p><code>discreet verify .</code> checks everything that can be checked from this folder;
<code>python verify_standalone.py mechanism.json</code> (<code>mechanism.json.gz</code> where it is zipped) proves privacy with
Python alone, and
<a href="verify.html">verify.html</a> in a browser, offline: drop this folder on it.
Commitment <code>{escape(str(facts["commitment"]))}</code>.</p>
</main></body></html>
"""


def _asked(bundle: Bundle) -> set[str | None]:
    """How the values of the cells are unbiased; None where they need not be."""
    return {mechanism.problem.unbiased for mechanism in bundle.used.values()}


def _published(bundle: Bundle) -> str:
    """What the column `published` is for."""
    if None in _asked(bundle):
        return "<em>published</em> is the number to use in\nthe decision that this table was made for, in its own units"
    return (
        "<em>published</em> is for adding up: its errors cancel,\nso a single one may be negative or larger than any possible "
        "count; whoever acts on one cell uses the\n<em>posterior mean</em>, which comes from the same draw"
    )


def _pulled(bundle: Bundle) -> str:
    """Why published numbers are not added up as they are, or that they may be."""
    if None in _asked(bundle):
        return "Sums and rankings of the published numbers inherit their pull towards the prior."
    if "nearby" in _asked(bundle):
        return "Sums of the published numbers are unbiased where the prior is about right, and off in second order where it is not."
    return "Sums of the published numbers are unbiased whatever is believed; single ones are noisy, and so are their rankings."


def _origin(facts: Mapping[str, Any]) -> str:
    """That a learned prior can be computed again."""
    words = ", learned from a private release that this folder holds: whoever verifies it computes the prior again"
    return words if "learned_from" in facts else ""


def _what(bundle: Bundle) -> str:
    return "cells" if bundle.asked is None else "numbers to learn a prior from"


def _level(loss: Mapping[str, Any]) -> str:
    """The numbers of the promise; ρ where it is all that is promised."""
    if "epsilon" not in loss:
        return f"ρ = {escape(loss['rho'])}"
    delta = loss.get("delta", "0")
    return f"ε = {escape(loss['epsilon'])}" + ("" if delta == "0" else f", δ = {escape(delta)}")


def _batch(accounting: Mapping[str, Any]) -> str:
    """A sentence about the batch, if there is one."""
    if "batch" not in accounting:
        return ""
    batch = accounting["batch"]
    return (
        f"<p>This table is one of {batch['plans']} that were committed together ({escape(batch['name'])}). All of them "
        f"together cost at most {_level(batch['cost'])}.</p>\n"
    )


def _attacker(bundle: Bundle, loss: Mapping[str, Any], unit: str) -> str:
    """How sure an attacker can become, in words; with ρ alone or a δ there is no limit that holds after every value."""
    from fractions import Fraction

    from discreet.interpret.sentences import attacker_sentence

    if "epsilon" not in loss:
        return "Under a promise of ρ, how sure an attacker can become has no limit that holds after every published value."
    if loss["delta"] != "0":
        return "With a δ above 0, how sure an attacker can become has no limit that holds after every published value."
    relation = next(iter(bundle.used.values())).guarantee.neighbours
    return attacker_sentence(Fraction(1, 2), Fraction(loss["epsilon"]), neighbours=relation, unit=unit)


def _adding(bundle: Bundle, columns: Mapping[str, Any]) -> str:
    words = "To add up cells, use <code>discreet total .</code>, which says how far the total may be off"
    if ADDING not in columns:
        return f"{words}; none of these columns is meant for it."
    held = "posterior means, which rest on the stated prior"
    if "unbiased" in columns:
        near = "nearby" in _asked(bundle)
        held = "unbiased values, which rest on " + ("the stated prior in second order only" if near else "no prior")
    return f"{words}, or sum the column <em>{ADDING.replace('_', ' ')}</em> ({held}), not the others."


def _table(columns: Mapping[str, Any]) -> str:
    names = list(columns)
    head = "".join(f'<th scope="col"{_kind(columns[name])}>{escape(name.replace("_", " "))}</th>' for name in names)
    rows = []
    for i in range(min(SHOWN, len(next(iter(columns.values()))))):
        fields = (f"<td{_kind(columns[name])}>{escape(_text(columns[name][i], name))}</td>" for name in names)
        rows.append(f"<tr>{''.join(fields)}</tr>")
    count = len(next(iter(columns.values())))
    more = f"<p>The first {SHOWN} of {count:,} cells.</p>" if count > SHOWN else ""
    box = "<div class='rows' tabindex='0' role='group' aria-label='Published cells'>"
    return f"{box}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{more}"


def _kind(column: Any) -> str:
    """Numbers stand on the right."""
    return ' class="n"' if all(not isinstance(value, str) for value in column[:1]) else ""


def _text(value: Any, name: str) -> str:
    """A number of a cell; the ends of an interval are rounded outwards."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    side = at_least if name.startswith("interval_low") else at_most if name.startswith("interval_high") else about
    return side(value, 4)
