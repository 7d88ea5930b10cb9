"""Designs: start, watch the gap close, stop early and keep what is certified; all numbers that belong beside the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discreet.errors import InputError
from discreet.numerics.digits import about, at_least, at_most, percent_at_least, percent_at_most
from discreet.web.bench import Bench, Page, Room, pictures
from discreet.web.desk import Job
from discreet.web.guard import READ_ONLY
from discreet.web.keeping import FILES, must_be_name, read_json
from discreet.web.typed import amount

GAP = "1e-4"
SECONDS = 60.0
LEAST_SECONDS = 1.0
LISTED = 60


def begin(bench: Bench, problem: str, fields: Mapping[str, str], again: bool = True) -> Job:
    """Queue the design of a kept problem."""
    most = bench.desk.limits.seconds
    seconds = float(amount(fields["seconds"], "number of seconds", 0, 1e6)) if fields.get("seconds") else min(SECONDS, most)
    if not LEAST_SECONDS <= seconds <= most:
        raise InputError(
            "A design takes a bounded time",
            found=f"{seconds:g} seconds",
            allowed=f"{LEAST_SECONDS:g} to {most:g} seconds",
            remedy="stop early instead, or start the server with more: discreet serve --seconds",
        )
    arguments: dict[str, Any] = {"toml": bench.shelf.problem(problem), "gap": fields.get("gap") or GAP, "seconds": seconds}
    if fields.get("hedge"):
        arguments["hedge"] = fields["hedge"]
    if fields.get("never"):
        if not fields.get("hedge"):
            raise InputError(
                "A limit beside plain noise belongs to a hedge",
                found="a limit without a hedge",
                allowed="both, or neither",
                remedy="say by how much the prior's mean may be off",
            )
        arguments["never"] = fields["never"]
    if (fields.get("sizes") or "").strip():
        return bench.desk.ask("family", {**arguments, "sizes": fields["sizes"]}, lane="long", seconds=seconds, again=again)
    if fields.get("at_epsilon"):
        arguments["epsilon"] = fields["at_epsilon"]
    return bench.desk.ask("design", arguments, lane="long", seconds=seconds, again=again)


def numbers(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """What stands beside the loss at the same size of print: bound, bias, totals, regret, break-even."""
    shown = []

    def add(name: str, text: str, words: str) -> None:
        shown.append({"name": name, "text": text, "words": words})

    if "loss" in facts:
        add("expected loss", at_most(facts["loss"]), "if the prior is right")
        add("no private way below", at_least(facts["lower_bound"]), f"proved; within {percent_at_most(facts['relative_gap'], 2)}")
    else:
        add("expected payoff", at_least(facts["value"]), "if the prior is right")
        add("no private way above", at_most(facts["bound"]), f"proved; within {percent_at_most(facts['relative_gap'], 2)}")
    seen = facts.get("evaluation") or {}
    if "loss" not in facts:  # a choice that is paid for is no estimate of anything
        add("bias", "–", "actions are choices here, not estimates of the statistic")
        add("totals", "–", "choices are not added up; add up the statistic itself")
    if "loss" in facts and seen.get("slope") is not None:
        add("bias", f"{about(100 * (1 - seen['slope']), 3)} %", "of a cell's deviation is pulled towards the prior")
    if "loss" in facts and seen.get("total_error_per_1000_cells") is not None:
        add("total of 1,000 cells", f"± {about(seen['total_error_per_1000_cells'], 3)}", "typical error when actions are added up")
    relied = facts.get("wrong_prior") or {}
    mistakes = relied.get("mistakes") or []
    losses = [point["loss"] for mistake in mistakes for point in mistake["points"] if point["loss"] is not None]
    if losses and relied.get("own_loss") is not None:
        more = (
            "the most that wrong priors tried here add to the loss"
            if "loss" in facts
            else "the most that wrong priors take from the payoff"
        )
        add("regret", about(max(losses) - relied["own_loss"], 3), more)
    evens = [mistake["break_even"] for mistake in mistakes if mistake["break_even"] is not None]
    if evens:
        add("break-even", percent_at_least(min(evens), 2), "plain noise is better once the prior is wrong by more")
    elif mistakes:
        add("break-even", "none", "plain noise is better under no wrong prior that was tried")
    return shown


class DesignRoom(Room):
    """The list of designs, one design, its files."""

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/designs", self.listed),
            self.bench.posted("/design", self.start),
            *self.bench.both("/design/{name}", self.one),
            self.bench.got("/design/{name}/report", self.report),
            self.bench.got("/design/{name}/files/{file}", self.file),
        ]

    async def listed(self, request: Request) -> Page:
        rows = []
        for name, asked, state in self.shelf.latest(("design", "family"), LISTED):
            answer = read_json(self.shelf.answers / name / "answer.json")
            extra, facts = answer.get("extra", {}), answer.get("facts", {})
            rows.append({"design": name, "name": extra.get("name") or "problem", "question": extra.get("question", ""),
                         "kind": asked["kind"], "state": state.get("state", "lost"), "loss": facts.get("loss"),
                         "epsilon": facts.get("epsilon")})  # fmt: skip
        return Page("designs.html", {"designs": rows}, {"rows": rows, "title": "Designs"})

    async def one(self, request: Request) -> Page:
        name = must_be_name(request.path_params["name"])
        job = self.desk.job(name)
        if job.kind not in ("design", "family"):
            raise InputError("There is no design of this name", found=name, allowed="a design", remedy="follow a link of a page")
        found = self.bench.document(job)
        problem = self.shelf.keep_problem(str(job.arguments["toml"]))
        context: dict[str, Any] = {"job": job, "title": "Design", "problem": problem, "name": name, "asked": job.arguments}
        base = {"design": name, "state": job.state, "words": job.words, "problem": problem}
        if found is None:
            files = [file for file in FILES if job.folder is not None and (job.folder / file).is_file()]
            progress = job.events[-1] if job.events else None
            return Page("waiting.html", {**base, "progress": progress}, {**context, "files": files, "progress": progress})
        assert job.folder is not None
        files = [file for file in FILES if (job.folder / file).is_file()]
        context |= {"answer": found, "pictures": pictures(found, name), "files": files, "title": found["extra"]["name"] or "Design"}
        if job.kind == "design":
            context["numbers"] = numbers(found["facts"])
        page = "design.html" if job.kind == "design" else "family.html"
        return Page(page, {**base, **found["facts"]}, context, settled=True)

    async def file(self, request: Request) -> Response:
        name, wanted = must_be_name(request.path_params["name"]), request.path_params["file"]
        place = self.shelf.found(name) / wanted
        if wanted not in FILES or wanted == "report.html" or not place.is_file():
            raise InputError("There is no file of this name", found=wanted, allowed=list(FILES[:-1]), remedy="follow a link")
        headers = {"content-disposition": f'attachment; filename="{wanted}"'}
        return Response(place.read_bytes(), headers=headers, media_type="application/json")

    async def report(self, request: Request) -> Response:
        name = must_be_name(request.path_params["name"])
        self.shelf.found(name)
        job, found = await self.bench.answered("report", {"subject": name})
        if found is None or job.folder is None:
            page = Page("waiting.html", {"state": job.state}, {"job": job, "title": "Report", "name": name, "problem": None,
                                                               "files": [], "progress": None, "asked": {}}, 202)  # fmt: skip
            return self.bench.page_response(request, page)
        headers = {"content-security-policy": READ_ONLY}
        if "download" in request.query_params:
            headers["content-disposition"] = 'attachment; filename="report.html"'
        return Response((job.folder / "report.html").read_bytes(), headers=headers, media_type="text/html; charset=utf-8")

    async def start(self, request: Request, fields: dict[str, str]) -> Response:
        job = begin(self.bench, must_be_name(fields.get("problem", "")), fields)
        return self.bench.see(request, f"/design/{job.name}", {"design": job.name})
