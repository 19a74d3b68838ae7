"""Where the schema of Core ML is taken from, and what is said where it is not."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.mil.proto import _proto_folder


def package(folder: Path) -> ModuleSpec:
    spec = ModuleSpec("coremltools", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return spec


def test_it_is_a_folder_of_coremltools(tmp_path: Path) -> None:
    (tmp_path / "proto").mkdir()
    (tmp_path / "proto" / "__init__.py").touch()
    assert _proto_folder(lambda _name: package(tmp_path)) == tmp_path / "proto"


def test_a_coremltools_that_lacks_it_is_not_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="the installed one lacks proto") as caught:
        _proto_folder(lambda _name: package(tmp_path))
    assert "update it" in caught.value.hint


def test_without_coremltools_that_is_said() -> None:
    with pytest.raises(HettopError, match="which is not installed"):
        _proto_folder(lambda _name: None)
