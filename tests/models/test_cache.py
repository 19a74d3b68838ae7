"""Built models are kept whole, shared by processes, and never a reason to fail."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.cache import Build, ModelCache, cache_folder, default_cache, find_home


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache", tmp_path / "fallback")


def blocked(tmp_path: Path) -> Path:
    """A folder that can never be made, not even by root: a file stands in its way."""
    (tmp_path / "file").write_bytes(b"")
    return tmp_path / "file" / "cache"


def never(path: Path) -> None:
    raise AssertionError(f"{path} was built again")


def build_model(path: Path) -> None:
    path.write_bytes(b"model")


def names(folder: Path) -> list[str]:
    """What lies in the folder, the seals of what was built aside."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".seal")


def test_a_file_is_built_once(cache: ModelCache) -> None:
    assert cache.find("a.onnx") is None
    path = cache.file("a.onnx", build_model)
    assert path.read_bytes() == b"model"
    assert cache.file("a.onnx", never) == path == cache.find("a.onnx")
    assert names(cache.folder) == ["a.onnx"]


def test_a_failed_build_leaves_nothing_and_can_be_tried_again(cache: ModelCache) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half a mod")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.file("a.onnx", fail)
    assert names(cache.folder) == []
    assert cache.file("a.onnx", build_model).read_bytes() == b"model"


def test_nobody_sees_a_file_before_it_is_whole(cache: ModelCache) -> None:
    def build(path: Path) -> None:
        path.write_bytes(b"half")
        assert cache.find("a.onnx") is None
        path.write_bytes(b"whole")

    assert cache.file("a.onnx", build).read_bytes() == b"whole"


def test_builders_at_the_same_time_each_get_a_whole_file(cache: ModelCache) -> None:
    together = threading.Barrier(4)
    found: list[bytes] = []

    def build(path: Path) -> None:
        path.write_bytes(b"half")
        together.wait(timeout=10)
        path.write_bytes(b"whole")

    def run() -> None:
        found.append(cache.file("a.onnx", build).read_bytes())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"whole"] * 4
    assert names(cache.folder) == ["a.onnx"]


def test_a_cache_that_cannot_be_written_gives_way_to_the_fallback(tmp_path: Path) -> None:
    cache = ModelCache(blocked(tmp_path), tmp_path / "fallback")
    path = cache.file("a.onnx", build_model)
    assert path == tmp_path / "fallback" / "a.onnx"
    assert cache.file("a.onnx", never) == path == cache.find("a.onnx")
    assert (tmp_path / "fallback").stat().st_mode & 0o777 == 0o700


def test_a_fallback_that_others_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "fallback").mkdir()
    (tmp_path / "fallback").chmod(0o777)
    (tmp_path / "fallback" / "a.onnx").write_bytes(b"planted")
    cache = ModelCache(blocked(tmp_path), tmp_path / "fallback")
    assert cache.find("a.onnx") is None
    with pytest.raises(HettopError) as caught:
        cache.file("a.onnx", never)
    assert caught.value.kind == "io"


def test_a_fallback_that_is_a_link_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "fallback").symlink_to(tmp_path / "elsewhere")
    cache = ModelCache(blocked(tmp_path), tmp_path / "fallback")
    with pytest.raises(HettopError):
        cache.file("a.onnx", never)


def full(_path: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_where_both_disks_are_full_the_error_says_to_make_room(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "fallback")
    with pytest.raises(HettopError) as caught:
        cache.file("a.onnx", full)
    assert caught.value.kind == "scratch", "nothing that was asked for wrongly"
    assert caught.value.message.count("No space left on device") == 2
    assert caught.value.hint.startswith("free disk space")


def test_a_file_whose_name_is_no_text_is_kept_and_found(cache: ModelCache) -> None:
    def build(path: Path) -> None:
        path.mkdir()
        (path / os.fsdecode(b"\xff\xfe")).touch()

    cache.file("a", build)
    assert cache.file("a", never) == cache.folder / "a"


def test_without_any_place_the_error_says_what_to_set(tmp_path: Path) -> None:
    cache = ModelCache(blocked(tmp_path), blocked(tmp_path))
    with pytest.raises(HettopError) as caught:
        cache.file("a.onnx", never)
    assert caught.value.kind == "io"
    assert "XDG_CACHE_HOME" in caught.value.hint


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "/home/ada/.cache/hettop"),
        ("linux", {"XDG_CACHE_HOME": "/fast/cache"}, "/fast/cache/hettop"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/ada/.cache/hettop"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/ada/.cache/hettop"),
        ("darwin", {"XDG_CACHE_HOME": "/fast/cache"}, "/home/ada/Library/Caches/hettop"),
    ],
)
def test_the_folder_follows_the_platforms_customs(platform: str, environ: dict[str, str], folder: str) -> None:
    assert cache_folder(platform, environ, Path("/home/ada")) == Path(folder)


@pytest.mark.parametrize("harm", ["cut", "empty", "a folder", "no seal"])
def test_what_is_damaged_is_built_again(cache: ModelCache, harm: str) -> None:
    path = cache.file("a.onnx", build_model)
    match harm:
        case "cut":
            path.write_bytes(b"mod")
        case "empty":
            path.write_bytes(b"")
        case "a folder":
            path.unlink()
            path.mkdir()
            (path / "x").touch()
        case "no seal":
            (cache.folder / ".a.onnx.seal").unlink()
    assert cache.find("a.onnx") is None
    assert cache.file("a.onnx", build_model).read_bytes() == b"model"


