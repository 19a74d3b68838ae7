"""Runs each layer again and again on each device, so that a power source sees it.

For the measuring process.
"""

from __future__ import annotations

from pathlib import Path

from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import Clock
from hettop.studies.plan.cutting.graph import Part
from hettop.studies.plan.cutting.messages import OPENING, REPEATING, CuttingProgress, RepeatJob, Tell, nobody
from hettop.studies.plan.cutting.result import Block, Blocks
from hettop.studies.plan.cutting.survey import call_of, open_subject
from hettop.units import NS_PER_S

LAST_WINDOW_NS = 2 * NS_PER_S
"""After the last block, until its power has been reported: sources report every half second, some a little late."""


def repeat(
    job: RepeatJob,
    folder: Path,
    cache: ModelCache,
    clock: Clock,
    *,
    tell: Tell = nobody,
) -> Blocks:
    """Raises HettopError: as `open_subject` does, and `load`."""
    progress = CuttingProgress(OPENING + REPEATING * len(job.pieces), tell)
    progress.begin("opening the model", OPENING)
    opened = open_subject(job.subject, folder, cache, clock)
    blocks = []
    for number, piece in enumerate(job.pieces, start=1):
        progress.begin(f"measuring energy on {piece.device}: {number} of {len(job.pieces)}", REPEATING)
        run = call_of(opened, piece.device, Part(piece.first, piece.last), folder)
        run()
        began, calls = clock.now(), 0
        while (ended := clock.now()) - began < job.block_ns:
            run()
            calls += 1
        blocks.append(Block(began, ended, calls))
    clock.sleep_until(clock.now() + LAST_WINDOW_NS)
    return Blocks(tuple(blocks))
