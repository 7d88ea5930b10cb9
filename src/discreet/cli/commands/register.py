"""`discreet register RELEASE -o FILE`: a record for the public registry of deployments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.keeping import writable
from discreet.cli.output import Json, show


def command(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The record to write (JSON, which is YAML).")],
    curator: Annotated[list[str], typer.Option("--curator", help="Who publishes; may be repeated.")],
    region: Annotated[str, typer.Option("--region", help="The region that the data describe.")],
    use: Annotated[str, typer.Option("--use", help="What the data product is for, in words.")] = "",
    sector: Annotated[str, typer.Option("--sector", help="Technology, Healthcare, Education, Government, …")] = "",
    author: Annotated[list[str] | None, typer.Option("--author", help="Who wrote the record; the curators if nobody.")] = None,
    slug: Annotated[str, typer.Option("--slug", help="A name for its address.")] = "",
    as_json: Json = False,
) -> None:
    """Write a release's record for the registry of deployments.

    The release must verify; what it states is taken from its metadata.json, what only you know from the options.

    Example: discreet register release-2026 -o record.json --curator "Town of A" --region A
    """
    import json

    from discreet.errors import InputError
    from discreet.files.atomic import read_bytes, write_atomically
    from discreet.publish.metadata import completed, metadata_bytes
    from discreet.publish.verification import verified
    from discreet.views.releases import registered_view

    writable(output)
    wrong = next((check for check in verified(release).checks if check.holds is False), None)
    if wrong is not None:
        raise InputError(
            "A release that does not verify is not registered",
            found=wrong.words,
            allowed="a release that discreet verify accepts",
            remedy=f"run discreet verify {release}",
        )
    record = json.loads(read_bytes(release / "metadata.json", "metadata.json"))
    if "deployment" not in record:
        raise InputError(
            "This release was written before releases had a registry record",
            found=str(record.get("format")),
            allowed="a release with facts.json and metadata.json",
            remedy="fill in the record by hand",
        )
    done = completed(record, curators=curator, region=region, use=use, sector=sector, authors=author or None, slug=slug)
    write_atomically(output, metadata_bytes(done))
    show(registered_view(done, output), as_json=as_json)
