"""What every format must keep: exports of anything succeed, are private, deterministic, bounded, and clean."""

from __future__ import annotations

import io
import os
import re
import stat
import subprocess
import sys
import tracemalloc
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.export.formats import FORMATS, Files, Format, Stream
from hettop.record.opened import Recording, open_recording
from hettop.record.writer import Writer
from hettop.text import UNSAFE_CATEGORIES
from tests.cli.running import plain_environment
from tests.export.recordings import empty, everything, hostile, simulated
from tests.processes.waiting import PATIENCE_S
from tests.record.stories import MS, SECOND, header, window

NEEDS = {"parquet": "pyarrow", "hdr": "hdrh"}
MAKERS: dict[str, Callable[[Path], Recording]] = {
    "everything": everything, "simulated": simulated, "empty": empty, "hostile": hostile,
}  # fmt: skip


@pytest.fixture(params=sorted(FORMATS))
def chosen(request: pytest.FixtureRequest) -> Format:
    name: str = request.param
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return FORMATS[name]


def exported(chosen: Format, recording: Recording, folder: Path, name: str = "out") -> list[Path]:
    with Files(folder / f"{name}{chosen.suffix}", chosen.beginnings) as files:
        chosen.load()(recording, files)
    return files.paths


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_anything_can_be_exported_with_the_mode_of_the_umask(chosen: Format, kind: str, tmp_path: Path) -> None:
    for path in exported(chosen, MAKERS[kind](tmp_path), tmp_path):
        os.umask(mask := os.umask(0o077))
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        assert path.read_bytes()


def test_an_export_begins_as_its_format_says_so_that_it_can_be_replaced(chosen: Format, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    for path in exported(chosen, recording, tmp_path):
        assert path.read_bytes().startswith(chosen.beginnings)
    with Files(tmp_path / f"out{chosen.suffix}", chosen.beginnings, force=True) as files:
        chosen.load()(recording, files)


def test_nothing_is_replaced_without_force_and_no_recording_with_it(chosen: Format, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    before = recording.path.read_bytes()
    for force, words in ((False, "already exists"), (True, "has another format")):
        with pytest.raises(HettopError, match=words):
            Files(recording.path, chosen.beginnings, force=force)
    assert recording.path.read_bytes() == before


def test_the_same_recording_gives_the_same_bytes(chosen: Format, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    first, second = (exported(chosen, recording, tmp_path, name)[0].read_bytes() for name in ("a", "b"))
    assert first == second


def test_a_simulated_recording_says_so(chosen: Format, tmp_path: Path) -> None:
    for path in exported(chosen, simulated(tmp_path), tmp_path):
        assert re.search(rb"simulated", path.read_bytes(), re.IGNORECASE)


def test_no_text_of_a_file_gets_through_uncleaned(chosen: Format, tmp_path: Path) -> None:
    if chosen.name == "parquet":
        pytest.skip("binary; its texts are read back in a test of its own")
    for path in exported(chosen, hostile(tmp_path), tmp_path):
        text = path.read_text()
        assert "onerror" in text or chosen.name == "hdr", "this test tests nothing"
        unsafe = {c for c in text if unicodedata.category(c) in UNSAFE_CATEGORIES} - {"\n"}
        assert unsafe == set()


def test_a_pipe_takes_the_first_file(chosen: Format, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    pipe = io.BytesIO()
    chosen.load()(recording, Stream(pipe))
    assert pipe.getvalue() == exported(chosen, recording, tmp_path)[0].read_bytes()


def test_a_failed_export_leaves_nothing_behind(chosen: Format, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    before = set(tmp_path.iterdir())
    files = Files(tmp_path / "out", chosen.beginnings)
    chosen.load()(recording, files)
    files.__exit__(RuntimeError, RuntimeError(), None)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_without_its_library_a_format_says_what_to_install(name: str, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    code = (
        f"import sys; sys.modules[{NEEDS[name]!r}] = None; from hettop.cli.main import run; "
        f"sys.exit(run(['export', {os.fspath(recording.path)!r}, '--to', {name!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env=plain_environment(),
    )  # fmt: skip
    assert done.returncode == 2
    assert f"hettop[{name}]" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [recording.path.name]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 samples in 100 windows."""
    path = tmp_path_factory.mktemp("long") / "long.jsonl"
    writer = Writer(path, header())
    for second in range(100):
        writer.write(window(second * SECOND, [MS - 1_000 + n % 2_000 for n in range(990)], gaps=[0] * 990))
    writer.close("done", 101 * SECOND)
    return path


@pytest.mark.parametrize("name", ["csv", "perfetto", "hdr"])
def test_memory_does_not_grow_with_the_recording(name: str, long: Path, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    recording = open_recording(long)
    export = FORMATS[name].load()
    with Files(tmp_path / "out", ()) as files:
        tracemalloc.start()
        export(recording, files)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # All samples at once, as Python's numbers, would be some 7 MB a column.
    assert peak < 5_000_000
