"""Problems: choose an example or write one, see at once what it says, import and export it, keep it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discreet.errors import DiscreetError, InputError
from discreet.model.losses import LOSSES
from discreet.web.bench import Page, Room
from discreet.web.examples import EXAMPLES
from discreet.web.forms import (
    ACTIONS,
    DECISIONS,
    FIELDS,
    PRIOR_KEYS,
    PROMISES,
    STATISTICS,
    UNBIASED,
    fields_of,
    learned_text,
    toml_of,
)
from discreet.web.found import found_by_name, learned_in
from discreet.web.keeping import must_be_name
from discreet.web.typed import whole

CHOICES = {
    "prior": {
        "iid": "each value's probability", "reference": "counts in public data", "exchangeable": "uncertain probabilities",
        "release": "learned from a release",
    },
    "statistic": {"sum": "the sum of the values", "mean": "their average", "count": "how many have certain values"},
    "decision": {kind: LOSSES[kind][1].choice for kind in DECISIONS},
    "actions": {"real": "any number", "integer": "whole numbers", "listed": "one of a list"},
    "unbiased": {
        "": "may be pulled towards the prior", "everywhere": "right on average, everywhere", "nearby": "right on average, nearby",
    },
    "promise": {"epsilon": "ε (pure)", "rho": "ρ (zCDP)"},
    "neighbours": {"replace-one": "what one respondent answers", "add-remove-one": "whether one takes part"},
}  # fmt: skip
assert set(CHOICES["prior"]) == set(PRIOR_KEYS) and tuple(CHOICES["statistic"]) == STATISTICS
assert tuple(CHOICES["promise"]) == PROMISES and tuple(CHOICES["unbiased"]) == UNBIASED
assert tuple(CHOICES["actions"]) == ACTIONS


class ProblemRoom(Room):
    """Home, the form, and kept problems."""

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/", self.home),
            self.bench.posted("/problem/check", self.check),
            self.bench.posted("/problem", self.keep),
            *self.bench.both("/problem", self.form),
            *self.bench.both("/problem/learned", self.learned),
            self.bench.got("/problem/{name}.toml", self.export),
            *self.bench.both("/problem/{name}", self.kept),
        ]

    async def home(self, request: Request) -> Page:
        lost = [name for name in self.desk.lost if self.desk.job(name).state == "lost"]
        facts = {"examples": [{"name": e.name, "title": e.title, "question": e.question} for e in EXAMPLES.values()], "lost": lost}
        return Page("home.html", facts, {"examples": EXAMPLES.values(), "lost": lost})

    async def form(self, request: Request) -> Page:
        example = request.query_params.get("example")
        if example is not None and example not in EXAMPLES:
            raise InputError("There is no example of this name", found=example, allowed=list(EXAMPLES), remedy="choose one")
        text = toml_of(FIELDS) if example is None else EXAMPLES[example].text
        return await self._edited(text, None, "New problem" if example is None else EXAMPLES[example].title)

    async def kept(self, request: Request) -> Page:
        name = must_be_name(request.path_params["name"])
        return await self._edited(self.shelf.problem(name), name, "Problem")

    async def _edited(self, text: str, name: str | None, title: str) -> Page:
        checked = await self._checked(text)
        facts = {"problem": name, "toml": text, **checked["facts"]}
        context = {"title": title, "toml": text, "fields": fields_of(text), "name": name, "checked": checked, "choices": CHOICES,
                   "learned": learned_in(self.bench.folder, self.shelf.home)}  # fmt: skip
        return Page("problem.html", facts, context)

    async def learned(self, request: Request) -> Page:
        asked = request.query_params
        item = found_by_name(self.bench.folder, "release", asked.get("from", ""), self.shelf.home)
        arguments = {"place": item.place, "stamp": item.stamp, "change": asked.get("change") or "0"}
        _, found = await self.bench.answered("learned", arguments)
        if found is None:
            return Page("busy.html", {"state": "running"}, {"title": "Learned prior", "place": item.place}, 202)
        priors = found["facts"]["priors"]
        place = min(whole(asked.get("of_stratum") or "0"), len(priors) - 1)
        context = {"answer": found, "text": learned_text(priors[place]["prior"]), "place": place, "priors": priors,
                   "change": arguments["change"]}  # fmt: skip
        return Page("learned.html", {**found["facts"], "chosen": priors[place]}, context)

    async def _checked(self, text: str) -> dict[str, Any]:
        try:
            return {**await self.desk.reply("check", {"toml": text}), "words": ""}
        except DiscreetError as error:
            return _refused(error)

    async def check(self, request: Request, fields: dict[str, str]) -> Response:
        try:
            text = _text(fields)
        except DiscreetError as error:  # a table of counts that does not fit
            text, checked = "", _refused(error)
        else:
            checked = await self._checked(text)
        page = Page("checked.html", {"toml": text, **checked["facts"]}, {"checked": checked, "toml": text})
        return self.bench.page_response(request, page)

    async def keep(self, request: Request, fields: dict[str, str]) -> Response:
        text = _text(fields)
        await self.desk.reply("check", {"toml": text})  # what cannot be read is not kept
        name = self.shelf.keep_problem(text)
        if fields.get("then") == "design":
            from discreet.web.rooms.design import begin

            job = begin(self.bench, name, fields)
            return self.bench.see(request, f"/design/{job.name}", {"problem": name, "design": job.name})
        if fields.get("then") == "frontier":
            return self.bench.see(request, f"/frontier/{name}", {"problem": name})
        return self.bench.see(request, f"/problem/{name}", {"problem": name})

    async def export(self, request: Request) -> Response:
        name = must_be_name(request.path_params["name"])
        text = self.shelf.problem(name)
        headers = {"content-disposition": f'attachment; filename="problem-{name}.toml"'}
        return Response(text, headers=headers, media_type="application/toml; charset=utf-8")


def _refused(error: DiscreetError) -> dict[str, Any]:
    return {"facts": {"error": str(error)}, "told": [], "words": str(error)}


def _text(fields: dict[str, str]) -> str:
    """The problem's text: as TOML when that was edited, else from the fields."""
    return fields["toml"].replace("\r\n", "\n") if fields.get("written") == "toml" else toml_of(fields)
