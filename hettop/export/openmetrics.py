"""OpenMetrics text of a session, and the same as metrics of Prometheus's client library.

Native histograms are added where the library has them, beside the classic buckets; a scraper gets those it asks for.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.export.formats import Target
from hettop.record.opened import Recording
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.stats.histogram import SUB_BUCKET_BITS, SUB_BUCKETS, bucket_middle
from hettop.text import clean

LATENCY = "hettop_latency_seconds"
LOWEST_NS, HIGHEST_NS = 1 << 14, 1 << 36  # 16 µs to a minute, two bounds an octave: 45 buckets

# Of each statistic: metric, unit, help, and the factor that makes base units of it.
GAUGES = (
    ("p50_ms", "hettop_latency_p50_seconds", "Median latency of the steady samples", 1e-3),
    ("p90_ms", "hettop_latency_p90_seconds", "P90 latency of the steady samples", 1e-3),
    ("p99_ms", "hettop_latency_p99_seconds", "P99 latency, where there are enough samples", 1e-3),
    ("min_ms", "hettop_latency_min_seconds", "Lowest latency", 1e-3),
    ("max_ms", "hettop_latency_max_seconds", "Highest latency", 1e-3),
    ("throughput_per_s", "hettop_inferences_per_second", "Inferences per second", 1.0),
    ("energy_mj_per_inference", "hettop_energy_per_inference_joules", "CPU+GPU+ANE (estimate) per inference", 1e-3),
    ("load_ms", "hettop_load_seconds", "Load time of the model", 1e-3),
    ("first_ms", "hettop_first_call_seconds", "Latency of the first call after loading", 1e-3),
)

Labels = Mapping[str, str]


def export(recording: Recording, target: Target) -> None:
    target.main().write(openmetrics_text(recording.session).encode())


def openmetrics_text(session: Session) -> str:
    """The whole exposition, `# EOF` included."""
    lines = [*_info(session), *_latencies(session), *_gauges(session), *_power(session), *_losses(session), "# EOF"]
    return "\n".join(lines) + "\n"


def _info(session: Session) -> Iterator[str]:
    opening = session.header
    about = {
        "model": opening.model.name if opening else None,
        "backend": opening.model.backend if opening else None,
        "chip": opening.host.chip if opening else None,
        "os": opening.host.os if opening else None,
        "simulated": _word(session.simulated),
    }
    yield from _family("hettop_session", "info", "Measured model, machine and framework")
    yield _line("hettop_session_info", {name: text for name, text in about.items() if text}, 1)


def _latencies(session: Session) -> Iterator[str]:
    yield from _family(LATENCY, "histogram", "Latency of the steady samples", "seconds")
    bounds = _bounds()
    for condition in session.conditions.values():
        if condition.wall.n:
            yield from _histogram(condition, labels_of(session, condition.key), bounds)


def _histogram(condition: Condition, labels: Labels, bounds: Sequence[int]) -> Iterator[str]:
    """Cumulative counts at bounds that are also those of the fold's buckets, so that they are exact."""
    indices, counts = condition.wall.histogram.nonzero()
    places = [_bucket_from(bound) for bound in bounds]
    below = np.concatenate(([0], np.cumsum(counts)))[np.searchsorted(indices, places)]
    for bound, count in zip(bounds, below.tolist(), strict=True):
        # Latencies are whole ns: below the bound is up to the ns before it.
        yield _line(f"{LATENCY}_bucket", {**labels, "le": _number((bound - 1) / 1e9)}, count)
    yield _line(f"{LATENCY}_bucket", {**labels, "le": "+Inf"}, condition.wall.n)
    yield _line(f"{LATENCY}_count", labels, condition.wall.n)
    yield _line(f"{LATENCY}_sum", labels, condition.wall.moments.sum_ns / 1e9)


def _bounds() -> list[int]:
    octaves = range(LOWEST_NS.bit_length() - 1, HIGHEST_NS.bit_length())
    bounds = [step << octave >> 1 for octave in octaves for step in (2, 3)]
    return [bound for bound in bounds if bound <= HIGHEST_NS]


def _bucket_from(bound_ns: int) -> int:
    """The histogram bucket that begins at this power of two, or at one and a half of one."""
    exponent = bound_ns.bit_length() - 1
    mantissa = (bound_ns - (1 << exponent)) * SUB_BUCKETS >> exponent
    return (exponent << SUB_BUCKET_BITS) + mantissa


