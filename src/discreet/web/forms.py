"""The form of a problem: fields to TOML and back, so that whatever the form can say and the file can say is the same problem.

A field is text, read as TOML: nothing here decides whether it makes sense, that is for the reader of problem files. A problem that
the form has no fields for (a payoff table, listed databases) is edited as TOML.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

FIELDS = {
    "name": "", "respondents": "40", "values": "0, 1, 2", "neighbours": "replace-one", "prior": "iid",
    "probabilities": "0.89, 0.09, 0.02", "counts": "", "source": "", "concentration": "", "statistic": "sum", "of": "",
    "decision": "squared-error", "quantile": "", "payoff": "", "actions": "real", "listed": "", "epsilon": "1",
    "unit": "respondent",
}  # fmt: skip
"""The fields with what they hold at first."""
PRIOR_KEYS = {
    "iid": ("probabilities",),
    "reference": ("counts", "source"),
    "exchangeable": ("concentration",),
}
STATISTICS = ("sum", "mean", "count")
DECISIONS = ("squared-error", "absolute-error", "pinball", "match", "expression")
ACTIONS = ("real", "integer", "listed")
PLAIN = re.compile(r"-?\d+(\.\d+)?([eE]-?\d+)?")


def toml_of(fields: Mapping[str, str]) -> str:
    """The problem file that a form describes."""
    at = {name: fields.get(name, "").strip() for name in FIELDS}
    kind = at["prior"] if at["prior"] in PRIOR_KEYS else "iid"
    lines = [f"name = {_words(at['name'])}", ""] if at["name"] else []
    lines += ["[data]", f"respondents = {_number(at['respondents'])}", f"values = {_numbers(at['values'])}"]
    lines += [f"neighbours = {_words(at['neighbours'])}", "", "[prior]", f"kind = {_words(kind)}"]
    lines += [f"{key} = {_words(at[key]) if key == 'source' else _numbers(at[key])}" for key in PRIOR_KEYS[kind]]
    lines += ["", "[statistic]", f"kind = {_words(at['statistic'])}"]
    if at["statistic"] == "count":
        lines.append(f"of = {_numbers(at['of'])}")
    lines += ["", "[decision]", f"kind = {_words(at['decision'])}"]
    if at["decision"] == "pinball":
        lines.append(f"quantile = {_number(at['quantile'])}")
    if at["decision"] == "expression":
        lines.append(f"payoff = {_words(at['payoff'])}")
    lines.append(f"actions = {_numbers(at['listed']) if at['actions'] == 'listed' else _words(at['actions'])}")
    lines += ["", "[privacy]", f"epsilon = {_number(at['epsilon'])}", f"unit = {_words(at['unit'] or 'respondent')}", ""]
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
    found |= {"statistic": document["statistic"]["kind"], "of": _listed(document["statistic"].get("of", []))}
    actions = decision["actions"]
    found |= {"decision": decision["kind"], "quantile": str(decision.get("quantile", "")), "payoff": decision.get("payoff", "")}
    found |= {"actions": "listed" if isinstance(actions, list) else actions}
    found |= {"listed": _listed(actions) if isinstance(actions, list) else ""}
    found |= {"epsilon": str(privacy["epsilon"]), "unit": privacy.get("unit", "respondent")}
    return found if all(isinstance(value, str) for value in found.values()) else None


def _same(mine: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether two files say the same, once what is taken for granted is written out."""

    def written(document: Mapping[str, Any]) -> Any:
        data, privacy = dict(document["data"]), dict(document["privacy"])
        data.setdefault("neighbours", "replace-one")
        privacy.setdefault("unit", "respondent")
        return {**document, "data": data, "privacy": privacy}

    return bool(written(mine) == written(given))


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
