"""A translation is made once for a package's content, one for each function, and never used for another content."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.translated import NOTES_KEY, translated_file
from tests.models.mil.programs import convert, mb, program, spec


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache", tmp_path / "fallback")


def doubled(path: Path, factor: float = 2.0) -> Path:
    def build(x: Any) -> Any:
        return mb.mul(x=x, y=np.float32(factor), name="y")

    convert(program(build, {"x": spec((1, 4))})).save(str(path))
    return path


def test_a_package_is_translated_once_wherever_it_lies(tmp_path: Path, cache: ModelCache) -> None:
    path = doubled(tmp_path / "m.mlpackage")
    file = translated_file(path, None, cache)
    model = onnx.load(file)
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    assert NOTES_KEY in {entry.key for entry in model.metadata_props}
    built = file.stat().st_ino
    shutil.copytree(path, tmp_path / "copy.mlpackage")
    assert translated_file(tmp_path / "copy.mlpackage", None, cache) == file
    assert file.stat().st_ino == built


def test_another_content_or_function_is_another_translation(tmp_path: Path, cache: ModelCache) -> None:
    path = doubled(tmp_path / "m.mlpackage")
    files = {translated_file(path, None, cache), translated_file(path, "main", cache)}
    shutil.rmtree(path)
    files.add(translated_file(doubled(path, 3.0), None, cache))
    assert len(files) == 3


def test_what_cannot_be_translated_leaves_nothing_in_the_cache(tmp_path: Path, cache: ModelCache) -> None:
    path = doubled(tmp_path / "m.mlpackage")
    with pytest.raises(HettopError, match="no function 'other'"):
        translated_file(path, "other", cache)
    assert list(cache.folder.iterdir()) == []
