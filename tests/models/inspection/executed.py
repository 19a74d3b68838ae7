"""Counts multiply-accumulates by running a model in onnx's reference implementation, from arrays.

Shares nothing with `hettop inspect`: no inference of shapes, no folding; branches and loops run as often as they run.
`python -m tests.models.inspection.executed MODEL.onnx [NAME=1,2,3...] [NAME:VALUE...]` prints the count by operator.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops._op import OpRunBinary


def executed_macs(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Counter[str]:
    """Multiply-accumulates of one call, by type of operator."""
    found: Counter[str] = Counter()
    run, run_binary = OpRun.run, OpRunBinary.run

    def counting(original: Any) -> Any:
        def counted(self: OpRun, *arguments: Any, **options: Any) -> Any:
            results = original(self, *arguments, **options)
            kind, given = self.onnx_node.op_type, [np.shape(each) for each in arguments]
            if kind in _PRODUCTS:
                found[kind] += _PRODUCTS[kind](self.onnx_node, given, np.shape(results[0]))
            return results

        return counted

    with (
        mock.patch.object(OpRun, "run", counting(run)),
        mock.patch.object(OpRunBinary, "run", counting(run_binary)),
    ):
        ReferenceEvaluator(model).run(None, dict(inputs))
    return found


Lengths = Sequence[int]


def _convolution(_: onnx.NodeProto, given: list[Lengths], out: Lengths) -> int:
    return math.prod(out) * math.prod(given[1][1:])  # of each output: all channels of its group, all of the window


def _transposed(_: onnx.NodeProto, given: list[Lengths], __: Lengths) -> int:
    return math.prod(given[0]) * math.prod(given[1][1:])  # each input adds to so many outputs


def _product(node: onnx.NodeProto, given: list[Lengths], out: Lengths) -> int:
    transposed = any(each.name == "transA" and each.i for each in node.attribute)
    return math.prod(out) * given[0][-2 if transposed else -1]


def _recurrent(_: onnx.NodeProto, given: list[Lengths], __: Lengths) -> int:
    return given[0][0] * given[0][1] * (math.prod(given[1]) + math.prod(given[2]))  # every weight once a step


_PRODUCTS = {
    "Conv": _convolution,
    "ConvInteger": _convolution,
    "ConvTranspose": _transposed,
    "Gemm": _product,
    "MatMul": _product,
    "MatMulInteger": _product,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
}


def _inputs(
    model: onnx.ModelProto, shapes: Mapping[str, Lengths], values: Mapping[str, float]
) -> dict[str, np.ndarray]:
    stored = {each.name for each in model.graph.initializer}
    inputs = {}
    for each in model.graph.input:
        if each.name not in stored:
            kind = each.type.tensor_type
            lengths = shapes.get(each.name) or [axis.dim_value or 1 for axis in kind.shape.dim]
            inputs[each.name] = np.full(
                lengths, values.get(each.name, 1), onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            )
    return inputs


if __name__ == "__main__":
    loaded = onnx.load(sys.argv[1])
    axes = {name: text for name, found, text in (each.partition("=") for each in sys.argv[2:]) if found}
    numbers = {name: float(text) for name, found, text in (each.partition(":") for each in sys.argv[2:]) if found}
    shapes = {name: [int(axis) for axis in text.split(",")] for name, text in axes.items()}
    macs = executed_macs(loaded, _inputs(loaded, shapes, numbers))
    print(f"{macs.total():,}", dict(macs))
