"""Published ways to measure, by name: each a set of defaults, which options override.

Knows options and nothing of engines; what was overridden stays with the recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_WARMUP, MeasureOptions
from hettop.units import NS_PER_S

MLPERF_DURATION_NS = 60 * NS_PER_S
"""A tenth of what MLPerf's own configuration asks for (min_duration of SingleStream): units are several here."""

MLPERF_SAMPLES = 64
"""Below it LoadGen's early stopping cannot bear out a 90th percentile."""

NO_REST = "with rests, units run one after another and nothing arrives at a rate: --rest 0, or another protocol"


@dataclass(frozen=True, slots=True)
class Protocol:
    """`figures` are what it reports as the result, as the statistics object names them. See `MeasureOptions`."""

    name: str
    words: str
    figures: tuple[str, ...]
    warmup: int = DEFAULT_WARMUP
    runs: int | None = None
    duration_ns: int | None = None
    least_runs: int = 0
    rest_ns: int = 0


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("m2", "10 warm-ups, 100 runs back to back", ("mean_ms", "p90_ms"), runs=100),
        Protocol(
            "embench", "10 warm-ups, 50 runs, 2 s of rest between runs", ("min_ms",), runs=50, rest_ns=2 * NS_PER_S
        ),
        Protocol(
            "mlperf",
            "like MLPerf's single stream: back to back, 60 s and 64 runs at least",
            ("p90_ms", "p90_early_stopping_ms"),
            duration_ns=MLPERF_DURATION_NS,
            least_runs=MLPERF_SAMPLES,
        ),
    )
}


def under_protocol(name: str | None, given: Mapping[str, Any], options: MeasureOptions) -> MeasureOptions:
    """`options` with what the protocol says and with what was `given` (by the names of `MeasureOptions`), which wins.

    Raises HettopError (`usage`) where rests and turns, or rests and a rate, were to be had together.
    """
    protocol = None if name is None else PROTOCOLS[name]
    if protocol is not None:
        options = replace(
            options,
            warmup=protocol.warmup,
            runs=None if "duration_ns" in given else protocol.runs,
            duration_ns=None if "runs" in given else protocol.duration_ns,
            least_runs=0 if "runs" in given else protocol.least_runs,
            rest_ns=protocol.rest_ns,
            interleave=False,
        )
    found = replace(options, **given)
    if found.rest_ns and (found.interleave or found.rate_hz is not None):
        why = "--interleave" if found.interleave else "--rate"
        raise HettopError("usage", f"{why} leaves no room for rests between samples", NO_REST)
    if protocol is None:
        return found
    overridden = {key: value for key, value in given.items() if value != getattr(options, key)}
    if found.until_steady:
        overridden.pop("warmup", None)
    told = {"name": protocol.name, "words": protocol.words, "figures": list(protocol.figures), "overridden": overridden}
    return replace(found, protocol=told)
