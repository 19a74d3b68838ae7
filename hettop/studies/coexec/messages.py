"""Messages between the processes of a co-execution: lines of text, for a sequence number is all that travels.

To a worker: its job as JSON, then `+N` (do number N) and `-N` (give N back unless it is begun). From a worker: one
report as JSON, then `=N START END` (N is done; ns of the monotonic clock) and `<N` (given back).
The dispatch is called as any child that answers one job; the end of its stdin is the word to end early.
"""

from __future__ import annotations

import msgspec

from hettop.models.ports import InputOptions
from hettop.processes.serve import Failed
from hettop.studies.coexec.blocks import BLOCK_NS
from hettop.studies.coexec.rates import Result

WARMUP = 10
DEPTH = 64
"""Numbers that the buffer spans: the fastest unit may do some twenty calls while the slowest does one, twice over."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What all workers of a co-execution have in common."""

    backend: str
    model: str
    function: str | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
    hints: dict[str, str] = {}
    warmup: int = WARMUP
    strict: bool = False
    custom_ops: tuple[str, ...] = ()

    def inputs(self) -> InputOptions:
        return InputOptions(seed=self.seed, shapes=self.shapes, values=self.values)


class WorkerJob(msgspec.Struct, frozen=True, kw_only=True):
    """A worker is one unit."""

    unit: str
    work: Work


class CoexecJob(msgspec.Struct, frozen=True, kw_only=True):
    """A co-execution to measure for `duration_ns` in all, loading aside, in blocks of `block_ns` at least.

    Without a duration it goes on until the stream of jobs ends.
    `units` are workers: a unit that is there twice has two, named as `copies` says.
    """

    units: tuple[str, ...]
    work: Work
    duration_ns: int | None
    block_ns: int = BLOCK_NS
    depth: int = DEPTH


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="ready"):
    """A worker can begin; `usual_ns` is the median of its warm-up."""

    usual_ns: int
    simulated: bool
    placed: str | None = None
    note: str = ""
    qos: str | None = None


class CoexecProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What is going on, in words, or what is known by now.

    share: how much is done, 0..1; None before it begins, and where there is no end.
    """

    text: str = ""
    share: float | None = None
    result: Result | None = None


encode = msgspec.json.Encoder().encode
decode_work = msgspec.json.Decoder(WorkerJob).decode
decode_report = msgspec.json.Decoder(Ready | Failed).decode
