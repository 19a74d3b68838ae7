"""What is reported by a recording's first bytes: whether it is of a study alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.events import Header, Study, encode
from hettop.record.is_study_only import LARGEST, is_study_only
from hettop.studies.layers.result import LayersResult

HEADER = encode(Header(t=0, format="hettop", version=(1, 0)))
STUDY = encode(
    Study(
        t=5, name="layers", state="done", elapsed_ns=5, found=LayersResult(unit="A", total_ms=1, end_to_end_ms=1).line()
    )
)


@pytest.mark.parametrize(
    ("lines", "alone"),
    [
        ([HEADER, STUDY, b'{"k":"end","t":5}'], True),
        ([HEADER, STUDY], True),
        ([HEADER, STUDY, b'{"k":"keyframe","t":5}', b'{"k":"end","t":5}'], True),
        ([HEADER], False),
        ([HEADER, b'{"k":"mark","t":1}', STUDY], False),
        ([HEADER, STUDY, b'{"k":"mark","t":6}', b'{"k":"end","t":6}'], False),
        ([HEADER, STUDY, b" " * LARGEST], False),
        ([], False),
    ],
)
def test_a_study_is_alone_between_header_and_end(lines: list[bytes], alone: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert is_study_only(path) is alone


def test_what_cannot_be_read_is_no_such_recording(tmp_path: Path) -> None:
    assert not is_study_only(tmp_path)
    assert not is_study_only(tmp_path / "absent")
