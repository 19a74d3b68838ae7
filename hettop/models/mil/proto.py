"""Core ML's protobuf schema, which comes with hettop: reading and writing Core ML files needs no coremltools.

`python -m tools.coreml_schema` writes the schema from coremltools.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any

# Messages come from a schema without type information; the alias says what an `Any` stands for.
Message = Any

SCHEMA = Path(__file__).with_name("coreml_schema.binpb")
"""A FileDescriptorSet of coremltools' `Model.proto` and all that it imports. Its license: THIRD-PARTY.md."""


def model_message(name: str = "Model") -> Message:
    """The class of a message of the file itself, such as `Model` or `FeatureDescription`."""
    return _classes()[f"CoreML.Specification.{name}"]


def program_message(name: str) -> Message:
    """The class of a message of ML Programs: `Program`, `Function`, `Block`, `Operation`, `Value`…"""
    return _classes()[f"CoreML.Specification.MILSpec.{name}"]


def parse_model(data: bytes) -> Message:
    """The Model message in `data`. Raises ValueError, saying what protobuf found, if there is none."""
    model = model_message()()
    # named at run time because protobuf ships without type information
    decode_error = importlib.import_module("google.protobuf.message").DecodeError
    try:
        model.ParseFromString(data)
    except decode_error as error:
        raise ValueError(str(error)) from error
    return model


@functools.cache
def _classes() -> dict[str, Message]:
    """Messages by their full names. The pool is their own: coremltools may add another version to protobuf's."""
    descriptor_pb2, descriptor_pool, message_factory = (
        importlib.import_module(f"google.protobuf.{name}")
        for name in ("descriptor_pb2", "descriptor_pool", "message_factory")
    )
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(SCHEMA.read_bytes()).file
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    classes: dict[str, Message] = message_factory.GetMessageClassesForFiles([file.name for file in files], pool)
    return classes
