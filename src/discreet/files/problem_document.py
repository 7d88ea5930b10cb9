"""The exact document of a problem: what mechanism files embed and what is hashed. Numbers are text or whole."""

from __future__ import annotations

from typing import Any

from discreet.model.actions import Actions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.neighbours import given_graph
from discreet.model.origin import PublicCounts
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    Prior,
    TablePrior,
)
from discreet.model.problem import Problem
from discreet.model.statistic import CountStatistic, Statistic, TableStatistic
from discreet.model.universe import ListedUniverse
from discreet.numerics.exact import format_exact


def problem_document(problem: Problem) -> dict[str, Any]:
    """The exact document of a problem: what mechanism files embed and what is hashed."""
    document: dict[str, Any] = {
        "data": _data_document(problem),
        "prior": prior_document(problem.prior),
        "statistic": _statistic_document(problem.statistic),
        "decision": [_decision_document(d) for d in problem.decisions],
        "privacy": problem.promise.document() | {"unit": problem.unit},
    }
    if problem.name:
        document["name"] = problem.name
    return document


def _data_document(problem: Problem) -> dict[str, Any]:
    if isinstance(problem.universe, ListedUniverse):
        edges = [list(edge) for edge in given_graph(problem.neighbours).edges]
        return {"neighbours": {"states": list(problem.universe.names), "edges": edges}}
    u = problem.universe
    respondents: Any = u.largest if u.fixed else {"from": u.smallest, "to": u.largest}
    return {
        "respondents": respondents,
        "values": [format_exact(v) for v in u.values],
        "neighbours": problem.neighbours.name,
    }


def prior_document(prior: Prior) -> dict[str, Any]:
    """The [prior] of the exact document."""
    document: dict[str, Any] = {"kind": prior.kind}
    if isinstance(prior, IidPrior):
        document["probabilities"] = [format_exact(p) for p in prior.probabilities]
    elif isinstance(prior, IndependentPrior):
        document["probabilities"] = [[format_exact(p) for p in row] for row in prior.rows]
    elif isinstance(prior, ExchangeablePrior):
        document["histogram"] = {",".join(map(str, h)): format_exact(p) for h, p in prior.histogram}
    elif isinstance(prior, DirichletMultinomialPrior):
        document["concentration"] = [format_exact(c) for c in prior.concentration]
    elif isinstance(prior, MixturePrior):
        document["components"] = [
            {"weight": format_exact(w), **{key: value for key, value in prior_document(one).items() if key != "kind"}}
            for w, one in zip(prior.weights, prior.components, strict=True)
        ]
    elif isinstance(prior, TablePrior):
        document["probabilities"] = {label: format_exact(p) for label, p in prior.table}
    else:
        document |= {"counts": list(prior.counts), "source": prior.source}
        if prior.pseudo_count:
            document["pseudo_count"] = format_exact(prior.pseudo_count)
    origin = getattr(prior, "origin", None)
    if isinstance(origin, PublicCounts):
        del document["concentration"]
        document |= {"counts": list(origin.counts), "source": origin.source, "change": format_exact(origin.change)}
        document |= {"noise": format_exact(origin.noise)} if origin.noise else {}
        document |= {"pseudo_count": format_exact(origin.pseudo_count)} if origin.pseudo_count else {}
    elif origin is not None:
        document |= {"release": origin.release, "rule": origin.rule}
        document |= {"stratum": list(origin.stratum)} if origin.stratum else {}
        document |= {"change": format_exact(origin.change)} if origin.change else {}
    size = getattr(prior, "size", None)
    if size is not None:
        document["size"] = [format_exact(p) for p in size]
    return document


def _statistic_document(statistic: Statistic) -> dict[str, Any]:
    if isinstance(statistic, CountStatistic):
        return {"kind": "count", "of": list(statistic.of)}
    if isinstance(statistic, TableStatistic):
        values = {label: format_exact(v) for label, v in statistic.table}
        return {"kind": "table", "by": statistic.by, "values": values}
    return {"kind": statistic.kind}


def _decision_document(decision: Decision) -> dict[str, Any]:
    document = decision.loss.document() | {"actions": _actions_document(decision.actions)}
    if decision.weight != 1:
        document["weight"] = format_exact(decision.weight)
    if decision.name:
        document["name"] = decision.name
    if decision.unbiased is not None:
        document["unbiased"] = decision.unbiased
    return document


def _actions_document(actions: Actions) -> Any:
    if isinstance(actions, NamedActions):
        return list(actions.labels)
    if isinstance(actions, RealActions):
        if actions.lower is None or actions.upper is None:
            return "real"
        return {"from": format_exact(actions.lower), "to": format_exact(actions.upper)}
    numbers = actions.numbers
    if actions.step is not None and len(numbers) > 3:
        return {"from": format_exact(numbers[0]), "to": format_exact(numbers[-1]), "step": format_exact(actions.step)}
    return [format_exact(a) for a in numbers]
