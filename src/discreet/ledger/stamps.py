"""Time stamps of heads by an authority that others trust (RFC 3161): that a head existed by then, whoever keeps the ledger.

What is stamped is the canonical form of the head's statement, so a stamp fits one place of one ledger. The authority learns a hash.
Checking needs the authority's root certificate, which whoever checks must bring: a stamp by an authority made for the purpose
proves nothing.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from discreet.errors import InputError, MissingExtra, Refuted
from discreet.files.atomic import read_bytes
from discreet.files.canonical import canonical_bytes
from discreet.ledger.heads import Head

PATIENCE_SECONDS = 60
LARGEST = 1 << 20


def stamp_request(head: Head) -> bytes:
    """The question to an authority, as DER: what others call a .tsq file."""
    library = _library()
    return bytes(
        library.TimestampRequestBuilder().data(_stamped(head)).hash_algorithm(library.base.HashAlgorithm.SHA256).build().as_bytes()
    )


def ask_for_stamp(address: str, request: bytes) -> bytes:
    """The authority's answer over HTTP, as DER: what others call a .tsr file."""
    from urllib.error import URLError
    from urllib.request import Request, urlopen

    if not address.startswith(("https://", "http://")):
        raise _no_stamp(address, "an address that begins with https:// or http://")
    asked = Request(address, data=request, headers={"Content-Type": "application/timestamp-query"})
    try:
        with urlopen(asked, timeout=PATIENCE_SECONDS) as answer:
            return bytes(answer.read(LARGEST))
    except (URLError, OSError, ValueError) as error:
        raise _no_stamp(type(error).__name__, "an authority that answers") from None


def stamp_time(head: Head, answer: bytes, roots: str | Path) -> datetime:
    """When the head was stamped, by an authority whose root certificate is in the PEM file `roots`; refutes any other stamp."""
    from cryptography import x509

    library = _library()
    try:
        certificates = x509.load_pem_x509_certificates(read_bytes(Path(roots), "the authority's certificate"))
    except ValueError:
        raise _no_stamp(str(roots), "a PEM file with the authority's root certificate") from None
    try:
        found = library.decode_timestamp_response(_in_order(answer))
        checker = library.VerifierBuilder(roots=list(certificates)).build()
        checker.verify_message(found, _stamped(head))
    except (library.VerificationError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise Refuted("the time stamp does not hold for this head", str(error)) from None
    time = found.tst_info.gen_time
    assert isinstance(time, datetime)
    return time


def _in_order(answer: bytes) -> bytes:
    """The answer with its certificates in DER's order, which OpenSSL's authorities do not keep to; nothing signs their order."""
    from asn1crypto import tsp

    found = tsp.TimeStampResp.load(answer)
    signed = found["time_stamp_token"]["content"]
    signed["certificates"] = sorted(signed["certificates"], key=lambda certificate: certificate.dump())
    return bytes(found.dump())


def _stamped(head: Head) -> bytes:
    return canonical_bytes(head.signed())


def _library() -> Any:
    try:
        import asn1crypto.tsp  # noqa: F401
        import rfc3161_client
        import rfc3161_client.base
    except ImportError:
        raise MissingExtra("stamps", needed_for="time stamps of heads") from None
    return rfc3161_client


def _no_stamp(found: str, allowed: str) -> InputError:
    return InputError(
        "No time stamp could be had", found=found, allowed=allowed, remedy="nothing was changed; try again, or another authority"
    )
