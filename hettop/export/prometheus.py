"""A live session for Prometheus: the words of the OpenMetrics export, as the client library's metrics.

Knows the folded session and the library; who asks, and how, is decided elsewhere. Native histograms are added where
the library has them, beside the classic buckets; a scraper gets those it asks for.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

from hettop.errors import HettopError
from hettop.export.openmetrics import LATENCY, labels_of, openmetrics_text
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.stats.histogram import bucket_middle

# 16 buckets an octave, each 4.4 % wide. A bucket of the fold, at most 1/128 wide, goes where its middle lies.
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
