"""The process that writes a variant: `python -m hettop.studies.variants.worker`, a job on stdin, an answer on stdout.

Knows nothing of who started it; ends when it has answered, or when stdin ends before that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.errors import HettopError
from hettop.models.mobilenetv2 import is_default_name, network, parse_variant
from hettop.models.precision import FP16, FP32, Answer, Failed, Job, decode_job, encode
from hettop.models.resolve import is_core_ml
from hettop.processes.framework_errors import named_reason

if TYPE_CHECKING:
    from hettop.models.mobilenetv2_coreml import Precision


def main() -> None:
    from hettop.processes.serve import answer_one

    answer_one(lambda line: encode(_answer(decode_job(line))))


def _answer(job: Job) -> Answer:
    try:
        _write(job)
    except HettopError as error:
        return Answer(failed=Failed(kind=error.kind, message=error.message, hint=error.hint))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        return Answer(failed=Failed(kind="load", message=named_reason(error)))
    return Answer()


def _write(job: Job) -> None:
    if is_default_name(job.source):
        from hettop.models.mobilenetv2_coreml import write_package

        dtypes: dict[str, Precision] = {FP32: "float32", FP16: "float16"}
        write_package(network(parse_variant(job.source)), Path(job.target), dtypes[job.precision])
    elif is_core_ml(Path(job.source)):
        from hettop.models.precision_coreml import write_variant as compress

        compress(job)
    else:
        from hettop.models.precision_onnx import write_variant

        write_variant(job, lambda sets: _feeds(job, sets))


def _feeds(job: Job, sets: int) -> Iterator[Mapping[str, Any]]:
    """Inputs of the seeds that follow the measured ones': what is compared was not calibrated with."""
    from hettop.models.inputs import make_inputs
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx
    from hettop.models.ports import InputOptions
    from hettop.sources.engine.job import INPUT_SETS

    ports = onnx_ports(open_onnx(Path(job.source)))[0]
    for index in range(sets):
        yield make_inputs(ports, InputOptions(job.seed + INPUT_SETS + index, job.shapes, job.values))


if __name__ == "__main__":
    main()
