"""The form of a problem: fields to TOML and back, so that whatever the form can say and the file can say is the same problem.

A field is text, read as TOML: nothing here decides whether it makes sense, that is for the reader of problem files. A problem that
the form has no fields for (a payoff table, listed databases) is edited as TOML.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import InputError
from discreet.model.losses import LOSSES, TableLoss

FIELDS = {
    "name": "", "respondents": "40", "values": "0, 1, 2", "neighbours": "replace-one", "prior": "iid",
    "probabilities": "0.89, 0.09, 0.02", "counts": "", "pseudo_count": "", "source": "", "concentration": "", "learned": "",
    "statistic": "sum", "of": "", "decision": "squared-error", "quantile": "", "payoff": "", "actions": "real", "listed": "",
    "unbiased": "", "promise": "epsilon", "epsilon": "1", "unit": "respondent",
}  # fmt: skip
"""The fields with what they hold at first."""
PRIOR_KEYS = {
    "iid": ("probabilities",),
    "reference": ("counts", "source"),
    "exchangeable": ("concentration",),
    "release": (),
}
LEARNED_KEYS = ("probabilities", "concentration", "release", "rule", "stratum", "change")
"""Of a prior that follows from a learning release; the form holds these lines as they are."""
PROMISES = ("epsilon", "rho")
UNBIASED = ("", "everywhere", "nearby")
STATISTICS = ("sum", "mean", "count")
DECISIONS = tuple(kind for kind in LOSSES if kind != TableLoss.kind)
"""The form has no fields for a table."""
ACTIONS = ("real", "integer", "listed")
PLAIN = re.compile(r"-?\d+(\.\d+)?([eE]-?\d+)?")


def toml_of(fields: Mapping[str, str]) -> str:
    """The problem file that a form describes."""
    at = {name: fields.get(name, "").strip() for name in FIELDS}
    kind = at["prior"] if at["prior"] in PRIOR_KEYS else "iid"
    lines = [f"name = {_words(at['name'])}", ""] if at["name"] else []
    lines += ["[data]", f"respondents = {_number(at['respondents'])}", f"values = {_numbers(at['values'])}"]
    lines += [f"neighbours = {_words(at['neighbours'])}", "", "[prior]", f"kind = {_words(kind)}"]
    lines += [f"{key} = {_words(at[key]) if key == 'source' else _numbers(at[key])}" for key in PRIOR_KEYS[kind] if key != "counts"]
    if kind == "reference":
        lines.append(f"counts = {_numbers(counts_of(at['counts'], at['values']))}")
        lines += [f"pseudo_count = {_number(at['pseudo_count'])}"] if at["pseudo_count"] else []
    lines += _learned_lines(at["learned"]) if kind == "release" else []
    lines += ["", "[statistic]", f"kind = {_words(at['statistic'])}"]
    if at["statistic"] == "count":
        lines.append(f"of = {_numbers(at['of'])}")
    lines += ["", "[decision]", f"kind = {_words(at['decision'])}"]
    if at["decision"] == "pinball":
        lines.append(f"quantile = {_number(at['quantile'])}")
    if at["decision"] == "expression":
        lines.append(f"payoff = {_words(at['payoff'])}")
    lines.append(f"actions = {_numbers(at['listed']) if at['actions'] == 'listed' else _words(at['actions'])}")
    lines += [f"unbiased = {_words(at['unbiased'])}"] if at["unbiased"] else []
    promise = at["promise"] if at["promise"] in PROMISES else "epsilon"
    lines += ["", "[privacy]", f"{promise} = {_number(at['epsilon'])}", f"unit = {_words(at['unit'] or 'respondent')}", ""]
    return "\n".join(lines)


def fields_of(text: str) -> dict[str, str] | None:
    """The fields that say the same as a problem file, or None when the form has no words for it."""
    try:
        document = tomllib.loads(text, parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    try:
        found = _fields(document)
    except (KeyError, TypeError, AttributeError):
        return None
    return found if found is not None and _same(tomllib.loads(toml_of(found), parse_float=str), document) else None


def _fields(document: Mapping[str, Any]) -> dict[str, str] | None:
    data, prior, decision, privacy = (document[part] for part in ("data", "prior", "decision", "privacy"))
    found = dict.fromkeys(FIELDS, "")
    found |= {"name": document.get("name", ""), "respondents": str(data["respondents"]), "values": _listed(data["values"])}
    found |= {"neighbours": data.get("neighbours", "replace-one"), "prior": prior["kind"]}
    found |= {key: prior[key] if key == "source" else _listed(prior[key]) for key in PRIOR_KEYS[prior["kind"]]}
    found |= {
        "pseudo_count": str(prior.get("pseudo_count", "")),
        "learned": learned_text(prior) if prior["kind"] == "release" else "",
    }
    found |= {"statistic": document["statistic"]["kind"], "of": _listed(document["statistic"].get("of", []))}
    actions = decision["actions"]
    found |= {"decision": decision["kind"], "quantile": str(decision.get("quantile", "")), "payoff": decision.get("payoff", "")}
    found |= {"actions": "listed" if isinstance(actions, list) else actions}
    found |= {"listed": _listed(actions) if isinstance(actions, list) else ""}
    promise = "rho" if "rho" in privacy else "epsilon"
    found |= {"promise": promise, "epsilon": str(privacy[promise]), "unit": privacy.get("unit", "respondent")}
    found |= {"unbiased": decision.get("unbiased", "")}
    return found if all(isinstance(value, str) for value in found.values()) else None


def _same(mine: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether two files say the same, once what is taken for granted is written out."""

    def written(document: Mapping[str, Any]) -> Any:
        data, privacy = dict(document["data"]), dict(document["privacy"])
        data.setdefault("neighbours", "replace-one")
        privacy.setdefault("unit", "respondent")
        return {**document, "data": data, "privacy": privacy}

    return bool(written(mine) == written(given))


