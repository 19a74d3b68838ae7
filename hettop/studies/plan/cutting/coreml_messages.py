"""What the process that measures Core ML's slices is reported, and what it answers."""

from __future__ import annotations

import msgspec

from hettop.sources.engine.placement import OpFacts
from hettop.studies.plan.cutting.messages import Piece, Subject
from hettop.studies.plan.cutting.result import Moved

PATIENCE_S = 900.0
"""How long a load with its first call, or a turn of calls, may take: the first load of a large model takes minutes."""


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """What all jobs have in common."""

    subject: Subject
    hints: dict[str, str] = {}
    patience_s: float = PATIENCE_S


class PrepareJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="prepare"):
    """Have the model's package ready: a network that hettop knows is built."""

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


class ProgramRunJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="k", tag="run"):
    """Run the pieces one after another, in turns with the whole model on each of the units `whole`."""

    common: Common
    pieces: tuple[Piece, ...]
    whole: tuple[str, ...]
    reference: str


ProgramJob = PrepareJob | FitJob | MeasureJob | ProgramRunJob


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of what a unit loaded. plan_lost: why it could not be read, and there are no facts."""

    facts: tuple[OpFacts, ...] = ()
    plan_lost: str = ""


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """Times of the pieces, and what the trials' values cost to move."""

    piece_ms: tuple[float, ...]
    moved: tuple[Moved, ...]
