"""Files that are the same for everybody: verify.html, the OpenAPI document, and the word that programs need for changes."""

from __future__ import annotations

import gzip
from importlib import resources

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discreet.web.bench import Bench
from discreet.web.guard import OFFLINE
from discreet.web.openapi import openapi


def routes(bench: Bench) -> list[Route]:
    """The verifier, and the word."""
    page = resources.files("discreet").joinpath("verify.html").read_bytes()
    small = gzip.compress(page, 9, mtime=0)

    async def verifier(request: Request) -> Response:
        headers = {"content-security-policy": OFFLINE, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(small, headers={**headers, "content-encoding": "gzip"}, media_type="text/html; charset=utf-8")
        return Response(page, headers=headers, media_type="text/html; charset=utf-8")

    async def word(request: Request) -> Response:
        return JSONResponse({"form_word": bench.door.form_word})

    async def described(request: Request) -> Response:
        return JSONResponse(openapi())

    return [bench.got("/openapi.json", described), bench.got("/verify.html", verifier), bench.got("/form-word.json", word)]
