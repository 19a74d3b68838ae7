from __future__ import annotations

import pytest

from hettop.sources.engine.job import (
    AnyCommand,
    EngineJob,
    Limits,
    Pause,
    Run,
    SetLimits,
    SetLoad,
    Slots,
    Stop,
    decode_command,
    decode_job,
    encode,
)


def test_a_job_is_one_line_and_comes_back_whole() -> None:
    job = EngineJob(
        backend="onnxruntime",
        model="a\nb.onnx",
        unit="CPU_ONLY@2",
        function="main",
        seed=7,
        shapes={"x": (1, 3, 224)},
        values={"y": "cat.png"},
        warmup=0,
        limits=Limits(runs=100),
        rate_hz=59.94,
        condition="cpu:2",
        run=False,
    )
    line = encode(job)
    assert line.count(b"\n") == 1
    assert decode_job(line) == job
    assert job.inputs().shapes == {"x": (1, 3, 224)}


@pytest.mark.parametrize(
    "command",
    [
        Run(),
        Pause(),
        Stop(),
        Slots(slots=[(1, 2), (3, 4)]),
        SetLimits(limits=Limits(duration_ns=5)),
        SetLoad(condition="memory:1@50%"),
    ],
)
def test_a_command_comes_back_whole(command: AnyCommand) -> None:
    assert decode_command(encode(command)) == command
