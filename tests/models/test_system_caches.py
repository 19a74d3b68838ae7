"""Caches of Core ML and its like are measured without harm: bounded, links not followed, refusals reported."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hettop.models.system_caches import SYSTEM_CACHES, Folders, system_usage

PYTHON = "Library/Caches/python/com.apple.e5rt.e5bundlecache"


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("home", "T", "root"):
        (tmp_path / name).mkdir()
    return Folders(tmp_path / "home", tmp_path / "T", tmp_path / "root")


def cache_in(folders: Folders, *sizes: int) -> Path:
    """A cache of Python's with files of these sizes."""
    assert folders.home is not None
    place = folders.home / PYTHON
    (place / "24E263" / "A.bundle").mkdir(parents=True)
    for number, nbytes in enumerate(sizes):
        (place / "24E263" / "A.bundle" / f"{number}.bin").write_bytes(bytes(nbytes))
    return place


def test_nothing_is_reported_of_what_is_not_there(folders: Folders) -> None:
    assert system_usage(folders) == []
    assert system_usage(Folders(None, folders.temporary, folders.root)) == []


def test_the_size_is_that_of_all_files(folders: Folders) -> None:
    cache_in(folders, 1_000, 234)
    (found,) = system_usage(folders)
    assert (found.nbytes, found.complete, found.denied) == (1_234, True, False)
    assert found.patterns == ("~/Library/Caches/python*/com.apple.e5rt.e5bundlecache",)


@pytest.mark.parametrize("name", ["python", "python3", "python3.11", "org.python.python", "com.apple.python3"])
def test_every_python_has_its_folder(name: str, folders: Folders) -> None:
    assert folders.home is not None
    (folders.home / "Library" / "Caches" / name / "com.apple.e5rt.e5bundlecache").mkdir(parents=True)
    assert [found.cache.name for found in system_usage(folders)] == ["Core ML's cache for Python"]


def test_temporary_models_may_be_files_or_folders(folders: Folders) -> None:
    (folders.temporary / "onnxruntime-6F1C-4711-0001").write_bytes(bytes(10))
    (folders.temporary / "tmpab12.mlpackage").mkdir()
    (folders.temporary / "tmpab12.mlpackage" / "weight.bin").write_bytes(bytes(20))
    (folders.temporary / "Net_6F1C.mlmodelc").mkdir()
    (folders.temporary / "something else").write_bytes(bytes(40))
    (found,) = system_usage(folders)
    assert found.nbytes == 30
    at = shlex.quote(str(folders.temporary))
    assert found.command == f"rm -rf {at}/onnxruntime-* {at}/tmp*.mlpackage {at}/*.mlmodelc"


def test_links_are_not_followed_wherever_they_stand(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "file").write_bytes(bytes(5_000_000))
    place = cache_in(folders, 7)
    (place / "out").symlink_to(tmp_path / "large")
    (place / "round").symlink_to(place)
    (folders.temporary / "onnxruntime-link").symlink_to(tmp_path / "large")
    (found,) = system_usage(folders)
    assert 7 <= found.nbytes < 5_000, "a link counts as what it takes itself"


def test_at_most_so_many_entries_are_looked_at(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_in(folders, *[1] * 50)
    seen, scan = 0, os.scandir

    class Counting:
        """As `os.scandir`, counting the entries of the cache that it hands out."""

        def __init__(self, path: Any) -> None:
            self._found, self._counts = scan(path), PYTHON in str(path)

        def __enter__(self) -> Iterator[Any]:
            return self

        def __exit__(self, *_: object) -> None:
            self._found.close()

        def __iter__(self) -> Iterator[Any]:
            return self

        def __next__(self) -> Any:
            nonlocal seen
            entry = next(self._found)
            seen += self._counts
            return entry

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", Counting)
        (found,) = system_usage(folders, most_entries=12)
    assert (found.nbytes, found.complete) == (9, False), "three folders, then nine files"
    assert seen == 12
    assert system_usage(folders, most_entries=53)[0].complete


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_reported_and_the_rest_counted(folders: Folders) -> None:
    place = cache_in(folders, 1_000)
    (closed := place / "closed").mkdir(mode=0o000)
    (found,) = system_usage(folders)
    closed.chmod(0o700)
    assert (found.nbytes, found.denied, found.complete) == (1_000, True, True)


def test_a_refusal_of_the_systems_is_no_end(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a Mac refuses the Neural Engine's cache, to root as well."""
    (vault := folders.root / "Library" / "Caches" / "com.apple.aned").mkdir(parents=True)
    scan = os.scandir

    def refusing(path: Any) -> Any:
        if Path(path) == vault:
            raise PermissionError(1, "Operation not permitted", str(path))
        return scan(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refusing)
        (found,) = system_usage(folders)
    assert (found.cache.name, found.nbytes, found.denied, found.command) == ("Neural Engine's cache", 0, True, "")


def test_no_command_can_reach_beyond_its_cache() -> None:
    patterns = [pattern for cache in SYSTEM_CACHES if cache.removable for pattern in cache.patterns]
    assert all(pattern.startswith(("~/Library/Caches/", "$TMPDIR/")) for pattern in patterns)
    ends = [pattern.rpartition("/")[2] for pattern in patterns]
    assert all(
        end.strip("*") and ("e5bundlecache" in end or "mlmodelc" in end or "mlpackage" in end or "onnx" in end)
        for end in ends
    )


def test_folders_count_as_entries_so_that_empty_ones_have_an_end_too(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(50):
        (folders.temporary / f"onnxruntime-{n}").mkdir()
    looked, scandir = [], os.scandir

    def watched(path: Any) -> Any:
        looked.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", watched)
    (found,) = system_usage(folders, most_entries=10)
    assert not found.complete
    assert len([path for path in looked if Path(path).name.startswith("onnxruntime-")]) == 11


def test_the_command_quotes_a_folder_whose_name_a_shell_would_split(tmp_path: Path) -> None:
    (temporary := tmp_path / "my tmp").mkdir()
    (temporary / "onnxruntime-1").mkdir()
    (mine := tmp_path / "my").mkdir()
    (found,) = system_usage(Folders(None, temporary))
    subprocess.run(["sh", "-c", found.command], check=True)
    assert mine.is_dir()
    assert not list(temporary.iterdir())
