"""Make docs/reference/schemas from the code: a JSON Schema for each document that `--json` prints.

`python -m tools.json_schemas` writes the files. Fields that the program builds from structs come from those structs;
the others are the typed dictionaries below. Documents may have further fields: fields are added, never renamed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NotRequired, TypedDict

import msgspec

from hettop.analysis.conditions import EstimationError
from hettop.record.repair import Repaired
from hettop.report.document import SCHEMA_VERSION
from hettop.session.power_summary import PowerSummary
from hettop.session.statistics import Reason, Statistics
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.cold.result import ColdResult
from hettop.studies.embench.result import EmBenchResult
from hettop.studies.granularities.result import GranularitiesResult
from hettop.studies.layers.result import LayersResult
from hettop.studies.plan.result import PlanResult
from hettop.studies.predict.result import PredictResult
from hettop.studies.sweep.result import SweepResult
from hettop.studies.variants.result import VariantsResult

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
LIMITS = frozenset({"maxLength", "maxItems", "maxProperties"})
"""Limits of a recording's lines, which documents do not have."""

Interval = tuple[float | None, float | None]


class Head(TypedDict):
    schema: str
    hettop: str


class HostFields(TypedDict):
    chip: NotRequired[str | None]
    os: NotRequired[str | None]
    cores: NotRequired[int | None]
    memory_mb: NotRequired[int | None]
    python: NotRequired[str | None]
    hettop: NotRequired[str | None]
    frameworks: NotRequired[dict[str, str]]
    power_mode: NotRequired[str | None]
    warnings: NotRequired[list[str]]


class ModelFields(TypedDict):
    name: NotRequired[str | None]
    sha256: NotRequired[str | None]
    inputs: NotRequired[list[str]]
    parameters: NotRequired[int | None]
    macs: NotRequired[int | None]
    backend: NotRequired[str | None]
    note: NotRequired[str | None]


class Protocol(TypedDict):
    name: str
    figures: list[str]
    overridden: dict[str, Any]
    results: list[dict[str, Any]]


class Tokens(TypedDict):
    prefill: int | None
    decode: int
    by: str | None
    prefill_variant: str


class PositionFields(TypedDict):
    to: int
    n: int
    p50_ms: float
    p90_ms: float


class AnswerFields(TypedDict):
    unit: str
    load: str
    answers: int
    failed: int
    cut: int
    tokens: int | None
    chunks: int
    chunks_of_several: int
    prompt_tokens: int | None
    cached_tokens: int
    answers_without_gaps: int
    tokens_per_s_p50: float | None
    per_token_p50_ms: float | None
    by_position: list[PositionFields]
    goodput: float | None
    last_error: str | None


class Change(TypedDict):
    share: float
    ci: Interval


class Interruptions(TypedDict):
    stops: int
    stopped_s: float
    sleeps: int
    slept_s: float


class InterruptedUnit(Interruptions):
    unit: str


class BesideRow(TypedDict):
    unit: str
    variant: str
    load: str
    thermal: str | None
    n: tuple[int, int]
    change: dict[str, Change]


class RecordedStudy(TypedDict):
    interruptions: NotRequired[Interruptions]
    name: str
    state: str
    elapsed_ms: float
    arguments: list[str]
    found: Any
    error: Any


class Bench(Head):
    simulated: bool
    host: HostFields
    model: ModelFields
    power: PowerSummary
    conditions: list[Statistics]
    protocol: NotRequired[Protocol]
    tokens: NotRequired[Tokens]
    answers: NotRequired[list[AnswerFields]]
    beside: NotRequired[list[BesideRow]]
    interruptions: NotRequired[list[InterruptedUnit]]
    skipped: NotRequired[dict[str, int]]
    crc_errors: NotRequired[int]
    studies: NotRequired[list[RecordedStudy]]


class Ranks(TypedDict):
    latency: list[str]
    stability: list[str]
    efficiency: list[str]
    consistency: list[str]


class Advice(TypedDict):
    real_time: str | None
    predictable: str | None
    batch: str | None
    avoid: list[str]


class Evidence(TypedDict):
    of: str
    n: int
    independent: int
    quantile_ms: float | None
    ci_ms: Interval
    why: str | None
    unserved: int | None
    longest_ms: float | None
    seen_one_in: int | None


class Budget(TypedDict):
    limit_ms: float
    quantile: float
    rate_hz: float | None
    confidence: float
    met: dict[str, bool | None]
    evidence: dict[str, Evidence]
    of: NotRequired[str]


class EnergyEvidence(TypedDict):
    mj: float | None
    ci_mj: list[float | None]
    windows: int
    coverage: float | None
    why: str | None


class EnergyBudget(TypedDict):
    limit_mj: float | None
    met: dict[str, bool | None]
    confidence: float
    evidence: dict[str, EnergyEvidence]


