"""What is reported of an ML Program is what its operations and its description say."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.inspection.inspection import Inspection, Totals
from hettop.models.inspection.reading import inspect
from tests.models.mil.programs import convert, ct, mb, mil, program, spec, types

FLOAT = np.float32


def totals(inspection: Inspection) -> Totals:
    assert inspection.totals is not None
    return inspection.totals


def zeros(*shape: int, dtype: Any = FLOAT) -> Any:
    return np.zeros(shape, dtype)


def saved(folder: Path, build: Callable[..., Any], specs: dict[str, Any], **options: Any) -> Path:
    path = folder / "m.mlpackage"
    convert(program(build, specs, options.get("target")), **options).save(str(path))
    return path


def inspected(folder: Path, build: Callable[..., Any], *shapes: tuple[int, ...], **options: Any) -> Inspection:
    """Inspection of a program of float32 inputs `a`, `b`, `c` of these shapes."""
    specs = {name: spec(shape) for name, shape in zip("abc", shapes, strict=False)}
    return inspect(saved(folder, build, specs, **options), shapes={})


# -- MACs by operation --------------------------------------------------------------------------------------------

LSTM = {"initial_h": zeros(3, 16), "initial_c": zeros(3, 16), "weight_ih": zeros(64, 8), "weight_hh": zeros(64, 16)}
BACK = {
    "initial_h": zeros(3, 32),
    "initial_c": zeros(3, 32),
    "direction": "bidirectional",
    "weight_ih_back": zeros(64, 8),
    "weight_hh_back": zeros(64, 16),
}
GRU = {"initial_h": zeros(3, 16), "weight_ih": zeros(48, 8), "weight_hh": zeros(48, 16)}


@pytest.mark.parametrize(
    ("build", "shapes", "macs", "parameters"),
    [
        (
            lambda a: mb.conv(x=a, weight=zeros(6, 2, 3, 3), bias=zeros(6), groups=2, pad_type="valid"),
            [(2, 4, 8, 8)],
            2 * 6 * 36 * 18,
            6 * 18 + 6,
        ),
        (
            lambda a: mb.conv_transpose(x=a, weight=zeros(8, 16, 2, 2), strides=[2, 2], pad_type="valid"),
            [(1, 8, 4, 4)],
            8 * 16 * 64,
            8 * 16 * 4,
        ),
        (lambda a: mb.linear(x=a, weight=zeros(5, 3), bias=zeros(5)), [(7, 2, 3)], 210, 20),
        (lambda a, b: mb.matmul(x=a, y=b), [(7, 2, 3), (7, 3, 5)], 210, 0),
        (lambda a, b: mb.matmul(x=a, y=b, transpose_x=True), [(3, 2), (3, 5)], 30, 0),
        (
            lambda a, b: mb.einsum(values=(a, b), equation="nchw,nwhu->nchu"),
            [(1, 4, 2, 3), (1, 3, 2, 5)],
            4 * 30,
            0,
        ),
        (lambda a: mb.lstm(x=a, **LSTM), [(10, 3, 8)], 10 * 3 * 64 * 24, 64 * 24 + 96),
        (lambda a: mb.lstm(x=a, **(LSTM | BACK)), [(10, 3, 8)], 2 * 10 * 3 * 64 * 24, 2 * 64 * 24 + 192),
        (lambda a: mb.gru(x=a, **GRU), [(10, 3, 8)], 10 * 3 * 48 * 24, 48 * 24 + 48),
        (
            lambda a, b, c: mb.scaled_dot_product_attention(query=a, key=b, value=c),
            [(1, 4, 6, 8), (1, 4, 7, 8), (1, 4, 7, 8)],
            2 * 4 * 6 * 7 * 8,
            0,
        ),
        (lambda a: mb.relu(x=a), [(7, 2, 3)], 0, 0),
    ],
    ids=[
        "conv", "conv_transpose", "linear", "matmul", "matmul transposed", "einsum", "lstm", "bidirectional lstm",
        "gru", "attention", "relu",
    ],
)  # fmt: skip
def test_macs_and_parameters_follow_from_the_operation(
    build: Callable[..., Any], shapes: list[tuple[int, ...]], macs: int, parameters: int, tmp_path: Path
) -> None:
    found = totals(inspected(tmp_path, build, *shapes))
    assert (found.macs, found.parameters) == (macs, parameters)


def test_bytes_are_those_of_weights_and_of_what_is_written(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        return mb.relu(x=mb.linear(x=a, weight=zeros(5, 3), bias=zeros(5)))

    inspection = inspected(tmp_path, build, (2, 3))
    found = totals(inspection)
    assert found.weight_bytes == 4 * 20
    assert found.activation_bytes == 2 * 4 * 10
    assert found.intensity == pytest.approx(30 / (4 * (6 + 20 + 10)))
    assert found.macs_by_op == {"linear": 30}
    assert inspection.ops == {"linear": 1, "relu": 1}


def test_running_statistics_are_stored_and_no_parameters(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        return mb.batch_norm(x=a, mean=zeros(4), variance=zeros(4), gamma=zeros(4), beta=zeros(4))

    found = totals(inspected(tmp_path, build, (1, 4, 2, 2)))
    assert (found.parameters, found.weight_bytes) == (8, 4 * 16)


def test_bounds_and_factors_are_no_parameters(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        return mb.clip(x=mb.mul(x=a, y=FLOAT(0.5)), alpha=0.0, beta=6.0)

    assert totals(inspected(tmp_path, build, (1, 4))).parameters == 0


def test_a_weight_that_two_operations_share_is_there_once(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        weight = mb.const(val=zeros(3, 3))
        return mb.linear(x=mb.linear(x=a, weight=weight), weight=weight)

    found = totals(inspected(tmp_path, build, (2, 3)))
    assert (found.parameters, found.macs) == (9 + 3 + 3, 36)  # each operation has biases of its own


# -- compressed weights -------------------------------------------------------------------------------------------


def compressed(folder: Path, how: Callable[[Any, Any], Any]) -> Inspection:
    """A 64 x 64 linear layer with 64 biases, its weight compressed by `how(coremltools.optimize.coreml, model)`."""
    weight = np.random.default_rng(0).normal(size=(64, 64)).astype(FLOAT)
    source = program(lambda a: mb.linear(x=a, weight=weight), {"a": spec((1, 64))}, ct.target.iOS16)
    how(importlib.import_module("coremltools.optimize.coreml"), convert(source, ct.target.iOS16)).save(
        str(folder / "m.mlpackage")
    )
    return inspect(folder / "m.mlpackage", shapes={})


def test_a_palette_of_4_bits_holds_all_parameters_in_half_a_byte_each(tmp_path: Path) -> None:
    def palettized(cto: Any, model: Any) -> Any:
        config = cto.OptimizationConfig(cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=512))
        return cto.palettize_weights(model, config)

    inspection = compressed(tmp_path, palettized)
    found = totals(inspection)
    assert (found.parameters, found.macs) == (4096 + 64, 4096)
    biases, indices, palette = 64 * 4, 2048, 16 * 4
    assert 0 <= found.weight_bytes - (biases + indices + palette) < 32  # the shape beside them
    assert found.precision == "float32, weights uint4 and float32"
    assert inspection.ops == {"constexpr_lut_to_dense": 1, "linear": 1}


def test_8_bit_weights_are_a_byte_each_and_a_scale_per_row(tmp_path: Path) -> None:
    def quantized(cto: Any, model: Any) -> Any:
        config = cto.OptimizationConfig(cto.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=512))
        return cto.linear_quantize_weights(model, config)

    found = totals(compressed(tmp_path, quantized))
    assert (found.parameters, found.macs) == (4096 + 64, 4096)
    biases, weights, scales = 64 * 4, 4096, 64 * 4
    assert 0 <= found.weight_bytes - (biases + weights + scales) <= 64 + 8  # zero points, and the axis
    assert found.precision == "float32, weights int8 and float32"
    assert found.activation_bytes == 4 * 64  # the unpacked weight is nothing that a call writes


# -- shapes, functions, states ------------------------------------------------------------------------------------


def flexible(folder: Path) -> Path:
    """(n, 4) to (n, 3), with n from 2 to 8 and usually 3."""
    return saved(
        folder,
        lambda x: mb.relu(x=mb.linear(x=x, weight=zeros(3, 4))),
        {"x": spec((mil.get_new_symbol(), 4))},
        inputs=[ct.TensorType(name="x", shape=(ct.RangeDim(2, 8, default=3), 4))],
    )


def test_a_flexible_shape_counts_as_the_model_proposes_or_as_asked(tmp_path: Path) -> None:
    inspection = inspect(flexible(tmp_path), shapes={})
    (port,) = inspection.inputs
    assert (port.shape, port.usual, port.ranges) == ((None, 4), (3, 4), ((2, 8), (4, 4)))
    assert inspection.shapes == {"x": (3, 4)}
    assert totals(inspection).macs == 3 * 12
    asked = inspect(tmp_path / "m.mlpackage", shapes={"x": (8, 4)})
    assert totals(asked).macs == 8 * 12
    assert totals(asked).activation_bytes == 2 * 4 * 8 * 3
    assert totals(asked).parameters == 12 + 3


@pytest.mark.parametrize("shape", [(1, 4), (9, 4), (3, 5), (3, 4, 1)])
def test_a_shape_outside_the_range_is_refused_with_the_range(shape: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        inspect(flexible(tmp_path), shapes={"x": shape})
    assert caught.value.kind == "input"
    assert "axis 0 2 to 8" in caught.value.hint


def test_enumerated_shapes_are_reported_and_nothing_else_is_taken(tmp_path: Path) -> None:
    choices = [(1, 3, 8, 8), (1, 3, 16, 8)]
    path = saved(
        tmp_path,
        lambda x: mb.relu(x=x),
        {"x": spec((1, 3, mil.get_new_symbol(), mil.get_new_symbol()))},
        inputs=[ct.TensorType(name="x", shape=ct.EnumeratedShapes(choices, default=choices[1]))],
    )
    (port,) = inspect(path, shapes={}).inputs
    assert port.shape == (1, 3, None, 8)
    assert set(port.choices) == set(choices)
    assert totals(inspect(path, shapes={"x": (1, 3, 8, 8)})).activation_bytes == 4 * 192
    with pytest.raises(HettopError) as caught:
        inspect(path, shapes={"x": (1, 3, 12, 8)})
    assert "[1,3,8,8]" in caught.value.hint


def test_of_two_branches_one_call_runs_the_costlier(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        positive = mb.greater(x=mb.reduce_sum(x=a, keep_dims=False), y=FLOAT(0))
        return mb.cond(
            pred=positive,
            _true_fn=lambda: mb.linear(x=a, weight=zeros(3, 3)),
            _false_fn=lambda: mb.linear(x=mb.linear(x=a, weight=zeros(5, 3)), weight=zeros(3, 5)),
        )

    inspection = inspected(tmp_path, build, (2, 3))
    assert totals(inspection).macs == 2 * 30
    assert totals(inspection).parameters == (9 + 3) + (15 + 5) + (15 + 3)
    assert inspection.ops["linear"] == 3


def test_a_loop_without_a_known_count_is_not_counted_and_says_why(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        return mb.while_loop(
            _cond=lambda v: mb.less(x=mb.reduce_sum(x=v, keep_dims=False), y=FLOAT(9)),
            _body=lambda v: (mb.linear(x=v, weight=zeros(3, 3)),),
            loop_vars=(a,),
        )

    found = totals(inspected(tmp_path, build, (2, 3)))
    assert (found.macs, found.activation_bytes) == (None, None)
    assert "while_loop are not counted: the number of iterations is known at run time only" in " ".join(found.notes)


def test_a_loop_that_counts_from_a_constant_to_another_multiplies_its_body(tmp_path: Path) -> None:
    """From 1 in steps of 2 while below 8: 1, 3, 5, 7."""

    def build(a: Any) -> Any:
        return mb.while_loop(
            _cond=lambda i, v: mb.less(x=i, y=8),
            _body=lambda i, v: (mb.add(x=i, y=2), mb.linear(x=v, weight=zeros(3, 3))),
            loop_vars=(np.int32(1), a),
        )[1]

    assert totals(inspected(tmp_path, build, (2, 3))).macs == 4 * 18


def test_each_function_of_several_is_reported_by_its_name(tmp_path: Path) -> None:
    for name, width in (("small", 3), ("large", 7)):
        source = program(lambda a, w=width: mb.linear(x=a, weight=zeros(w, 4)), {"a": spec((1, 4))})
        convert(source).save(str(tmp_path / f"{name}.mlpackage"))
    description = ct.utils.MultiFunctionDescriptor()
    for name in ("small", "large"):
        description.add_function(str(tmp_path / f"{name}.mlpackage"), "main", name)
    description.default_function_name = "small"
    ct.utils.save_multifunction(description, str(tmp_path / "both.mlpackage"))
    inspection = inspect(tmp_path / "both.mlpackage", shapes={})
    assert (inspection.functions, inspection.function) == (("small", "large"), "small")
    assert totals(inspection).macs == 12
    other = inspect(tmp_path / "both.mlpackage", shapes={}, function="large")
    assert other.function == "large"
    assert totals(other).macs == 28
    with pytest.raises(HettopError, match="no function 'huge'") as caught:
        inspect(tmp_path / "both.mlpackage", shapes={}, function="huge")
    assert "small, large" in caught.value.hint


def test_states_are_distinguished_from_inputs(tmp_path: Path) -> None:
    def build(x: Any, memory: Any) -> Any:
        value = mb.add(x=mb.read_state(input=memory), y=x)
        mb.coreml_update_state(state=memory, value=value)
        return value

    specs = {"x": spec((4,), np.float16), "memory": mb.StateTensorSpec((4,), dtype=types.fp16)}
    inspection = inspect(saved(tmp_path, build, specs), shapes={})
    assert [port.name for port in inspection.inputs] == ["x"]
    (state,) = inspection.states
    assert (state.name, state.kind, state.dtype, state.shape) == ("memory", "state", "float16", (4,))


@pytest.mark.parametrize(
    ("layout", "channels", "dtype"),
    [("RGB", 3, "uint8"), ("BGR", 3, "uint8"), ("GRAYSCALE", 1, "uint8"), ("GRAYSCALE_FLOAT16", 1, "float16")],
)
def test_images_have_their_layout_of_colours(layout: str, channels: int, dtype: str, tmp_path: Path) -> None:
    image = ct.ImageType(name="x", shape=(1, channels, 4, 6), color_layout=getattr(ct.colorlayout, layout))
    kind = np.float16 if dtype == "float16" else FLOAT
    path = saved(tmp_path, lambda x: mb.relu(x=x), {"x": spec((1, channels, 4, 6), kind)}, inputs=[image])
    (port,) = inspect(path, shapes={}).inputs
    assert (port.kind, port.color, port.dtype, port.shape) == ("image", layout, dtype, (1, channels, 4, 6))


def renamed(path: Path, *ops: str) -> None:
    """Gives every operation of these types a name that nobody knows."""
    specification = path / "Data" / "com.apple.CoreML" / "model.mlmodel"
    model = importlib.import_module("coremltools.proto.Model_pb2").Model()
    model.ParseFromString(specification.read_bytes())
    for function in model.mlProgram.functions.values():
        for block in function.block_specializations.values():
            for operation in block.operations:
                if operation.type in ops:
                    operation.type = f"mystery_{operation.type}"
    specification.write_bytes(model.SerializeToString())


def test_all_operations_without_translation_are_listed_with_their_places(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        lambda a: mb.tanh(x=mb.relu(x=mb.relu(x=a, name="first"), name="second"), name="third"),
        {"a": spec((1, 4))},
    )
    renamed(path, "relu", "tanh")
    inspection = inspect(path, shapes={})
    assert [(each.op, each.place) for each in inspection.missing_ops] == [
        ("mystery_relu", "'first' of function 'main'"),
        ("mystery_relu", "'second' of function 'main'"),
        ("mystery_tanh", "'third' of function 'main'"),
    ]
    assert inspection.ops == {"mystery_relu": 2, "mystery_tanh": 1}
