"""What a model's name on the command line means, checked quickly and before any process starts.

Imports no framework: whether the file can be run shows when an engine process loads it. A Core ML file is opened, so
that a damaged one is refused at once.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.models import tinydecoder
from hettop.models.cache import ModelCache
from hettop.models.content import content_sha256
from hettop.models.core_ai import check_asset, is_core_ai
from hettop.models.networks.catalogue import (
    DEFAULT,
    RECIPE,
    Variant,
    is_built_in,
    network,
    parse_variant,
)
from hettop.models.served import is_address
from hettop.text import clean

CORE_ML_SUFFIXES = (".mlpackage", ".mlmodel")
COMPILED_SUFFIX = ".mlmodelc"
COMPILED_CONTENT = ("coremldata.bin", "metadata.json")
"""Of these a compiled model has one or both."""

RECORDING_BEGINNING = b'{"k":'
KNOWN_MODELS = (
    "pass an .onnx, .mlpackage, .mlmodel or .aimodel file, "
    f"or a network's name ({DEFAULT} by default, hettop models lists them)"
)
TRANSLATED = "translated to ONNX"
NOTE_ON_CPU = ", CPU"
"""Appended to the note of a translated model that runs on the CPU only."""
FORMAT_WORDS = {"mlprogram": "ML Program", "neuralnetwork": "NeuralNetwork", "pipeline": "pipeline"}
"""What people call a Core ML model by its kind; every other kind is a model of features."""

SYNTHETIC_NOTE = "synthetic weights"

SPLIT_FILE = "model.onnx"
"""The graph of a network whose weights lie beside it, in a folder of the cache."""


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that exists, as far as known without a framework.

    name: what it is called where it is shown: the file's name, or a network's with its size and batch.
    path: the file or package; None for a network that hettop builds, whose file each process finds or builds for its
        own backend.
    sha256: of the file, or of all files of the package; of its recipe (layers and version) for a built network,
        which is the same in each format.
    parameters, macs: None where counting them would need a framework.
    translated: whether a Core ML model is run by its translation to ONNX.
    """

    name: str
    path: Path | None
    sha256: str
    parameters: int | None = None
    macs: int | None = None
    note: str = ""
    translated: bool = False

    @property
    def source(self) -> str:
        """What a backend loads it by, in any process: its path, or a network's name."""
        return self.name if self.path is None else str(self.path)

    @property
    def file_sha256(self) -> str | None:
        """The SHA-256 that the file must have when it is loaded; None for a built network."""
        return None if self.path is None else self.sha256


def resolve(name: str, *, translated: bool = True) -> ResolvedModel:
    """The model that `name` means: a built network by its name, or a file. No cache is looked at.

    translated: whether what will run it runs a Core ML model by its translation; the note then says so, and a compiled
    model (`.mlmodelc`), which only Core ML can read, is refused. Raises
    HettopError: `usage` for a malformed network name, `missing` for a file that is not there, `format` for one that
    is not a model or a damaged one, `io` for one that cannot be read.
    """
    if is_address(name):
        return ResolvedModel(name=clean(name), path=None, sha256=hashlib.sha256(name.encode()).hexdigest())
    if name == tinydecoder.NAME:
        return ResolvedModel(
            name=name,
            path=None,
            sha256=hashlib.sha256(f"{tinydecoder.RECIPE} {tinydecoder.Architecture()}".encode()).hexdigest(),
            parameters=tinydecoder.Architecture().parameters,
            note=SYNTHETIC_NOTE,
        )
    if not is_built_in(name):
        path = _checked_file(name) if translated or not _is_compiled(name) else _checked_compiled(name)
        is_translated = translated and is_core_ml(path)
        note = translated_note(path) if is_translated else ""
        return ResolvedModel(clean(path.name), path, content_sha256(path), note=note, translated=is_translated)
    net = network(parse_variant(name))
    return ResolvedModel(
        name=net.variant.name,
        path=None,
        sha256=net.sha256,
        parameters=net.parameters,
        macs=net.macs,
        note=SYNTHETIC_NOTE,
    )


def model_file(name: str, cache: ModelCache) -> Path:
    """The file to load for `name`; a network is built into the cache first, if it is not there.

    Building imports onnx and takes 0.4 s and more: for engine processes. Raises HettopError: as `resolve` does.
    """
    if name == tinydecoder.NAME:
        return cache.file(f"{name}-r{tinydecoder.RECIPE}.onnx", _build_decoder)
    if not is_built_in(name):
        return _checked_file(name)
    from hettop.models.networks.onnx_file import is_split, write_onnx

    net = network(parse_variant(name))
    if not is_split(net):
        return cache.file(_cached_name(net.variant), lambda path: write_onnx(net, path))

    def build(folder: Path) -> None:
        folder.mkdir()
        write_onnx(net, folder / SPLIT_FILE)

    return cache.file(_cached_name(net.variant, ""), build) / SPLIT_FILE


