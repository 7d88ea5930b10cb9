"""A commitment names its files; a frozen one holds them to the byte; neither lets a size or a hash into the open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from towns import Town, make_town

from discreet.errors import InputError
from discreet.publish import commit
from discreet.publish.sources import seal


def folder_town(folder: Path) -> Town:
    """A town whose people are in a folder of Parquet files."""
    import duckdb

    town = make_town(folder)
    parts = town.folder / "people"
    parts.mkdir()
    row = "SELECT 's' || (i // 4) AS street, CAST(i % 2 AS VARCHAR) AS answer FROM range(12) t(i)"
    for part in range(2):
        duckdb.sql(f"COPY ({row} WHERE i % 2 = {part}) TO '{parts / f'{part}.parquet'}' (FORMAT parquet)")
    town.plan.write_text(town.plan.read_text().replace('kind = "csv"', 'kind = "parquet"').replace("people.csv", "people"))
    return town


def committed(town: Town, *, freeze: bool = False) -> dict[str, str]:
    """Commit, and what the entry attests."""
    with town.ledger() as book:
        return dict(commit(town.bundle(), book, town.signer, freeze=freeze).event["attested"])


def test_the_commitment_names_the_files_and_publishing_holds_to_it(tmp_path: Path) -> None:
    town = folder_town(tmp_path / "town")
    said = committed(town)
    assert said["source_files"] == "0.parquet, 1.parquet" and "source_seal" not in said
    added = town.folder / "people" / "2.parquet"
    added.write_bytes((town.folder / "people" / "1.parquet").read_bytes())
    with pytest.raises(InputError, match="other files than the commitment names"):
        town.publish()
    added.unlink()
    town.publish()
    assert town.stages() == ["withdrawn", "released"]


def test_a_record_more_is_no_reason_to_stop_unless_the_source_was_frozen(town: Town) -> None:
    """Whether a file changed depends on the records: unasked, nothing may stop for it."""
    people = town.folder / "people.csv"
    committed(town)
    people.write_text(people.read_text() + "s0,1\n")
    town.publish()
    said = committed(town, freeze=True)
    people.write_text(people.read_text().replace("s1,1", "s1,0", 1))
    with pytest.raises(InputError, match="frozen with the commitment and has changed"):
        town.publish(town.folder / "second")
    people.write_text(people.read_text().replace("s1,0", "s1,1", 1))
    town.publish(town.folder / "third")
    assert said["source_files"] == "people.csv"


def test_the_seal_tells_nothing_and_binds(town: Town) -> None:
    first, second = committed(town, freeze=True), committed(town, freeze=True)
    assert first["source_seal"] != second["source_seal"], "the same bytes under another salt"
    private = town.plan.with_name(f"{town.plan.stem}.frozen.json")
    assert private.stat().st_mode & 0o777 == 0o600
    held = json.loads(private.read_text())
    assert [seal(record) for record in held] == [first["source_seal"], second["source_seal"]]
    size = (town.folder / "people.csv").stat().st_size
    assert held[0]["files"][0]["size"] == size and len(held[0]["files"][0]["sha256"]) == 64
    held[1]["files"][0]["size"] += 1
    private.write_text(json.dumps(held))
    with pytest.raises(InputError, match="private list of the frozen source is missing"):
        town.publish()


def test_the_command_line_freezes(town: Town) -> None:
    from typer.testing import CliRunner

    from discreet.cli.main import app

    result = CliRunner().invoke(app, ["commit", str(town.plan), "--freeze", "--key", str(town.folder / "key.pem")])
    assert result.exit_code == 0, result.output
    assert "keep it private" in " ".join(result.output.split())


def test_a_source_without_files_cannot_be_frozen(town: Town) -> None:
    town.plan.write_text(town.plan.read_text().replace('kind = "csv"\npath = "people.csv"', 'kind = "frame"'))
    with pytest.raises(InputError, match="Only files can be frozen"):
        committed(town, freeze=True)
    assert "source_files" not in committed(town)
