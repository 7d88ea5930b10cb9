"""Reading and writing every artefact: exactly, atomically, with canonical hashes and published JSON Schemas.

Heavy imports wait until something is read or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.files.certificate import certificate_path, read_certificate, write_certificate
    from discreet.files.family import family_hash, read_family, write_family
    from discreet.files.mechanism import mechanism_hash, read_mechanism, write_mechanism
    from discreet.files.problem import read_problem
    from discreet.files.record import read_records, record_path, write_records

__all__ = [
    "certificate_path",
    "family_hash",
    "mechanism_hash",
    "read_certificate",
    "read_family",
    "read_mechanism",
    "read_problem",
    "read_records",
    "record_path",
    "write_certificate",
    "write_family",
    "write_mechanism",
    "write_records",
]

_PLACES = {
    "certificate_path": "certificate",
    "read_certificate": "certificate",
    "write_certificate": "certificate",
    "family_hash": "family",
    "read_family": "family",
    "write_family": "family",
    "mechanism_hash": "mechanism",
    "read_mechanism": "mechanism",
    "write_mechanism": "mechanism",
    "read_problem": "problem",
    "read_records": "record",
    "record_path": "record",
    "write_records": "record",
}

__getattr__ = on_demand(__name__, _PLACES)
