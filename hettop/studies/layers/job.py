"""What the measuring process is told, and what it answers: one line of JSON each.

Knows neither who asks nor how it is measured.
"""

from __future__ import annotations

import msgspec

from hettop.models.ports import InputOptions
from hettop.studies.layers.rows import Measured

WARMUP, RUNS = 10, 50
"""As EmBench measures (section 4): ten calls to warm up, fifty that count."""


PROFILED = "onnxruntime"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A model to measure on one unit. folder: for scratch files; whoever asks removes it.

    roofs: whether to measure what the machine can do, too. backend: `onnxruntime` is profiled; of another one that has
    plans, the layers are estimated by its plan.
    """

    model: str
    unit: str
    folder: str
    function: str | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
    warmup: int = WARMUP
    runs: int = RUNS
    roofs: bool = True
    backend: str = PROFILED
    hints: dict[str, str] = {}

    def inputs(self) -> InputOptions:
        return InputOptions(seed=self.seed, shapes=self.shapes, values=self.values)


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing was measured."""

    kind: str
    message: str
    hint: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One of both."""

    measured: Measured | None = None
    failed: Failed | None = None


encode = msgspec.json.Encoder().encode
decode_job = msgspec.json.Decoder(Job).decode
decode_answer = msgspec.json.Decoder(Answer).decode
