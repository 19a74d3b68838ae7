"""Built models are kept whole, shared by processes, and never a reason to fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache, cache_folder, default_cache


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
