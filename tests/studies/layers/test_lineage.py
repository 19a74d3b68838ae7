"""Nodes of the runtime's graph lead back to the operations that they were made of.

The names are those that ONNX Runtime 1.32 gives, the graphs shortened.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.models.inspection.graph import Layer
from hettop.studies.layers.graph import Node, lead_back


def layer(name: str, op: str, reads: Sequence[str], writes: str) -> Layer:
    return Layer(name, op, 0, 0, 0, 0, "float32", tuple((value, 4) for value in reads), ((writes, 4),))


def led(layers: Sequence[Layer], nodes: Sequence[Node]) -> list[list[str]]:
    claims, _ = lead_back(layers, nodes)
    return [[layers[index].name for index in claims[node]] for node in range(len(nodes))]


def test_nodes_that_kept_their_names_are_themselves() -> None:
    layers = [layer("a", "Relu", ["x"], "1"), layer("b", "Relu", ["1"], "2")]
    assert led(layers, [Node("a", "Relu"), Node("b", "Relu")]) == [["a"], ["b"]]


def test_a_convolution_named_after_the_clip_that_follows_it_holds_both() -> None:
    layers = [layer("c1", "Conv", ["x"], "c"), layer("clip", "Clip", ["c"], "stem")]
    assert led(layers, [Node("stem_nchwc", "Conv", ("x",), ("reorder_token_0",))]) == [["c1", "clip"]]


def test_a_sum_fused_into_the_second_convolution_is_not_taken_by_the_one_after_it() -> None:
    layers = [
        layer("c1", "Conv", ["x"], "v1"),
        layer("c2", "Conv", ["v1"], "v2"),
        layer("add", "Add", ["v2", "v1"], "v3"),
        layer("c3", "Conv", ["v3"], "v4"),
        layer("clip", "Clip", ["v4"], "v5"),
    ]
    nodes = [Node("v1_nchwc", "Conv"), Node("v2_nchwc", "Conv"), Node("v5_nchwc", "Conv")]
    assert led(layers, nodes) == [["c1"], ["c2", "add"], ["c3", "clip"]]


def test_a_matrix_product_with_its_bias_is_one_node() -> None:
    layers = [layer("mm", "MatMul", ["x"], "p"), layer("bias", "Add", ["p"], "y")]
    assert led(layers, [Node("mm/MatMulAddFusion", "Gemm", ("x", "w", "b"), ("y",))]) == [["mm", "bias"]]


def test_a_normalisation_known_by_its_output_alone_holds_all_that_leads_to_it() -> None:
    layers = [
        layer("relu", "Relu", ["x"], "r"),
        layer("mean", "ReduceMean", ["r"], "m"),
        layer("sub", "Sub", ["r", "m"], "d"),
        layer("pow", "Pow", ["d"], "p"),
        layer("end", "Div", ["d", "p"], "y"),
    ]
    nodes = [Node("relu", "Relu", ("x",), ("r",)), Node("/LayerNormFusion/", "LayerNormalization", ("r",), ("y",))]
    assert led(layers, nodes) == [["relu"], ["mean", "sub", "pow", "end"]]


def test_a_normalisation_stops_at_what_it_reads_although_that_was_fused_away() -> None:
    layers = [
        layer("conv", "Conv", ["x"], "c"),
        layer("relu", "Relu", ["c"], "r"),
        layer("mean", "ReduceMean", ["r"], "m"),
        layer("end", "Sub", ["r", "m"], "y"),
    ]
    nodes = [
        Node("c_nchwc", "Conv"),
        Node("ReorderOutput", "ReorderOutput", ("t",), ("r",)),
        Node("LN", "LN", ("r",), ("y",)),
    ]
    assert led(layers, nodes) == [["conv", "relu"], [], ["mean", "end"]]


def test_layout_and_casts_that_the_runtime_puts_in_are_made_of_nothing() -> None:
    layers = [layer("conv", "Conv", ["x"], "c"), layer("end", "Relu", ["c"], "y")]
    nodes = [
        Node("InsertedPrecisionFreeCast_c_nchwc", "Conv", ("x",), ("t",)),
        Node("ReorderOutput", "ReorderOutput", ("t",), ("c",)),
        Node("InsertedPrecisionFreeCast_c", "Cast", ("c",), ("k",)),
        Node("end", "Relu", ("k",), ("y",)),
    ]
    assert led(layers, nodes) == [["conv"], [], [], ["end"]]


def test_a_change_of_layout_that_does_a_transpositions_work_is_that_one_and_takes_nothing_else() -> None:
    layers = [
        layer("conv", "Conv", ["x"], "c"),
        layer("relu", "Relu", ["c"], "r"),
        layer("turn", "Transpose", ["r"], "y"),
    ]
    nodes = [Node("c_nchwc", "Conv", ("x",), ("t",)), Node("ReorderOutput", "ReorderOutput", ("t",), ("y",))]
    assert led(layers, nodes) == [["conv", "relu"], ["turn"]]


def test_a_cast_that_is_the_models_own_is_one_of_its_operations() -> None:
    assert led([layer("cast", "Cast", ["x"], "y")], [Node("cast", "Cast")]) == [["cast"]]


def test_operations_that_no_node_was_made_of_are_counted() -> None:
    layers = [layer("shape", "Shape", ["x"], "s"), layer("relu", "Relu", ["x"], "y")]
    assert lead_back(layers, [Node("relu", "Relu")])[1] == 1


def test_nodes_of_which_the_model_knows_nothing_hold_nothing() -> None:
    assert led([layer("a", "Relu", ["x"], "y")], [Node("a", "Relu"), Node("strange", "Strange")]) == [["a"], []]
