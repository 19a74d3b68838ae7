"""Core AI's assets as files: what is complete, and what is refused before Core AI could end the process over it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.core_ai import AssetMetadata, check_asset, is_core_ai, read_metadata
from hettop.models.resolve import resolve
from tests.sources.engine.backends.aimodels import authored, files, needs_wheel


def refused(path: Path) -> HettopError:
    with pytest.raises(HettopError) as caught:
        check_asset(path)
    return caught.value


def test_an_asset_is_resolved_by_the_content_of_its_files(tmp_path: Path) -> None:
    path = Path(files(tmp_path / "Net.AIModel"))
    model = resolve(str(path))
    assert (model.name, model.path, model.note) == ("Net.AIModel", path, "")
    (path / "metadata.json").write_text("{}")
    assert resolve(str(path)).sha256 != model.sha256


def test_it_says_who_wrote_it_if_it_does(tmp_path: Path) -> None:
    path = Path(files(tmp_path / "m.aimodel"))
    assert read_metadata(path) == AssetMetadata("coreai-core 1.0.0b3", "2.0")
    (path / "metadata.json").write_text('{"assetVersion": 2}')
    assert read_metadata(path) == AssetMetadata()
    (path / "metadata.json").unlink()
    check_asset(path)  # Core AI loads it, too
    assert is_core_ai(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("main.mlirb", None, "has no main.mlirb"),
        ("main.mlirb", "progra", "main.mlirb does not match main.hash"),
        ("main.hash", "0", "main.mlirb does not match main.hash"),
        ("metadata.json", "x", "metadata.json is not valid JSON"),
        ("metadata.json", "[]", "metadata.json is not valid JSON"),
        ("metadata.json", "[" * 100_000, "metadata.json is not valid JSON"),
    ],
)
def test_a_damaged_asset_is_refused_in_words(name: str, content: str | None, words: str, tmp_path: Path) -> None:
    path = Path(files(tmp_path / "m.aimodel"))
    (path / name).unlink() if content is None else (path / name).write_text(content)
    found = refused(path)
    assert (found.kind, words in found.message) == ("format", True), found.message
    assert found.hint


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.aimodel").write_text("x")
    assert refused(tmp_path / "m.aimodel").kind == "format"
    assert refused(tmp_path / "n.aimodel").kind == "missing"


@needs_wheel
def test_what_core_ai_writes_is_complete_and_its_damage_is_seen(tmp_path: Path) -> None:
    path = Path(authored(tmp_path / "m.aimodel"))
    check_asset(path)
    assert read_metadata(path).producer.startswith("coreai-core 1.")
    program = path / "main.mlirb"
    content = bytearray(program.read_bytes())
    content[len(content) // 2] ^= 0xFF
    program.write_bytes(content)
    assert "does not match" in refused(path).message
    shutil.rmtree(path)
