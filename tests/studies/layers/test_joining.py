"""Rows are what ran, with the work and the bytes of the operations in it."""

from __future__ import annotations

from hettop.models.inspection.graph import Layer
from hettop.studies.layers.graph import Node
from hettop.studies.layers.profile import RanNode
from hettop.studies.layers.running import join

CONV = Layer("conv", "Conv", 600, 100, 20, 40, "float32", (("x", 100),), (("c", 40),))
ADD = Layer("add", "Add", 0, 80, 0, 40, "float32", (("c", 40), ("x2", 40)), (("s", 40),))
RELU = Layer("relu", "Relu", 0, 40, 0, 40, "float32", (("s", 40),), (("y", 40),))


def ran(name: str, op: str, ms: float = 1.0, nbytes: int | None = None) -> RanNode:
    return RanNode(name, op, 0, ms, nbytes)


def test_what_stays_inside_of_a_fused_layer_is_not_moved() -> None:
    """x and x2 come in, the weights are read, y leaves: 100 + 40 + 20 + 40."""
    (row,), unused = join([CONV, ADD, RELU], {"y"}, [ran("c_nchwc", "Conv")], {})
    assert (row.name, row.op, row.macs, row.nbytes, row.fused) == ("conv", "Conv", 600, 200, ("add", "relu"))
    assert (row.ran_as, unused) == ("c_nchwc", 0)


def test_a_value_that_somebody_else_reads_leaves_a_fused_layer() -> None:
    other = Layer("other", "Neg", 0, 40, 0, 40, "float32", (("c", 40),), (("z", 40),))
    rows, _ = join([CONV, ADD, other], {"s", "z"}, [ran("c_nchwc", "Conv"), ran("other", "Neg")], {})
    assert [row.nbytes for row in rows] == [100 + 40 + 20 + 40 + 40, 80]


def test_an_output_of_the_model_leaves_though_it_is_read_inside() -> None:
    """x, x2 and the weights come in; c leaves beside s."""
    (row,), _ = join([CONV, ADD], {"c", "s"}, [ran("c_nchwc", "Conv")], {})
    assert row.nbytes == 100 + 40 + 20 + 40 + 40


def test_shares_are_of_the_sum_of_all_that_ran() -> None:
    rows, _ = join([CONV, RELU], {"y"}, [ran("conv", "Conv", 3.0), ran("relu", "Relu", 1.0)], {})
    assert [row.share for row in rows] == [0.75, 0.25]


def test_times_below_a_microsecond_leave_no_shares_to_divide() -> None:
    rows, _ = join([CONV], {"c"}, [ran("conv", "Conv", 0.0)], {})
    assert rows[0].share == 0


def test_what_is_not_of_the_model_has_the_runtimes_bytes_and_macs_only_if_it_cannot_multiply() -> None:
    rows, _ = join([], set(), [ran("ReorderOutput", "ReorderOutput", 1, 80), ran("s", "Strange", 1, 8)], {})
    assert [(row.macs, row.nbytes) for row in rows] == [(0, 80), (None, 8)]


def test_dequantisations_that_the_runtime_duplicates_have_no_macs_as_those_of_the_model() -> None:
    rows, _ = join([], set(), [ran(f"{op}/duplicated", op, 1, 8) for op in ("DequantizeLinear", "QuantizeLinear")], {})
    assert [row.macs for row in rows] == [0, 0]


def test_an_operation_on_integers_reads_and_writes_what_is_quantised() -> None:
    """x comes from 25 bytes and c becomes 10: with the weights 25 + 20 + 10, where float32 moves 100 + 20 + 40."""
    before = Layer("d", "DequantizeLinear", 0, 125, 5, 100, "float32", (("xq", 25),), (("x", 100),))
    after = Layer("q", "QuantizeLinear", 0, 50, 5, 10, "uint8", (("c", 40),), (("cq", 10),))
    nodes = [ran("d", "DequantizeLinear"), ran("conv", "QLinearConv"), ran("q", "QuantizeLinear")]
    rows, _ = join([before, CONV, after], {"cq"}, nodes, {})
    assert [row.nbytes for row in rows if row.op == "Conv"] == [55]
    rows, _ = join([before, CONV, after], {"cq"}, [nodes[0], ran("conv", "Conv"), nodes[2]], {})
    assert [row.nbytes for row in rows if row.op == "Conv"] == [160]


def test_operations_that_became_one_of_another_type_bear_its_type_and_the_last_ones_name() -> None:
    parts = [
        Layer("mean", "ReduceMean", 0, 40, 0, 4, "float32", (("x", 40),), (("m", 4),)),
        Layer("sub", "Sub", 0, 44, 0, 40, "float32", (("x", 40), ("m", 4)), (("y", 40),)),
    ]
    wiring = {"LN": Node("LN", "LayerNormalization", ("x",), ("y",))}
    (row,), _ = join(parts, {"y"}, [ran("LN", "LayerNormalization")], wiring)
    assert (row.name, row.op, row.fused, row.nbytes) == ("sub", "LayerNormalization", ("mean",), 80)


def test_work_that_cannot_be_counted_is_unknown() -> None:
    odd = Layer("odd", "x:Odd", None, None, 0, None, "float32", (("c", None),), (("y", None),))
    rows, _ = join([CONV, odd], {"y"}, [ran("conv", "Conv"), ran("odd", "Odd")], {})
    assert (rows[1].macs, rows[1].nbytes) == (None, None)


def test_what_was_thought_to_be_computed_at_load_has_the_runtimes_bytes() -> None:
    folded = Layer("dequantise", "DequantizeLinear", 0, 0, 0, 0, "float32", (), (("w", 0),))
    (row,), _ = join([folded], set(), [ran("dequantise", "DequantizeLinear", 1, 50)], {})
    assert row.nbytes == 50


def test_names_are_cleaned() -> None:
    rows, _ = join([], set(), [ran("a\x1b[2J", "b\x1b")], {})
    assert "\x1b" not in rows[0].name + rows[0].op + str(rows[0].ran_as)
