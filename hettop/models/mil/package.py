"""Opens Core ML files, `.mlpackage` folders and single-file `.mlmodel`s, and reports any damage in them.

Gives the parsed specification, its weights and its functions with their ports; it does not know how a program is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.mil.blob import Weights
from hettop.models.mil.ports import Port, read_port
from hettop.models.mil.proto import Message, parse_model
from hettop.models.mil.values import constant_type, tensor_type

# The newest specification coremltools 9 writes (iOS 26, macOS 26); each new one may change what a program means.
NEWEST_SPECIFICATION = 10
# Specification version -> the systems that can run it (coremltools' _SPECIFICATION_VERSION_IOS_*).
DEPLOYMENT_TARGETS = {
    1: "iOS 11 / macOS 10.13", 2: "iOS 11.2 / macOS 10.13.2", 3: "iOS 12 / macOS 10.14", 4: "iOS 13 / macOS 10.15",
    5: "iOS 14 / macOS 11", 6: "iOS 15 / macOS 12", 7: "iOS 16 / macOS 13", 8: "iOS 17 / macOS 14",
    9: "iOS 18 / macOS 15", 10: "iOS 26 / macOS 26",
}  # fmt: skip

_MANIFEST = "Manifest.json"
_MANIFEST_LIMIT = 1 << 20  # a manifest has a handful of entries; larger ones are refused
_MESSAGE_LIMIT = (1 << 31) - 1  # protobuf cannot read a larger message
NEURAL_NETWORKS = {"neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor"}
PIPELINES = {"pipeline", "pipelineClassifier", "pipelineRegressor"}
_COPY_AGAIN = "the file is damaged: copy it or convert the model again"


@dataclass(frozen=True, slots=True)
class FunctionPorts:
    """The interface of one function of a model."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Package:
    """An opened model.

    kind: `mlprogram`, `neuralnetwork`, `pipeline`, or the specification's own word for anything else.
    spec: the Model message. weights: the weight files. functions: the default one first; one for models without
    functions. stages: of a pipeline, (name, kind) of its models in order.
    """

    path: Path
    kind: str
    spec: Message
    weights: Weights
    functions: tuple[FunctionPorts, ...]
    updatable: bool
    stages: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def specification(self) -> int:
        return int(self.spec.specificationVersion)

    @property
    def deployment_target(self) -> str:
        """The oldest systems that can run it, in words."""
        return DEPLOYMENT_TARGETS.get(self.specification, f"specification {self.specification}")

    def function(self, name: str | None = None) -> FunctionPorts:
        """The ports of function `name`, or of the default one. Raises HettopError("input") naming those there are."""
        if name is None:
            return self.functions[0]
        for function in self.functions:
            if function.name == name:
                return function
        known = ", ".join(function.name for function in self.functions)
        raise HettopError("input", f"{self.name} has no function {name!r}", f"it has: {known}")

    def program(self, name: str | None = None) -> Message:
        """The MIL Function message of `name`, or of the default function.

        Raises HettopError("format") for a model that is not an ML Program, ("input") for an unknown name.
        """
        if self.kind != "mlprogram":
            raise no_program(self)
        return self.spec.mlProgram.functions[self.function(name).name]

    def block(self, name: str | None = None) -> Message:
        """The Block of operations of function `name`, or of the default function. Raises as `program`."""
        function = self.program(name)
        blocks = function.block_specializations
        if function.opset in blocks:
            return blocks[function.opset]
        if len(blocks) == 1:
            return next(iter(blocks.values()))
        raise HettopError(
            "format", f"{self.name}: function {self.function(name).name!r} has no operations", _COPY_AGAIN
        )


def open_package(path: str | Path) -> Package:
    """Open the `.mlpackage` or `.mlmodel` at `path`: parse it, describe its ports, check that its weights are there.

    Pipelines, updatable models and NeuralNetwork models are opened and described. Raises HettopError: `missing` for
    files that are not there, `format` for anything that is not a readable Core ML model, `io` for files that cannot be
    read; each names the file and the fault.
    """
    path = Path(path)
    try:
        specification, folder = _find_specification(path)
        spec = _parse(specification, path.name)
    except OSError as error:
        raise HettopError(
            "io", f"{path.name} cannot be read: {error.strerror or error}", "check its permissions"
        ) from error
    package = Package(
        path=path,
        kind=model_kind(spec),
        spec=spec,
        weights=Weights(folder, path.name),
        functions=_functions(spec),
        updatable=bool(spec.isUpdatable),
        stages=tuple((name, model_kind(model)) for name, model in pipeline_models(spec)),
    )
    if package.kind != "mlprogram":
        return package
    _check_program(package)
    return replace(package, functions=tuple(_completed(package, ports) for ports in package.functions))


