"""Job, answer and progress of the process that cuts a model and measures."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hettop.models.ports import InputOptions
from hettop.studies.plan.cutting.result import Compared

WARMUP, RUNS = 10, 50
"""As layers are measured."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The model, its inputs, and the devices: units of ONNX Runtime."""

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
    """Run the slices one after another, in turns with the whole model on each device; then other plans."""

    subject: Subject
    pieces: tuple[Piece, ...]
    others: tuple[tuple[Piece, ...], ...] = ()


class RepeatJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="repeat"):
    """Run each piece again and again for `block_ns`, one after another."""

    subject: Subject
    pieces: tuple[Piece, ...]
    block_ns: int


class CompareJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="compare"):
    """Run the model in parallel in every way there is, with `threads` threads, in turns, for `duration_ns` in all."""

    subject: Subject
    threads: int
    duration_ns: int


CuttingJob = SurveyJob | RunJob | RepeatJob | CompareJob


class MeasuringProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line on the way to the answer: what is going on, the share of all that is done (0..1), and what is known."""

    doing: str
    share: float
    compared: Compared | None = None


Tell = Callable[[str, float], None]
"""What is going on, and the share of all that is done, 0..1."""


def nobody(_text: str, _share: float) -> None:
    """Where nobody listens."""


OPENING, PROFILING, TIMING, CUTTING, OTHER, REPEATING = 0.4, 1.0, 0.5, 0.6, 0.1, 2.0
"""How long parts take in proportion: PROFILING, TIMING and CUTTING for each device, OTHER for each further plan,
REPEATING for each layer. Of MobileNetV2; other models differ, which only the display of progress notices."""


def survey_weight(devices: int) -> float:
    """Of measuring what a cost table is made of."""
    return OPENING + devices * (PROFILING + TIMING + CUTTING)


def run_weight(devices: int, others: int = 0) -> float:
    """Of running a plan in turns with so many devices, and then with other plans."""
    return OPENING + TIMING * (1 + devices) + OTHER * others


class CuttingProgress:
    """Parts whose weights sum to `total`, each begun in its turn."""

    def __init__(self, total: float, tell: Tell) -> None:
        self._total = total
        self._tell = tell
        self._text = ""
        self._done = 0.0
        self._weight = 0.0

    def begin(self, text: str, weight: float) -> None:
        """The part before is done."""
        self._done += self._weight
        self._text, self._weight = text, weight
        self.within(0.0)

    def within(self, share: float) -> None:
        """So much of this part is done, 0..1."""
        self._tell(self._text, min(1.0, (self._done + share * self._weight) / self._total))
