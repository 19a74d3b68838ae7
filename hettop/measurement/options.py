"""The options of a measurement as plain values, and the published protocols that set their defaults.

Imports nothing heavy: the help of every command imports this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hettop.errors import HettopError
from hettop.units import NS_PER_S

DEFAULT_MODEL = "mobilenetv2"
DEFAULT_WARMUP = 10
ANSWER_RUNS, ANSWER_WARMUP = 30, 2
"""Of answers, each of which has many tokens, and takes seconds with a server."""

LONGEST_WARMUP = 1000
"""The most calls of a warm-up that ends when the unit is steady."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Answers token by token, as on the command line; None: the default. See `sources.engine.job.AnswerJob`."""

    prompt_tokens: int | None = None
    max_tokens: int | None = None
    prompts: str | None = None
    served: str | None = None
    concurrency: int | None = None
    temperature: float | None = None
    state: tuple[str, ...] = ()
    remote: bool = False

    def given(self) -> dict[str, Any]:
        """Those that differ from the default, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, (), False)}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model and its inputs, as on the command line.

    strict: whether a unit must run the whole model. custom_ops: libraries of custom operators.
    """

    model: str = DEFAULT_MODEL
    backend: str | None = None
    function: str | None = None
    shapes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    seed: int = 0
    strict: bool = False
    custom_ops: tuple[str, ...] = ()
    answers: AnswerOptions = AnswerOptions()


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """How to measure: the limits per unit (steady samples or time), arrivals a second, competing load, recording.

    warmup: calls after the first that do not count; `until_steady`, at most so many.
    least_runs: steady samples that are taken even if the time is over. rest_ns: a rest before each sample.
    protocol: the published protocol, as it is recorded.
    canary: whether a process counts the frames that a 60 Hz screen misses meanwhile.
    budget, energy: requirements of the verdict on the screen, as options of `hettop decide`.
    prometheus: the port of this machine's loopback on which metrics are served; None: nowhere.
    power: the source of power by name, `none`, or None for the best there is. why_no_power: reason and fix that are
    reported where it is `none` without the user's choice.
    """

    warmup: int = DEFAULT_WARMUP
    until_steady: bool = False
    runs: int | None = None
    duration_ns: int | None = None
    least_runs: int = 0
    rest_ns: int = 0
    rate_hz: float | None = None
    interleave: bool = False
    load: str = "none"
    canary: bool = False
    power: str | None = None
    why_no_power: tuple[str, str] | None = None
    budget: str | None = None
    energy: str | None = None
    record: str | None = None
    force: bool = False
    prometheus: int | None = None
    protocol: Mapping[str, Any] | None = None


def metrics_address(port: int) -> str:
    """Where metrics are served: on this machine's loopback alone."""
    return f"http://127.0.0.1:{port}/metrics"


MLPERF_DURATION_NS = 60 * NS_PER_S
"""A tenth of what MLPerf's own configuration asks for (min_duration of SingleStream): units are several here."""

MLPERF_SAMPLES = 64
"""Below it LoadGen's early stopping cannot bear out a 90th percentile."""

NO_REST = "add --rest 0, or use another protocol"


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
    """`options` with the defaults of the protocol, overridden by `given` (by the names of `MeasureOptions`).

    Raises HettopError (`usage`) for pauses together with turns or a rate.
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
        raise HettopError("usage", f"{why} leaves no time for pauses between samples", NO_REST)
    if protocol is None:
        return found
    overridden = {key: value for key, value in given.items() if value != getattr(options, key)}
    if found.until_steady:
        overridden.pop("warmup", None)
    document = {
        "name": protocol.name,
        "words": protocol.words,
        "figures": list(protocol.figures),
        "overridden": overridden,
    }
    return replace(found, protocol=document)
