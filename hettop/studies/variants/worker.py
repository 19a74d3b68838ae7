"""The process that writes a variant (`python -m hettop.studies.variants.worker`): job on stdin, answer on stdout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.models.networks.catalogue import is_built_in, network, parse_variant
from hettop.models.precision import FP16, FP32, VariantJob
from hettop.models.resolve import is_core_ml
from hettop.processes.serve import Caller, serve

if TYPE_CHECKING:
    from hettop.models.networks.ml_program import Precision


def write(job: VariantJob, _caller: Caller) -> None:
    if is_built_in(job.source):
        from hettop.models.networks.ml_program import write_package

        dtypes: dict[str, Precision] = {FP32: "float32", FP16: "float16"}
        write_package(network(parse_variant(job.source)), Path(job.target), dtypes[job.precision])
    elif is_core_ml(Path(job.source)):
        from hettop.models.precision_coreml import write_variant as compress

        compress(job)
    else:
        from hettop.models.precision_onnx import write_variant

        write_variant(job, lambda sets: _feeds(job, sets))


def _feeds(job: VariantJob, sets: int) -> Iterator[Mapping[str, Any]]:
    """Inputs of the seeds that follow the measured ones': what is compared was not calibrated with."""
    from hettop.models.inputs import make_inputs
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx
    from hettop.models.ports import InputOptions
    from hettop.sources.engine.job import INPUT_SETS

    ports = onnx_ports(open_onnx(Path(job.source)))[0]
    for index in range(sets):
        yield make_inputs(ports, InputOptions(job.seed + INPUT_SETS + index, job.shapes, job.values))


if __name__ == "__main__":
    serve(write, VariantJob, unexpected="load")
