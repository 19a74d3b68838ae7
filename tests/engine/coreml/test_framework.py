"""What coremltools says when it fails, as hettop tells it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from hettop.engine.coreml.framework import Framework, full_disk, reason
from hettop.errors import HettopError
from tests.coreml.bench import Bench

pytest.importorskip("coremltools", reason="coremltools is not installed")

COPYING = shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'"), ("c", "d", "[Errno 28] No space left")])


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (OSError(errno.ENOSPC, "full"), errno.ENOSPC),
        (COPYING, errno.ENOSPC),
        (RuntimeError("cannot copy: Disk quota exceeded"), errno.EDQUOT),
        (RuntimeError("The file couldn't be saved because the volume is out of space."), errno.ENOSPC),
        (RuntimeError("unknown opset"), None),
    ],
)
def test_a_full_disk_is_known_in_any_words(error: Exception, number: int | None) -> None:
    assert full_disk(error) == number


def test_of_many_files_that_cannot_be_copied_the_first_is_told() -> None:
    assert reason(shutil.Error([("a", "b", "Permission denied: 'b'"), ("c", "d", "x")])) == "Permission denied: 'b'"


def test_a_compilation_on_a_full_disk_may_be_tried_elsewhere_and_another_failure_not(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.set(raise_in_compile="[Errno 28] No space left on device")
    with bench.here(), pytest.raises(OSError, match="No space left") as full:
        Framework().compile_model(tmp_path / "a.mlpackage", tmp_path / "a.mlmodelc")
    assert full.value.errno == errno.ENOSPC
    bench.set(raise_in_compile="no such opset")
    with bench.here(), pytest.raises(HettopError, match="cannot be compiled: no such opset"):
        Framework().compile_model(tmp_path / "a.mlpackage", tmp_path / "a.mlmodelc")
