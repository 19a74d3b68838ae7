"""Reads what there is to choose from out of recordings and JSON documents of other commands.

Files are data: what is missing or of another kind there is unknown here, never a reason to stop.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from hettop.analysis.pareto import ACCURACY, DIFFERENCE, ENERGY, LATENCY, SIZE, THROUGHPUT, Choice
from hettop.console.messages import warn_of_damage
from hettop.errors import HettopError
from hettop.measurement.recorded import RECORDING_SUFFIXES, read_recording
from hettop.report.document import session_document
from hettop.session.studies import Studies
from hettop.studies.registry import result_of
from hettop.studies.sweep.result import SweepPoint, SweepResult
from hettop.studies.variants.result import VariantRow, VariantsResult
from hettop.text import clean

LARGEST_DOCUMENT = 256 << 20
"""Bytes: a document with the raw samples of a hundred conditions is smaller."""

LATENCIES = ("p50", "mean", "p90", "p99", "min", "max")
NAME = 60

KINDS = "a recording, or the --json output of bench, decide, replay, sweep or variants"

Document = Mapping[str, Any]


def read_choices(file: str, latency: str, accuracy: Mapping[str, float]) -> list[Choice]:
    """The choices of one file. `latency` is one of `LATENCIES`; `accuracy` by model, precision or label.

    The file is called by its name. Raises HettopError: `missing`, `io`, `recording`, `format`.
    """
    document = _document(Path(file))
    if not isinstance(document, dict):
        raise HettopError("format", f"not a hettop document: {clean(file)}", f"pass {KINDS}")
    found = list(_choices(document, Path(file).name, latency))
    if not found and not any(isinstance(document.get(key), list) for key in ("conditions", "variants", "points")):
        raise HettopError("format", f"no rows to compare in {clean(file)}", f"pass {KINDS}")
    return [_with_accuracy(choice, accuracy) for choice in found]


def accuracy_names(choice: Choice) -> list[str]:
    """By which an accuracy can be given for it, the longest first: its label, its model, its precision."""
    words = choice.label.split()
    return [choice.label, *words, words[0].partition(":")[0] if words else ""]


def _document(path: Path) -> Any:
    if path.name.lower().endswith(RECORDING_SUFFIXES):
        recorded = read_recording(path)
        warn_of_damage(recorded.report, path)
        session = recorded.session
        return json.loads(msgspec.json.encode({**session_document(session), **_of_studies(session.studies)}))
    try:
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise HettopError("format", f"file too large for a document: {clean(str(path))}", f"pass {KINDS}")
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise HettopError("missing", f"file not found: {clean(str(path))}", f"pass {KINDS}") from error
    except OSError as error:
        raise HettopError("io", f"{clean(str(path))} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HettopError("format", f"not valid JSON: {clean(str(path))}", f"pass {KINDS}") from error


def _of_studies(studies: Studies) -> Document:
    """The rows of its studies, as the documents of their commands have them."""
    variants: list[Document] = []
    points: list[Document] = []
    for study in studies.all:
        result = result_of(study)
        if isinstance(result, VariantsResult):
            variants += map(_variant, result.variants)
        elif isinstance(result, SweepResult):
            # Under loads they are conditions of the session itself, and reported as such.
            points += [_point(point) for point in result.points if point.load is None]
    return {"variants": variants, "points": points}


def _variant(row: VariantRow) -> Document:
    statistics = {
        "unit": row.unit,
        "p50_ms": row.p50_ms,
        "p90_ms": row.p90_ms,
        "mean_ms": row.mean_ms,
        "throughput_per_s": 1e3 / row.mean_ms if row.mean_ms else None,
        "energy_mj_per_inference": row.energy_mj,
    }
    known = {"precision": row.precision, "size_bytes": row.size_bytes, "max_abs": row.max_abs}
    return {**known, "statistics": statistics}


def _point(row: SweepPoint) -> Document:
    size = "" if row.height is None else f"{row.height}x{row.width} "
    statistics = {"unit": row.unit, "p50_ms": row.p50_ms, "p90_ms": row.p90_ms, "mean_ms": row.mean_ms}
    name = f"{size}b{row.batch}"
    return {"name": name, "batch": row.batch, "items_per_s": row.items_per_s, "statistics": statistics}


def _choices(document: Document, file: str, latency: str) -> Iterator[Choice]:
    """Of `variants` and `points` each has its statistics within; `conditions` are statistics themselves."""
    model = _text(_mapping(document.get("model")).get("name")) or "model"
    rows: list[tuple[str, Document, Document]] = [("", row, row) for row in _list(document.get("conditions"))]
    for key, name in (("variants", "precision"), ("points", "name")):
        rows += [(_text(row.get(name)), _mapping(row.get("statistics")), row) for row in _list(document.get(key))]
    references = {row.get("output_reference") for _, row, _ in rows}
    for name, statistics, row in rows:
        values = _values(statistics, row, latency)
        if not values:
            continue  # what was not measured is not a choice
        unit = _text(statistics.get("unit"))
        if DIFFERENCE.name not in values and (row.get("reference") is True or unit in references):
            values[DIFFERENCE.name] = 0.0  # from itself
        yield Choice(
            label=" ".join(filter(None, (_text(statistics.get("model")) or model, name))),
            unit=unit,
            load=_text(statistics.get("load")) or "none",
            values=values,
            file=clean(file, NAME),
            simulated=statistics.get("simulated") is True or document.get("simulated") is True,
            items=_items(row),
            latency_ci=_interval(statistics.get(f"{latency}_ci_ms")),
        )


def _values(statistics: Document, row: Document, latency: str) -> dict[str, float]:
    """What is known of a row; nothing if its latency is not."""
    found = {
        LATENCY.name: statistics.get(f"{latency}_ms"),
        ENERGY.name: statistics.get("energy_mj_per_inference"),
        THROUGHPUT.name: row.get("items_per_s", statistics.get("throughput_per_s")),
        DIFFERENCE.name: row["max_abs"] if "max_abs" in row else statistics.get("output_difference"),
        SIZE.name: row.get("size_bytes"),
        ACCURACY.name: row.get("accuracy"),
    }
    known = {name: float(value) for name, value in found.items() if _is_number(value)}
    return known if LATENCY.name in known else {}


def _items(row: Document) -> int:
    """Items per call: a point's batch, 1 where it is unknown."""
    batch = row.get("batch")
    return batch if isinstance(batch, int) and not isinstance(batch, bool) and batch > 0 else 1


def _interval(value: object) -> tuple[float, float] | None:
    """Only P90 has one so far."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_number, value)):
        return None
    return float(value[0]), float(value[1])


def _with_accuracy(choice: Choice, accuracy: Mapping[str, float]) -> Choice:
    """The accuracy given for its label, its model, or its precision: the longest name that fits."""
    for name in accuracy_names(choice):
        if name in accuracy:
            return replace(choice, values={**choice.values, ACCURACY.name: accuracy[name]})
    return choice


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _mapping(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Document]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return clean(value, NAME) if isinstance(value, str) else ""
