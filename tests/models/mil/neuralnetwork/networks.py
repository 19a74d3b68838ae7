"""NeuralNetworks built with coremltools' builder, translated and run; numpy says what they should answer."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from hettop.models.inspection.graph import total_macs
from hettop.models.inspection.onnx_graph import read_graph
from hettop.models.inspection.reading import inspect
from hettop.models.mil.package import open_package
from hettop.models.mil.translate import Translation, translate

# off macOS coremltools says so at import
logging.getLogger("coremltools").addHandler(logging.NullHandler())
logging.getLogger("coremltools").propagate = False

datatypes: Any = importlib.import_module("coremltools.models.datatypes")
neural: Any = importlib.import_module("coremltools.models.neural_network")

Array = NDArray[Any]
RNG = np.random.default_rng(7)


def floats(*shape: int) -> Array:
    return (0.5 * RNG.normal(size=shape)).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """A network that `build` adds to a builder, from `x` (and other inputs) to `y`, and what numpy makes of them.

    exact: whether the network has the axes of its inputs, or the five older ones. shape: of y as described; by
    default that of the expected value.
    """

    build: Callable[[Any], object]
    inputs: Mapping[str, Array]
    expected: Array
    exact: bool = False
    shape: Sequence[int] | None = None


def network(case: Case) -> Any:
    """The specification."""
    shape = case.expected.shape if case.shape is None else case.shape
    builder = neural.NeuralNetworkBuilder(
        [(name, datatypes.Array(*value.shape)) for name, value in case.inputs.items()],
        [("y", datatypes.Array(*shape))],
        disable_rank5_shape_mapping=case.exact,
    )
    case.build(builder)
    return builder.spec


def written(spec: Any, folder: Path) -> Path:
    path = folder / "model.mlmodel"
    path.write_bytes(spec.SerializeToString())
    return path


def translated(spec: Any, folder: Path) -> Translation:
    return translate(open_package(written(spec, folder)))


def run(model: Any, feed: Mapping[str, Array]) -> dict[str, Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    types = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(int32)": np.int32}
    typed = {each.name: np.asarray(feed[each.name]).astype(types[each.type]) for each in session.get_inputs()}
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, typed), strict=True))


def answer(case: Case, folder: Path) -> Array:
    return run(translated(network(case), folder).model, case.inputs)["y"]


def counted(spec: Any, folder: Path) -> tuple[int | None, int | None]:
    """MACs as `inspect` counts them in the file, and those of the translated graph."""
    path = written(spec, folder)
    totals = inspect(path, shapes={}).totals
    assert totals is not None
    model = translate(open_package(path)).model
    return totals.macs, total_macs(read_graph(model, {}).layers)
