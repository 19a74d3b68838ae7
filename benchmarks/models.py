"""Small ONNX models of a chosen size: convolutions with seeded weights.

Knows onnx alone, which it imports when it builds one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

CHANNELS = 16
KERNEL = 3
OPSET = 17
IR_VERSION = 9  # what every ONNX Runtime of the supported range reads


def write_convolutions(path: Path, layers: int, size: int) -> Path:
    """`layers` convolutions 3x3 of 16 channels, each with a ReLU, on a `size` x `size` picture: 2,304 MACs a pixel."""
    from onnx import TensorProto, checker, helper, numpy_helper, save

    rng = np.random.default_rng(0)
    nodes, weights = [], []
    for layer in range(layers):
        kernel = rng.normal(0, 0.1, (CHANNELS, CHANNELS, KERNEL, KERNEL)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"w{layer}"))
        nodes.append(helper.make_node("Conv", [f"x{layer}", f"w{layer}"], [f"c{layer}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{layer}"], [f"x{layer + 1}"]))
    shape = [1, CHANNELS, size, size]
    graph = helper.make_graph(
        nodes,
        "convolutions",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"x{layers}", TensorProto.FLOAT, shape)],
        weights,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, producer_name="hettop-benchmarks", opset_imports=opsets, ir_version=IR_VERSION)
    checker.check_model(model)
    save(model, path)
    return path


def sub_millisecond(folder: Path) -> Path:
    """About .25 ms on one thread of a 2024 server core."""
    return _once(folder / "quarter-ms.onnx", layers=6, size=32)


def two_thirds_of_a_millisecond(folder: Path) -> Path:
    """About .6 ms on one thread: some 1,500 samples a second."""
    return _once(folder / "two-thirds-ms.onnx", layers=14, size=32)


def tiny(folder: Path) -> Path:
    """Some 20 us: leaves time to be paced."""
    return _once(folder / "tiny.onnx", layers=1, size=8)


def _once(path: Path, *, layers: int, size: int) -> Path:
    return path if path.exists() else write_convolutions(path, layers, size)
