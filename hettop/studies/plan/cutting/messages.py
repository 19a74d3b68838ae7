"""What the process that cuts and measures is told, and what it says on the way to its answer.

Knows neither who asks nor how it is measured.
"""

from __future__ import annotations

import msgspec

from hettop.models.ports import InputOptions
from hettop.studies.plan.cutting.result import Compared

WARMUP, RUNS = 10, 50
"""As layers are measured."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The model, its inputs, and the devices: units of ONNX Runtime's CPU engine."""

    model: str
    devices: tuple[str, ...]
    function: str | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
    warmup: int = WARMUP
    runs: int = RUNS

    def inputs(self) -> InputOptions:
        return InputOptions(seed=self.seed, shapes=self.shapes, values=self.values)


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A slice of a plan: steps of the model's flow, both included, on a device."""

    first: int
    last: int
    device: str


class SurveyJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="survey"):
    """Measure the layers and the communication."""

    subject: Subject


class RunJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="run"):
    """Run the slices one after another, in turns with the whole model on each device."""

    subject: Subject
    pieces: tuple[Piece, ...]


class CompareJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="compare"):
    """Run the model in parallel in every way there is, with `threads` threads, in turns, for `duration_ns` in all."""

    subject: Subject
    threads: int
    duration_ns: int


CuttingJob = SurveyJob | RunJob | CompareJob


class MeasuringProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line on the way to the answer: what is going on, the share of all that is done (0..1), and what is known."""

    doing: str
    share: float
    compared: Compared | None = None
