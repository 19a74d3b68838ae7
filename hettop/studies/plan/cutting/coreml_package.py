"""Writes a Core ML package from a specification, with the weights that it names and no others.

Knows the format of packages, and nothing of what the program in one does.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.mil.blob import WeightFile, WeightWriter
from hettop.models.mil.package import operation_values, walk
from hettop.models.mil.proto import Message
from hettop.text import clean

FOLDER, SPECIFICATION, WEIGHTS, WEIGHT_FILE = "com.apple.CoreML", "model.mlmodel", "weights", "weight.bin"
AUTHOR = "com.apple.CoreML"


def write_package(spec: Message, path: Path, weights: Callable[[str], WeightFile]) -> None:
    """Writes `spec`, an ML Program, to the new package at `path`; its weights move into a file of the package's own.

    weights: the file that a program calls so. `spec` is changed. Raises HettopError: `io`, and `format` as weights do.
    """
    folder = path / "Data" / FOLDER
    try:
        (folder / WEIGHTS).mkdir(parents=True)
        writer = WeightWriter(folder / WEIGHTS / WEIGHT_FILE)
        for blob in _blobs(spec):
            blob.offset = writer.add(weights(blob.fileName), blob.offset)
            blob.fileName = f"@model_path/{WEIGHTS}/{WEIGHT_FILE}"
        writer.write()
        (folder / SPECIFICATION).write_bytes(spec.SerializeToString(deterministic=True))
        (path / "Manifest.json").write_text(_manifest(), encoding="utf-8")
    except OSError as error:
        reason = clean(error.strerror or str(error))
        hint = "free space on the disk, or set TMPDIR to a folder on another one"
        raise HettopError("io", f"a slice of the model cannot be written: {reason}", hint) from error


def _blobs(spec: Message) -> Iterator[Message]:
    for function in spec.mlProgram.functions.values():
        for block in function.block_specializations.values():
            for operation in walk(block):
                for value in operation_values(operation):
                    if value.WhichOneof("value") == "blobFileValue":
                        yield value.blobFileValue


def _manifest() -> str:
    """Its names are made from what they name: equal slices are equal packages, which a cache knows again."""
    entries = {
        str(uuid.uuid5(uuid.NAMESPACE_URL, name)): {
            "author": AUTHOR,
            "description": f"CoreML Model {what}",
            "name": name,
            "path": f"{FOLDER}/{name}",
        }
        for name, what in ((SPECIFICATION, "Specification"), (WEIGHTS, "Weights"))
    }
    document = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": entries,
        "rootModelIdentifier": str(uuid.uuid5(uuid.NAMESPACE_URL, SPECIFICATION)),
    }
    return json.dumps(document, indent=4)
