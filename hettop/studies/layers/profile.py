"""Reads the profile that ONNX Runtime writes: which nodes ran in each call, and how long.

Times are whole microseconds there.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hettop.errors import HettopError

KERNEL = "_kernel_time"
US_PER_MS = 1000


@dataclass(frozen=True, slots=True)
class RanNode:
    """A node of the runtime's own graph. nbytes: inputs, weights and outputs as it held them; None if unknown."""

    name: str
    op: str
    index: int
    ms: float
    nbytes: int | None


@dataclass(frozen=True, slots=True)
class _Event:
    key: tuple[str, str, int]
    start: int
    end: int
    nbytes: int | None


def read_profile(text: str | bytes, warmup: int) -> tuple[RanNode, ...]:
    """Nodes in the order in which they first ran, with their time a call; the first `warmup` calls are left out.

    A node that runs several times in a call (the body of a loop) has the sum; one that runs others inside it (the loop)
    has its own time without theirs. Raises HettopError: `predict` if the profile holds no call, or was cut.
    """
    try:
        entries = json.loads(text)
        runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in entries if e.get("name") == "model_run")[warmup:]
        events = [_event(e) for e in entries if e.get("cat") == "Node" and e["name"].endswith(KERNEL)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HettopError(
            "predict", "ONNX Runtime's profile cannot be read", "profile fewer runs: --runs 10"
        ) from error
    if not runs:
        raise HettopError("predict", "ONNX Runtime's profile holds no complete call", "profile fewer runs: --runs 10")
    return _nodes(events, runs)


def mean_of_the_middle(values: Iterable[float]) -> float:
    """The mean of the middle half (interquartile mean): robust as a median, and finer than whole microseconds."""
    ranked = np.sort(np.fromiter(values, dtype=np.float64))
    cut = len(ranked) // 4
    return float(ranked[cut : len(ranked) - cut].mean())


def _nodes(events: Sequence[_Event], runs: Sequence[tuple[int, int]]) -> tuple[RanNode, ...]:
    starts = [start for start, _ in runs]
    spent: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0] * len(runs))
    nbytes: dict[tuple[str, str, int], int | None] = {}
    for event, own in _own_times(events):
        run = bisect_right(starts, event.start) - 1
        if run >= 0 and event.end <= runs[run][1] + 1:  # both ends are rounded down by themselves
            spent[event.key][run] += own
            nbytes.setdefault(event.key, event.nbytes)
    return tuple(
        RanNode(*key, ms=mean_of_the_middle(times) / US_PER_MS, nbytes=nbytes[key]) for key, times in spent.items()
    )


def _own_times(events: Sequence[_Event]) -> list[tuple[_Event, int]]:
    """Events by start, each with its time less that of the events inside it."""
    ordered = sorted(events, key=lambda event: (event.start, -event.end))
    own = [event.end - event.start for event in ordered]
    around: list[int] = []
    for index, event in enumerate(ordered):
        while around and not _is_inside(event, ordered[around[-1]]):
            around.pop()
        if around:
            own[around[-1]] -= event.end - event.start
        around.append(index)
    return [(event, max(0, time)) for event, time in zip(ordered, own, strict=True)]


def _is_inside(event: _Event, outer: _Event) -> bool:
    """Start and length are rounded down by themselves, so that an inner event may seem to end a microsecond later."""
    return event.start < outer.end and event.end <= outer.end + 1


def _event(entry: Mapping[str, Any]) -> _Event:
    args = entry["args"]
    key = (entry["name"].removesuffix(KERNEL), str(args.get("op_name", "")), int(args.get("node_index", -1)))
    sizes = [args.get(name) for name in ("activation_size", "parameter_size", "output_size")]
    known = [int(size) for size in sizes if size is not None]
    return _Event(key, entry["ts"], entry["ts"] + entry["dur"], sum(known) if len(known) == len(sizes) else None)
