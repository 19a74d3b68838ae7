"""What the engine processes report: samples, states, what runs where, and whether the answers agree.

Times are nanoseconds of the session clock.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from hettop.events.base import (
    LARGEST_EXACT,
    NAMED_LIMIT,
    SPANS_LIMIT,
    WINDOW_LIMIT,
    Column,
    Count,
    Event,
    Failure,
    Nanoseconds,
    Ratio,
    Share,
    Text,
)


class Samples(Event, frozen=True, kw_only=True, tag="samples", eq=False):
    """One unit's window: `n` consecutive samples of one condition and phase.

    `t0` is the start of the first sample. `gap_ns[i]` is the start of sample i minus the unit's previous end
    (`gap_ns[0]` is informative: `t0` rules); `lat_ns` is service time; `native_ns` the framework's own time;
    `late_ns` the actual minus the planned start of a paced sample.
    Of a token stream, the samples are tokens of one `answer` (its number), from this `position` in it on: position 0 is
    the first token, a row of its own, whose latency counts from the request.
    """

    unit: Text
    condition: Text
    phase: Text
    t0: Nanoseconds
    n: Annotated[int, msgspec.Meta(ge=1, le=WINDOW_LIMIT)]
    gap_ns: Column
    lat_ns: Column
    native_ns: Column | None = None
    late_ns: Column | None = None
    thermal: Text | None = None
    answer: Count | None = None
    position: Count | None = None

    def starts_ns(self) -> Column:
        """Start of every sample on the session clock, exactly as measured."""
        starts = np.empty(self.n, dtype=np.int64)
        starts[0] = self.t0
        starts[1:] = self.gap_ns[1:] + self.lat_ns[:-1]
        return np.cumsum(starts)


class Answer(Event, frozen=True, kw_only=True, tag="answer", eq=False):
    """One answer of a token stream has ended: `t0` is when it was asked for, `end_ns` when its last chunk came.

    `first_ns` is the time to its first token, None without one; `late_ns` the actual minus the planned start at a rate.
    `chunks` came in all, of which `several` held more than one token, or came with others: their gaps are no samples.
    `gaps_counted` is false where no gap is, as the server counts more tokens than it sends chunks. `tokens`,
    `prompt_tokens`, and `cached_tokens`, those of the prompt that were read for an earlier one, are as counted by who
    answers, None where unknown. `longest_ns` is the longest gap between two chunks.
    `finish` is `length`, `stop`, `cut` (by hettop), `failed` (why: `error`), `content_filter`, `tool_calls`, or
    `other` for any other word of a server.
    """

    unit: Text
    condition: Text
    phase: Text
    answer: Count
    t0: Nanoseconds
    end_ns: Nanoseconds
    chunks: Count
    several: Count = 0
    gaps_counted: bool = True
    tokens: Count | None = None
    prompt_tokens: Count | None = None
    cached_tokens: Count | None = None
    first_ns: Nanoseconds | None = None
    late_ns: Annotated[int, msgspec.Meta(ge=-LARGEST_EXACT, le=LARGEST_EXACT)] | None = None
    longest_ns: Nanoseconds | None = None
    finish: Text = ""
    error: Text | None = None


class ProviderNodes(msgspec.Struct, frozen=True, kw_only=True):
    """How many nodes of a graph ONNX Runtime assigned to one execution provider, by its full name, and in how many
    groups that follow each other."""

    provider: Text
    nodes: Count
    partitions: Count


class Engine(Event, frozen=True, kw_only=True, tag="engine", eq=False):
    """A unit's engine process changed state, or reported something new about itself.

    `placed` says what is known to run the model; None until a plan or counters say, and
    `provider_nodes` how the framework assigned the nodes, None where it does not report it. `unfinished` counts paced
    arrivals that were due and not started when the unit paused or stopped; after a pause they are served first.
    `inputs` are the loaded model's, as `name dtype[shape]`. `compile_ns` is what compiling the model took before
    the load, `cached` whether an earlier compilation was used instead; both None where nothing is compiled. `qos`
    is the worker's quality of service, where the system has such classes. `entered_ns` is when the process itself
    entered the state, where it says so (`loading`, `compiling`); `t` is when hettop learned of it.
    """

    unit: Text
    state: Text
    entered_ns: Nanoseconds | None = None
    backend: Text | None = None
    load_ns: Nanoseconds | None = None
    first_ns: Nanoseconds | None = None
    compile_ns: Nanoseconds | None = None
    cached: bool | None = None
    placed: Text | None = None
    provider_nodes: Annotated[list[ProviderNodes], msgspec.Meta(max_length=16)] | None = None
    note: Text | None = None
    peak_memory_mb: Ratio | None = None
    unfinished: Count | None = None
    pid: Count | None = None
    qos: Text | None = None
    inputs: list[Text] = []
    error: Failure | None = None


class Interrupted(Event, frozen=True, kw_only=True, tag="interrupted", eq=False):
    """A unit's process did not run for about `ns` (0: not known): it was `stopped` (Ctrl-Z), or the machine `asleep`.

    Its samples around that moment are in phase `transition`, and the next one is a `resume`.
    """

    unit: Text
    why: Text
    ns: Nanoseconds = 0


COLLECTED, FAULTED_MAJOR, FAULTED_MINOR, SWITCHED = 1, 2, 4, 8
"""Bits of what a stretch of `Usage.spans` was charged with."""


class Usage(Event, frozen=True, kw_only=True, tag="usage", eq=False):
    """What the operating system charged an engine process since its last report.

    `spans` says when: (start in ms, end in ms, sum of the bits `COLLECTED` ... `SWITCHED`) of each stretch between two
    flushes, some 50 ms, that was charged with anything.
    """

    unit: Text
    minor_faults: Count = 0
    major_faults: Count = 0
    voluntary_switches: Count = 0
    involuntary_switches: Count = 0
    collections: Count = 0
    spans: Annotated[list[tuple[Count, Count, Count]], msgspec.Meta(max_length=SPANS_LIMIT)] = []


class PlannedDevice(msgspec.Struct, frozen=True, kw_only=True):
    """How many operations a plan gives to a device, and their share of the estimated cost."""

    device: Text
    ops: Count
    cost: Share | None = None


class PlannedOp(msgspec.Struct, frozen=True, kw_only=True):
    """One operation as planned: the device preferred for it, those that could run it, its share of the whole cost.

    `why` is the reason why the accelerator does not take it, where one is known.
    """

    name: Text
    op: Text
    preferred: Text | None
    supported: Annotated[list[Text], msgspec.Meta(max_length=8)] = []
    cost: Share | None = None
    why: Text | None = None


class Plan(Event, frozen=True, kw_only=True, tag="plan", eq=False):
    """Where the framework says that it would run each operation of a unit: a claim, made without running anything.

    `ops` counts the operations that have a place, `unplaced` those of which the framework reports nothing.
    `fallback_*` is
    the share of operations (and of estimated cost) that the wanted `accelerator` does not get; None without one, or
    without costs. `breaks` are the operations that the accelerator does not get, in order, the first `NAMED_LIMIT`.
    `error` says why there is no plan.
    """

    unit: Text
    accelerator: Text | None = None
    ops: Count = 0
    unplaced: Count = 0
    devices: Annotated[list[PlannedDevice], msgspec.Meta(max_length=16)] = []
    fallback_ratio_count: Share | None = None
    fallback_ratio_cost: Share | None = None
    breaks: Annotated[list[PlannedOp], msgspec.Meta(max_length=NAMED_LIMIT)] = []
    error: Failure | None = None


class OutputDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One output against the reference unit's, over `values` compared values on the same inputs.

    `max_abs` is the largest absolute difference, `largest` the largest absolute value of the reference, to judge it
    by; `cosine` the similarity of the two as vectors. `top1` is the share of rows with the same largest entry, None for
    outputs that are no scores; `top5` the share in which the reference's largest entry is among the five largest here,
    None for rows of five entries and fewer. `not_finite` counts values that are NaN or infinite in this unit only.
    """

    name: Text
    values: Count
    max_abs: Ratio | None = None
    largest: Ratio | None = None
    cosine: Annotated[float, msgspec.Meta(ge=-1, le=1)] | None = None
    top1: Share | None = None
    top5: Share | None = None
    not_finite: Count = 0


class Outputs(Event, frozen=True, kw_only=True, tag="outputs", eq=False):
    """How far a unit's answers are from those of `reference` on `inputs` sets of inputs, the worst output first.

    `sampled`: not all values of large outputs were compared, but the same ones in both units.
    """

    unit: Text
    reference: Text
    inputs: Count = 0
    sampled: bool = False
    outputs: Annotated[list[OutputDifference], msgspec.Meta(max_length=NAMED_LIMIT)] = []
    error: Failure | None = None