def walk(block: Message) -> Iterator[Message]:
    """Every operation of `block` in order, those of its nested blocks right after the operation that has them."""
    for operation in block.operations:
        yield operation
        for inner in operation.blocks:
            yield from walk(inner)


def no_program(package: Package) -> HettopError:
    """The error for a model without operations of an ML Program."""
    kind = "in the NeuralNetwork format" if package.kind == "neuralnetwork" else f"a {package.kind} model"
    return HettopError(
        "format",
        f"{package.name} is {kind}, not an ML Program",
        "convert the source model again with coremltools, convert_to='mlprogram'",
    )


def _find_specification(path: Path) -> tuple[Path, Path | None]:
    """The specification file, and the folder `@model_path` stands for."""
    if not path.exists():
        raise HettopError("missing", f"{path}: no such file or folder", "check the path")
    if path.is_dir():
        return _package_specification(path)
    with path.open("rb") as file:
        head = file.read(4)
    if head == b"PK\x03\x04":
        raise HettopError("format", f"{path.name} is a zip archive", "unzip it and pass the .mlpackage folder in it")
    if path.suffix == ".mlpackage":
        raise HettopError("format", f"{path.name} is a file; an .mlpackage is a folder", "copy the complete folder")
    return path, None


def _package_specification(path: Path) -> tuple[Path, Path]:
    manifest = path / _MANIFEST
    if not manifest.is_file():
        if path.suffix == ".mlmodelc" or (path / "coremldata.bin").is_file():
            raise HettopError(
                "format",
                f"{path.name} is a compiled model, which has no public format",
                "pass the .mlpackage it was compiled from",
            )
        if path.suffix == ".mlpackage":
            raise HettopError("missing", f"{path.name} has no {_MANIFEST}", "copy the complete package")
        raise HettopError(
            "format", f"{path.name} is not a Core ML package: it has no {_MANIFEST}", "pass an .mlpackage"
        )
    root = _root_entry(manifest, path.name)
    try:
        data = (path / "Data").resolve()
        specification = (data / root).resolve()
    except (OSError, RuntimeError, ValueError):  # links that lead to themselves, names that no file can have
        raise HettopError(
            "format", f"{path.name}: {_MANIFEST} refers to a missing file", "copy the complete package"
        ) from None
    if not specification.is_relative_to(data) or not data.is_relative_to(path.resolve()):
        raise HettopError(
            "format",
            f"{path.name}: {_MANIFEST} names {root!r}, outside the package",
            "the package may be malicious",
        )
    if not specification.is_file():
        raise HettopError(
            "missing", f"{path.name}: {_MANIFEST} names Data/{root}, which is not there", "copy the complete package"
        )
    return specification, specification.parent


def _root_entry(manifest: Path, name: str) -> str:
    if manifest.stat().st_size > _MANIFEST_LIMIT:
        raise HettopError("format", f"{name}: {_MANIFEST} is too large", _COPY_AGAIN)
    try:
        document: Any = json.loads(manifest.read_bytes())
    except (ValueError, RecursionError) as error:
        raise HettopError("format", f"{name}: {_MANIFEST} is not valid JSON: {error}", _COPY_AGAIN) from error
    try:
        root = document["itemInfoEntries"][document["rootModelIdentifier"]]["path"]
    except (KeyError, TypeError) as error:
        raise HettopError("format", f"{name}: {_MANIFEST} names no root model", _COPY_AGAIN) from error
    if not isinstance(root, str) or not root or "\0" in root:
        raise HettopError("format", f"{name}: {_MANIFEST} names no root model", _COPY_AGAIN)
    return root


