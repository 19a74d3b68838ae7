"""What is reported of an ONNX file is what its graph says, and what the graph does not say is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer, repeated
from hettop.models.inspection.inspection import Inspection, Totals
from hettop.models.inspection.reading import inspect
from tests.sources.engine.backends.onnx_files import BOOL, FLOAT, FLOAT16, INT64, save

FLOATS = Mapping[str, tuple[int, ...]]


def totals(inspection: Inspection) -> Totals:
    assert inspection.totals is not None
    return inspection.totals


def inspected(
    folder: Path,
    nodes: Sequence[Any],
    inputs: Mapping[str, Sequence[int | str]],
    weights: Mapping[str, Any] | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    **options: Any,
) -> Inspection:
    """Inspection of a model with float32 inputs and output `y`; weights are arrays."""
    path = save(
        folder / "m.onnx",
        nodes,
        [(name, FLOAT, shape) for name, shape in inputs.items()],
        [("y", FLOAT, None)],  # type: ignore[list-item]
        initializers=[numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()],
        **options,
    )
    return inspect(Path(path), shapes=shapes or {})


def node(op: str, *inputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, inputs, ["y"], name=f"the_{op}", **attributes)


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


# -- MACs by operator ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "inputs", "weights", "attributes", "expected"),
    [
        ("Conv", {"x": (2, 4, 8, 8)}, {"w": zeros(6, 2, 3, 3)}, {"group": 2}, 2 * 6 * 36 * 18),
        ("Conv", {"x": (1, 4, 8)}, {"w": zeros(6, 4, 3)}, {"dilations": [2]}, 6 * 4 * 12),
        ("ConvTranspose", {"x": (1, 8, 4, 4)}, {"w": zeros(8, 16, 2, 2)}, {"strides": [2, 2]}, 8 * 16 * 64),
        ("Gemm", {"x": (2, 3)}, {"w": zeros(3, 5)}, {}, 30),
        ("Gemm", {"x": (3, 2)}, {"w": zeros(5, 3)}, {"transA": 1, "transB": 1}, 30),
        ("MatMul", {"x": (7, 2, 3)}, {"w": zeros(3, 5)}, {}, 210),
        ("MatMul", {"x": (7, 2, 3), "w": (7, 3, 5)}, {}, {}, 210),
        ("Einsum", {"x": (7, 2, 3), "w": (3, 5)}, {}, {"equation": "bij,jk->bik"}, 210),
        ("Relu", {"x": (7, 2, 3)}, {}, {}, 0),
    ],
)
def test_macs_follow_from_shapes_and_attributes(
    op: str,
    inputs: dict[str, tuple[int, ...]],
    weights: dict[str, Any],
    attributes: dict[str, Any],
    expected: int,
    tmp_path: Path,
) -> None:
    inspection = inspected(tmp_path, [node(op, *inputs, *weights, **attributes)], inputs, weights)
    assert totals(inspection).macs == expected
    assert inspection.ops == {op: 1}


@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers_count_every_step_and_direction(op: str, gates: int, tmp_path: Path) -> None:
    weights = {"w": zeros(2, gates * 16, 8), "r": zeros(2, gates * 16, 16), "b": zeros(2, 2 * gates * 16)}
    layer = node(op, "x", *weights, hidden_size=16, direction="bidirectional")
    found = totals(inspected(tmp_path, [layer], {"x": (10, 3, 8)}, weights))
    assert found.macs == 10 * 3 * 2 * gates * 16 * (8 + 16)
    assert found.parameters == 2 * gates * 16 * (8 + 16 + 2)


def test_attention_as_an_operator_counts_both_products(tmp_path: Path) -> None:
    # 4 heads of 8 for queries, 2 for keys and values: each of these serves two heads.
    inputs = {"q": (1, 6, 32), "k": (1, 7, 16), "v": (1, 7, 16)}
    layer = node("Attention", "q", "k", "v", q_num_heads=4, kv_num_heads=2)
    found = inspected(tmp_path, [layer], inputs, opset=23, ir_version=11)
    assert totals(found).macs == 2 * (4 * 6 * 7 * 8)


def test_quantised_operators_count_like_their_models(tmp_path: Path) -> None:
    scale, zero = np.float32(0.1), np.int8(0)
    weights = {"s": scale, "z": zero, "w": zeros(6, 4, 3, 3, dtype="int8")}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("QLinearConv", ["q", "s", "z", "w", "s", "z", "s", "z"], ["c"]),
        node("DequantizeLinear", "c", "s", "z"),
    ]
    found = totals(inspected(tmp_path, nodes, {"x": (1, 4, 8, 8)}, weights))
    assert found.macs == 6 * 36 * 4 * 9
    assert found.parameters == 6 * 4 * 9
    assert found.precision == "int8"


def test_an_operator_of_unknown_origin_makes_the_macs_unknown(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, [node("Magic", "x", domain="com.acme")], {"x": (1,)}, domains={"com.acme": 1})
    assert totals(inspection).macs is None
    assert "com.acme:Magic the_Magic" in " ".join(totals(inspection).notes)
    assert totals(inspection).intensity is None
    assert totals(inspection).activation_bytes is None


def test_operators_of_onnx_runtime_without_a_product_count_nothing(tmp_path: Path) -> None:
    layer = node("FastGelu", "x", domain="com.microsoft")
    assert totals(inspected(tmp_path, [layer], {"x": (1,)}, domains={"com.microsoft": 1})).macs == 0


# -- parameters ---------------------------------------------------------------------------------------------------


def test_bounds_paddings_shapes_and_factors_are_no_parameters(tmp_path: Path) -> None:
    weights = {
        "w": zeros(4),
        "low": np.float32(0),
        "high": np.float32(6),
        "half": np.float32(0.5),
        "pads": np.array([1, 1]),
        "shape": np.array([-1, 2]),
    }
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["a"]),
        helper.make_node("Clip", ["a", "low", "high"], ["b"]),
        helper.make_node("Mul", ["b", "half"], ["c"]),
        helper.make_node("Pad", ["c", "pads", "low"], ["d"]),
        node("Reshape", "d", "shape"),
    ]
    assert totals(inspected(tmp_path, nodes, {"x": (4,)}, weights)).parameters == 4


def test_a_lone_number_is_a_parameter_only_where_weights_stand(tmp_path: Path) -> None:
    weights = {"w": zeros(1, 1, 1, 1), "b": zeros(1), "two": zeros(1)}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), node("Mul", "c", "two")]
    assert totals(inspected(tmp_path, nodes, {"x": (1, 1, 2, 2)}, weights)).parameters == 2


def test_a_weight_that_is_used_twice_is_there_once(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), node("MatMul", "a", "w")]
    found = totals(inspected(tmp_path, nodes, {"x": (2, 3)}, {"w": zeros(3, 3)}))
    assert (found.parameters, found.weight_bytes, found.macs) == (9, 36, 36)


def test_weights_may_be_constants_of_the_graph(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(zeros(3, 5))),
        helper.make_node("Constant", [], ["b"], value_floats=[0.0] * 5),
        node("Gemm", "x", "w", "b"),
    ]
    inspection = inspected(tmp_path, nodes, {"x": (2, 3)})
    assert totals(inspection).parameters == 20
    assert inspection.ops == {"Gemm": 1}


def test_weights_unpacked_on_the_way_keep_their_stored_size(tmp_path: Path) -> None:
    weights = {"w": zeros(64, 32, dtype="int8"), "s": zeros(32), "z": zeros(32, dtype="int8")}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=1), node("MatMul", "x", "d")]
    found = totals(inspected(tmp_path, nodes, {"x": (1, 64)}, weights))
    stored = 64 * 32 + 32 * 4 + 32
    assert (found.parameters, found.weight_bytes) == (64 * 32, stored)
    assert found.precision == "float32, weights int8"
    # The unpacked weight is neither written nor read in a call: 64 values in, 32 out.
    assert found.activation_bytes == 4 * 32
    assert found.intensity == pytest.approx(64 * 32 / (4 * 64 + stored + 4 * 32))


def test_half_precision_is_half_the_bytes(tmp_path: Path) -> None:
    path = save(
        tmp_path / "m.onnx",
        [node("MatMul", "x", "w")],
        [("x", FLOAT16, (1, 64))],
        [("y", FLOAT16, (1, 32))],
        initializers=[numpy_helper.from_array(zeros(64, 32, dtype="float16"), "w")],
    )
    found = totals(inspect(Path(path), shapes={}))
    assert (found.weight_bytes, found.activation_bytes, found.precision) == (2 * 64 * 32, 64, "float16")


def test_weights_in_a_file_beside_the_model_are_counted_without_it(tmp_path: Path) -> None:
    path = save(
        tmp_path / "m.onnx",
        [node("MatMul", "x", "w")],
        [("x", FLOAT, (1, 64))],
        [("y", FLOAT, (1, 32))],
        initializers=[numpy_helper.from_array(zeros(64, 32), "w")],
    )
    model = onnx.load(path)
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    (tmp_path / "w.bin").unlink()
    assert totals(inspect(Path(path), shapes={})).parameters == 64 * 32


# -- graphs in graphs ---------------------------------------------------------------------------------------------


def branch(name: str, *weights: str) -> Any:
    """A graph that multiplies x by its weights, one after another."""
    values = ["x", *(f"{name}{index}" for index in range(len(weights)))]
    nodes = [helper.make_node("MatMul", [values[i], weight], [values[i + 1]]) for i, weight in enumerate(weights)]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(values[-1], FLOAT, (2, 3))])


def choosing(tmp_path: Path) -> Path:
    choice = helper.make_node("If", ["c"], ["y"], then_branch=branch("a", "w"), else_branch=branch("b", "w", "v"))
    path = save(
        tmp_path / "m.onnx",
        [choice],
        [("x", FLOAT, (2, 3)), ("c", BOOL, ())],
        [("y", FLOAT, (2, 3))],
        initializers=[numpy_helper.from_array(zeros(3, 3), name) for name in ("w", "v")],
    )
    return Path(path)


def test_of_two_branches_one_call_runs_the_costlier(tmp_path: Path) -> None:
    inspection = inspect(choosing(tmp_path), shapes={})
    assert totals(inspection).macs == 2 * 18
    assert totals(inspection).parameters == 18
    assert inspection.ops == {"MatMul": 3, "If": 1}


def looping(tmp_path: Path, going: str = "go", **constants: Any) -> Totals:
    """A loop over (2, 3) by (3, 3): 18 MACs an iteration. going: what the body says of going on."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["state", "w"], ["next"]),
            helper.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
            helper.make_node("Cast", ["sum"], ["computed"], to=BOOL),
            helper.make_node("Identity", [going], ["still"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, ()),
            helper.make_tensor_value_info("go", BOOL, ()),
            helper.make_tensor_value_info("state", FLOAT, (2, 3)),
        ],
        [helper.make_tensor_value_info("still", BOOL, ()), helper.make_tensor_value_info("next", FLOAT, (2, 3))],
    )
    weights = {"w": zeros(3, 3), "yes": np.array(True), **constants}
    inputs = ["n" if "n" in constants else "", "yes", "x"]
    return totals(inspected(tmp_path, [node("Loop", *inputs, body=body)], {"x": (2, 3)}, weights))


