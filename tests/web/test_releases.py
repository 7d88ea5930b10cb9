"""Releases and ledgers in the served folder: verified, searched, sorted, looked up, added up; and microdata that nobody opens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from serving import Visitor, running
from towns import Town, make_town

from discreet.ledger import Cost, open_ledger
from discreet.publish.cells import published_cells
from discreet.publish.verdict import ATTESTED, DETECTABLE, ENFORCED, NOT_VERIFIABLE
from discreet.views.bookkeeping import remaining_view
from discreet.views.plain import plain
from discreet.views.total import asked_total, total_view


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A town with a release beside its microdata."""
    made = make_town(tmp_path_factory.mktemp("served") / "town")
    made.publish()
    return made


@pytest.fixture(scope="module")
def office(town: Town) -> Iterator[Visitor]:
    """A workbench that serves the town's folder; what it opens is written down by the kernel's own clock."""
    with running(town.folder) as found:
        yield found


def only(office: Visitor, kind: str) -> str:
    listed = office.get("/releases.json").json[kind]
    assert len(listed) == 1
    return str(listed[0]["name"])


def test_a_release_is_found_verified_and_listed(office: Visitor, town: Town) -> None:
    name = only(office, "releases")
    facts = office.get(f"/releases/{name}.json").json
    assert facts["holds"] and facts["table"]["cells"] == 3
    assert {check["kind"] for check in facts["checks"]} == {ENFORCED, ATTESTED, DETECTABLE, NOT_VERIFIABLE}
    page = office.get(f"/releases/{name}").text
    assert "Enforced" in page and "Nothing that can be checked is wrong" in page
    fingerprint = town.signer.fingerprint
    assert office.get(f"/releases/{name}.json?key={fingerprint}").json["holds"]
    assert not office.get(f"/releases/{name}.json?key={'0' * 64}").json["holds"]
    assert office.get(f"/releases/{name}.json?key=short").status == 422


def test_cells_are_searched_sorted_looked_up_and_added_up(office: Visitor, town: Town) -> None:
    name = only(office, "releases")
    found = office.get(f"/releases/{name}.json?search=S1").json["table"]
    assert [row["cell"] for row in found["rows"]] == ["s1"] and found["found"] == 1
    sizes = [row["cell"] for row in office.get(f"/releases/{name}.json?sort=-cell").json["table"]["rows"]]
    assert sizes == ["s2", "s1", "s0"]
    cell = office.get(f"/releases/{name}/cell.json?place=1").json
    assert cell["cell"] == {"street": "s1"} and cell["size"] == 4
    assert office.get(f"/releases/{name}/cell.json?place=3").status == 404
    both = office.get(f"/releases/{name}/total.json?cell=0&cell=2").json
    mine = plain(total_view(asked_total(published_cells(town.target), ["street=s0", "street=s2"]), None, []).facts)
    for key in set(mine) - {"where"}:
        assert both[key] == mine[key], key
    assert office.get(f"/releases/{name}/total.json").status == 422
    assert office.get(f"/releases/{name}/total.json?cell=-1").status == 422


def test_a_ledger_is_read_and_left_as_it_is(office: Visitor, town: Town) -> None:
    name = only(office, "ledgers")
    facts = office.get(f"/ledgers/{name}.json").json
    with town.ledger() as book:
        assert facts["budgets"] == plain(remaining_view(book.state).facts)["budgets"]
        assert len(facts["entries"]) == len(list(book.history()))
    place = town.folder / "ledger.db"
    lying = {path.name: path.read_bytes() for path in town.folder.glob("ledger.db*")}
    place.touch()  # a new stamp: it is opened once more
    before = place.stat().st_mtime_ns
    assert office.get(f"/ledgers/{name}").status == 200
    assert {path.name: path.read_bytes() for path in town.folder.glob("ledger.db*")} == lying
    assert place.stat().st_mtime_ns == before


def test_a_ledger_on_a_medium_that_cannot_be_written_is_shown(town: Town, tmp_path: Path) -> None:
    medium = tmp_path / "medium"
    medium.mkdir()
    shutil.copyfile(town.folder / "ledger.db", medium / "ledger.db")
    (medium / "ledger.db").chmod(0o400)
    medium.chmod(0o500)
    with running(tmp_path) as visitor:
        shown = visitor.get(f"/ledgers/{only(visitor, 'ledgers')}.json").json
        assert shown["budgets"] and [path.name for path in medium.iterdir()] == ["ledger.db"]
    medium.chmod(0o700)


@pytest.mark.needs_postgres
def test_a_ledger_in_a_database_is_read_and_its_address_is_told_nobody(postgres_cluster: str, tmp_path: Path) -> None:
    address = f"postgresql:///postgres?host={postgres_cluster}&user=tester&password=hidden-word"
    with open_ledger(address, create=True) as book:
        book.init("pure")
        book.declare("households", "household", Fraction(2))
        with running(tmp_path, ledgers=(address,)) as visitor:
            name = only(visitor, "ledgers")
            assert visitor.get(f"/ledgers/{name}.json").json["budgets"][0]["remaining"] == "2"
            book.reserve(book.commit("households", "household", Cost(Fraction(1, 2)), {}).hash)
            page = visitor.get(f"/ledgers/{name}")
            assert page.status == 200 and ("3/2" in page.text or "1.5" in page.text)
            assert "hidden-word" not in page.text + visitor.get("/releases").text
    kept = [path for path in (tmp_path / "workbench").rglob("*") if path.is_file()]
    assert not any(b"hidden-word" in path.read_bytes() for path in kept)


def test_a_changed_release_is_looked_at_again_and_fails(office: Visitor, town: Town) -> None:
    other = town.folder / "other"
    shutil.copytree(town.target, other)
    (other / "release.csv").write_text((other / "release.csv").read_text().replace("s1", "s9"), encoding="utf-8")
    listed = {item["place"]: item["name"] for item in office.get("/releases.json").json["releases"]}
    failed = office.get(f"/releases/{listed['other']}.json").json
    assert not failed["holds"]
    shutil.rmtree(other)
    assert office.get(f"/releases/{listed['other']}.json").status == 404


def test_microdata_is_never_opened(office: Visitor, town: Town) -> None:
    people = town.folder / "people.csv"
    kept = people.read_bytes()
    people.unlink()
    people.symlink_to("nowhere")  # whoever opens it fails
    try:
        own = (f"/releases/{only(office, 'releases')}", f"/ledgers/{only(office, 'ledgers')}")
        for path in ("/", "/releases", "/releases.json", *own):
            found = office.get(path)
            assert found.status == 200 and "s0,0" not in found.text
    finally:
        people.unlink()
        people.write_bytes(kept)


def test_links_out_of_the_folder_are_not_followed(office: Visitor, town: Town, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(town.target, outside)
    (town.folder / "link").symlink_to(outside)
    try:
        assert len(office.get("/releases.json").json["releases"]) == 1
    finally:
        (town.folder / "link").unlink()


def test_a_release_carries_the_page_that_verifies_it(office: Visitor, town: Town) -> None:
    carried = (town.target / "verify.html").read_bytes()
    assert json.loads((town.target / "manifest.json").read_text())["files"]["verify.html"]
    assert office.get("/verify.html").body == carried
    policy = office.get("/verify.html").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "connect-src" not in policy