def _parse(specification: Path, name: str) -> Message:
    size = specification.stat().st_size
    if size > _MESSAGE_LIMIT:
        raise HettopError("format", f"{name}: its specification has {size:,} bytes, which is too large", _COPY_AGAIN)
    try:
        spec = parse_model(specification.read_bytes())
    except ValueError as error:
        raise HettopError(
            "format", f"not a valid Core ML model, or incomplete: {name}: {error}", _COPY_AGAIN
        ) from error
    if spec.specificationVersion > NEWEST_SPECIFICATION:
        raise HettopError(
            "format",
            f"{name} has specification version {spec.specificationVersion}; {NEWEST_SPECIFICATION} is the newest known",
            "update hettop, or convert the model for an older deployment target",
        )
    if spec.specificationVersion < 1 or spec.WhichOneof("Type") is None:
        raise HettopError("format", f"not a valid Core ML model, or incomplete: {name}: no model type", _COPY_AGAIN)
    return spec


def model_kind(spec: Message) -> str:
    """`mlprogram`, `neuralnetwork`, `pipeline`, or the specification's own word for anything else."""
    which = str(spec.WhichOneof("Type"))
    if which == "mlProgram":
        return "mlprogram"
    if which in NEURAL_NETWORKS:
        return "neuralnetwork"
    return "pipeline" if which in PIPELINES else which


def _functions(spec: Message) -> tuple[FunctionPorts, ...]:
    description = spec.description
    # a multifunction model leaves the top level empty and describes each function
    described = {function.name: function for function in description.functions}
    if not described:
        names = list(spec.mlProgram.functions) if spec.WhichOneof("Type") == "mlProgram" else []
        return (_ports(names[0] if len(names) == 1 else "main", description),)
    default = description.defaultFunctionName or next(iter(described))
    ordered = sorted(described, key=lambda name: name != default)
    return tuple(_ports(name, described[name]) for name in ordered)


def _ports(name: str, description: Message) -> FunctionPorts:
    return FunctionPorts(
        name,
        tuple(read_port(feature) for feature in description.input),
        tuple(read_port(feature) for feature in description.output),
        tuple(read_port(feature) for feature in description.state),
    )


def pipeline_models(spec: Message) -> tuple[tuple[str, Message], ...]:
    """The models of a pipeline in order, with their names; none of any other model."""
    which = spec.WhichOneof("Type")
    if which not in PIPELINES:
        return ()
    pipeline = spec.pipeline if which == "pipeline" else getattr(spec, which).pipeline
    names = [*pipeline.names, *(f"model {index + 1}" for index in range(len(pipeline.names), len(pipeline.models)))]
    return tuple(zip(names, pipeline.models, strict=False))


def _completed(package: Package, ports: FunctionPorts) -> FunctionPorts:
    """The ports with the shapes of outputs that the description leaves out, as the program declares them."""
    declared = {output.name: output.type for op in package.block(ports.name).operations for output in op.outputs}

    def complete(port: Port) -> Port:
        kind = declared.get(port.name)
        if port.shape or port.kind != "array" or kind is None or kind.WhichOneof("type") != "tensorType":
            return port
        return replace(port, shape=tensor_type(kind, f"{package.name}: the output {port.name!r}")[1])

    return replace(ports, outputs=tuple(complete(port) for port in ports.outputs))


def _check_program(package: Package) -> None:
    """Check that every described function exists, and that every weight is in an existing file."""
    functions = package.spec.mlProgram.functions
    for ports in package.functions:
        if ports.name not in functions:
            raise HettopError(
                "format", f"{package.name} describes function {ports.name!r}, which it does not have", _COPY_AGAIN
            )
        for operation in walk(package.block(ports.name)):
            for value in operation_values(operation):
                if value.WhichOneof("value") == "blobFileValue":
                    element, shape = constant_type(value, f"in function {ports.name!r} of {package.name}")
                    package.weights.file(value.blobFileValue.fileName).check(value.blobFileValue.offset, element, shape)


def operation_values(operation: Message) -> Iterator[Message]:
    """Every Value written at `operation`: its attributes and the inputs bound to literals."""
    yield from operation.attributes.values()
    for argument in operation.inputs.values():
        for binding in argument.arguments:
            if binding.WhichOneof("binding") == "value":
                yield binding.value