def _build_decoder(path: Path) -> None:
    path.write_bytes(tinydecoder.build_onnx().SerializeToString(deterministic=True))


def model_package(name: str, cache: ModelCache) -> Path:
    """A network as an ML Program package, built into the cache first if it is not there.

    Building imports coremltools and takes some seconds. Raises HettopError: `usage` for a malformed name, `io`.
    """
    if name == tinydecoder.NAME:
        from hettop.models.tinydecoder_package import write_package as write_decoder

        return cache.file(f"{name}-r{tinydecoder.RECIPE}.mlpackage", write_decoder)
    variant = parse_variant(name)

    def build(path: Path) -> None:
        from hettop.models.networks.ml_program import write_package

        write_package(network(variant), path)

    return cache.file(_cached_name(variant, ".mlpackage"), build)


def core_ml_file(name: str, cache: ModelCache) -> Path:
    """What Core ML itself loads for `name`: a network's package, or a package, a file or a compiled model.

    Raises HettopError: as `resolve` and `model_package` do, `format` for a model of another kind.
    """
    if is_built_in(name) or name == tinydecoder.NAME:
        return model_package(name, cache)
    if _is_compiled(name):
        return _checked_compiled(name)
    path = _checked_file(name)
    if not is_core_ml(path):
        raise HettopError(
            "format",
            f"{clean(path.name)} is an ONNX model, which Core ML cannot load",
            "convert it to an .mlpackage, or use --backend onnxruntime",
        )
    return path


def translated_note(path: Path) -> str:
    """What a Core ML model is, and that it is translated."""
    from hettop.models.mil.package import open_package

    return f"{FORMAT_WORDS.get(open_package(path).kind, 'feature model')} {TRANSLATED}"


def is_core_ml(path: Path) -> bool:
    """Whether a path is named as Core ML files are."""
    return path.suffix.lower() in CORE_ML_SUFFIXES


def _cached_name(variant: Variant, suffix: str = ".onnx") -> str:
    return f"{variant.name.replace(':', '-')}-r{RECIPE}{suffix}"


def _checked_file(name: str) -> Path:
    """The path, if it leads to a file of a kind that can be run."""
    path = Path(name)
    status = _status(path, name)
    suffix = path.suffix.lower()
    if suffix == COMPILED_SUFFIX:
        raise HettopError(
            "format",
            f"{clean(name)} is a compiled model, which has no public format",
            "pass the .mlpackage it was compiled from, or let Core ML itself run it: --backend coreml",
        )
    if suffix == ".ort":
        raise HettopError(
            "format",
            f"{clean(name)} is in ONNX Runtime's own format, which does not describe its operations",
            "pass the .onnx file it was made from",
        )
    if suffix in CORE_ML_SUFFIXES:
        return _checked_core_ml(path, name, status)
    if is_core_ai(path):
        check_asset(path)
        return path
    if stat.S_ISDIR(status.st_mode):
        raise HettopError("format", f"{clean(name)} is a folder, not a model", KNOWN_MODELS)
    _check_regular(status, name)
    if suffix != ".onnx":
        hint = f"this is a recording: hettop replay {clean(name)}" if _is_recording(path) else KNOWN_MODELS
        raise HettopError("format", f"unknown model format: {clean(name)}", hint)
    return path


def _is_recording(path: Path) -> bool:
    if path.name.endswith(".jsonl.zst"):
        return True
    with path.open("rb") as file:
        return file.read(len(RECORDING_BEGINNING)) == RECORDING_BEGINNING


def _is_compiled(name: str) -> bool:
    return Path(name).suffix.lower() == COMPILED_SUFFIX


def _checked_compiled(name: str) -> Path:
    """The path, if there is a folder with what every compiled model has in it."""
    path = Path(name)
    status = _status(path, name)
    if not stat.S_ISDIR(status.st_mode) or not any((path / each).is_file() for each in COMPILED_CONTENT):
        raise HettopError(
            "format", f"not a compiled model: {clean(name)}", "pass the folder that Xcode or Core ML created"
        )
    return path


def _checked_core_ml(path: Path, name: str, status: os.stat_result) -> Path:
    """The path, if there is a readable Core ML model, whatever its kind."""
    from hettop.models.mil.package import open_package

    if not stat.S_ISDIR(status.st_mode):
        _check_regular(status, name)
    open_package(path)
    return path


def _check_regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise HettopError("format", f"{clean(name)} is not a regular file", KNOWN_MODELS)
    if status.st_size == 0:
        raise HettopError("format", f"{clean(name)} is empty", "copy or export the model again")


def _status(path: Path, name: str) -> os.stat_result:
    if not name:
        raise HettopError("missing", "the model has no name", KNOWN_MODELS)
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise HettopError("missing", f"model not found: {clean(name)}", KNOWN_MODELS) from error
    except OSError as error:
        raise HettopError("io", f"cannot read {clean(name)}: {error.strerror}", "check its permissions") from error
