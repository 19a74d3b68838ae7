"""What coremltools says when it fails, as hettop tells it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.sources.engine.coreml.framework import Framework
from tests.coreml.bench import Bench

pytest.importorskip("coremltools", reason="coremltools is not installed")


def test_a_compilation_on_a_full_disk_may_be_tried_elsewhere_and_another_failure_not(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.set(raise_in_compile="[Errno 28] No space left on device")
    with bench.here(), pytest.raises(OSError, match="No space left") as full:
        Framework().compile_model(tmp_path / "a.mlpackage", tmp_path / "a.mlmodelc")
    assert full.value.errno == errno.ENOSPC
    bench.set(raise_in_compile="no such opset")
    with bench.here(), pytest.raises(HettopError, match=": no such opset"):
        Framework().compile_model(tmp_path / "a.mlpackage", tmp_path / "a.mlmodelc")
