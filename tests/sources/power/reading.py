"""Short ways to read bytes, for the tests of the parsers."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hettop.sources.power.file import CaptureParser
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.sample import PowerSample
from hettop.sources.power.text import TextParser
from tests.sources.power.captures import Chip, Truth


def read(parser: CaptureParser, *parts: bytes) -> list[PowerSample]:
    """All samples of a capture that came in these parts."""
    samples = [sample for part in parts for sample in parser.feed(part)]
    return samples + parser.finish()


def read_plist(data: bytes) -> list[PowerSample]:
    return read(PlistParser(), data)


def read_text(data: str) -> list[PowerSample]:
    return read(TextParser(), data.encode())


def one(samples: Iterable[PowerSample]) -> PowerSample:
    (sample,) = samples
    return sample


def assert_clusters(sample: PowerSample, chip: Chip, truth: Truth, slack: float) -> None:
    """Names slowest tier first, frequencies and busy shares as they really were."""
    assert tuple(cluster.name for cluster in sample.clusters) == chip.slowest_first
    by_name = {cluster.name: cluster for cluster in truth.clusters}
    for cluster in sample.clusters:
        assert cluster.mhz == by_name[cluster.name].mhz
        assert cluster.busy == pytest.approx(by_name[cluster.name].busy, abs=slack)
