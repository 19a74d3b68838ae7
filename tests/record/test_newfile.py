"""Where a new file cannot be, in words that are so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.record.disk import NewFile


def test_a_folder_that_is_not_there_is_named_and_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="folder not found:") as refused:
        NewFile(tmp_path / "none" / "a.jsonl")
    assert refused.value.hint == f"mkdir -p {tmp_path / 'none'}"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe has no name like that")
def test_a_pipe_under_the_name_of_a_file_is_no_plain_file() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(HettopError, match="is not a regular file"):
            NewFile(Path(f"/proc/self/fd/{writing}"), force=True)
    finally:
        os.close(reading)
        os.close(writing)
