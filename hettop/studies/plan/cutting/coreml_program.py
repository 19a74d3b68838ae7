"""ML Programs as steps that can be cut: their flow, what crosses a cut, and packages written of some steps."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.models.mil.blob import WeightFile, WeightWriter
from hettop.models.mil.dtypes import (
    ARRAY_TYPES,
    BOOL,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    PROGRAM_TYPES,
    STRING,
    UINT8,
    UINT16,
    ElementType,
)
from hettop.models.mil.package import Package, operation_values, walk
from hettop.models.mil.proto import Message, model_message, program_message
from hettop.models.mil.values import tensor_type
from hettop.studies.plan.cutting.graph import Flow, Part, Step, ends, useful
from hettop.text import clean

MAIN = "main"
HALF_PORTS_SPECIFICATION = 7
"""From iOS 16 and macOS 13 on a model may take and give arrays of half precision."""

MOST_AXES = 5
"""Of an array that a model takes or gives; it must have one at least."""

CARRIED = {element.name: INT32 for element in (BOOL, INT8, INT16, UINT8, UINT16)}
"""Types that no array at a model's ends can have: they cross a cut as others, and become themselves behind it."""

WORDS = {"bool": "bool", "float16": "fp16", "float32": "fp32"}
"""How a `cast` calls types, where not as numpy does."""

