"""Files that are the same for everybody: verify.html, the OpenAPI document, and the word that programs need for changes."""

from __future__ import annotations

import gzip
from importlib import resources

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discreet.web.bench import Bench, Room
from discreet.web.guard import OFFLINE
from discreet.web.openapi import openapi


class PlainFilesRoom(Room):
    """The verifier, and the word."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.page = resources.files("discreet").joinpath("verify.html").read_bytes()
        self.small = gzip.compress(self.page, 9, mtime=0)

    def routes(self) -> list[Route]:
        return [
            self.bench.got("/openapi.json", self.described),
            self.bench.got("/verify.html", self.verifier),
            self.bench.got("/form-word.json", self.word),
        ]

    async def verifier(self, request: Request) -> Response:
        headers = {"content-security-policy": OFFLINE, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.small, headers={**headers, "content-encoding": "gzip"}, media_type="text/html; charset=utf-8")
        return Response(self.page, headers=headers, media_type="text/html; charset=utf-8")

    async def word(self, request: Request) -> Response:
        return JSONResponse({"form_word": self.bench.door.form_word})

    async def described(self, request: Request) -> Response:
        return JSONResponse(openapi())
