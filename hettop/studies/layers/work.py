"""Reads the work of a model's layers from its file: what no runtime fused yet, and nothing that was measured.

Knows the readers of files; onnx is imported when there is something to read.
"""

from __future__ import annotations

from collections.abc import Mapping

from hettop.models.cache import ModelCache
from hettop.models.resolve import is_core_ml, model_file
from hettop.models.shapes import check_names, choose_shapes
from hettop.models.translated import translated_file
from hettop.studies.layers.graph import read_layers
from hettop.studies.layers.published import Work
from hettop.text import clean


def read_model_work(
    model: str, function: str | None, shapes: Mapping[str, tuple[int, ...]], cache: ModelCache
) -> list[Work]:
    """The layers with MACs, in order; those whose MACs cannot be counted are left out.

    An ML Program is read by its translation. Raises HettopError: `format`, `io`, `input`.
    """
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx

    path = model_file(model, cache)
    file = translated_file(path, function, cache) if is_core_ml(path) else path
    ports = onnx_ports(open_onnx(file))[0]
    check_names(ports, shapes, "--shape")
    layers, _ = read_layers(file, choose_shapes(ports, shapes, {}))
    return [Work(clean(layer.name), clean(layer.op), layer.macs, layer.moved_bytes) for layer in layers if layer.macs]
