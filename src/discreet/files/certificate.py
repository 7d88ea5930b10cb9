"""Certificate files (`X.certificate.json`): each claim with its witness, written beside the mechanism.

Multipliers are whole numbers over one scale; each action's flows are packed (`flows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files import schema
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.files.flows import packed, unpacked
from discreet.files.mechanism import clamp_from_shape, recommendation_from_shape
from discreet.files.mechanism_document import clamp_document, recommendation_document
from discreet.files.problem import promise_from_shape
from discreet.model.certificate import (
    BoxesWitness,
    BoxPart,
    Certificate,
    CoinsTier,
    CoinsWitness,
    CrowdTier,
    CrowdWitness,
    DualWitness,
    Multipliers,
    OptimalityClaim,
    PlayersPart,
    PlayersWitness,
    PrivacyProof,
    QuotientWitness,
    RenyiWitness,
    SetAsideWitness,
    SeveralWitness,
    ShiftedWitness,
    SingleWitness,
    TheoremWitness,
    TypeDie,
    UnbiasedWitness,
    UrnWitness,
    Witness,
    coin,
)
from discreet.numerics.exact import format_exact, format_integer, read_integer

FORMAT = "discreet-certificate/1"


def certificate_path(mechanism: str | Path) -> Path:
    """The certificate that stands beside a mechanism file: X.mechanism.json → X.certificate.json."""
    path = Path(mechanism)
    for ending in (".mechanism.json", ".family.json", ".json"):
        if path.name.endswith(ending):
            return path.with_name(path.name.removesuffix(ending) + ".certificate.json")
    return path.with_name(path.name + ".certificate.json")


def write_certificate(path: str | Path, certificate: Certificate) -> str:
    document = certificate_document(certificate)
    write_atomically(Path(path), canonical_bytes(document) + b"\n")
    return document_hash(document)


def read_certificate(path: str | Path) -> Certificate:
    return certificate_from_document(parse_json(read_bytes(Path(path), "the certificate"), "the certificate"))


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """The certificate as a document of exact text."""
    proof = certificate.privacy
    privacy: dict[str, Any] = proof.promise.document() | {
        "tight": [format_exact(proof.tight_low), format_exact(proof.tight_high)],
        "edges": proof.edges,
        "outputs": proof.outputs,
        "witness": proof.witness,
    }
    if proof.edge is not None:
        privacy["edge"] = list(proof.edge)
    if proof.output is not None:
        privacy["output"] = proof.output
    document: dict[str, Any] = {"format": FORMAT, "mechanism": certificate.mechanism, "privacy": privacy}
    if certificate.optimality is not None:
        claim = certificate.optimality
        document["optimality"] = {
            "value": format_exact(claim.value),
            "bound": format_exact(claim.bound),
            "witness": _witness_document(claim.witness),
        }
    return document


def certificate_from_document(document: Any) -> Certificate:
    return certificate_from_shape(schema.read_shape(schema.Certificate, document, "The certificate"))


def certificate_from_shape(shape: schema.Certificate) -> Certificate:
    """The certificate that a checked shape holds."""
    proof = shape.privacy
    privacy = PrivacyProof(
        promise_from_shape(proof, "privacy"), *proof.tight, proof.edge, proof.output, proof.edges, proof.outputs, proof.witness
    )
    optimality = None
    if shape.optimality is not None:
        claim = shape.optimality
        optimality = OptimalityClaim(claim.value, claim.bound, _witness(claim.witness))
    return Certificate(shape.mechanism, privacy, optimality)


def _witness_document(witness: Witness) -> dict[str, Any]:
    if isinstance(witness, TheoremWitness):
        return {"kind": "theorem", "theorem": witness.theorem, "parameters": dict(witness.parameters)}
    if isinstance(witness, ShiftedWitness):
        return _witness_document(witness.inner) | {"kind": witness.kind, "shift": [format_exact(s) for s in witness.shift]}
    if isinstance(witness, CrowdWitness):
        shares, coins = [format_exact(share) for share in witness.shares], [_die_document(die) for die in witness.dice]
        crowd = {"kind": witness.kind, "faces": list(witness.faces), "shares": shares, "coins": coins}
        rays, programs = [list(ray) for ray in witness.rays], [_program_document(tier) for tier in witness.tiers]
        return crowd | {"rays": rays, "programs": programs}
    if isinstance(witness, SeveralWitness):
        return {"kind": witness.kind, "each": [_witness_document(one) for one in witness.each]}
    if isinstance(witness, PlayersWitness):
        parts = [_part_document(part) for part in witness.parts]
        return {"kind": witness.kind, "kinds": [list(kind) for kind in witness.kinds], "parts": parts}
    if isinstance(witness, BoxesWitness):
        boxes = [_box_document(part) for part in witness.parts]
        return {"kind": witness.kind, "faces": list(witness.faces), "pairs": list(witness.pairs), "boxes": boxes}
    document = {"kind": witness.kind} | _scaled(witness.scale, witness.multipliers)
    if isinstance(witness, RenyiWitness):
        document |= {"root": witness.root, "cuts": packed(witness.cuts)}
    if isinstance(witness, UnbiasedWitness):
        return document | {"tails": [packed(tail) for tail in witness.tails], "biases": packed(witness.biases)}
    if isinstance(witness, QuotientWitness):
        lists = {"groups": witness.groups, "rays": witness.rays, "states": witness.states}
        rows = {key: [list(row) for row in rows] for key, rows in lists.items()}
        return document | {"reference": witness.reference} | rows
    if isinstance(witness, SetAsideWitness):
        rows = {"weights": [list(row) for row in witness.weights], "states": [list(row) for row in witness.states]}
        return document | rows | {"levels": packed(witness.levels)}
    if isinstance(witness, CoinsWitness):
        document |= {"coins": [_die_document(die) for die in witness.coins]}
        return document | ({"tiers": [_tier_document(tier) for tier in witness.tiers]} if witness.tiers else {})
    if isinstance(witness, UrnWitness):
        rows = {"weights": [list(row) for row in witness.weights], "states": [list(row) for row in witness.states]}
        return document | {"reference": witness.reference} | rows
    if witness.reduction is not None:
        document["reduction"] = witness.reduction
    return document if witness.box is None else document | {"box": clamp_document(witness.box)}


def _die_document(die: TypeDie) -> dict[str, Any]:
    if die.even:
        return {"types": list(die.faces), "counts": list(die.counts[0]), "share": format_exact(die.share), "number": die.number}
    shares = [format_exact(share) for share in die.shares]
    return {"types": list(die.faces), "windows": [list(counts) for counts in die.counts], "shares": shares, "number": die.number}


def _die(shape: schema.CoinShape) -> TypeDie:
    """An even coin has a share and counts, any other die shares and windows."""
    if shape.share is not None and shape.counts is not None and shape.shares is None and shape.windows is None:
        if len(shape.types) == 2:
            return coin(shape.types[0], shape.types[1], shape.share, shape.number, *shape.counts)
    elif shape.shares is not None and shape.windows is not None and shape.share is None and shape.counts is None:
        return TypeDie(tuple(shape.types), tuple(shape.shares), shape.number, tuple(shape.windows))
    raise InputError(
        "A coin of the certificate is not whole",
        found=f"{len(shape.types)} types",
        allowed="two types with `share` and `counts`, or types with `shares` and `windows`",
        remedy="correct the file",
    )


def _part_document(part: PlayersPart) -> dict[str, Any]:
    cuts = {key: x for key, x in _witness_document(part.cuts).items() if key != "kind"}
    return cuts | {"players": part.players, "step": part.step}


def _part(shape: schema.PlayersPartShape) -> PlayersPart:
    scale, box = read_integer(shape.scale, "the scale"), clamp_from_shape(shape.box)
    multipliers = _multipliers(shape.multipliers)
    return PlayersPart(shape.players, shape.step, RenyiWitness(box, shape.root, scale, unpacked(shape.cuts), multipliers))


def _tier_document(tier: CoinsTier) -> dict[str, Any]:
    windows = [list(window) for window in tier.counts]
    return {"number": tier.number, "windows": windows} | _scaled(tier.scale, tier.multipliers)


def _tier(shape: schema.TierShape) -> CoinsTier:
    scale = read_integer(shape.scale, "the scale")
    return CoinsTier(shape.number, tuple(shape.windows), scale, _multipliers(shape.multipliers))


def _program_document(tier: CrowdTier) -> dict[str, Any]:
    states = [list(state) for state in tier.states]
    return {"number": tier.number, "states": states} | _scaled(tier.scale, tier.multipliers)


def _program(shape: schema.CrowdTierShape) -> CrowdTier:
    scale = read_integer(shape.scale, "the scale")
    return CrowdTier(shape.number, tuple(map(tuple, shape.states)), scale, _multipliers(shape.multipliers))


def _box_document(part: BoxPart) -> dict[str, Any]:
    windows = [list(window) for window in part.windows]
    box = {"windows": windows, "players": list(part.players), "reference": part.reference}
    return box | _scaled(part.scale, part.multipliers)


def _box(shape: schema.BoxShape) -> BoxPart:
    scale = read_integer(shape.scale, "the scale")
    return BoxPart(tuple(shape.windows), shape.players, shape.reference, scale, _multipliers(shape.multipliers))


def _scaled(scale: int, multipliers: Sequence[Multipliers]) -> dict[str, Any]:
    each = [{"action": recommendation_document(m.action), "flows": packed(m.flows)} for m in multipliers]
    return {"scale": format_integer(scale), "multipliers": each}


def _multipliers(shapes: Sequence[schema.MultipliersShape]) -> tuple[Multipliers, ...]:
    return tuple(Multipliers(recommendation_from_shape(m.action), unpacked(m.flows)) for m in shapes)


def _witness(shape: schema.Witness) -> Witness:
    if shape.kind != "several":
        return _single(shape)
    _must_belong(shape)
    if shape.each is None:
        raise _lacking("each")
    return SeveralWitness(tuple(map(_single, shape.each)))


def _single(shape: schema.Witness) -> SingleWitness:
    _must_belong(shape)
    if shape.kind == "several":
        raise InputError(
            "A witness for several decision makers holds one for each of them",
            found="another for several",
            allowed="witnesses of other kinds",
            remedy="list the parts in the order of the decisions",
        )
    if shape.kind == "theorem":
        if shape.theorem is None:
            raise _lacking("theorem")
        return TheoremWitness(shape.theorem, tuple((shape.parameters or {}).items()))
    if shape.kind == "crowd":
        return _crowd(shape)
    if shape.kind == "players":
        if shape.kinds is None or shape.parts is None:
            raise _lacking("kinds or parts")
        return PlayersWitness(tuple(map(tuple, shape.kinds)), tuple(map(_part, shape.parts)))
    if shape.kind == "boxes":
        if shape.faces is None or shape.pairs is None or shape.boxes is None:
            raise _lacking("faces, pairs or boxes")
        return BoxesWitness(tuple(shape.faces), tuple(shape.pairs), tuple(map(_box, shape.boxes)))
    return _of_multipliers(shape)


def _crowd(shape: schema.Witness) -> CrowdWitness:
    faces, shares, rays, dice, programs = shape.faces, shape.shares, shape.rays, shape.coins, shape.programs
    if faces is None or shares is None or rays is None or dice is None or programs is None:
        raise _lacking("faces, shares, rays, coins or programs")
    if any(len(ray) != 2 for ray in rays):
        raise InputError(
            "A ray of a crowd is not whole",
            found=f"a ray of {len(next(ray for ray in rays if len(ray) != 2))} numbers",
            allowed="two numbers",
            remedy="correct the file",
        )
    weighed = tuple((ray[0], ray[1]) for ray in rays)
    return CrowdWitness(tuple(faces), tuple(shares), weighed, tuple(map(_die, dice)), tuple(map(_program, programs)))


def _of_multipliers(shape: schema.Witness) -> SingleWitness:
    """A witness that is one list of multipliers, whatever they multiply."""
    if shape.scale is None or shape.multipliers is None:
        raise _lacking("scale or multipliers")
    scale = read_integer(shape.scale, "the scale")
    multipliers = _multipliers(shape.multipliers)
    if shape.kind == "quotient":
        if shape.reference is None or shape.groups is None or shape.rays is None or shape.states is None:
            raise _lacking("reference, groups, rays or states")
        groups, rays, states = (tuple(map(tuple, rows)) for rows in (shape.groups, shape.rays, shape.states))
        return QuotientWitness(shape.reference, groups, rays, states, scale, multipliers)
    if shape.kind == "set-aside":
        if shape.weights is None or shape.states is None or shape.levels is None:
            raise _lacking("weights, states or levels")
        weights, states = (tuple(map(tuple, rows)) for rows in (shape.weights, shape.states))
        return SetAsideWitness(weights, states, scale, unpacked(shape.levels), multipliers)
    if shape.kind == "coins":
        if shape.coins is None:
            raise _lacking("coins")
        return CoinsWitness(tuple(map(_die, shape.coins)), scale, multipliers, tuple(map(_tier, shape.tiers or ())))
    if shape.kind == "urn":
        if shape.reference is None or shape.weights is None or shape.states is None:
            raise _lacking("reference, weights or states")
        weights, states = (tuple(map(tuple, rows)) for rows in (shape.weights, shape.states))
        return UrnWitness(shape.reference, weights, states, scale, multipliers)
    if shape.kind == "renyi-cuts":
        if shape.root is None or shape.cuts is None:
            raise _lacking("root or cuts")
        box = clamp_from_shape(shape.box)
        return RenyiWitness(box, shape.root, scale, unpacked(shape.cuts), multipliers, shape.reduction)
    if shape.kind == "unbiased":
        if shape.tails is None or shape.biases is None:
            raise _lacking("tails or biases")
        below, above = map(unpacked, shape.tails)
        return UnbiasedWitness(scale, multipliers, (below, above), unpacked(shape.biases))
    if shape.kind == "shifted":
        if shape.shift is None:
            raise _lacking("shift")
        inner = DualWitness("dual-with-chord", clamp_from_shape(shape.box), scale, multipliers)
        return ShiftedWitness(tuple(shape.shift), inner)
    return DualWitness(shape.kind, clamp_from_shape(shape.box), scale, multipliers, shape.reduction)


OWN_KEYS = {"quotient": ("reference", "groups", "rays", "states"), "unbiased": ("tails", "biases"), "shifted": ("shift",),
            "renyi-cuts": ("root", "cuts"), "players": ("kinds", "parts"), "coins": ("coins", "tiers"),
            "boxes": ("faces", "pairs", "boxes"),
            "set-aside": ("weights", "states", "levels"), "urn": ("reference", "weights", "states"),
            "crowd": ("faces", "shares", "rays", "coins", "programs"), "several": ("each",)}  # fmt: skip


def _must_belong(shape: schema.Witness) -> None:
    """Only a quotient has groups, rays and states, and so on."""
    own = OWN_KEYS.get(shape.kind, ())
    others = [key for keys in OWN_KEYS.values() for key in keys if key not in own]
    strange = [key for key in others if getattr(shape, key) is not None]
    if strange:
        raise InputError(
            "The certificate's witness has a key that belongs to another kind",
            found=", ".join(strange),
            allowed="the keys of its kind",
            remedy="remove it",
        )


def _lacking(key: str) -> InputError:
    return InputError("The certificate's witness lacks a key", found=f"no {key}", allowed=f"{key}", remedy="add it")