RANDOM = "random_"
FIX_SHAPES = "convert it with a fixed shape, or cut its ONNX form: --backend onnxruntime --shape NAME=1,3,640,640"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the program: its type and shape, and the type and the name it crosses a cut with."""

    element: ElementType
    shape: tuple[int, ...]
    carried: ElementType
    feature: str

    @property
    def nbytes(self) -> int:
        """Of what crosses a cut."""
        items = 1
        for size in self.shape:
            items *= size
        return items * self.carried.bits // 8


@dataclass(frozen=True, slots=True)
class Cut:
    """A package of some steps: what it takes and gives, by the names of its inputs and outputs."""

    path: Path
    takes: tuple[str, ...]
    gives: tuple[str, ...]


class Program:
    """An opened function of an ML Program. `values` has what can cross a cut, `flow` how it runs."""

    def __init__(self, package: Package, function: str | None) -> None:
        """Raises HettopError: `format` for what is not an ML Program or keeps a state, `input` for an open shape or an
        unknown function, `unsupported-op` for one that draws numbers."""
        _check(package, function)
        self.package = package
        self.ports = package.function(function)
        self._function = package.program(function)
        self._block = package.block(function)
        self._described = {each.name: each for each in _description(package, self.ports.name)}
        self._operations = list(self._block.operations)
        self._fixed_makers: dict[str, int] = {}
        self.flow = useful(self._flow())
        if not self.flow.steps:
            raise HettopError(
                "input", f"{clean(package.name)} has no operation that depends on its inputs", "there is no plan"
            )
        self.values = dict(self._values())

    @property
    def half(self) -> bool:
        """Whether some value is of half precision."""
        return any(value.element is FLOAT16 for value in self.values.values())

    def can_cross(self, names: tuple[str, ...]) -> bool:
        return all(name in self.values for name in names)

    def weight_bytes(self, part: Part) -> int:
        """Of the weights that these steps read, as stored, those of several steps counted once."""
        found = {}
        for index in self._nodes(part):
            for each in walk_one(self._operations[index]):
                for value in operation_values(each):
                    if value.WhichOneof("value") == "blobFileValue":
                        blob = value.blobFileValue
                        found[blob.fileName, blob.offset] = self._weights(blob.fileName).entry(blob.offset)[2]
        return sum(found.values())

    def extract(self, part: Part, path: Path) -> Cut:
        """Writes the package of these steps alone, whose function is `main`. Raises HettopError: `io`."""
        taken, given = ends(self.flow, part)
        spec = model_message()(specificationVersion=self.package.specification)
        spec.mlProgram.version = self.package.spec.mlProgram.version
        function = spec.mlProgram.functions[MAIN]
        function.opset = self._function.opset or next(iter(self._function.block_specializations))
        block = function.block_specializations[function.opset]
        for name in taken:
            self._take(name, spec.description, function, block)
        block.operations.extend(self._operations[index] for index in self._nodes(part))
        for name in given:
            self._give(name, spec.description, block)
        self._copy_labels(spec.description)
        write_package(spec, path, self._weights)
        features = [tuple(self._feature(name) for name in names) for names in (taken, given)]
        return Cut(path, features[0], features[1])

    # -- reading ---------------------------------------------------------------------------------------------------

    def _flow(self) -> Flow:
        fixed: set[str] = set()
        steps = []
        for index, operation in enumerate(self._operations):
            kind = clean(str(operation.type).rpartition(".")[2])
            writes = tuple(each.name for each in operation.outputs)
            reads = tuple(dict.fromkeys(name for name in _reads(operation) if name not in fixed))
            name = clean(writes[0] if writes else kind)
            if kind.startswith(RANDOM):
                raise HettopError("unsupported-op", f"{name} ({kind}) is random, so outputs cannot be compared")
            if reads:
                steps.append(Step(name, kind, index, reads, writes))
            else:
                fixed.update(writes)
                self._fixed_makers.update(dict.fromkeys(writes, index))
        # An output that is constant belongs to no slice, and is not asked for.
        outputs = tuple(name for name in self._block.outputs if name not in fixed)
        return Flow(tuple(steps), tuple(each.name for each in self._function.inputs), outputs)

    def _values(self) -> Iterator[tuple[str, Value]]:
        """What can cross a cut: arrays of a known shape and of a type that can be carried."""
        taken = {each.name for operation in self._operations for each in operation.outputs}
        taken |= {each.name for each in self._function.inputs}
        images = {port.name for port in self.ports.outputs if port.kind == "image"}  # whole pixel values come out
        messages = [*self._function.inputs, *(each for op in self._operations for each in op.outputs)]
        for message in messages:
            if message.name in images:
                continue
            try:
                element, shape = tensor_type(message.type, clean(message.name))
            except HettopError:
                continue  # a list or a dictionary
            known = tuple(size for size in shape if size is not None)
            carried = self._carried(element)
            if carried is None or len(known) < len(shape) or not 1 <= len(shape) <= MOST_AXES:
                continue
            feature = message.name
            while carried is not element and (feature in taken or feature in self._described):
                feature += "_carried"
            yield message.name, Value(element, known, carried, feature)

    def _carried(self, element: ElementType) -> ElementType | None:
        if element is FLOAT16 and self.package.specification < HALF_PORTS_SPECIFICATION:
            return FLOAT32
        return element if element in (FLOAT16, FLOAT32, INT32) else CARRIED.get(element.name)

    def _nodes(self, part: Part) -> list[int]:
        """Operations of the steps, and those that make the constants they read, in the program's order."""
        found = {step.node for step in self.flow.steps[part.first : part.last + 1]}
        waiting = list(found)
        while waiting:
            for name in _reads(self._operations[waiting.pop()]):
                maker = self._fixed_makers.get(name)
                if maker is not None and maker not in found:
                    found.add(maker)
                    waiting.append(maker)
        return sorted(found)

    def _weights(self, name: str) -> WeightFile:
        return self.package.weights.file(name)

    # -- writing ---------------------------------------------------------------------------------------------------

    def _feature(self, name: str) -> str:
        """The name of a value at the end of a slice; the model's own ends keep theirs."""
        return name if name in self._described else self.values[name].feature

    def _take(self, name: str, description: Message, function: Message, block: Message) -> None:
        if name in self.flow.inputs:
            description.input.append(self._described[name])
            function.inputs.append(next(each for each in self._function.inputs if each.name == name))
            return
        value, feature = self.values[name], self._feature(name)
        description.input.append(_array(feature, value))
        function.inputs.append(_typed(feature, value.carried, value.shape))
        if feature != name:
            block.operations.extend(_cast(feature, name, value.element, value.shape))

    def _give(self, name: str, description: Message, block: Message) -> None:
        if name in self._described:
            description.output.append(self._described[name])
            block.outputs.append(name)
            return
        value, feature = self.values[name], self._feature(name)
        if feature != name:
            block.operations.extend(_cast(name, feature, value.carried, value.shape))
        description.output.append(_array(feature, value))
        block.outputs.append(feature)

    def _copy_labels(self, description: Message) -> None:
        """What a classifier's description says of its outputs, where they are there."""
        given = {each.name for each in description.output}
        for field in ("predictedFeatureName", "predictedProbabilitiesName"):
            name = getattr(self.package.spec.description, field)
            if name in given:
                setattr(description, field, name)


