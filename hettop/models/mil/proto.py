"""Core ML's protobuf schema, taken from coremltools without importing coremltools.

The whole of coremltools takes seconds to import and prints warnings off macOS; its `proto` folder alone takes well
under a tenth of a second. This module knows where that folder is, and nothing of what the messages mean.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from hettop.errors import HettopError

# Messages come from generated code without type information; the alias says what an `Any` stands for.
Message = Any

PROTO = "proto"  # of coremltools' folders the one that is needed

# The folder is loaded under a name of its own. Descriptors are shared through protobuf's pool and equal definitions may
# be added twice, so a real `import coremltools` still works in the same process, before or after.
_PRIVATE_NAME = "hettop_coreml_proto"


def model_schema() -> ModuleType:
    """Model_pb2: the module that has the `Model` message. Raises HettopError("missing") without coremltools."""
    return _schema("Model_pb2")


def program_schema() -> ModuleType:
    """MIL_pb2: the module that has `Program`, `Function`, `Block`, `Operation` and `Value`."""
    return _schema("MIL_pb2")


def parse_model(data: bytes) -> Message:
    """The Model message in `data`. Raises ValueError, saying what protobuf found, if there is none."""
    model = model_schema().Model()
    # named at run time because protobuf ships without type information
    decode_error = importlib.import_module("google.protobuf.message").DecodeError
    try:
        model.ParseFromString(data)
    except decode_error as error:
        raise ValueError(str(error)) from error
    return model


def _schema(module: str) -> ModuleType:
    if _PRIVATE_NAME not in sys.modules:
        _load_package(_proto_folder())
    return importlib.import_module(f"{_PRIVATE_NAME}.{module}")


def _proto_folder(find_spec: Callable[[str], ModuleSpec | None] = importlib.util.find_spec) -> Path:
    found = find_spec("coremltools")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        if (Path(folder) / PROTO / "__init__.py").is_file():
            return Path(folder) / PROTO
    if found is not None:
        raise HettopError(
            "missing",
            f"reading Core ML files needs coremltools, and the installed one lacks {PROTO}",
            "update it: pip install --upgrade --force-reinstall coremltools",
        )
    raise HettopError(
        "missing", "reading Core ML files needs coremltools, which is not installed", "pip install coremltools"
    )


def _load_package(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        _PRIVATE_NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise HettopError("missing", f"cannot load coremltools' protobuf schema at {folder}", "reinstall coremltools")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_PRIVATE_NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_PRIVATE_NAME]
        raise
