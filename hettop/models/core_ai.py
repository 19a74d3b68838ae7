"""Core AI's model assets (`.aimodel`) as files: a folder with a program, its SHA-256 and its metadata.

Imports no framework. What is checked here is refused in words; Core AI ends the process over a damaged program.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.text import clean

SUFFIX = ".aimodel"
INSTALL = "pip install 'hettop[coreai]'"
PROGRAM, HASH, METADATA = "main.mlirb", "main.hash", "metadata.json"
LARGEST_METADATA = 1 << 20


@dataclass(frozen=True, slots=True)
class AssetMetadata:
    """What an asset says of itself; "" where it does not. producer: package and version that wrote it."""

    producer: str = ""
    version: str = ""


def is_core_ai(path: Path) -> bool:
    """Whether a path is named as Core AI's assets are."""
    return path.suffix.lower() == SUFFIX


def check_asset(path: Path) -> None:
    """Raises HettopError: `missing`, `format` for what is not a complete asset, `io`."""
    name = clean(path.name)
    again = "copy the whole folder, or export the model again"
    try:
        if not path.exists():
            raise HettopError("missing", f"model not found: {clean(str(path))}", "check the path")
        if not path.is_dir():
            raise HettopError("format", f"not a Core AI asset: {name} is not a folder", again)
        if not (path / PROGRAM).is_file():
            raise HettopError("format", f"not a Core AI asset: {name} has no {PROGRAM}", again)
        read_metadata(path)
        if (path / HASH).is_file():
            with (path / PROGRAM).open("rb") as program:
                found = hashlib.file_digest(program, "sha256").digest()
            if found != (path / HASH).read_bytes():
                raise HettopError("format", f"{name} is damaged: {PROGRAM} does not match {HASH}", again)
    except OSError as error:
        raise HettopError("io", f"cannot read {name}: {error.strerror}", "check its permissions") from error


def read_metadata(path: Path) -> AssetMetadata:
    """The asset's metadata; an asset may have none. Raises HettopError (`format`), OSError."""
    file = path / METADATA
    if not file.is_file():
        return AssetMetadata()
    with file.open("rb") as opened:
        text = opened.read(LARGEST_METADATA)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HettopError("format", f"{clean(path.name)} is damaged: {METADATA} is not valid JSON", "export it again")
    values = [found.get(key) for key in ("producer", "assetVersion")]
    return AssetMetadata(*(clean(value, 80) if isinstance(value, str) else "" for value in values))
