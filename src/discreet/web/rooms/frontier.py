"""What accuracy costs: a frontier that answers at once from solved points and is refined in the background."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discreet.views.frontier_moves import move_view, reach_view
from discreet.views.plain import plain
from discreet.web.bench import Bench, Page, pictures
from discreet.web.desk import Job
from discreet.web.keeping import must_be_name, read_json
from discreet.web.questions import told_document
from discreet.web.typed import amount


def begin(bench: Bench, problem: str, levels: list[str]) -> Job:
    """Queue points of a kept problem's frontier."""
    seconds = bench.desk.limits.seconds
    arguments = {"toml": bench.shelf.problem(problem), "problem": problem, "levels": levels, "seconds": seconds}
    return bench.desk.ask("frontier", arguments, lane="long", seconds=seconds, again=True)


def routes(bench: Bench) -> list[Route]:
    """The frontier of a problem, moves along it, and more points."""
    known: dict[str, tuple[int, list[dict[str, Any]]]] = {}

    def points(problem: str) -> list[dict[str, Any]]:
        folder = bench.shelf.home / "points" / must_be_name(problem)
        changed = folder.stat().st_mtime_ns if folder.is_dir() else 0
        if known.get(problem, (-1,))[0] != changed:
            found = [read_json(place) for place in folder.glob("*.json")] if changed else []
            known[problem] = (changed, sorted(found, key=lambda point: Fraction(point["epsilon"])))
        return known[problem][1]

    def newest(problem: str) -> Job | None:
        own = [job for job in bench.desk.jobs.values() if job.kind == "frontier" and job.arguments["problem"] == problem]
        if own:
            return own[-1]
        earlier = [n for n, asked, _ in bench.shelf.latest(("frontier",), 200) if asked["arguments"]["problem"] == problem]
        return bench.desk.job(earlier[0]) if earlier else None

    async def shown(request: Request) -> Page:
        name = must_be_name(request.path_params["name"])
        text = bench.shelf.problem(name)
        job, solved = newest(name), points(name)
        found = None if job is None else bench.document(job)
        facts = {"problem": name, "state": None if job is None else job.state, "words": "" if job is None else job.words,
                 **({"solved": len(solved)} if found is None else found["facts"])}  # fmt: skip
        middle = str(solved[len(solved) // 2]["epsilon"]) if solved else "1"
        top = max((float(Fraction(p["epsilon"])) for p in solved), default=2.0)
        context = {
            "title": "What accuracy costs", "name": name, "job": job, "answer": found, "toml": text, "solved": solved,
            "pictures": [] if found is None or job is None else pictures(found, job.name), "top": top,
            "epsilon": float(Fraction(middle)),
            "move": told_document(move_view(solved, Fraction(middle))) if solved else [],
        }  # fmt: skip
        return Page("frontier.html", facts, context)

    async def move(request: Request) -> Page:
        name = must_be_name(request.path_params["name"])
        bench.shelf.problem(name)
        asked = request.query_params
        if asked.get("loss"):
            view = reach_view(points(name), float(amount(asked["loss"], "loss", -1e12, 1e12)))
            refine = None
        else:
            level = amount(asked.get("epsilon") or "1", "ε", 0, 50)
            view = move_view(points(name), level)
            refine = None if view.facts["solved_here"] else str(level)
        return Page("move.html", plain(view.facts), {"move": told_document(view), "name": name, "refine": refine})

    async def more(request: Request, fields: dict[str, str]) -> Response:
        name = must_be_name(request.path_params["name"])
        levels = [str(amount(fields["epsilon"], "ε", 0, 50))] if fields.get("epsilon") else []
        job = begin(bench, name, levels)
        return bench.see(request, f"/frontier/{name}", {"problem": name, "state": job.state})

    pages = [*bench.both("/frontier/{name}/at", move), *bench.both("/frontier/{name}", shown)]
    return [*pages, bench.posted("/frontier/{name}", more)]
