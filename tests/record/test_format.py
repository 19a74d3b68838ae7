"""The format page says what the code does."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.record.limits import CLOCK_SLACK_NS
from hettop.record.reader import LOOK_AHEAD
from hettop.session.session import LONGEST_WINDOW_NS
from hettop.stats.histogram import Histogram, bucket_index
from tests.record.stories import SECOND, read, samples_of

PAGE = (Path(__file__).parents[2] / "docs/reference/format.md").read_text()


def block(language: str) -> str:
    return PAGE.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def test_its_example_is_a_sound_recording(tmp_path: Path) -> None:
    path = tmp_path / "example.jsonl"
    path.write_text(block("json"))
    found, report = read(path)
    assert not report.skipped
    assert [event.t for event in found] == [json.loads(line)["t"] for line in block("json").splitlines()]
    assert [start for _, _, start, _ in samples_of(found)] == [1_397_000_000, 1_397_334_400, 1_397_667_619]


@pytest.mark.parametrize("kind", sorted(events.KINDS))
def test_it_names_every_kind_and_field(kind: str) -> None:
    struct = next(made for made in events.AnyEvent.__args__ if made.__struct_config__.tag == kind)
    assert f"| `{kind}` |" in PAGE
    for found in msgspec.structs.fields(struct):
        assert f"`{found.encode_name}`" in PAGE, found.encode_name


def test_its_numbers_are_the_code_s() -> None:
    assert LOOK_AHEAD == 9
    assert "the next nine lines" in PAGE
    assert f"minus {(LONGEST_WINDOW_NS + CLOCK_SLACK_NS) // SECOND} s" in PAGE
    assert bucket_index(np.array([1, 1_000, 1_000_000])).tolist() == [0, 1_274, 2_548]


def test_its_python_reads_a_histogram() -> None:
    histogram = Histogram()
    histogram.add(np.array([1, 1, 1_000, 1_000_000]))
    found: dict[str, object] = {}
    exec(block("python"), found)
    read_back = found["buckets"](histogram.encode())  # type: ignore[operator]
    assert list(read_back) == [(0, 2), (1_274, 1), (2_548, 1)]