def walk_one(operation: Message) -> Iterator[Message]:
    """The operation and all those in its blocks."""
    yield operation
    for inner in operation.blocks:
        yield from walk(inner)


def _check(package: Package, function: str | None) -> None:
    name = clean(package.name)
    if package.kind != "mlprogram":
        kind = "in the NeuralNetwork format" if package.kind == "neuralnetwork" else f"a {clean(package.kind)} model"
        hint = "convert the source model again with coremltools, convert_to='mlprogram'"
        raise HettopError("format", f"{name} is {kind}: only ML Programs can be cut", hint)
    ports = package.function(function)
    if ports.states:
        raise HettopError("format", f"{name} keeps a state, which slices cannot share", "there is no plan")
    open_ports = [port.name for port in ports.inputs if port.flexible or not _is_fixed(package, function, port.name)]
    if open_ports:
        raise HettopError("input", f"{name}: the shape of {clean(open_ports[0])} is not fixed", FIX_SHAPES)


def _is_fixed(package: Package, function: str | None, port: str) -> bool:
    for each in package.program(function).inputs:
        if each.name == port:
            return None not in tensor_type(each.type, clean(port))[1]
    return True


def _description(package: Package, function: str) -> Iterator[Message]:
    description = package.spec.description
    chosen = next((each for each in description.functions if each.name == function), description)
    yield from chosen.input
    yield from chosen.output


def _reads(operation: Message) -> Iterator[str]:
    """Names it reads that are made around it, those that operations inside of it read included."""
    for argument in operation.inputs.values():
        yield from (each.name for each in argument.arguments if each.WhichOneof("binding") == "name")
    for block in operation.blocks:
        own = {each.name for each in block.inputs}
        for inner in block.operations:
            yield from (name for name in _reads(inner) if name not in own)
            own.update(each.name for each in inner.outputs)
        yield from (name for name in block.outputs if name not in own)


def _array(name: str, value: Value) -> Message:
    """The description of an array at an end of a slice."""
    feature = model_message("FeatureDescription")(name=name)
    array = feature.type.multiArrayType
    array.shape.extend(value.shape)
    array.dataType = next(number for number, element in ARRAY_TYPES.items() if element is value.carried)
    return feature


def _typed(name: str, element: ElementType, shape: tuple[int, ...]) -> Message:
    value = program_message("NamedValueType")(name=name)
    _set_type(value.type.tensorType, element, shape)
    return value


def _set_type(tensor: Message, element: ElementType, shape: tuple[int, ...]) -> None:
    tensor.dataType = _number(element)
    tensor.rank = len(shape)
    for size in shape:
        tensor.dimensions.add().constant.size = size


def _number(element: ElementType) -> int:
    return next(number for number, each in PROGRAM_TYPES.items() if each is element)


def _cast(source: str, target: str, element: ElementType, shape: tuple[int, ...]) -> list[Message]:
    """The operation that makes `target` of `source`, after the constant that says of which type."""
    operation = program_message("Operation")
    word = operation(type="const")
    word.outputs.append(_typed(f"{target}_to_type", STRING, ()))
    _set_text(word.attributes["name"], f"{target}_to_type")
    _set_text(word.attributes["val"], WORDS.get(element.name, element.name))
    cast = operation(type="cast")
    cast.inputs["x"].arguments.add().name = source
    cast.inputs["dtype"].arguments.add().name = f"{target}_to_type"
    cast.outputs.append(_typed(target, element, shape))
    _set_text(cast.attributes["name"], target)
    return [word, cast]


def _set_text(value: Message, text: str) -> None:
    value.type.tensorType.dataType = _number(STRING)
    value.immediateValue.tensor.strings.values.append(text)


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
        raise HettopError("io", f"cannot write a slice of the model: {reason}", hint) from error


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
