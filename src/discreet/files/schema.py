"""The shape of every artefact as pydantic models: the source of the published JSON Schemas.

Models only say which keys exist and what kind of thing they hold; the nouns of `model` say what is valid.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from discreet.files.shape import Digits, Exact, Integer, Shape, Text
from discreet.files.shape import read_shape as read_shape
from discreet.model.count_tables import MOST_CLASSES


class Range(Shape):
    from_: Exact = Field(alias="from")
    to: Exact
    step: Exact | None = None


class SizeRange(Shape):
    from_: Integer = Field(alias="from")
    to: Integer


class GivenNeighbours(Shape):
    states: list[Text]
    edges: list[tuple[Text, Text]]


class Data(Shape):
    respondents: Integer | SizeRange | None = None
    values: list[Exact] | None = None
    neighbours: Literal["replace-one", "add-remove-one"] | GivenNeighbours = "replace-one"
    invariants: list[list[Integer]] | None = None


class Component(Shape):
    """One law of a mixture."""

    weight: Exact
    probabilities: list[Exact] | None = None
    concentration: list[Exact] | None = None


class Prior(Shape):
    kind: Literal["iid", "independent", "exchangeable", "mixture", "table", "reference", "release"]
    probabilities: list[Exact] | list[list[Exact]] | dict[Text, Exact] | None = None
    histogram: dict[Text, Exact] | None = None
    concentration: list[Exact] | None = None
    components: list[Component] | None = None
    counts: list[Integer] | None = None
    source: Text | None = None
    pseudo_count: Exact | None = None
    release: Text | None = None
    rule: Text | None = None
    stratum: list[Text] | None = None
    change: Exact | None = None
    noise: Exact | None = None
    size: Literal["uniform"] | list[Exact] | None = None


class Statistic(Shape):
    kind: Literal["sum", "mean", "count", "table"]
    of: list[Integer] | None = None
    values: dict[Text, Exact] | None = None
    by: Literal["histogram", "database"] | None = None


class Decision(Shape):
    kind: Literal["squared-error", "absolute-error", "pinball", "match", "table", "expression"]
    actions: Literal["real", "integer"] | Range | list[Any]
    quantile: Exact | None = None
    payoff: list[list[Exact]] | Text | None = None
    weight: Exact | None = None
    name: Text | None = None
    unbiased: Literal["everywhere", "nearby"] | None = None


class Promised(Shape):
    """The numbers of one promise; which of them belong together says `model.promises`."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None


class Privacy(Promised):
    unit: Text | None = None


class Problem(Shape):
    name: Text | None = None
    data: Data
    prior: Prior
    statistic: Statistic
    decision: Decision | list[Decision]
    privacy: Privacy


class ClampShape(Shape):
    lower: list[Integer]
    upper: list[Integer]
    reference: Integer | None = None
    rest: tuple[Integer, Integer] | None = None


class Summary(Shape):
    kind: Literal["histogram", "linear", "database"]
    clamp: ClampShape | None = None
    weights: list[Integer] | None = None
    low: Integer | None = None
    high: Integer | None = None


class ActionShape(Shape):
    number: Exact | None = None
    name: Text | None = None


class OutputShape(Shape):
    label: Text
    action: ActionShape | list[ActionShape] | None = None


TREE = {
    "type": "array",
    "items": {"anyOf": [{"type": "integer"}, {"type": "array"}]},
    "description": "for each count of a class what is asked next, in lists of lists; of the last class how many tables there are",
}


def _tree(given: Any, depth: int = 0) -> Any:
    """Lists of whole numbers and of such lists, as tuples; pydantic says what is wrong with anything else."""
    if depth and type(given) is int:
        return given
    if not isinstance(given, list) or depth > MOST_CLASSES:
        raise ValueError("tables are whole numbers in lists of lists, one list for each class but the last")
    return tuple(_tree(each, depth + 1) for each in given)


class Kernel(Shape):
    family: Literal["table", "geometric", "staircase", "discrete-gaussian", "counted"]
    states: list[Text] | None = None
    outputs: list[OutputShape] | None = None
    weights: list[list[Digits]] | None = None
    denominator: Digits | None = None
    edges: list[tuple[Integer, Integer]] | None = None
    from_: Integer | None = Field(default=None, alias="from")
    to: Integer | None = None
    step: Integer | None = None
    plateau: Integer | None = None
    ratio: Exact | None = None
    sigma_squared: Exact | None = None
    stride: Integer | None = None
    radix: Integer | None = None
    tables: Annotated[Any, BeforeValidator(_tree), WithJsonSchema(TREE)] | None = None
    tail: Digits | None = None
    actions: list[ActionShape | list[ActionShape]] | None = None


class GuaranteeShape(Promised):
    neighbours: Text
    unit: Text


class ClaimsShape(Shape):
    value: Exact | None = None
    bound: Exact | None = None


class Mechanism(Shape):
    format: Literal["discreet-mechanism/1"]
    problem: Problem
    summary: Summary
    kernel: Kernel
    guarantee: GuaranteeShape
    claims: ClaimsShape
    provenance: dict[Text, Text]


