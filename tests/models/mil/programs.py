"""Programs built with coremltools' own builder, saved as packages, translated and run: what the tests stand on."""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from hettop.models.mil.package import Package, open_package
from hettop.models.mil.translate import Translation, translate

# off macOS coremltools says so eight times at import
logging.getLogger("coremltools").addHandler(logging.NullHandler())
logging.getLogger("coremltools").propagate = False

ct: Any = importlib.import_module("coremltools")
mil: Any = importlib.import_module("coremltools.converters.mil.mil")
mb: Any = mil.Builder
types: Any = importlib.import_module("coremltools.converters.mil.mil.types")

Array = NDArray[Any]

RTOL = {"float32": 1e-5, "float16": 1e-2}


def program(build: Callable[..., Any], specs: dict[str, Any], target: Any = None) -> Any:
    """The MIL program whose body `build` returns, with an input per spec, in order."""
    body = mil.Function(specs, opset_version=target or ct.target.iOS18)
    with body:
        made = build(*body.inputs.values())
        body.set_outputs(list(made) if isinstance(made, list | tuple) else [made])
    whole = mil.Program()
    whole.add_function("main", body)
    return whole


def spec(shape: Sequence[Any], dtype: Any = np.float32) -> Any:
    return mb.TensorSpec(shape=tuple(shape), dtype=types.numpy_type_to_builtin_type(np.dtype(dtype).type))


def convert(source: Any, target: Any = None, **options: Any) -> Any:
    """The converted model; operations stay as they were written unless a pass pipeline is given."""
    options.setdefault("pass_pipeline", ct.PassPipeline.EMPTY)
    options.setdefault("compute_precision", ct.precision.FLOAT32)
    return ct.convert(
        source,
        convert_to="mlprogram",
        minimum_deployment_target=target or ct.target.iOS18,
        skip_model_load=True,
        **options,
    )


def opened(model: Any) -> Package:
    return open_package(Path(model.package_path))


def session(translation: Translation) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        translation.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(translation: Translation, feed: dict[str, Array]) -> list[Array]:
    return [np.asarray(value) for value in session(translation).run(None, feed)]


def evaluate(build: Callable[..., Any], inputs: dict[str, Array], target: Any = None) -> list[Array]:
    """What the translated program gives for `inputs`, one array per output."""
    specs = {name: spec(value.shape, value.dtype) for name, value in inputs.items()}
    translation = translate(opened(convert(program(build, specs, target), target)))
    return run(translation, inputs)


@dataclass(frozen=True)
class Case:
    """An operation and what it must give.

    build: takes the element type for constants, then the inputs. reference: the same in numpy, given the inputs as
    float64 where they are floats; returns an array, or a tuple of them.
    """

    build: Callable[..., Any]
    inputs: dict[str, Array]
    reference: Callable[..., Any]
    target: Any = None


def agrees(case: Case, dtype: str) -> None:
    """Assert that the translated operation gives what the reference does, its floats being of type `dtype`."""
    kind = np.dtype(dtype)
    inputs = {name: value.astype(kind) if value.dtype.kind == "f" else value for name, value in case.inputs.items()}
    got = evaluate(functools.partial(case.build, kind.type), inputs, case.target)
    exact = {name: value.astype(np.float64) if value.dtype.kind == "f" else value for name, value in inputs.items()}
    wanted = case.reference(*exact.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        close(one, other)


def close(got: Array, wanted: Any, scale: float | None = None) -> None:
    """Assert agreement to 1e-5 (float32) or 1e-2 (float16) of the largest value wanted; equality for other types."""
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    if got.dtype.name not in RTOL:
        np.testing.assert_array_equal(got, wanted)
        return
    tolerance = RTOL[got.dtype.name]
    size = scale if scale is not None else float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
    np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=tolerance, atol=tolerance * size)
