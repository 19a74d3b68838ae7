"""Compiled models stay at their paths, are made once, and go when there are too many, but never while in use."""

from __future__ import annotations

import os
import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModel, CompiledModels, compiled_key, default_compiled_models, system_build

SIZE = 1000


def write(source: Path, destination: Path) -> None:
    """Compiles by copying."""
    destination.mkdir()
    (destination / "weights.bin").write_bytes(source.read_bytes())


def package(folder: Path, letter: str) -> Path:
    path = folder / f"{letter}.mlmodel"
    path.write_bytes(letter.encode() * SIZE)
    return path


def models(folder: Path, most_bytes: int = 10 * SIZE) -> CompiledModels:
    return CompiledModels(ModelCache(folder / "cache", folder / "fallback"), most_bytes)


def used(cache: CompiledModels, path: Path, system: str = "24A1") -> CompiledModel:
    return cache.use(path, system, write)


def names(cache: CompiledModels) -> list[str]:
    return [entry.name for entry in cache.entries()]


def age(folder: Path, model: CompiledModel, seconds: int) -> None:
    """As if it had been used last so many seconds after the beginning of 1970."""
    os.utime(folder / "cache" / f".{model.path.parent.name}.use", (seconds, seconds))


def test_a_model_is_compiled_once_and_lies_where_it_lay(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    first = used(cache, source)
    again = models(tmp_path).use(source, "24A1", lambda *_: pytest.fail("compiled twice"))
    assert (first.cached, again.cached) == (False, True)
    assert first.path == again.path == tmp_path / "cache" / compiled_key(source, "24A1") / "a.mlmodelc"
    assert (again.path / "weights.bin").read_bytes() == b"a" * SIZE


def test_other_content_and_another_system_are_other_models(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    first = used(cache, source)
    source.write_bytes(b"changed")
    changed = used(cache, source)
    updated = used(cache, source, "24B2")
    assert len({first.path, changed.path, updated.path}) == 3
    assert not any(model.cached for model in (first, changed, updated))


def test_the_least_recently_used_goes_when_there_is_too_much(tmp_path: Path) -> None:
    cache = models(tmp_path, most_bytes=3 * SIZE)
    for second, letter in enumerate("abc"):
        model = used(cache, package(tmp_path, letter))
        age(tmp_path, model, second)
        model.lease.close()
    used(cache, package(tmp_path, "a")).lease.close()  # now it is the latest used
    used(cache, package(tmp_path, "d")).lease.close()
    assert sorted(names(cache)) == ["a.mlmodelc", "c.mlmodelc", "d.mlmodelc"]


def test_what_is_in_use_stays_whatever_its_age(tmp_path: Path) -> None:
    cache = models(tmp_path, most_bytes=SIZE)
    old = used(cache, package(tmp_path, "a"))
    age(tmp_path, old, 0)
    for letter in "bc":
        used(cache, package(tmp_path, letter)).lease.close()
    assert sorted(names(cache)) == ["a.mlmodelc", "c.mlmodelc"]
    assert old.path.is_dir()


HOLD = """
import sys
from pathlib import Path
from tests.models.test_compiled import models, package, used
folder = Path(sys.argv[1])
model = used(models(folder), folder / "a.mlmodel")
print(model.cached, flush=True)
sys.stdin.read()
"""


def test_the_use_of_another_process_counts_and_ends_with_it(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    used(cache, source).lease.close()
    argv = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert [entry.in_use for entry in cache.entries()] == [True]
        assert cache.clear() == []
        other.kill()
    assert [entry.in_use for entry in cache.entries()] == [False]
    assert [entry.name for entry in cache.clear()] == ["a.mlmodelc"]
    assert list((tmp_path / "cache").iterdir()) == []


def test_entries_report_their_size_and_the_latest_used_comes_first(tmp_path: Path) -> None:
    cache = models(tmp_path)
    for second, letter in ((20, "a"), (10, "b")):
        age(tmp_path, used(cache, package(tmp_path, letter)), second)
    assert [(entry.name, entry.nbytes, entry.used_at) for entry in cache.entries()] == [
        ("a.mlmodelc", SIZE, 20),
        ("b.mlmodelc", SIZE, 10),
    ]


def test_what_a_killed_compilation_left_is_swept_and_one_under_way_is_not(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    left = tmp_path / "cache" / f".{'0' * 32}.abcd"
    left.mkdir(parents=True)

    def write_and_look(package_path: Path, destination: Path) -> None:
        used(cache, package(tmp_path, "b")).lease.close()  # which sweeps
        write(package_path, destination)

    cache.use(source, "24A1", write_and_look)
    assert not left.exists()
    assert sorted(names(cache)) == ["a.mlmodelc", "b.mlmodelc"]


def test_what_a_killed_compilation_of_the_same_model_left_is_swept_by_the_next_one(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    left = tmp_path / "cache" / f".{compiled_key(source, '24A1')}.abcd"
    left.mkdir(parents=True)
    (left.parent / f".{compiled_key(source, '24A1')}.use").touch()
    assert used(cache, source).cached is False
    assert not left.exists()


def test_a_compilation_that_fails_leaves_nothing_and_keeps_nothing(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")

    def fail(_source: Path, destination: Path) -> None:
        destination.mkdir()
        raise HettopError("load", "no")

    with pytest.raises(HettopError, match="no"):
        cache.use(source, "24A1", fail)
    assert names(cache) == []
    assert used(cache, source).cached is False


def test_a_damaged_entry_is_compiled_anew(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    first = used(cache, source)
    (first.path / "weights.bin").write_bytes(b"cut")
    assert used(cache, source).cached is False
    assert (first.path / "weights.bin").stat().st_size == SIZE


def test_a_file_that_the_system_adds_is_no_damage(tmp_path: Path) -> None:
    cache, source = models(tmp_path), package(tmp_path, "a")
    (used(cache, source).path / ".DS_Store").write_bytes(b"finder")
    assert used(cache, source).cached is True


def test_a_folder_that_cannot_be_written_is_replaced_by_the_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    model = used(models(tmp_path), package(tmp_path, "a"))
    assert model.path.is_relative_to(tmp_path / "fallback")
    assert models(tmp_path).clear() == []  # leased there, too
    model.lease.close()
    assert len(models(tmp_path).clear()) == 1


def test_the_system_build_is_read_from_its_own_file(tmp_path: Path) -> None:
    version = tmp_path / "SystemVersion.plist"
    version.write_bytes(plistlib.dumps({"ProductBuildVersion": "24A335", "ProductVersion": "15.0"}))
    assert system_build(version) == "24A335"
    # What a program of an older SDK is shown in its place: another version, the same build.
    version.write_bytes(plistlib.dumps({"ProductBuildVersion": "24A335", "ProductVersion": "10.16"}))
    assert system_build(version) == "24A335"
    version.write_bytes(b"nonsense")
    assert system_build(version) == system_build(tmp_path / "nowhere") == f"{os.uname().sysname} {os.uname().release}"


def test_spotlight_is_kept_out_of_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    model = used(default_compiled_models(), package(tmp_path, "a"))
    assert model.path.parent.parent.name == "hettop-compiled.noindex"
    assert model.path.is_relative_to(tmp_path)
