"""Writes ML Programs with compressed weights, by coremltools' own tools; that works on any system."""

from __future__ import annotations

import importlib
from typing import Any

from hettop.errors import HettopError
from hettop.models.precision import FP16, INT8, PALETTE_BITS, VariantJob
from hettop.processes.framework_errors import reason
from hettop.text import clean

TOOLS = "coremltools.optimize.coreml"

CLUSTERING = "scikit-learn"
"""What coremltools asks for where it has no k-means of its own, as off macOS; it does not come with it."""


def write_variant(job: VariantJob) -> None:
    """Writes the variant.

    Raises HettopError: `missing` without coremltools, `input` for a precision that there is no way to from a package,
    `load` when the tool gives up.
    """
    if job.precision != INT8 and job.precision not in PALETTE_BITS:
        precision = "FLOAT16" if job.precision == FP16 else "FLOAT32"
        raise HettopError(
            "input",
            f"cannot convert a converted package to {clean(job.precision)}",
            f"convert the model again with compute_precision=ct.precision.{precision}",
        )
    try:
        _compress(job)
    except HettopError:
        raise
    except Exception as error:
        why = reason(error)
        if isinstance(error, ImportError) or CLUSTERING in why:
            message = f"{job.precision} needs {CLUSTERING} (used by coremltools for palettes)"
            raise HettopError("missing", message, "pip install 'hettop[palettes]'") from error
        raise HettopError("load", f"cannot create {job.precision}: {why}") from error


def _compress(job: VariantJob) -> None:
    tools, models = _tools()
    model = models.MLModel(job.source, skip_model_load=True)
    if job.precision == INT8:
        config = tools.OpLinearQuantizerConfig(mode="linear_symmetric", dtype="int8")
        tools.linear_quantize_weights(model, tools.OptimizationConfig(global_config=config)).save(job.target)
        return
    config = tools.OpPalettizerConfig(mode="kmeans", nbits=PALETTE_BITS[job.precision])
    tools.palettize_weights(model, tools.OptimizationConfig(global_config=config)).save(job.target)


def _tools() -> tuple[Any, Any]:
    try:
        return importlib.import_module(TOOLS), importlib.import_module("coremltools.models")
    except ImportError as error:
        message = f"cannot import coremltools: {reason(error)}"
        raise HettopError("missing", message, "pip install 'hettop[coreml]'") from error
