"""What the process that measures Core ML's slices is told, and what it answers: one line of JSON each.

Knows neither who asks nor how it is measured.
"""

from __future__ import annotations

import msgspec

from hettop.sources.engine.placement import OpFacts
from hettop.studies.plan.cutting.messages import Failed, Piece, Subject
from hettop.studies.plan.cutting.result import Moved, Ran

PATIENCE_S = 900.0
"""How long a load with its first call, or a turn of calls, may take: the first load of a large model takes minutes."""


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """folder: for scratch files; whoever asks removes it."""

    subject: Subject
    hints: dict[str, str] = {}
    patience_s: float = PATIENCE_S
    folder: str = ""


class PrepareJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="prepare"):
    """Have the model's package ready: the default model is built."""

    common: Common


class FitJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="fit"):
    """Load steps on a unit, run them once, and read the plan. whole: they are all there are."""

    common: Common
    unit: str
    first: int
    last: int
    whole: bool


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A cut after step `after`, of the steps `first` to `last`, on the subject's device of this index."""

    device: int
    first: int
    after: int
    last: int
    nbytes: int


class MeasureJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="measure"):
    """Time the pieces in turns, then each trial against the steps around it. steps: how many there are."""

    common: Common
    pieces: tuple[Piece, ...]
    trials: tuple[Trial, ...]
    steps: int


class RunJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="run"):
    """Run the pieces one after another, in turns with the whole model on each of the units `whole`."""

    common: Common
    pieces: tuple[Piece, ...]
    whole: tuple[str, ...]
    reference: str


Job = PrepareJob | FitJob | MeasureJob | RunJob


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """facts: of a fit; piece_ms, moved: of a measurement; ran: of a run. Or why there is nothing.

    plan_lost: of a fit, why its plan could not be read, and there are no facts. log_warnings: of the process's log, in
    sentences; set by who read it.
    """

    facts: tuple[OpFacts, ...] = ()
    plan_lost: str = ""
    log_warnings: tuple[str, ...] = ()
    piece_ms: tuple[float, ...] = ()
    moved: tuple[Moved, ...] = ()
    ran: Ran | None = None
    failed: Failed | None = None


encode = msgspec.json.Encoder().encode
decode_job = msgspec.json.Decoder(Job).decode
decode_answer = msgspec.json.Decoder(Answer).decode
