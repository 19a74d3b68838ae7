"""What a model's name on the command line means, checked quickly and before any process starts.

Imports no framework: whether the file can be run shows when an engine process loads it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.mobilenetv2 import FAMILY, RECIPE, Variant, is_default_name, network, parse_variant
from hettop.text import clean

CORE_ML_SUFFIXES = (".mlpackage", ".mlmodel", ".mlmodelc")
KNOWN_MODELS = f"give an .onnx file, or {FAMILY} for the default model"
SYNTHETIC_NOTE = "synthetic weights"


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that exists, as far as can be told without a framework.

    path: the file, None for the default model before it is built.
    sha256: of the file; of its recipe (layers and version) for the default model, which is the same in each format.
    parameters, macs: None where counting them would need a framework.
    """

    name: str
    path: Path | None
    format: str
    sha256: str
    parameters: int | None = None
    macs: int | None = None
    synthetic: bool = False
    note: str = ""


def resolve(name: str, cache: ModelCache) -> ResolvedModel:
    """The model that `name` means: the default model by its name, or a file.

    Raises HettopError: `usage` for a malformed default name, `missing` for a file that is not there, `format` for one
    that cannot be run, `io` for one that cannot be read.
    """
    if not is_default_name(name):
        path = _checked_file(name)
        return ResolvedModel(name=clean(name), path=path, format="onnx", sha256=_sha256(path, name))
    net = network(parse_variant(name))
    return ResolvedModel(
        name=net.variant.name,
        path=cache.find(_cached_name(net.variant)),
        format="onnx",
        sha256=hashlib.sha256(f"{RECIPE} {net}".encode()).hexdigest(),
        parameters=net.parameters,
        macs=net.macs,
        synthetic=True,
        note=SYNTHETIC_NOTE,
    )


def model_file(name: str, cache: ModelCache) -> Path:
    """The file to load for `name`; the default model is built into the cache first, if it is not there.

    Building imports onnx and takes 0.4 s: for engine processes. Raises HettopError: as `resolve` does.
    """
    if not is_default_name(name):
        return _checked_file(name)
    variant = parse_variant(name)

    def build(path: Path) -> None:
        from hettop.models.mobilenetv2_onnx import write_onnx

        write_onnx(network(variant), path)

    return cache.file(_cached_name(variant), build)


def _cached_name(variant: Variant) -> str:
    return f"{variant.name.replace(':', '-')}-r{RECIPE}.onnx"


def _checked_file(name: str) -> Path:
    """The path, if it leads to a file of a kind that can be run."""
    path = Path(name)
    status = _status(path, name)
    suffix = path.suffix.lower()
    if suffix in CORE_ML_SUFFIXES:
        raise HettopError("format", f"{clean(name)}: Core ML files cannot be run yet", KNOWN_MODELS)
    if stat.S_ISDIR(status.st_mode):
        raise HettopError("format", f"{clean(name)} is a folder, not a model", KNOWN_MODELS)
    if not stat.S_ISREG(status.st_mode):
        raise HettopError("format", f"{clean(name)} is not a regular file", KNOWN_MODELS)
    if suffix != ".onnx":
        raise HettopError("format", f"{clean(name)}: unknown kind of model", KNOWN_MODELS)
    if status.st_size == 0:
        raise HettopError("format", f"{clean(name)} is empty", "copy or export the model again")
    return path


def _status(path: Path, name: str) -> os.stat_result:
    if not name:
        raise HettopError("missing", "the model has no name", KNOWN_MODELS)
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise HettopError("missing", f"no model {clean(name)} here", KNOWN_MODELS) from error
    except OSError as error:
        raise _unreadable(name, error) from error


def _sha256(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> HettopError:
    return HettopError("io", f"{clean(name)} cannot be read: {error.strerror}", "check its permissions")
