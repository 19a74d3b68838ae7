"""Whole programs: what is missing is named, what is made is valid ONNX, and networks give what numpy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from hettop.errors import HettopError
from hettop.models.mil.table import MissingOp, missing_ops
from hettop.models.mil.translate import IR_VERSION, OPSET, translate
from tests.models.mil.programs import Array, close, convert, ct, mb, opened, program, run, spec
from tests.models.mil.references import layer_norm, sigmoid, softmax

RNG = np.random.default_rng(8)


def floats(*shape: int) -> Array:
    return (0.2 * RNG.normal(size=shape)).astype(np.float32)


def test_every_missing_operation_is_listed_with_its_place() -> None:
    def build(x: Any) -> Any:
        noise = mb.random_normal(shape=[2], name="noise")
        flag = mb.squeeze(x=mb.greater(x=mb.reduce_sum(x=x, keep_dims=True), y=0.0))
        more = mb.cond(
            pred=flag,
            _true_fn=lambda: mb.add(x=x, y=mb.random_uniform(shape=[2], name="inner")),
            _false_fn=lambda: mb.relu(x=x),
        )
        return mb.add(x=more, y=noise)

    package = opened(convert(program(build, {"x": spec((2,))})))
    assert missing_ops(package) == (
        MissingOp("random_normal", "main", "noise"),
        MissingOp("random_uniform", "main", "inner"),
    )
    with pytest.raises(HettopError, match="'random_normal' operation 'noise' of function 'main'") as caught:
        translate(package)
    assert caught.value.kind == "unsupported-op"


def test_nothing_is_missing_from_what_can_be_translated() -> None:
    assert missing_ops(opened(convert(program(lambda x: mb.relu(x=x), {"x": spec((2,))})))) == ()


def test_the_model_is_valid_and_has_the_names_of_the_program() -> None:
    source = program(lambda x: mb.relu(x=mb.mul(x=x, y=2.0, name="twice"), name="out"), {"x": spec((2, 3))})
    model = translate(opened(convert(source))).model
    onnx.checker.check_model(model, full_check=True)
    assert (model.ir_version, model.opset_import[0].version) == (IR_VERSION, OPSET)
    assert [node.output[0] for node in model.graph.node] == ["twice", "out"]
    assert [value.name for value in (*model.graph.input, *model.graph.output)] == ["x", "out"]


@pytest.mark.parametrize("place", [-2, -1])
def test_a_declared_shape_that_is_not_what_comes_out_is_refused(place: int) -> None:
    source = program(lambda x: mb.reduce_sum(x=mb.relu(x=x, name="inner"), axes=[0, 1], name="y"), {"x": spec((2, 3))})
    package = opened(convert(source))
    computed = [operation for operation in package.block().operations if operation.type != "const"]
    dimensions = computed[place].outputs[0].type.tensorType.dimensions
    size = dimensions[0] if dimensions else dimensions.add()
    size.constant.size = 5
    with pytest.raises(HettopError) as caught:
        translate(package)
    assert caught.value.kind in {"format", "unsupported-op"}
    assert "not valid ONNX" in caught.value.message or "rank 0" in caught.value.message


def test_a_parameter_that_is_computed_where_it_must_be_constant_is_refused() -> None:
    package = opened(convert(program(lambda x: mb.transpose(x=x, perm=[1, 0], name="y"), {"x": spec((2, 3))})))
    package.block().operations[-1].inputs["perm"].arguments[0].name = "x"
    with pytest.raises(HettopError, match=r"'transpose' operation 'y' .* needs a constant 'perm'"):
        translate(package)


@pytest.mark.parametrize("damage", ["unknown name", "lacking parameter", "senseless value"])
def test_a_damaged_operation_is_named(damage: str) -> None:
    package = opened(convert(program(lambda x: mb.transpose(x=x, perm=[1, 0], name="y"), {"x": spec((2, 3))})))
    operation = package.block().operations[-1]
    if damage == "unknown name":
        operation.inputs["x"].arguments[0].name = "nowhere"
    elif damage == "lacking parameter":
        del operation.inputs["x"]
    else:
        (constant,) = (item for item in package.block().operations if item.outputs[0].name.startswith("y_perm"))
        constant.attributes["val"].immediateValue.tensor.ints.values[0] = 7
        constant.attributes["val"].immediateValue.tensor.ints.values[1] = 7
    with pytest.raises(HettopError) as caught:
        translate(package)
    assert caught.value.kind in {"format", "unsupported-op"}
    assert "nowhere" in caught.value.message or "'y'" in caught.value.message or "main" in caught.value.message


HEADS, WIDTH, STEPS = 2, 8, 5
WEIGHTS = {name: floats(WIDTH, WIDTH) for name in ("q", "k", "v", "o")}
UP, DOWN = floats(4 * WIDTH, WIDTH), floats(WIDTH, 4 * WIDTH)
GAMMA, BETA = 1 + floats(WIDTH), floats(WIDTH)


def _block(x: Any) -> Any:
    """A transformer block, its attention written out as converters write it."""

    def heads(name: str, y: Any) -> Any:
        split = mb.reshape(x=mb.linear(x=y, weight=WEIGHTS[name]), shape=[1, STEPS, HEADS, WIDTH // HEADS])
        return mb.transpose(x=split, perm=[0, 2, 1, 3])

    y = mb.layer_norm(x=x, axes=[-1], gamma=GAMMA, beta=BETA, epsilon=1e-3)
    q, k, v = (heads(name, y) for name in ("q", "k", "v"))
    scores = mb.mul(x=mb.matmul(x=q, y=k, transpose_y=True), y=np.float32(1 / np.sqrt(WIDTH // HEADS)))
    mixed = mb.transpose(x=mb.matmul(x=mb.softmax(x=scores, axis=-1), y=v), perm=[0, 2, 1, 3])
    x = mb.add(x=x, y=mb.linear(x=mb.reshape(x=mixed, shape=[1, STEPS, WIDTH]), weight=WEIGHTS["o"]))
    y = mb.layer_norm(x=x, axes=[-1], gamma=GAMMA, beta=BETA, epsilon=1e-3)
    inner = mb.linear(x=y, weight=UP)
    return mb.add(x=x, y=mb.linear(x=mb.mul(x=inner, y=mb.sigmoid(x=inner)), weight=DOWN), name="y")


def _block_reference(x: Array) -> Array:
    def heads(name: str, y: Array) -> Array:
        return np.asarray((y @ WEIGHTS[name].T).reshape(1, STEPS, HEADS, -1).transpose(0, 2, 1, 3))

    y = layer_norm(x, (-1,), 1e-3) * GAMMA + BETA
    q, k, v = (heads(name, y) for name in ("q", "k", "v"))
    mixed = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(WIDTH // HEADS)) @ v
    x = x + mixed.transpose(0, 2, 1, 3).reshape(1, STEPS, WIDTH) @ WEIGHTS["o"].T
    inner = (layer_norm(x, (-1,), 1e-3) * GAMMA + BETA) @ UP.T
    return np.asarray(x + (inner * sigmoid(inner)) @ DOWN.T)


@pytest.mark.parametrize("precision", ["FLOAT32", "FLOAT16"])
def test_a_transformer_block_after_coremltools_own_passes(precision: str) -> None:
    x = floats(1, STEPS, WIDTH)
    model = convert(
        program(_block, {"x": spec(x.shape)}),
        pass_pipeline=ct.PassPipeline.DEFAULT,
        compute_precision=getattr(ct.precision, precision),
    )
    wanted = _block_reference(x.astype(np.float64))
    (got,) = run(translate(opened(model)), {"x": x})
    tolerance = 1e-5 if precision == "FLOAT32" else 1e-2
    assert np.abs(got - wanted).max() <= tolerance * np.abs(wanted).max()


def test_halves_stay_halves_between_the_casts_at_the_ends() -> None:
    model = convert(
        program(_block, {"x": spec((1, STEPS, WIDTH))}),
        pass_pipeline=ct.PassPipeline.DEFAULT,
        compute_precision=ct.precision.FLOAT16,
    )
    graph = translate(opened(model)).model.graph
    assert [node.op_type for node in graph.node].count("Cast") == 2
    assert {item.data_type for item in graph.initializer if len(item.dims) == 2} == {onnx.TensorProto.FLOAT16}


KERNELS = [floats(8, 3, 3, 3), floats(8, 1, 3, 3), floats(16, 8, 1, 1), floats(10, 16)]


def _network(x: Any) -> Any:
    y = mb.conv(x=x, weight=KERNELS[0], pad_type="same", strides=[2, 2])
    scale = np.ones(8, np.float32)
    y = mb.batch_norm(x=y, mean=0 * scale, variance=scale, gamma=2 * scale, beta=0 * scale, epsilon=1e-3)
    y = mb.relu6(x=y)
    y = mb.relu6(x=mb.conv(x=y, weight=KERNELS[1], groups=8, pad_type="same"))
    y = mb.conv(x=y, weight=KERNELS[2], pad_type="valid")
    y = mb.reduce_mean(x=y, axes=[2, 3], keep_dims=False)
    return mb.softmax(x=mb.linear(x=y, weight=KERNELS[3]), axis=-1)


def test_passes_of_coremltools_do_not_change_what_a_network_gives() -> None:
    x = floats(2, 3, 16, 16)
    source = program(_network, {"x": spec(x.shape)})
    plain = run(translate(opened(convert(source))), {"x": x})[0]
    source = program(_network, {"x": spec(x.shape)})
    fused = run(translate(opened(convert(source, pass_pipeline=ct.PassPipeline.DEFAULT))), {"x": x})[0]
    assert fused.shape == (2, 10)
    close(fused, plain.astype(float))


def test_a_gru_written_as_a_loop_as_converters_write_pytorchs() -> None:
    inner, state = floats(4, 3), floats(4, 4)

    def build(x: Any, h0: Any) -> Any:
        steps = mb.slice_by_index(x=mb.shape(x=x), begin=[0], end=[1])
        history = mb.concat(values=(h0, mb.fill(shape=[5, 1, 4], value=0.0)), axis=0)

        def body(i: Any, history: Any) -> Any:
            step = mb.squeeze(x=mb.gather(x=x, indices=i, axis=0), axes=[0])
            before = mb.squeeze(x=mb.gather(x=history, indices=i, axis=0), axes=[0])
            after = mb.tanh(x=mb.add(x=mb.linear(x=step, weight=inner), y=mb.linear(x=before, weight=state)))
            following = mb.add(x=i, y=np.int32(1))
            written = mb.scatter(
                data=history, indices=following, updates=mb.expand_dims(x=after, axes=[0]), axis=0, mode="update"
            )
            return following, written

        history = mb.while_loop(
            _cond=lambda i, history: mb.squeeze(x=mb.less(x=i, y=steps)),
            _body=body,
            loop_vars=(mb.const(val=np.array([0], np.int32)), history),
        )[1]
        return mb.slice_by_index(x=history, begin=[1, 0, 0], end=[6, 1, 4])

    x, h = floats(5, 1, 3), floats(1, 1, 4)
    (got,) = run(
        translate(opened(convert(program(build, {"x": spec(x.shape), "h0": spec(h.shape)})))), {"x": x, "h0": h}
    )
    wanted, hidden = [], h[0].astype(float)
    for step in x:
        hidden = np.tanh(step @ inner.T + hidden @ state.T)
        wanted.append(hidden)
    close(got, np.stack(wanted))


def test_translating_twice_gives_the_same_bytes() -> None:
    package = opened(convert(program(_network, {"x": spec((1, 3, 16, 16))})))
    first, second = (translate(package).model.SerializeToString(deterministic=True) for _ in range(2))
    assert first == second