class Decide(Head):
    simulated: bool
    host: HostFields
    model: ModelFields
    power: PowerSummary
    load: str
    by: str
    ranks: Ranks
    efficiency_by: str
    advice: Advice
    decided_by_few_samples: list[dict[str, Any]]
    order: list[dict[str, Any]]
    flips: list[dict[str, Any]]
    budget: Budget | None
    first_token_budget: NotRequired[Budget]
    goodput: NotRequired[dict[str, float]]
    energy_budget: EnergyBudget | None
    start_up: NotRequired[dict[str, Any]]
    totals: NotRequired[dict[str, Any]]
    meeting: list[str]
    needs_samples: dict[str, int]
    failed: dict[str, Reason]
    unmeasured: list[str]
    units: dict[str, dict[str, Any]]
    conditions: list[Statistics]
    protocol: NotRequired[Protocol]
    skipped: NotRequired[dict[str, int]]
    crc_errors: NotRequired[int]
    swift: str | None
    python: str | None
    text: str


class Difference(TypedDict):
    what: str
    a: str | None
    b: str | None


class Quantile(TypedDict):
    a_ms: float
    b_ms: float
    diff_ms: float
    ci_ms: Interval
    proven_slower_by: float | None
    slower: bool
    faster: bool
    regression: bool
    change: float | None
    change_ci: tuple[float, float]
    equivalent: bool
    proven: bool


class ComparedCondition(TypedDict):
    unit: str
    load: str
    n: tuple[int, int]
    quantiles: dict[str, Quantile]
    regression: bool
    runs: tuple[int, int]
    equivalent: bool
    proven: bool
    failed: bool
    why: str | None
    thermal: Difference | None


class Situation(TypedDict):
    unit: str
    load: str


class Circumstance(TypedDict):
    what: str
    unit: str | None
    load: str | None
    a: float | str | None
    b: float | str | None
    measure: str | None
    worse: str | None


class Compare(Head):
    simulated: dict[str, bool]
    tolerance: float
    fair: bool
    differences: list[Difference]
    conditions: list[ComparedCondition]
    only_a: list[Situation]
    only_b: list[Situation]
    regressions: int
    runs: dict[str, int]
    equivalent: bool
    proven: bool
    circumstances: list[Circumstance]
    circumstances_untold: list[str]


class Defect(TypedDict):
    byte: int
    what: str


class Verify(Head):
    ok: bool
    lines: int
    samples: int
    dropped: int
    torn_bytes: int
    bad_lines: int
    out_of_order: int
    blank_lines: int
    unknown_kinds: int
    joined: int
    keyframes: int
    crc_errors: int
    uncovered_bytes: int
    keyframe_errors: int
    wrong_totals: int
    ended: bool
    simulated: bool
    newer_minor: bool
    defects: list[Defect]


class PortFields(TypedDict):
    name: str
    kind: str
    dtype: str
    shape: list[int | None] | None
    counted_shape: NotRequired[list[int]]


class Inspect(Head):
    name: str
    format: str
    inputs: list[PortFields]
    outputs: list[PortFields]
    state: list[PortFields]
    ops: dict[str, int]
    parameters: int | None
    macs: int | None
    weight_bytes: int | None
    activation_bytes: int | None
    operational_intensity: float | None
    precision: str | None
    macs_by_op: dict[str, int]
    functions: list[str]
    function: str | None
    requires: dict[str, Any]
    stages: list[dict[str, Any]]
    missing_ops: list[dict[str, Any]]
    placement: dict[str, Any]
    note: str


class Cluster(TypedDict):
    name: str
    mhz: float | None
    busy: float | None


class Gpu(TypedDict):
    mhz: float | None
    busy: float | None


class PowerSample(TypedDict):
    elapsed_ns: int
    mw: dict[str, float | None]
    clusters: list[Cluster]
    gpu: Gpu | None
    thermal: str | None
    flags: list[str]


class Power(Head):
    source: str | None
    samples: list[PowerSample]
    notes: list[str]
    skipped: dict[str, int]
    refused: NotRequired[dict[str, int]]


class Finding(TypedDict):
    what: str
    works: bool | None
    words: str
    fix: str | None


class Doctor(Head):
    measures: bool
    findings: dict[str, list[Finding]]


class PlatformFields(TypedDict):
    system: str
    machine: str
    python: str


class ArchivedFile(TypedDict):
    name: str
    content: str


class MissingFile(TypedDict):
    name: str
    why: str


class ReportedConfig(TypedDict):
    settings: dict[str, Any]
    keys: dict[str, Any]
    faults: list[str]
    notes: list[str]


class DoctorReport(Head):
    """The file report.json of the archive; what is printed also has the archive's name and size."""

    platform: PlatformFields
    packages: dict[str, str]
    config: ReportedConfig
    files: list[ArchivedFile]
    missing: list[MissingFile]
    row: str
    archive: NotRequired[str]
    bytes: NotRequired[int]