def test_a_loop_with_a_constant_count_multiplies_its_body(tmp_path: Path) -> None:
    """Five times 2 x 3 by 3 x 3; each product moves 24 + 36 + 24 bytes."""
    found = looping(tmp_path, n=np.array(5))
    assert found.macs == 5 * 18
    assert found.intensity == pytest.approx(18 / (24 + 36 + 24))
    assert found.parameters == 9
    assert not found.notes


def test_each_iteration_moves_its_bytes_again() -> None:
    once = Layer("product", "MatMul", 2, 3, 5, 7, "float32")
    (four,) = repeated([once], 4)
    assert (four.macs, four.input_bytes, four.weight_bytes, four.output_bytes) == (8, 12, 20, 28)
    (unknown,) = repeated([once], None)
    assert (unknown.macs, unknown.moved_bytes) == (None, None)
    (nothing,) = repeated([Layer("shape", "Shape", 0, 3, 0, 0, "int64")], None)
    assert (nothing.macs, nothing.output_bytes) == (0, 0)


def test_a_loop_that_may_end_at_any_time_has_no_count_and_says_why(tmp_path: Path) -> None:
    for found in (looping(tmp_path), looping(tmp_path, "computed", n=np.array(5))):
        assert (found.macs, found.activation_bytes, found.intensity) == (None, None, None)
        assert "the body of Loop is not counted: its number of iterations is known at run time only" in found.notes


