"""What is counted from the file is what the operators of one call multiply, counted while they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.inspection.inspection import Inspection, Totals
from hettop.models.inspection.page import page
from hettop.models.inspection.reading import inspect
from tests.models.inspection.executed import executed_macs

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def weight(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def number(name: str, value: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def value(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def saved(
    path: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], stored: list[Any]
) -> tuple[Path, onnx.ModelProto]:
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=8)
    onnx.save(model, path)
    return path, model


def totals(inspection: Inspection) -> Totals:
    assert inspection.totals is not None
    return inspection.totals


def by_rate(path: Path) -> tuple[Path, onnx.ModelProto]:
    """One convolution or two, chosen by the sampling rate, and a product after them."""

    def branch(name: str, weights: list[str]) -> onnx.GraphProto:
        names = ["x", *(f"{name}{n}" for n in range(len(weights)))]
        nodes = [helper.make_node("Conv", [names[n], each], [names[n + 1]]) for n, each in enumerate(weights)]
        return helper.make_graph(nodes, name, [], [value(names[-1], FLOAT, 1, 4, 8)])

    nodes = [
        helper.make_node("Equal", ["rate", "high"], ["is_high"]),
        helper.make_node("If", ["is_high"], ["f"], then_branch=branch("t", ["w"]), else_branch=branch("e", ["w", "v"])),
        helper.make_node("MatMul", ["f", "k"], ["y"]),
    ]
    stored = [weight("w", 4, 3, 1), weight("v", 4, 4, 1), weight("k", 8, 5), number("high", np.int64(16_000))]
    return saved(path, nodes, [value("x", FLOAT, 1, 3, 8), value("rate", INT64)], [value("y", FLOAT, 1, 4, 5)], stored)


@pytest.mark.parametrize(("rate", "macs"), [(16_000, 96 + 160), (8_000, 96 + 128 + 160)])
def test_the_value_of_an_input_decides_the_branch(rate: int, macs: int, tmp_path: Path) -> None:
    path, model = by_rate(tmp_path / "m.onnx")
    inputs = {"x": np.ones((1, 3, 8), np.float32), "rate": np.asarray(rate)}
    assert executed_macs(model, inputs).total() == macs
    inspection = inspect(path, shapes={}, values={"rate": str(rate)})
    assert totals(inspection).macs == macs
    assert totals(inspection).notes == ()


def test_without_the_value_the_costlier_branch_counts_and_a_note_names_the_option(tmp_path: Path) -> None:
    found = totals(inspect(by_rate(tmp_path / "m.onnx")[0], shapes={}))
    assert found.macs == 96 + 128 + 160
    assert "--input NAME=NUMBER" in " ".join(found.notes)


@pytest.mark.parametrize("values", [{"other": "1"}, {"rate": "fast"}])
def test_a_value_the_model_does_not_take_is_refused(values: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(HettopError):
        inspect(by_rate(tmp_path / "m.onnx")[0], shapes={}, values=values)


def test_a_grid_made_from_the_inputs_lengths_is_no_parameter(tmp_path: Path) -> None:
    """Whatever the length, and whether it is small enough to be computed or not."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["f"]),
        helper.make_node("Shape", ["f"], ["s"]),
        helper.make_node("Gather", ["s", "three"], ["n"]),
        helper.make_node("Cast", ["n"], ["nf"], to=FLOAT),
        helper.make_node("Range", ["zero", "nf", "one"], ["r"]),
        helper.make_node("Add", ["r", "half"], ["grid"]),
        helper.make_node("Add", ["f", "grid"], ["y"]),
    ]
    stored = [weight("w", 4, 3, 1, 1), number("three", np.int64(3))]
    stored += [number(name, np.float32(each)) for name, each in (("zero", 0), ("one", 1), ("half", 0.5))]
    ports = [value("x", FLOAT, 1, 3, "H", "W")], [value("y", FLOAT, 1, 4, "H", "W")]
    path, _ = saved(tmp_path / "m.onnx", nodes, *ports, stored)
    for width in (8, 1000, 2000):
        found = totals(inspect(path, shapes={"x": (1, 3, 8, width)}))
        assert (found.parameters, found.weight_bytes, found.macs) == (12, 48, 12 * 8 * width)


def test_a_dynamically_quantised_lstm_counts_as_its_float_source(tmp_path: Path) -> None:
    """The operator has its weights the other way round: (directions, inputs, 4 * hidden)."""
    steps, inputs, hidden = 10, 16, 32
    data, out = value("x", FLOAT, steps, 1, inputs), value("y", FLOAT, steps, 1, 1, hidden)
    stored = [weight("w", 1, 4 * hidden, inputs), weight("r", 1, 4 * hidden, hidden)]
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=hidden)
    path, model = saved(tmp_path / "float.onnx", [node], [data], [out], stored)
    macs = executed_macs(model, {"x": np.ones((steps, 1, inputs), np.float32)}).total()
    assert macs == totals(inspect(path, shapes={})).macs == steps * 4 * hidden * (inputs + hidden)

    given = ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node("DynamicQuantizeLSTM", given, ["y"], hidden_size=hidden, domain="com.microsoft")
    stored = [
        number("w", np.ones((1, inputs, 4 * hidden), np.int8)),
        number("r", np.ones((1, hidden, 4 * hidden), np.int8)),
    ]
    stored += [weight("ws", 1), weight("rs", 1), number("wz", np.zeros(1, np.int8)), number("rz", np.zeros(1, np.int8))]
    path, _ = saved(tmp_path / "int8.onnx", [node], [data], [out], stored)
    assert totals(inspect(path, shapes={})).macs == macs


def test_of_an_unknown_total_nothing_is_a_share(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Mystery", ["h"], ["y"], domain="org.example"),
    ]
    path, _ = saved(
        tmp_path / "m.onnx", nodes, [value("x", FLOAT, 2, 3)], [value("y", FLOAT, 2, 3)], [weight("w", 3, 3)]
    )
    shown = page(inspect(path, shapes={}))
    assert "MACs         n/a" in shown
    assert "of MACs" not in shown