def _gauges(session: Session) -> Iterator[str]:
    rows = [row for row in statistics(session) if row.n]
    for field, name, about, factor in GAUGES:
        known = [(row, value) for row in rows if (value := getattr(row, field)) is not None]
        if known:
            unit = next((unit for unit in ("seconds", "joules") if name.endswith(f"_{unit}")), None)
            yield from _family(name, "gauge", about, None if name.endswith("per_second") else unit)
            yield from (_line(name, labels_of(session, row), value * factor) for row, value in known)


def _power(session: Session) -> Iterator[str]:
    power = session.power
    known = [] if power is None else [(rail, mw) for rail, mw in power.mw.items() if mw is not None]
    if known and power is not None:
        yield from _family("hettop_power_watts", "gauge", "The last power sample, by rail", "watts")
        for rail, mw in known:
            labels = {"rail": rail, "source": power.source, "simulated": _word(session.simulated)}
            labels |= {"capture": _word(True)} if session.captured else {}
            yield _line("hettop_power_watts", labels, mw / 1e3)


def _losses(session: Session) -> Iterator[str]:
    yield from _family("hettop_dropped_samples", "counter", "Samples that were dropped")
    yield _line("hettop_dropped_samples_total", {"simulated": _word(session.simulated)}, session.dropped)


def labels_of(session: Session, of: Statistics | tuple[str, str, str | None]) -> dict[str, str]:
    """The labels of a condition's series, uncleaned; every series says whether it is simulated."""
    unit, load, thermal = (of.unit, of.load, of.thermal) if isinstance(of, Statistics) else of
    heat = {} if thermal is None else {"thermal": thermal}
    return {"unit": unit, "load": load, **heat, "simulated": _word(session.simulated)}


def _family(name: str, kind: str, about: str, unit: str | None = None) -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {about}"


def _line(name: str, labels: Labels, value: float) -> str:
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {_number(value)}"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) or math.isfinite(value) else "NaN"


def _escaped(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace('"', '\\"')


def _word(simulated: bool) -> str:
    return str(simulated).lower()


# 16 buckets an octave, each 4.4% wide. A bucket of the fold, at most 1/128 wide, goes where its middle lies.
SCHEMA = 4
MISSING_HINT = "pip install 'hettop[prometheus]'"


def library(name: str = "prometheus_client") -> Any:
    """The client library, or a module of it. Raises HettopError `missing` where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise HettopError("missing", "metrics need the prometheus-client package", MISSING_HINT) from None


def metrics(session: Session) -> list[Any]:
    """What is known of the session at this moment, as metric families of the client library."""
    parser = library("prometheus_client.openmetrics.parser")
    found: list[Any] = list(parser.text_string_to_metric_families(openmetrics_text(session)))
    for family in found:
        if family.name == LATENCY:
            for condition in session.conditions.values():
                native = native_histogram(condition)
                if native is not None:
                    # A family's native samples bear its bare name and no value of their own.
                    family.add_sample(LATENCY, labels_of(session, condition.key), 0.0, native_histogram=native)
    return found


def native_histogram(condition: Condition) -> Any:
    """The condition's latencies in s, in exponential buckets; None where there are none or the library has none."""
    samples = library("prometheus_client.samples")
    if not condition.wall.n or not hasattr(samples, "NativeHistogram"):
        return None
    counts: dict[int, int] = {}
    indices, held = condition.wall.histogram.nonzero()
    for middle, count in zip(bucket_middle(indices).tolist(), held.tolist(), strict=True):
        # Bucket i holds what is above 2^((i-1)/16) s and at most 2^(i/16) s.
        index = math.ceil(math.log2(middle / 1e9) * (1 << SCHEMA))
        counts[index] = counts.get(index, 0) + count
    spans, deltas = _runs(counts)
    return samples.NativeHistogram(
        count_value=condition.wall.n,
        sum_value=condition.wall.moments.sum_ns / 1e9,
        schema=SCHEMA,
        zero_threshold=0.0,
        zero_count=0,
        pos_spans=[samples.BucketSpan(gap, length) for gap, length in spans],
        pos_deltas=deltas,
    )


def _runs(counts: dict[int, int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Ascending buckets as (empty ones before, occupied ones) spans, and each count less the one before it.

    The first span's gap is the index of the first bucket.
    """
    spans: list[tuple[int, int]] = []
    deltas: list[int] = []
    following, before = 0, 0
    for index in sorted(counts):
        if spans and index == following:
            spans[-1] = spans[-1][0], spans[-1][1] + 1
        else:
            spans.append((index - following, 1))
        deltas.append(counts[index] - before)
        following, before = index + 1, counts[index]
    return spans, deltas
