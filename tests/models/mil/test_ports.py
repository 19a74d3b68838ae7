"""What goes in and out: images, flexible shapes, functions, states, labels, optional values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.mil.package import open_package
from hettop.models.mil.ports import Port, read_port
from hettop.models.mil.translate import StateFeed, translate
from hettop.models.package_ports import package_port
from hettop.models.shapes import accepts
from tests.models.mil.programs import close, convert, ct, mb, mil, opened, program, run, session, spec, types

RNG = np.random.default_rng(7)


def _image_model(layout: str, channels: int, bias: Any, **options: Any) -> Any:
    shape = (1, channels, 4, 6)
    source = program(lambda x: mb.relu(x=x), {"x": spec(shape)})
    image = ct.ImageType(
        name="x", shape=shape, scale=1 / 127.5, bias=bias, color_layout=getattr(ct.colorlayout, layout), **options
    )
    return convert(source, inputs=[image])


@pytest.mark.parametrize("layout", ["RGB", "BGR"])
def test_a_color_image_is_scaled_and_shifted_in_the_graph(layout: str) -> None:
    bias = [-1.0, -0.5, 0.0]
    package = opened(_image_model(layout, 3, bias))
    (port,) = package.function().inputs
    assert (port.kind, port.color, port.dtype, port.shape) == ("image", layout, "uint8", (1, 3, 4, 6))
    translation = translate(package)
    (feed,) = translation.inputs
    assert (feed.dtype, feed.shape, feed.port.color) == ("float32", (1, 3, 4, 6), layout)
    pixels = RNG.integers(0, 256, size=(1, 3, 4, 6)).astype(np.float32)
    (got,) = run(translation, {"x": pixels})
    close(got, np.maximum(pixels / 127.5 + np.reshape(bias, (3, 1, 1)), 0))


def test_a_gray_image_has_one_channel() -> None:
    package = opened(_image_model("GRAYSCALE", 1, -1.0))
    assert (package.function().inputs[0].color, package.function().inputs[0].shape) == ("GRAYSCALE", (1, 1, 4, 6))
    pixels = RNG.integers(0, 256, size=(1, 1, 4, 6)).astype(np.float32)
    (got,) = run(translate(package), {"x": pixels})
    close(got, np.maximum(pixels / 127.5 - 1, 0))


def test_a_gray_image_of_halves_is_fed_as_halves() -> None:
    shape = (1, 1, 4, 6)
    source = program(lambda x: mb.relu(x=x), {"x": spec(shape, np.float16)})
    image = ct.ImageType(name="x", shape=shape, color_layout=ct.colorlayout.GRAYSCALE_FLOAT16)
    translation = translate(opened(convert(source, inputs=[image])))
    assert (translation.inputs[0].port.dtype, translation.inputs[0].dtype) == ("float16", "float16")
    x = RNG.normal(size=shape).astype(np.float16)
    np.testing.assert_array_equal(run(translation, {"x": x})[0], np.maximum(x, 0))


def _free(*sizes: Any) -> Any:
    """A spec whose None sizes are free, and the matching input type with the given shape."""
    return spec([mil.get_new_symbol() if size is None else size for size in sizes])


def _flexible(shape: Any, build: Any = None, sizes: Any = (None, 3)) -> Any:
    source = program(build or (lambda x: mb.relu(x=x)), {"x": _free(*sizes)})
    return opened(convert(source, inputs=[ct.TensorType(name="x", shape=shape)]))


def test_a_range_of_sizes_is_described_and_run() -> None:
    package = _flexible(ct.Shape((ct.RangeDim(1, 8, default=2), 3)))
    (port,) = package.function().inputs
    assert (port.shape, port.ranges) == ((2, 3), ((1, 8), (3, 3)))
    assert port.flexible
    assert accepts(package_port(port), (8, 3))
    assert not accepts(package_port(port), (9, 3))
    assert not accepts(package_port(port), (2, 3, 1))
    translation = translate(package)
    assert translation.inputs[0].shape == ("x_0", 3)
    running = session(translation)
    for rows in (1, 5):
        x = RNG.normal(size=(rows, 3)).astype(np.float32)
        np.testing.assert_array_equal(running.run(None, {"x": x})[0], np.maximum(x, 0))


def test_enumerated_shapes_are_listed() -> None:
    package = _flexible(ct.EnumeratedShapes(shapes=[(2, 3), (4, 3)], default=(4, 3)))
    (port,) = package.function().inputs
    assert port.shape == (4, 3)
    assert set(port.choices) == {(2, 3), (4, 3)}
    assert accepts(package_port(port), (2, 3))
    assert not accepts(package_port(port), (3, 3))
    x = RNG.normal(size=(2, 3)).astype(np.float32)
    np.testing.assert_array_equal(run(translate(package), {"x": x})[0], np.maximum(x, 0))


def test_shapes_that_are_computed_follow_a_free_batch() -> None:
    def build(x: Any) -> Any:
        shape = mb.shape(x=x)
        rows = mb.slice_by_index(x=shape, begin=[0], end=[1])
        flat = mb.reshape(x=x, shape=mb.concat(values=(rows, np.array([6], np.int32)), axis=0))
        return mb.concat(values=(flat, mb.fill(shape=mb.concat(values=(rows, [1]), axis=0), value=2.0)), axis=1)

    package = _flexible(ct.Shape((ct.RangeDim(1, 8), 2, 3)), build, (None, 2, 3))
    for rows in (1, 4):
        x = RNG.normal(size=(rows, 2, 3)).astype(np.float32)
        (got,) = run(translate(package), {"x": x})
        np.testing.assert_array_equal(got, np.concatenate([x.reshape(rows, 6), np.full((rows, 1), 2, np.float32)], 1))


def test_layers_take_sizes_that_are_free() -> None:
    kernel = RNG.normal(size=(2, 3, 3, 3)).astype(np.float32)

    def build(x: Any) -> Any:
        y = mb.conv(x=x, weight=kernel, pad_type="same", strides=[2, 2])
        y = mb.upsample_bilinear(x=y, scale_factor_height=2, scale_factor_width=2, align_corners=False)
        y = mb.layer_norm(x=y, axes=[2, 3])
        y = mb.pixel_unshuffle(
            x=mb.upsample_nearest_neighbor(x=y, scale_factor_height=2, scale_factor_width=2),
            downscale_factor=np.uint32(2),
        )
        return mb.reverse(x=y, axes=[2])

    shape = ct.Shape((1, 3, ct.RangeDim(4, 32, default=8), ct.RangeDim(4, 32, default=8)))
    translation = translate(_flexible(shape, build, (1, 3, None, None)))
    fixed = opened(convert(program(build, {"x": spec((1, 3, 6, 10))})))
    x = RNG.normal(size=(1, 3, 6, 10)).astype(np.float32)
    (got,), (wanted,) = run(translation, {"x": x}), run(translate(fixed), {"x": x})
    close(got, wanted.astype(float))


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with the functions `double` (the default) and `negate`."""
    folder = tmp_path_factory.mktemp("functions")
    description = ct.utils.MultiFunctionDescriptor()
    for name, factor in (("double", 2.0), ("negate", -1.0)):
        path = folder / f"{name}.mlpackage"
        convert(program(lambda x, factor=factor: mb.mul(x=x, y=factor), {"x": spec((3,))})).save(str(path))
        description.add_function(str(path), src_function_name="main", target_function_name=name)
    description.default_function_name = "double"
    ct.utils.save_multifunction(description, str(folder / "both.mlpackage"))
    return folder / "both.mlpackage"


