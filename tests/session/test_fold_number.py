"""The number of the fold: it stands for what folding the same lines gives."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from hettop.events import Keyframe
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.resources import recordings_folder
from hettop.session.session import FIRST_FOLD, FOLD, Session


@pytest.mark.skipif(FOLD != FIRST_FOLD, reason="the shipped recordings' keyframes are of the first fold")
@pytest.mark.parametrize("path", sorted(recordings_folder().glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_fold_that_gives_other_states_has_another_number(path: Path) -> None:
    """Where this fails, folding has changed: raise `FOLD`."""
    session = Session(0)
    compared = 0
    file, _ = open_recording(path)
    with file:
        for event in read_events(file, Report()):
            if isinstance(event, Keyframe):
                compared += 1
                now = session.keyframe(event.t, event.crc32)
                for name in ("samples", "dropped", "load", "thermal", "units", "causes", "canary_state", "baselines"):
                    assert encoded(now, name) == encoded(event, name), name
                for ours, recorded in zip(now.conditions, event.conditions, strict=True):
                    # Drift is in floats, whose last digits may depend on the platform.
                    assert msgspec.structs.replace(ours, drift=None) == msgspec.structs.replace(recorded, drift=None)
            session.fold(event)
    assert compared >= 2


def encoded(keyframe: Keyframe, name: str) -> bytes:
    return msgspec.json.encode(getattr(keyframe, name))
