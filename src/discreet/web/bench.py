"""The bench: what every page shares. A page is a template with its facts; its JSON twin is the facts alone.

`both(path, handler)` makes the two addresses of a page. Pages whose answer can no longer change are kept rendered (`SettledPages`),
so that looking again costs nothing.
"""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from discreet import __version__
from discreet.errors import DiscreetError, InputError, TooLarge
from discreet.present.blocks import paged
from discreet.web.assets import address
from discreet.web.desk import Desk, Failed, Job
from discreet.web.guard import App, Door, Receive, Scope, Send
from discreet.web.keeping import ANSWERED, Shelf, read_json
from discreet.web.questions import blocks_of

LEAST_TO_COMPRESS = 1000
MOST_PAGES = 300
MOST_FIELDS = 60
NAVIGATION = (("/", "Problems"), ("/designs", "Designs"), ("/releases", "Releases"), ("/gallery", "Gallery"), ("/jobs", "Work"))


@dataclass(frozen=True)
class Page:
    """What a handler found: a template with its context, the facts of its twin, and whether it can still change."""

    template: str
    facts: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    settled: bool = False


Handler = Callable[[Request], Awaitable[Page]]


@dataclass(eq=False)
class Bench:
    """Door, desk and shelf, and how pages are drawn."""

    door: Door
    desk: Desk
    folder: Path
    ledgers: tuple[str, ...] = ()
    """Addresses of ledgers in databases, which are shown by number and never by address."""
    solved: OrderedDict[str, tuple[bytes, bytes, str]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.pages = Environment(
            loader=PackageLoader("discreet.web", "pages"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.pages.globals |= {"asset": address, "version": __version__, "navigation": NAVIGATION, "form_word": self.door.form_word}
        self.pages.filters |= {"drawn": lambda told: Markup(paged(blocks_of(told)))}

    @property
    def shelf(self) -> Shelf:
        """The files behind the desk."""
        return self.desk.shelf

    # ---- pages -----------------------------------------------------------------------------------------

    def both(self, path: str, handler: Handler) -> list[Route]:
        """The twin at `path`.json and the page at `path`."""

        async def twin(request: Request) -> Response:
            page = await self.guarded(request, handler)
            return self.response(request, json.dumps(page.facts, ensure_ascii=False).encode(), "application/json", page)

        async def shown(request: Request) -> Response:
            page = await self.guarded(request, handler)
            text = self.pages.get_template(page.template).render(**page.context, facts=page.facts, here=request.url.path)
            return self.response(request, text.encode(), "text/html; charset=utf-8", page)

        twin_path = "/index.json" if path == "/" else f"{path}.json"
        return [Route(twin_path, twin, methods=["GET"]), Route(path, shown, methods=["GET"])]

    async def guarded(self, request: Request, handler: Handler) -> Page:
        """What the handler finds; an error of ours becomes a page in words."""
        try:
            return await handler(request)
        except DiscreetError as error:
            return self.refused(error)

    def refused(self, error: DiscreetError) -> Page:
        """An error as a page: its words alone."""
        status = 503 if isinstance(error, TooLarge) and "queue" in str(error) else 422
        if isinstance(error, InputError) and error.wrong.startswith("There is no"):
            status = 404
        if isinstance(error, Failed) and not error.refused:
            status = 500
        return Page("error.html", {"error": str(error)}, {"title": "This did not work", "words": str(error)}, status)

    def response(self, request: Request, body: bytes, kind: str, page: Page) -> Response:
        """The answer, compressed for those who understand that, and kept when it is settled."""
        small = gzip.compress(body, 6, mtime=0) if len(body) >= LEAST_TO_COMPRESS else b""
        if page.settled and page.status == 200:
            self.solved[_address(request.scope)] = (body, small, kind)
            while len(self.solved) > MOST_PAGES:
                self.solved.popitem(last=False)
        if small and "gzip" in request.headers.get("accept-encoding", ""):
            headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
            return Response(small, page.status, headers, kind)
        return Response(body, page.status, {"vary": "accept-encoding"}, kind)

    def got(self, path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
        """A file or a stream: an error of ours becomes a page in words."""

        async def safe(request: Request) -> Response:
            try:
                return await handler(request)
            except DiscreetError as error:
                return self.page_response(request, self.refused(error))

        return Route(path, safe, methods=["GET"])

    # ---- changes ---------------------------------------------------------------------------------------

    def posted(self, path: str, handler: Callable[[Request, dict[str, str]], Awaitable[Response]]) -> Route:
        """A change: its form carries the word of this server's pages, or it is refused."""

        async def checked(request: Request) -> Response:
            try:
                fields = await form_of(request)
                if not self.door.word_fits(fields.pop("form_word", request.headers.get("x-form-word", ""))):
                    page = Page("error.html", {"error": STALE}, {"title": "This form is from another time", "words": STALE}, 403)
                    return self.page_response(request, page)
                return await handler(request, fields)
            except DiscreetError as error:
                return self.page_response(request, self.refused(error))

        return Route(path, checked, methods=["POST"])

    def page_response(self, request: Request, page: Page) -> Response:
        """A page as an answer: JSON for those who ask for it."""
        if "application/json" in request.headers.get("accept", ""):
            return self.response(request, json.dumps(page.facts, ensure_ascii=False).encode(), "application/json", page)
        text = self.pages.get_template(page.template).render(**page.context, facts=page.facts, here=request.url.path)
        return self.response(request, text.encode(), "text/html; charset=utf-8", page)

    def see(self, request: Request, address: str, facts: Mapping[str, Any]) -> Response:
        """Where the change can be seen: a redirect for a browser, the address for a program."""
        if "application/json" in request.headers.get("accept", ""):
            return Response(json.dumps({**facts, "address": f"{address}.json"}), 201, media_type="application/json")
        return RedirectResponse(address, 303)

    # ---- answers ---------------------------------------------------------------------------------------

    def document(self, job: Job) -> dict[str, Any] | None:
        """The answer of a job: facts, blocks and pictures; None while there is none."""
        if job.state not in ANSWERED or job.folder is None:
            return None
        return read_json(job.folder / "answer.json") or None

    async def answered(self, kind: str, arguments: Mapping[str, Any]) -> tuple[Job, dict[str, Any] | None]:
        """A quick question that is kept: its job, and its answer if that comes soon."""
        job = self.desk.ask(kind, arguments, lane="quick")
        await self.desk.ended(job, self.desk.limits.patience)
        if job.state == "failed":
            raise Failed(job.words, job.refused)
        return job, self.document(job)


class Room(ABC):
    """A room of the workbench: handlers that share the bench, and the addresses at which they answer."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @property
    def desk(self) -> Desk:
        return self.bench.desk

    @property
    def shelf(self) -> Shelf:
        return self.bench.shelf

    @abstractmethod
    def routes(self) -> list[Route]:
        """Every address with its handler, in the order in which they are tried."""


STALE = "The workbench was started anew since this page was loaded, or the form was made elsewhere. Reload the page and try again."


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form or of a JSON object; each once, as text."""
    body = await request.body()
    if request.headers.get("content-type", "").startswith("application/json"):
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not all(isinstance(value, (str, int, float)) for value in found.values()):
            raise _no_form("text that is no JSON object of texts and numbers")
        return {str(name): str(value) for name, value in found.items()}
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise _no_form("something that is no form") from None
    return dict(pairs)


def _no_form(found: str) -> InputError:
    return InputError(
        "The request holds no form",
        found=found,
        allowed=f"up to {MOST_FIELDS} fields in UTF-8, or one JSON object",
        remedy="send it from a page of the workbench",
    )


class SettledPages:
    """Pages that can no longer change, answered before anything else is looked at."""

    def __init__(self, app: App, bench: Bench) -> None:
        self.app, self.bench = app, bench

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass on."""
        kept = self.bench.solved.get(_address(scope)) if scope["type"] == "http" and scope["method"] == "GET" else None
        if kept is None:
            await self.app(scope, receive, send)
            return
        body, small, kind = kept
        headers = [(b"content-type", kind.encode()), (b"vary", b"accept-encoding")]
        if small and any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"]):
            body = small
            headers.append((b"content-encoding", b"gzip"))
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _address(scope: Scope) -> str:
    return f"{scope['path']}?{scope['query_string'].decode('latin-1')}"


def pictures(document: Mapping[str, Any], name: str) -> Sequence[dict[str, str]]:
    """The pictures of an answer as a page needs them: words, and where the specification is."""
    return [
        {"title": figure["title"], "alt": figure["alt"], "address": f"/jobs/{name}/figures/{place}.json"}
        for place, figure in enumerate(document["figures"])
    ]
