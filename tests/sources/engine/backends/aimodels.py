"""Core AI assets for tests: a seeded one that coreai-core builds without torch, and files that look like one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

HAS_WHEEL = importlib.util.find_spec("coreai") is not None
needs_wheel = pytest.mark.skipif(not HAS_WHEEL, reason="coreai-core is not installed: pip install 'hettop[coreai]'")

INPUT, OUTPUT = (1, 3, 16, 16), (1, 5)


def weights(dtype: Any = np.float32) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Of the convolution and of the dense layer, the same in each format."""
    rng = np.random.default_rng(7)
    kernel, dense = rng.standard_normal((8, 3, 3, 3)) * 0.2, rng.standard_normal((8, 5)) * 0.3
    return kernel.astype(dtype), dense.astype(dtype)


def authored(path: Path, dtype: Any = np.float32) -> str:
    """Convolution, ReLU, global mean, dense layer and tanh, by coreai.authoring."""
    from typing import Annotated

    import coreai.authoring as ca

    kernel, dense = weights(dtype)
    ones = np.array([1, 1], np.uint32)
    module = ca.Module.create()
    with module:

        def main(x):  # type: ignore[no-untyped-def]
            found = ca.relu(ca.conv2d(x, kernel, ones, ones, np.uint32(1)))
            found = ca.reduce_mean(found, np.array([2, 3], np.int32))
            found = ca.reshape(found, np.array([1, 8], np.int32))
            return ca.tanh(ca.broadcasting_batch_matmul(found, dense))

        main.__annotations__ = {
            "x": Annotated[ca.Value, ca.TensorSpec(INPUT, dtype, name="x")],
            "return": Annotated[ca.Value, ca.TensorSpec(OUTPUT, dtype, name="y")],
        }
        ca.graph(main)
    ca.AIProgram(module).save_asset(path)
    return str(path)


def the_same_in_onnx(path: Path) -> str:
    """The network of `authored` in float32, for ONNX Runtime."""
    kernel, dense = weights()
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("GlobalAveragePool", ["b"], ["c"]),
        helper.make_node("Flatten", ["c"], ["d"]),
        helper.make_node("MatMul", ["d", "dense"], ["e"]),
        helper.make_node("Tanh", ["e"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "same",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, INPUT)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, OUTPUT)],
        [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(dense, "dense")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def files(path: Path, producer: str = "coreai-core 1.0.0b3", version: str = "2.0") -> str:
    """A folder that is complete as far as files go; its program is none."""
    path.mkdir()
    (path / "main.mlirb").write_bytes(b"program")
    (path / "main.hash").write_bytes(hashlib.sha256(b"program").digest())
    (path / "metadata.json").write_text(json.dumps({"producer": producer, "assetVersion": version}))
    return str(path)
