"""Who may ask: the checks that stand before every page, and the headers that stand on every answer.

A server on a loopback address answers only requests that name a loopback host, so that no other site's name can be made to point
here. On any other address every request needs a token. What changes something must come from a page of this server: its origin is
compared, and it carries a word that only such a page can know. Bodies are bounded while they are read.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
READ_ONLY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "sandbox"
)
"""The policy of a report: a page of its own with its style inside, which runs nothing and sends nothing."""
OFFLINE = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox allow-scripts"
)
"""The policy of verify.html: one file that runs what is inside it, knows no address of ours and sends nothing."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # without a referrer browsers would not tell the origin of a form either
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "cache-control": "no-store",
}
COOKIE = "discreet_token"
SLOWEST_BODY = 30.0
"""Seconds within which a body must have arrived."""
SAFE = ("GET", "HEAD")


@dataclass(frozen=True)
class Door:
    """Where the server listens and what it asks of those who come."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    body: int = 1 << 20
    form_word: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def host_allowed(self, given: str) -> bool:
        """Whether a request's Host names this server: a loopback name, or with a token whatever name leads here."""
        name = given.rpartition(":")[0] if given.rpartition(":")[2].isdigit() else given
        return self.token is not None or is_loopback(name.strip("[]"))

    def word_fits(self, given: str) -> bool:
        """Whether this is the word that forms of this server carry."""
        return hmac.compare_digest(given.encode(), self.form_word.encode())

    def token_fits(self, given: str) -> bool:
        """Whether this is the token; always when none is asked for."""
        return self.token is None or hmac.compare_digest(given.encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class TooMuchError(Exception):
    """A body that is larger than allowed, or too slow."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no web sockets here
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _plain(send, *refusal)
            return
        moved = self._token_in_address(scope)
        if moved is not None:
            cookie = f"{COOKIE}={self.door.token}; HttpOnly; SameSite=Strict; Path=/"
            await _plain(send, 303, "", {"location": moved, "set-cookie": cookie})
            return
        try:
            await self.app(scope, self._bounded(receive), _with_headers(send))
        except Exception:
            return  # it was answered in words and told on standard error; a traceback in the log could hold what was sent

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        door = self.door
        host = headers.get("host", "")
        if not door.host_allowed(host):
            return 421, "This server answers only under a loopback address, such as http://127.0.0.1."
        if scope["method"] not in (*SAFE, "POST"):
            return 405, "Pages are read with GET and changed with POST."
        if door.token is not None and not self._known(scope, headers):
            return 401, "This workbench is open to those who have its token: use the address that discreet serve printed."
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, "Another site may link to this workbench, not use it."  # a look can be a question, and questions take time
        if scope["method"] not in SAFE:
            origin, site = headers.get("origin"), headers.get("sec-fetch-site")
            if (origin is not None and origin.partition("://")[2] != host) or site not in (None, "same-origin"):
                return 403, "Only a page of this workbench may change something here."
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > door.body:
                return 413, f"At most {door.body:,} bytes are read."
        return None

    def _known(self, scope: Scope, headers: dict[str, str]) -> bool:
        given = headers.get("authorization", "").removeprefix("Bearer ")
        cookies = dict(part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";"))
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "") if scope["method"] == "GET" else ""
        return any(text and self.door.token_fits(text) for text in (given, cookies.get(COOKIE, ""), asked))

    def _token_in_address(self, scope: Scope) -> str | None:
        """Where to go instead when the token stands in the address, so that it stays in nobody's history."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if self.door.token is None or scope["method"] != "GET" or "token" not in dict(query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        return "/" + path.lstrip("/\\") + (f"?{rest}" if rest else "")

    def _bounded(self, receive: Receive) -> Receive:
        loop = asyncio.get_running_loop()
        until, left = loop.time() + SLOWEST_BODY, self.door.body
        done = False

        async def bounded() -> Message:
            nonlocal left, done
            if done:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(0.0, until - loop.time()))
            except TimeoutError:
                raise TooMuchError("The request did not arrive in time.") from None
            left -= len(message.get("body", b""))
            done = not message.get("more_body", False)
            if left < 0:
                raise TooMuchError(f"At most {self.door.body:,} bytes are read.")
            return message

        return bounded


def _with_headers(send: Send) -> Send:
    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return headed


async def _plain(send: Send, status: int, words: str, more: dict[str, str] | None = None) -> None:
    headers = {**HEADERS, "content-type": "text/plain; charset=utf-8", "content-length": str(len(words.encode())), **(more or {})}
    await send({"type": "http.response.start", "status": status,
                "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]})  # fmt: skip
    await send({"type": "http.response.body", "body": words.encode()})