def test_every_function_is_described_and_run(functions: Path) -> None:
    package = open_package(functions)
    assert [ports.name for ports in package.functions] == ["double", "negate"]
    assert [port.name for port in package.function("negate").inputs] == ["x"]
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(run(translate(package), {"x": x})[0], 2 * x)
    np.testing.assert_array_equal(run(translate(package, "negate"), {"x": x})[0], -x)


def test_an_unknown_function_is_answered_with_those_there_are(functions: Path) -> None:
    with pytest.raises(HettopError, match="no function 'triple'") as caught:
        translate(open_package(functions), "triple")
    assert caught.value.kind == "input"
    assert caught.value.hint == "it has: double, negate"


def _accumulator() -> Any:
    def build(x: Any, state: Any) -> Any:
        total = mb.add(x=mb.read_state(input=state), y=x)
        updated = mb.coreml_update_state(state=state, value=total)
        return mb.mul(x=updated, y=np.float16(2))

    specs = {"x": spec((2, 3), np.float16), "sum": mb.StateTensorSpec((2, 3), dtype=types.fp16)}
    return convert(program(build, specs))


def test_a_state_goes_in_before_and_comes_out_after() -> None:
    package = opened(_accumulator())
    (state,) = package.function().states
    assert (state.kind, state.dtype, state.shape) == ("state", "float16", (2, 3))
    translation = translate(package)
    assert translation.states == (StateFeed("sum", "sum/after", "float16", (2, 3)),)
    assert [feed.name for feed in translation.inputs] == ["x"]
    running, held = session(translation), np.zeros((2, 3), np.float16)
    x = np.full((2, 3), 0.5, np.float16)
    for step in (1, 2, 3):
        output, held = running.run(None, {"x": x, "sum": held})
        np.testing.assert_array_equal(held, step * x)
        np.testing.assert_array_equal(output, 2 * step * x)


