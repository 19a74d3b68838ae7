"""A model's layers, measured by a process of its own."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.studies.layers.job import LayersJob, measure_in_child
from tests.processes.workers import answering, failing, running
from tests.studies.layers.measured import measured

JOB = LayersJob(model="m.onnx", unit="CPU_ONLY")


def test_what_was_measured_comes_back_as_it_was() -> None:
    assert measure_in_child(JOB, argv=answering(measured())) == measured()


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        (failing("format", "no model"), "format", "no model"),
        (running("import os; os.abort()"), "crashed", "killed by SIGABRT"),
        (answering({}), "crashed", "answered what makes no sense"),
    ],
)
def test_what_goes_wrong_is_reported(argv: list[str], kind: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        measure_in_child(JOB, argv=argv)
    assert refused.value.kind == kind