class PrivacyProofShape(Promised):
    tight: tuple[Exact, Exact]
    edge: tuple[Text, Text] | None = None
    output: Text | None = None
    edges: Integer
    outputs: Integer
    witness: Literal["edge-check", "closed-form", "moments"]


Packed = Annotated[str, Field(strict=True)]


class MultipliersShape(Shape):
    action: ActionShape | list[ActionShape]
    flows: Packed = Field(
        description="planes: and base64 of zlib of columns of little-endian int64 numbers, all lowest bytes first: differences"
        " of from to the one before, of to to from, numerators (of a quotient or crowd: state, row, numerator;"
        " of a set-aside or urn: state, place, numerator); without planes: of triples"
    )


class PlayersPartShape(Shape):
    players: Integer
    step: Integer
    box: ClampShape
    scale: Digits
    root: Integer
    cuts: Packed
    multipliers: list[MultipliersShape]


class CoinShape(Shape):
    types: list[Integer]
    number: Integer
    share: Exact | None = None
    counts: tuple[Integer, Integer] | None = None
    shares: list[Exact] | None = None
    windows: list[tuple[Integer, Integer]] | None = None


class TierShape(Shape):
    number: Integer
    windows: list[tuple[Integer, Integer]]
    scale: Digits
    multipliers: list[MultipliersShape]


class CrowdTierShape(Shape):
    number: Integer
    states: list[list[Integer]]
    scale: Digits
    multipliers: list[MultipliersShape]


class BoxShape(Shape):
    windows: list[tuple[Integer, Integer]]
    players: tuple[Integer, Integer]
    reference: Integer
    scale: Digits
    multipliers: list[MultipliersShape]


class Witness(Shape):
    kind: Literal[
        "dual", "dual-with-chord", "quotient", "set-aside", "coins", "crowd", "boxes", "urn", "theorem", "unbiased",
        "shifted", "renyi-cuts", "players", "several"
    ]  # fmt: skip
    box: ClampShape | None = None
    reference: Integer | None = None
    groups: list[list[Integer]] | None = None
    rays: list[list[Integer]] | None = None
    states: list[list[Integer]] | None = None
    weights: list[list[Integer]] | None = None
    levels: Packed | None = None
    scale: Digits | None = None
    multipliers: list[MultipliersShape] | None = None
    reduction: Text | None = None
    theorem: Text | None = None
    parameters: dict[Text, Text] | None = None
    shift: list[Exact] | None = None
    tails: tuple[Packed, Packed] | None = None
    biases: Packed | None = None
    root: Integer | None = None
    cuts: Packed | None = None
    kinds: list[list[Integer]] | None = None
    parts: list[PlayersPartShape] | None = None
    coins: list[CoinShape] | None = None
    tiers: list[TierShape] | None = None
    faces: list[Integer] | None = None
    shares: list[Exact] | None = None
    programs: list[CrowdTierShape] | None = None
    pairs: list[Integer] | None = None
    boxes: list[BoxShape] | None = None
    each: list[Witness] | None = None


class OptimalityShape(Shape):
    value: Exact
    bound: Exact
    witness: Witness


class Certificate(Shape):
    format: Literal["discreet-certificate/1"]
    mechanism: Text
    privacy: PrivacyProofShape
    optimality: OptimalityShape | None = None


class MemberShape(Shape):
    from_: Integer = Field(alias="from")
    to: Integer
    mechanism: Mechanism
    certificate: Certificate
    values: dict[Text, Exact]
    absent: Integer | None = None
    absent_probability: Exact | None = None


class Family(Shape):
    format: Literal["discreet-family/1"]
    members: list[MemberShape]


class ReferenceShape(Shape):
    mechanism: Mechanism
    certificate: Certificate


class Robust(Shape):
    format: Literal["discreet-robust/1"]
    mechanism: Mechanism
    certificate: Certificate
    weights: list[Exact]
    references: list[ReferenceShape]


class StepShape(Shape):
    name: Text
    applied: bool
    theorem: Text
    reason: Text


class BaselineShape(Shape):
    name: Text
    value: Exact | None
    words: Text


class RungShape(Shape):
    name: Text
    loss: Exact | None
    lower_bound: Exact | None
    seconds: Exact | None


class BehaviourShape(Shape):
    slope: Exact | None
    average_bias: Exact | None
    spread: Exact | None
    worst_risk: Exact | None
    unbiased_variance: Exact | None


class RecordShape(Shape):
    mechanism: Text
    status: Text
    steps: list[StepShape]
    baselines: list[BaselineShape]
    rungs: list[RungShape]
    notes: list[Text]
    seconds: dict[Text, Exact | None]
    within: Text | None = None
    price: Exact | None = None
    behaviour: BehaviourShape | None = None


class Records(Shape):
    format: Literal["discreet-record/1"]
    records: list[RecordShape]


ARTEFACTS: dict[str, type[Shape]] = {
    "problem": Problem,
    "mechanism": Mechanism,
    "certificate": Certificate,
    "family": Family,
    "robust": Robust,
    "record": Records,
}