class ControlledRail(TypedDict):
    rail: str
    unit: str | None
    validated: bool
    mw: float | None
    cpu_only_mw: float | None
    explanation: str


class DoctorControl(Head):
    source: str | None
    model: str | None
    machine: str
    build: str | None
    rails: list[ControlledRail]
    remembered: list[str]


class Setting(TypedDict):
    value: Any
    where: str | None


class Config(Head):
    files: dict[str, dict[str, Any]]
    settings: dict[str, Setting]
    keys: dict[str, Setting]
    faults: list[str]
    notes: list[str]


class Choice(TypedDict):
    label: str
    unit: str | None
    load: str | None
    file: str | None
    simulated: bool
    items_per_call: int
    size_bytes: float | None
    values: dict[str, float | None]
    on_front: bool | None
    dominated_by: int | None
    within_noise: bool
    lacks: list[str]


class Objective(TypedDict):
    name: str
    unit: str | None
    goal: str


class Pareto(Head):
    simulated: bool
    objectives: list[Objective]
    choices: list[Choice]


class Model(TypedDict):
    name: str
    title: str
    height: int
    width: int
    parameters: int
    stored_parameters: int
    macs: int
    layers: int
    resizable: bool
    top1_percent: float | None
    top5_percent: float | None


class Models(Head):
    models: list[Model]


class StudyHead(Head):
    """What the documents of all studies have; `plan --costs` has no model."""

    model: NotRequired[ModelFields]
    host: NotRequired[HostFields]
    simulated: NotRequired[bool]
    power: NotRequired[PowerSummary]
    interruptions: NotRequired[Interruptions]


class EmBenchHead(Head):
    """How the networks were measured."""

    interruptions: NotRequired[Interruptions]
    backend: str
    chip: str | None
    protocol: dict[str, float]


class PredictHead(Head):
    """Where the networks were measured."""

    interruptions: NotRequired[Interruptions]
    backend: NotRequired[str]
    chip: NotRequired[str | None]


class Loads(TypedDict):
    """What a sweep over loads has beside its points."""

    conditions: NotRequired[list[Statistics]]
    matrix: NotRequired[list[dict[str, Any]]]
    estimation_error: NotRequired[list[EstimationError]]
    failed_loads: NotRequired[dict[str, str]]


class PublishedRoofline(Head):
    chip: str
    roofs: dict[str, Any]
    devices: list[dict[str, Any]]
    layers: list[dict[str, Any]]
    model: dict[str, Any]
    notes: list[str]


DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "bench": (Bench,),
    "decide": (Decide,),
    "compare": (Compare,),
    "verify": (Verify,),
    "repair": (Head, Repaired),
    "inspect": (Inspect,),
    "power": (Power,),
    "doctor": (Doctor,),
    "doctor-report": (DoctorReport,),
    "doctor-control": (DoctorControl,),
    "config": (Config,),
    "pareto": (Pareto,),
    "models": (Models,),
    "layers": (StudyHead, LayersResult),
    "roofline": (StudyHead, LayersResult),
    "roofline-published": (PublishedRoofline,),
    "plan": (StudyHead, PlanResult),
    "coexec": (StudyHead, CoexecResult),
    "granularities": (StudyHead, GranularitiesResult),
    "cold": (StudyHead, ColdResult),
    "embench": (EmBenchHead, EmBenchResult),
    "predict": (PredictHead, PredictResult),
    "sweep": (StudyHead, Loads, SweepResult),
    "variants": (StudyHead, VariantsResult),
}
"""The types whose fields a document has, by its name in `schema`."""


def document_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document."""
    parts, components = msgspec.json.schema_components(DOCUMENTS[name], ref_template="#/$defs/{name}")
    value = f"hettop.{name}/{SCHEMA_VERSION}"
    return {
        "$schema": DIALECT,
        "title": value,
        "type": "object",
        "properties": {"schema": {"const": value}},
        "required": ["schema", "hettop"],
        "allOf": list(parts),
        "$defs": {key: _plain(each) for key, each in components.items()},
    }


def _plain(schema: Any) -> Any:
    """Without the limits of a recording's lines, and without docstrings, which are for readers of the code."""
    if isinstance(schema, dict):
        kept = {key: each for key, each in schema.items() if key not in LIMITS}
        if isinstance(kept.get("description"), str):
            del kept["description"]
        if kept.get("default") == {}:  # msgspec names it from 0.23 on
            del kept["default"]
        return {key: _plain(each) for key, each in kept.items()}
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema


def schema_text(name: str) -> str:
    """The content of the file that is published."""
    return msgspec.json.format(msgspec.json.encode(document_schema(name), order="sorted"), indent=1).decode() + "\n"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in DOCUMENTS:
        (FOLDER / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