def counts_of(text: str, values: str) -> str:
    """Public counts, in the order of the values: as they are written, or from a table of values and counts (a CSV file)."""
    rows = [[part.strip() for part in row] for row in csv.reader(io.StringIO(text)) if any(part.strip() for part in row)]
    if len(rows) < 2:
        return text
    if not rows[0][-1].isdigit():  # the names of the columns
        del rows[0]
    known = {_plain(value): place for place, value in enumerate(values.split(","))}
    found = ["0"] * len(known)
    for row in rows:
        place = known.get(_plain(row[0]))
        if len(row) < 2 or place is None:
            raise InputError(
                "The table of counts does not fit the values",
                found=", ".join(row)[:80],
                allowed=f"a value and its count on each line, for the values {values}",
                remedy="correct the table, or write the counts in the order of the values",
            )
        found[place] = str(int(found[place]) + int(row[-1])) if row[-1].isdigit() and found[place].isdigit() else row[-1]
    return ", ".join(found)


def learned_text(prior: Mapping[str, Any]) -> str:
    """The lines of a prior that follows from a learning release."""
    lines = []
    for key in LEARNED_KEYS:
        value = prior.get(key)
        if isinstance(value, str):
            lines.append(f"{key} = {_words(value)}")
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            lines.append(f"{key} = [{', '.join(_words(item) for item in value)}]")
    return "\n".join(lines)


def _learned_lines(text: str) -> list[str]:
    try:
        return learned_text(tomllib.loads(text, parse_float=str)).splitlines() or ['release = ""']
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return ['release = ""']


def _plain(text: str) -> str:
    """A number as people write it, so that 1 and 1.0 are the same value."""
    try:
        return str(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError):
        return text.strip()


def _listed(items: list[Any]) -> str:
    return ", ".join(str(item) for item in items)


def _numbers(text: str) -> str:
    return "[" + ", ".join(_number(part) for part in text.split(",") if part.strip()) + "]"


def _number(text: str) -> str:
    """A number as TOML: plain where TOML writes it so, else as text, which the reader takes as a fraction or refuses."""
    plain = text.strip()
    return plain if PLAIN.fullmatch(plain) and not re.fullmatch(r"-?0\d+.*", plain) else _words(plain)


def _words(text: str) -> str:
    # JSON's strings are TOML's, except that TOML has no escaped slash and forbids lone surrogates, which JSON would write out.
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
