"""Writes ONNX models in other precisions, by ONNX Runtime's own tools."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.precision import CALIBRATION_SETS, FP16, INT8, INT8_DYNAMIC, VariantJob
from hettop.processes.framework_errors import reason
from hettop.text import clean

CONVERTERS = ("onnxruntime.transformers.float16", "onnxconverter_common.float16")
"""Where the conversion to half precision lives: with ONNX Runtime, or in a package of its own."""

QUANTISED, BY_CHANNEL = 10, 13
"""Sets of operators from which on weights can be quantised at all, and with a scale for each channel."""

Feeds = Callable[[int], Iterator[Mapping[str, Any]]]
"""So many sets of inputs."""


def write_variant(job: VariantJob, feeds: Feeds) -> None:
    """Writes the variant.

    Raises HettopError: `missing` for a tool that is not installed, `input` for a precision that there is no way to,
    `load` when a tool gives up.
    """
    writers = {FP16: _half, INT8: _calibrated, INT8_DYNAMIC: _dynamic}
    if job.precision not in writers:
        raise HettopError("input", f"no tool converts an ONNX model to {clean(job.precision)}", "export it again")
    try:
        writers[job.precision](Path(job.source), Path(job.target), feeds)
    except HettopError:
        raise
    except Exception as error:
        why = reason(error)
        raise HettopError("load", f"cannot create {job.precision}: {why}") from error


def _half(source: Path, target: Path, _feeds: Feeds) -> None:
    import onnx

    convert = _converter().convert_float_to_float16
    # The inputs stay as they are, so that every variant is asked the same.
    onnx.save(convert(onnx.load(source), keep_io_types=True), target)


def _calibrated(source: Path, target: Path, feeds: Feeds) -> None:
    quantization = _quantization()

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc,name-defined]
        """Hands out the sets one by one."""

        def __init__(self) -> None:
            self._sets = feeds(CALIBRATION_SETS)

        def get_next(self) -> Mapping[str, Any] | None:
            return next(self._sets, None)

    with _of_opset(source, target, BY_CHANNEL) as (converted, opset):
        if opset < QUANTISED:
            message = f"cannot create {INT8}: the model has opset {opset}, and it cannot be converted"
            raise HettopError("input", message, f"export the model with opset {BY_CHANNEL} or later")
        # By channel: the filters of depthwise convolutions differ too much to share a scale.
        quantization.quantize_static(
            str(converted),
            str(target),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=opset >= BY_CHANNEL,
        )


@contextlib.contextmanager
def _of_opset(source: Path, target: Path, opset: int) -> Iterator[tuple[Path, int]]:
    """The model in this set of operators or a later one, and which that is.

    One in an earlier set is converted, in a file beside the target; one that ONNX cannot convert stays as it is.
    """
    import onnx
    from onnx import version_converter

    here = next(
        (each.version for each in onnx.load(source, load_external_data=False).opset_import if not each.domain), 1
    )
    if here >= opset:
        yield source, here
        return
    converted = target.with_name(f"{target.stem}-opset{opset}.onnx")
    try:
        onnx.save(version_converter.convert_version(onnx.load(source), opset), converted)
    except Exception:  # noqa: BLE001 (it may raise anything for a model that it does not know)
        yield source, here
        return
    try:
        yield converted, opset
    finally:
        converted.unlink()


def _dynamic(source: Path, target: Path, _feeds: Feeds) -> None:
    _quantization().quantize_dynamic(str(source), str(target))


def _converter() -> Any:
    for name in CONVERTERS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise HettopError(
        "missing", "no tool installed that converts ONNX models to half precision", "pip install onnxconverter-common"
    )


def _quantization() -> Any:
    try:
        return importlib.import_module("onnxruntime.quantization")
    except ImportError as error:
        message = f"cannot import ONNX Runtime's quantizer: {reason(error)}"
        raise HettopError("missing", message, "pip install --upgrade onnxruntime onnx") from error