def test_a_scan_runs_as_often_as_its_input_is_long(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("MatMul", ["step", "w"], ["y_step"])],
        "body",
        [helper.make_tensor_value_info("step", FLOAT, (2, 3))],
        [helper.make_tensor_value_info("y_step", FLOAT, (2, 3))],
    )
    scan = node("Scan", "x", body=body, num_scan_inputs=1)
    assert totals(inspected(tmp_path, [scan], {"x": (7, 2, 3)}, {"w": zeros(3, 3)})).macs == 7 * 18


def test_local_functions_are_looked_into(tmp_path: Path) -> None:
    twice = helper.make_function(
        "local",
        "Twice",
        ["a", "b"],
        ["c"],
        [helper.make_node("MatMul", ["a", "b"], ["t"]), helper.make_node("MatMul", ["t", "b"], ["c"])],
        [helper.make_opsetid("", 17)],
    )
    graph = helper.make_graph(
        [node("Twice", "x", "w", domain="local")],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, (2, 3))],
        [helper.make_tensor_value_info("y", FLOAT, (2, 3))],
        [numpy_helper.from_array(zeros(3, 3), "w")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[twice], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    inspection = inspect(tmp_path / "m.onnx", shapes={})
    assert inspection.ops == {"MatMul": 2}
    assert totals(inspection).macs == 36


# -- shapes -------------------------------------------------------------------------------------------------------


def test_dynamic_axes_count_as_one_or_as_asked(tmp_path: Path) -> None:
    inputs, weights = {"x": ("n", 4, "h", 8)}, {"w": zeros(6, 4, 1, 1)}
    layers = [node("Conv", "x", "w")]
    assert totals(inspected(tmp_path, layers, inputs, weights)).macs == 6 * 8 * 4
    asked = inspected(tmp_path, layers, inputs, weights, shapes={"x": (2, 4, 5, 8)})
    assert totals(asked).macs == 2 * 6 * 5 * 8 * 4
    assert asked.shapes == {"x": (2, 4, 5, 8)}


def test_a_size_at_which_nothing_is_left_makes_the_macs_unknown_and_says_where(tmp_path: Path) -> None:
    found = totals(inspected(tmp_path, [node("Conv", "x", "w")], {"x": (1, 4, "h", "w")}, {"w": zeros(6, 4, 3, 3)}))
    assert found.macs is None
    assert "Conv the_Conv" in " ".join(found.notes)


@pytest.mark.parametrize("shapes", [{"x": (1, 2, 3, 4)}, {"x": (9, 3)}, {"z": (1, 3)}])
def test_a_shape_the_model_does_not_take_is_refused(shapes: dict[str, tuple[int, ...]], tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        inspected(tmp_path, [node("Relu", "x")], {"x": (2, 3)}, shapes=shapes)
    assert caught.value.kind == "input"
    assert "x float32[2,3]" in caught.value.hint


def test_a_shape_of_ten_gigabytes_is_refused_as_a_run_would(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="10,000,000,000 bytes"):
        inspected(tmp_path, [node("Relu", "x")], {"x": ("n", "m")}, shapes={"x": (50_000, 50_000)})


def test_ports_have_kind_type_and_null_for_dynamic_axes(tmp_path: Path) -> None:
    path = save(
        tmp_path / "m.onnx",
        [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Identity", ["n"], ["m"])],
        [("x", FLOAT16, ("batch", 3)), ("n", INT64, ())],
        [("y", FLOAT16, ("batch", 3)), ("m", INT64, ())],
    )
    inspection = inspect(Path(path), shapes={})
    assert [(port.name, port.kind, port.dtype, port.shape) for port in inspection.inputs] == [
        ("x", "array", "float16", ("batch", 3)),
        ("n", "scalar", "int64", ()),
    ]


def test_an_axis_of_length_minus_one_is_dynamic(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, [node("Relu", "x")], {"x": (-1, 3)}, shapes={"x": (5, 3)})
    assert inspection.inputs[0].shape == (None, 3)
    assert totals(inspection).activation_bytes == 60


def test_an_input_with_a_value_is_a_weight(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, [node("MatMul", "x", "w")], {"x": (2, 3), "w": (3, 5)}, {"w": zeros(3, 5)})
    assert [port.name for port in inspection.inputs] == ["x"]
    assert totals(inspection).parameters == 15


# -- what is no model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"hello, I am no model " * 20, b"\0" * 100, b"\x08\x08"], ids=["text", "zeros", "cut"]
)
def test_a_file_that_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(HettopError) as caught:
        inspect(tmp_path / "m.onnx", shapes={})
    assert (caught.value.kind, caught.value.hint) == ("format", "copy or export it again")


def test_a_cut_off_model_is_refused(tmp_path: Path) -> None:
    path = choosing(tmp_path)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(HettopError) as caught:
        inspect(path, shapes={})
    assert caught.value.kind == "format"


def test_a_graph_that_contradicts_itself_is_reported_with_its_fault(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), node("Relu", "a")]
    found = totals(inspected(tmp_path, nodes, {"x": (2, 3)}, {"w": zeros(4, 5)}))
    assert found.parameters == 20
    assert found.macs is None or found.notes


def test_onnx_has_no_functions_to_choose_from(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="no functions"):
        inspect(choosing(tmp_path), shapes={}, function="main")


def test_names_cannot_reach_the_terminal_as_commands(tmp_path: Path) -> None:
    inspection = inspected(
        tmp_path, [node("Evil\x1b[2J", "x", domain="\x1b]0;t\x07")], {"x": (1,)}, domains={"\x1b]0;t\x07": 1}
    )
    assert not any("\x1b" in text for text in (*inspection.ops, *totals(inspection).notes, *inspection.requires))


def test_the_type_is_known_even_of_types_numpy_lacks(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.BFLOAT16, (4,))],
        [helper.make_tensor_value_info("y", TensorProto.BFLOAT16, (4,))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    inspection = inspect(tmp_path / "m.onnx", shapes={})
    assert inspection.inputs[0].dtype == "bfloat16"
    assert totals(inspection).activation_bytes == 8


# -- shapes that the graph computes -------------------------------------------------------------------------------


def int64(*values: int) -> Any:
    return np.array(values, np.int64)


def test_a_shape_that_the_graph_computes_from_shapes_is_found(tmp_path: Path) -> None:
    """x is reshaped to (its first length, -1), by way of an Identity that ONNX does not look through."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Identity", ["zero"], ["from"]),
        helper.make_node("Slice", ["s", "from", "one"], ["n"]),
        helper.make_node("Squeeze", ["n"], ["n0"]),
        helper.make_node("Unsqueeze", ["n0", "axis"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"]),
        node("MatMul", "flat", "w"),
    ]
    weights = {"zero": int64(0), "one": int64(1), "axis": int64(0), "rest": int64(-1), "w": zeros(12, 5)}
    inspection = inspected(tmp_path, nodes, {"x": ("n", 3, 4)}, weights, shapes={"x": (7, 3, 4)})
    assert totals(inspection).macs == 7 * 12 * 5
    assert totals(inspection).parameters == 60
    assert inspection.ops["Shape"] == 1  # what was computed beforehand is in the file all the same


@pytest.mark.parametrize(("rank", "products"), [(2, 1), (3, 2)])
def test_a_branch_that_is_known_beforehand_is_the_one_that_counts(rank: int, products: int, tmp_path: Path) -> None:
    """Exporters ask in the graph how many axes x has, though its shape says so."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Size", ["s"], ["rank"]),
        helper.make_node("Equal", ["rank", "wanted"], ["c"]),
        node("If", "c", then_branch=branch("a", "w"), else_branch=branch("b", "w", "v")),
    ]
    weights = {"wanted": np.array(rank, np.int64), "w": zeros(3, 3), "v": zeros(3, 3)}
    found = inspected(tmp_path, nodes, {"x": ("n", "m")}, weights, shapes={"x": (2, 3)})
    assert totals(found).macs == products * 18
    assert found.ops["MatMul"] == 3