def test_a_classifier_gives_its_label_and_its_probabilities() -> None:
    source = program(lambda x: mb.softmax(x=x, name="p"), {"x": spec((1, 3))})
    model = convert(source, classifier_config=ct.ClassifierConfig(["cat", "dog", "fish"]))
    translation = translate(opened(model))
    label, probabilities = run(translation, {"x": np.array([[0, 3, 1]], np.float32)})
    assert label.item() == "dog"
    assert probabilities.shape == (1, 3)
    assert "dictionary" in translation.notes[0]
    kinds = [(port.kind, port.dtype) for port in opened(model).function().outputs]
    assert kinds == [("scalar", "string"), ("dictionary", "string")]


def test_a_classifier_with_numbers_for_labels() -> None:
    source = program(lambda x: mb.softmax(x=x), {"x": spec((1, 3))})
    model = convert(source, classifier_config=ct.ClassifierConfig([10, 20, 30]))
    label = run(translate(opened(model)), {"x": np.array([[0, 3, 9]], np.float32)})[0]
    assert (label.item(), label.dtype.name) == (30, "int64")


def test_an_optional_input_says_what_fills_it() -> None:
    source = program(lambda x, y: mb.add(x=x, y=y), {"x": spec((2,)), "y": spec((2,))})
    model = convert(
        source,
        inputs=[
            ct.TensorType(name="x", shape=(2,)),
            ct.TensorType(name="y", shape=(2,), default_value=np.full(2, 4.0, np.float32)),
        ],
    )
    x, y = opened(model).function().inputs
    assert (x.optional, x.default) == (False, None)
    assert (y.optional, y.default) == (True, 4.0)


def test_integers_and_halves_are_fed_as_they_are_declared() -> None:
    source = program(
        lambda i, h: [mb.add(x=i, y=np.int32(1)), mb.mul(x=h, y=np.float16(2))],
        {"i": spec((2,), np.int32), "h": spec((2,), np.float16)},
    )
    translation = translate(opened(convert(source)))
    assert [feed.dtype for feed in translation.inputs] == ["int32", "float16"]
    integers, halves = run(translation, {"i": np.array([1, 2], np.int32), "h": np.array([0.5, 4], np.float16)})
    assert (integers.dtype.name, halves.dtype.name) == ("int32", "float16")
    np.testing.assert_array_equal(integers, [2, 3])
    np.testing.assert_array_equal(halves, [1, 8])


def test_an_output_may_be_an_input_or_a_constant() -> None:
    source = program(
        lambda x: [mb.identity(x=x, name="same"), mb.const(val=np.ones(2, np.float32), name="one")], {"x": spec((2,))}
    )
    same, one = run(translate(opened(convert(source))), {"x": np.array([3, 4], np.float32)})
    np.testing.assert_array_equal(same, [3, 4])
    np.testing.assert_array_equal(one, [1, 1])


def test_a_port_knows_its_size_without_making_it() -> None:
    port = Port("x", "array", "float32", (50_000, 50_000))
    assert port.nbytes == 10_000_000_000
    assert Port("x", "array", "float32", (None, 3)).nbytes is None


def _described(kind: Any) -> Port:
    feature = ct.proto.Model_pb2.FeatureDescription(name="p")
    feature.type.CopyFrom(kind)
    return read_port(feature)


def test_kinds_that_only_older_models_use() -> None:
    kinds = ct.proto.FeatureTypes_pb2
    whole, real, word, table, items = (kinds.FeatureType() for _ in range(5))
    whole.int64Type.SetInParent()
    real.doubleType.SetInParent()
    word.stringType.SetInParent()
    table.dictionaryType.stringKeyType.SetInParent()
    items.sequenceType.int64Type.SetInParent()
    items.sequenceType.sizeRange.lowerBound, items.sequenceType.sizeRange.upperBound = 1, -1
    described = [(port.kind, port.dtype) for port in map(_described, (whole, real, word, table, items))]
    wanted = ["scalar int64", "scalar float64", "scalar string", "dictionary string", "sequence int64"]
    assert [" ".join(pair) for pair in described] == wanted
    assert _described(items).ranges == ((1, None),)


def test_a_range_without_an_end_has_no_limit() -> None:
    kind = ct.proto.FeatureTypes_pb2.FeatureType()
    for low, high in ((1, -1), (3, 3)):
        size = kind.multiArrayType.shapeRange.sizeRanges.add()
        size.lowerBound, size.upperBound = low, high
    port = _described(kind)
    assert (port.shape, port.ranges) == ((1, 3), ((1, None), (3, 3)))
    assert accepts(package_port(port), (10_000, 3))
    assert not accepts(package_port(port), (0, 3))


def test_an_image_may_have_several_sizes() -> None:
    kind = ct.proto.FeatureTypes_pb2.FeatureType()
    kind.imageType.width, kind.imageType.height, kind.imageType.colorSpace = 8, 4, 20
    size = kind.imageType.imageSizeRange
    size.widthRange.lowerBound, size.widthRange.upperBound = 8, 64
    size.heightRange.lowerBound, size.heightRange.upperBound = 4, -1
    assert _described(kind).ranges == ((1, 1), (3, 3), (4, None), (8, 64))
