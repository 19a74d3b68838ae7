"""The schema of Core ML that comes with hettop: it is that of coremltools, and needs none."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from hettop.models.mil.proto import SCHEMA, model_message, parse_model, program_message
from tests.processes.waiting import environment
from tools.coreml_schema import published

# Refuses coremltools, as on a machine without it, then reads a model.
WITHOUT = """
import sys
sys.modules["coremltools"] = None
from hettop.models.mil.proto import parse_model
print(parse_model(bytes.fromhex("0804")).specificationVersion)
"""


def test_it_is_that_of_the_installed_coremltools() -> None:
    assert SCHEMA.read_bytes() == published()


def test_messages_are_read_as_coremltools_writes_them() -> None:
    theirs = importlib.import_module("coremltools.proto.Model_pb2").Model(specificationVersion=7)
    theirs.mlProgram.functions["main"].opset = "CoreML7"
    ours = parse_model(theirs.SerializeToString())
    assert ours.specificationVersion == 7
    assert ours.mlProgram.functions["main"].opset == "CoreML7"
    assert ours.SerializeToString() == theirs.SerializeToString()
    assert not isinstance(ours, type(theirs))  # another pool: a newer coremltools does not collide with it


def test_messages_are_found_by_their_names() -> None:
    assert model_message("FeatureDescription")(name="x").name == "x"
    assert program_message("Operation")(type="const").type == "const"


def test_what_is_no_model_is_refused_with_what_protobuf_found() -> None:
    with pytest.raises(ValueError, match="parsing"):
        parse_model(b"\xff\xff")


def test_it_needs_no_coremltools() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False, env=environment()
    )
    assert done.stdout == "4\n", done.stderr