def test_a_value_that_would_fill_the_memory_is_not_computed(tmp_path: Path) -> None:
    huge = int64(1 << 40, 1 << 20)
    nodes = [
        helper.make_node("ConstantOfShape", ["huge"], ["zeros"]),
        helper.make_node("Expand", ["one", "huge"], ["ones"]),
        helper.make_node("Range", ["first", "last", "step"], ["range"]),
        helper.make_node("Magic", ["x", "zeros", "ones", "range"], ["m"], domain="com.acme"),
        node("MatMul", "m", "w"),
    ]
    weights = {
        "huge": huge,
        "one": np.array(1, np.int64),
        "first": np.array(0, np.int64),
        "last": np.array(1 << 60, np.int64),
        "step": np.array(1, np.int64),
        "w": zeros(3, 5),
    }
    found = totals(inspected(tmp_path, nodes, {"x": (2, 3)}, weights, domains={"com.acme": 1}))
    assert found.macs is None
    assert found.parameters == 15


def test_constants_of_one_name_in_two_branches_are_two(tmp_path: Path) -> None:
    def inner(name: str, width: int) -> Any:
        return helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], [name])],
            name,
            [],
            [helper.make_tensor_value_info(name, FLOAT, (2, width))],
            [numpy_helper.from_array(zeros(3, width), "w")],
        )

    choice = helper.make_node("If", ["c"], ["y"], then_branch=inner("a", 4), else_branch=inner("b", 5))
    path = save(tmp_path / "m.onnx", [choice], [("x", FLOAT, (2, 3)), ("c", BOOL, ())], [("y", FLOAT, (2, "n"))])
    assert totals(inspect(Path(path), shapes={})).parameters == 12 + 15
