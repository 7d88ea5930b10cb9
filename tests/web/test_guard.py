"""Hostile requests: other hosts, other origins, no word, too much, other methods, paths that climb, a missing token."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from serving import SMALL, Visitor, running

from discreet.errors import InputError
from discreet.web.desk import Limits
from discreet.web.guard import HEADERS, POLICY, Door, is_loopback
from discreet.web.serving import entrance


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:8", ""])
def test_another_host_name_is_not_answered(visitor: Visitor, host: str) -> None:
    found = visitor.get("/", host=host)
    assert found.status == 421 and "loopback" in found.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "[::1]:8000", "127.9.9.9"])
def test_loopback_names_are(visitor: Visitor, host: str) -> None:
    assert visitor.get("/", host=host).status == 200


def changes(visitor: Visitor) -> list[str]:
    """Every address that something is posted to."""
    inner = visitor.served.app.app.app  # type: ignore[attr-defined]
    posts = [r.path for r in inner.routes if "POST" in (r.methods or ())]
    return [path.replace("{name}", "0" * 16) for path in posts]


def test_every_change_needs_the_word_and_the_origin(visitor: Visitor) -> None:
    paths = changes(visitor)
    assert len(paths) >= 5
    for path in paths:
        assert visitor.post(path, word=False).status == 403, path
        assert visitor.post(path, {"form_word": "guess"}, word=False).status == 403, path
        for foreign in ("http://evil.example", "null", f"http://127.0.0.1:{visitor.port + 1}", "https://127.0.0.1"):
            assert visitor.post(path, origin=foreign).status == 403, (path, foreign)
        for site in ("cross-site", "same-site", "none"):
            assert visitor.post(path, sec_fetch_site=site).status == 403, (path, site)
        assert visitor.post(path, origin=visitor.address, sec_fetch_site="same-origin").status != 403, path


def test_another_site_may_link_here_but_not_ask(visitor: Visitor) -> None:
    for mode, status in (("no-cors", 403), ("cors", 403), ("navigate", 200)):
        assert visitor.get("/index.json", sec_fetch_site="cross-site", sec_fetch_mode=mode).status == status
    assert visitor.get("/index.json", sec_fetch_site="same-origin", sec_fetch_mode="cors").status == 200


def test_nothing_is_kept_of_a_refused_change(visitor: Visitor) -> None:
    before = sorted(visitor.served.bench.shelf.problems.iterdir())
    text = SMALL.replace("pupil", "stranger")
    visitor.post("/problem", {"toml": text, "written": "toml"}, origin="http://evil.example")
    visitor.post("/problem", {"toml": text, "written": "toml"}, word=False)
    assert sorted(visitor.served.bench.shelf.problems.iterdir()) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_refused(visitor: Visitor, method: str) -> None:
    assert visitor.ask(method, "/").status in (400, 405)


def test_a_body_is_bounded_whether_it_is_announced_or_not(visitor: Visitor) -> None:
    assert visitor.post("/problem/check", {"toml": "x" * (1 << 20)}).status == 413
    with socket.create_connection(("127.0.0.1", visitor.port)) as raw:
        head = f"POST /problem/check HTTP/1.1\r\nHost: localhost\r\nx-form-word: {visitor.word}\r\n"
        head += "Transfer-Encoding: chunked\r\n\r\n"
        raw.sendall(head.encode())
        try:
            for _ in range(40):
                raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        except OSError:  # it stopped reading
            pass
        assert b" 413 " in raw.recv(200)


@pytest.mark.parametrize(
    "path",
    [
        "/design/../../etc/passwd",
        "/design/..%2f..%2fetc%2fpasswd",
        "/problem/....toml",
        "/problem/%2e%2e%2fx.toml",
        "/assets/x/../../app.py",
        "/assets/000000000000/workbench.css",
        "/design/0123456789abcdef/files/state.json",
        "/design/0123456789abcdef/files/..%2f..%2fx",
        "/jobs/0123456789ABCDEF/events",
        "/design/%00",
        "/releases/..",
        "/releases/%2e%2e%2f%2e%2e",
        "//etc/passwd",
        "/design/0123456789abcde%0a",
    ],
)
def test_paths_do_not_climb(visitor: Visitor, path: str) -> None:
    found = visitor.get(path)
    assert found.status in (400, 404, 422), found.text
    assert "root:" not in found.text and "Traceback" not in found.text


def test_a_file_beside_the_design_is_not_served_under_any_name(visitor: Visitor, design: str) -> None:
    folder = visitor.served.bench.shelf.answers / design
    assert visitor.get(f"/design/{design}/files/design.mechanism.json").status == 200
    for place in folder.iterdir():
        if not place.name.startswith("design."):
            assert visitor.get(f"/design/{design}/files/{place.name}").status == 404


def test_headers_of_every_kind_of_answer(visitor: Visitor, design: str) -> None:
    for path in ("/", "/index.json", f"/design/{design}", f"/design/{design}.json", "/nothing", "/problem?example=none"):
        found = visitor.get(path)
        for name, value in HEADERS.items():
            assert found.headers[name] == value, (path, name)
    assert "unsafe" not in POLICY and "eval" not in POLICY and "*" not in POLICY
    report = visitor.get(f"/design/{design}/report").headers["content-security-policy"]
    assert "script-src" not in report and "default-src 'none'" in report and "sandbox" in report


def test_no_page_has_inline_script_or_style(visitor: Visitor, design: str) -> None:
    for path in ("/", "/problem?example=school-places", f"/design/{design}", "/designs", "/jobs", "/nothing"):
        text = visitor.get(path).text
        assert "<style" not in text and " style=" not in text and "javascript:" not in text
        assert " on" not in "".join(part for part in text.split("<") if part[:1].isalpha() and " onclick" in part)
        assert text.count("<script") == text.count("<script src=")


def test_markup_in_a_problem_stays_text(visitor: Visitor) -> None:
    text = SMALL.replace('"small"', '"<script>alert(1)</script>"').replace("pupil", "<img src=x onerror=alert(1)>")
    name = visitor.designed(text)
    for path in (f"/design/{name}", "/designs", "/jobs"):
        shown = visitor.get(path).text
        assert "<script>alert" not in shown and "<img" not in shown


def test_errors_show_words_alone(visitor: Visitor) -> None:
    found = visitor.post("/problem", {"toml": "[data", "written": "toml"})
    assert found.status == 422 and "TOML" in found.json["error"]
    assert "Traceback" not in found.text and "site-packages" not in found.text


def test_any_other_address_asks_for_a_token(tmp_path: Path) -> None:
    assert entrance("127.0.0.1", 1, None, Limits()).token is None
    made = entrance("0.0.0.0", 1, None, Limits()).token
    assert made is not None and len(made) >= 24
    with pytest.raises(InputError, match="too short"):
        entrance("0.0.0.0", 1, "short", Limits())
    assert not is_loopback("10.0.0.1") and not is_loopback("example.org") and is_loopback("::1")
    token = "a-token-of-good-length"
    with running(tmp_path, token=token) as visitor:
        for wrong in ({}, {"authorization": "Bearer guess"}, {"cookie": "discreet_token=guess"}):
            refused = visitor.get("/index.json", **wrong)
            assert refused.status == 401 and token not in refused.text
        assert visitor.get("/index.json?token=guess").status == 401
        assert visitor.get("/index.json", authorization=f"Bearer {token}").status == 200
        moved = visitor.get(f"/problem?example=buses&token={token}", host="bench.example")
        assert moved.status == 303 and moved.headers["location"] == "/problem?example=buses"
        cookie = moved.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert visitor.get("/index.json", cookie=cookie.partition(";")[0]).status == 200
        assert visitor.get(f"//evil.example/?token={token}").headers.get("location", "/").startswith("/evil.example")
        assert visitor.post("/problem/check", {"toml": SMALL}, authorization=f"Bearer {token}", word=False).status == 403


def test_the_word_is_new_for_every_server() -> None:
    assert Door().form_word != Door().form_word
