"""Writes `hettop/models/mil/coreml_schema.binpb`, Core ML's protobuf schema as the installed coremltools has it.

Run it as `python -m tools.coreml_schema` after an update of coremltools.
"""

from __future__ import annotations

import importlib
from typing import Any

from hettop.models.mil.proto import SCHEMA


def published() -> bytes:
    """A FileDescriptorSet of coremltools' Model.proto and of all files that it imports, each after its own imports."""
    files: dict[str, Any] = {}

    def add(file: Any) -> None:
        for imported in file.dependencies:
            add(imported)
        files[file.name] = file

    add(importlib.import_module("coremltools.proto.Model_pb2").DESCRIPTOR)
    descriptor_pb2 = importlib.import_module("google.protobuf.descriptor_pb2")
    written = descriptor_pb2.FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(written.file.add())
    return bytes(written.SerializeToString(deterministic=True))


if __name__ == "__main__":
    SCHEMA.write_bytes(published())