def test_a_user_without_a_home_has_a_cache() -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    cache = default_cache({}, homeless)
    assert cache.folder.is_relative_to(cache.fallback)


def test_an_empty_home_is_none() -> None:
    with pytest.raises(RuntimeError):
        find_home({"HOME": ""})
    assert find_home({}) == Path.home()


# -- what it may hold ------------------------------------------------------------------------------------------------

DAY_S = 24 * 3600


def of_size(size: int) -> Build:
    def build(path: Path) -> None:
        path.write_bytes(bytes(size))

    return build


def last_used(path: Path, seconds_ago: float) -> None:
    moment = time.time() - seconds_ago
    os.utime(path, (moment, moment))


@pytest.fixture
def small(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache", tmp_path / "fallback", limit_bytes=1000)


def test_what_was_used_least_recently_makes_room(small: ModelCache) -> None:
    for name, seconds_ago in (("old.onnx", 30), ("older.onnx", 40), ("oldest.onnx", 50)):
        last_used(small.file(name, of_size(300)), seconds_ago)
    small.file("oldest.onnx", never)  # used now
    small.file("new.onnx", of_size(300))
    assert names(small.folder) == ["new.onnx", "old.onnx", "oldest.onnx"]
    assert not (small.folder / ".older.onnx.seal").exists()
    assert small.find("older.onnx") is None


def test_what_is_too_large_alone_is_kept_alone(small: ModelCache) -> None:
    small.file("a.onnx", of_size(300))
    assert small.file("huge.onnx", of_size(5000)).exists()
    assert names(small.folder) == ["huge.onnx"]


def test_folders_count_with_all_their_files(small: ModelCache) -> None:
    def build(path: Path) -> None:
        (path / "Data").mkdir(parents=True)
        (path / "Data" / "weights").write_bytes(bytes(600))
        (path / "Manifest").write_bytes(bytes(100))

    last_used(small.file("net.mlpackage", build), 50)
    assert [entry.size_bytes for entry in small.entries()] == [700]
    small.file("a.onnx", of_size(301))
    assert names(small.folder) == ["a.onnx"]


def test_what_a_killed_builder_left_goes_after_a_day(small: ModelCache) -> None:
    small.folder.mkdir(parents=True)
    for name, age_s in ((".a.onnx.left", 2 * DAY_S), (".b.onnx.under_way", 60)):
        (small.folder / name).mkdir()
        (small.folder / name / "half").write_bytes(b"half")
        last_used(small.folder / name, age_s)
    small.file("c.onnx", build_model)
    assert names(small.folder) == [".b.onnx.under_way", "c.onnx"]


def test_an_area_is_a_folder_out_of_spotlights_sight(small: ModelCache) -> None:
    area = small.area("framework", "a model")
    assert area == small.folder / "framework.noindex" / "a model"
    assert area.is_dir()


def test_areas_of_one_kind_are_bounded_by_themselves(small: ModelCache) -> None:
    model = small.file("a.onnx", of_size(900))
    last_used(model, 3600)
    for name, seconds_ago in (("first", 50), ("second", 40)):
        area = small.area("framework", name)
        assert area is not None
        (area / "compiled").write_bytes(bytes(600))
        last_used(area, seconds_ago)
    small.area("framework", "third")
    assert sorted(path.name for path in (small.folder / "framework.noindex").iterdir()) == ["second", "third"]
    assert model.exists(), "and leave the models alone"


def test_without_the_first_folder_the_areas_lie_in_the_fallback(tmp_path: Path) -> None:
    cache = ModelCache(blocked(tmp_path), tmp_path / "fallback")
    assert cache.area("framework", "a") == tmp_path / "fallback" / "framework.noindex" / "a"
    assert ModelCache(blocked(tmp_path), blocked(tmp_path)).area("framework", "a") is None


def test_all_of_it_is_listed_largest_first_and_cleared(small: ModelCache) -> None:
    small.file("a.onnx", of_size(10))
    small.fallback.mkdir(mode=0o700)
    ModelCache(small.fallback, small.fallback).file("b.onnx", of_size(30))
    area = small.area("framework", "x")
    assert area is not None
    (area / "compiled").write_bytes(bytes(20))
    listed = small.entries()
    assert [(entry.path.name, entry.size_bytes) for entry in listed] == [("b.onnx", 30), ("x", 20), ("a.onnx", 10)]
    assert small.clear() == listed
    assert small.entries() == ()
    assert small.find("a.onnx") is None
    assert small.clear() == ()


def test_a_fallback_that_others_can_write_to_is_neither_listed_nor_cleared(small: ModelCache) -> None:
    small.fallback.mkdir()
    small.fallback.chmod(0o777)
    (small.fallback / "b.onnx").write_bytes(b"somebody's")
    assert small.entries() == ()
    assert small.clear() == ()
    assert (small.fallback / "b.onnx").exists()


def test_what_somebody_else_put_into_the_folder_is_never_removed(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "fallback")
    built = cache.file("net.onnx", of_size(5))
    (mine := tmp_path / "cache" / "my-own-model.onnx").write_bytes(b"mine")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (kept := elsewhere / "thesis.txt").write_text("mine")
    (tmp_path / "cache" / "linked.noindex").symlink_to(elsewhere)
    assert [entry.path for entry in cache.clear()] == [built]
    assert mine.exists()
    assert kept.exists()
