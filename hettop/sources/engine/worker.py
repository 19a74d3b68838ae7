"""An engine process: `python -m hettop.sources.engine.worker`, with its job and commands on stdin, frames on stdout.

Before the warm-up it asks the model about several sets of inputs, to compare units by. It ends when stdin does.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from hettop.errors import HettopError
from hettop.models.content import check_unchanged
from hettop.models.ports import Feed, InputOptions, Port
from hettop.processes.framework_errors import named_reason
from hettop.processes.interruptions import ContinueListener, Interruptions, slept_ns
from hettop.processes.qos import frozen_collector, set_worker_qos
from hettop.processes.serve import begin_child
from hettop.sources.engine import job as jobs
from hettop.sources.engine.answers import AnswerLoop
from hettop.sources.engine.backend import (
    Answering,
    Backend,
    Loaded,
    LoadOptions,
    RealClock,
    Renewing,
    Stateful,
    split_unit,
)
from hettop.sources.engine.backends import create
from hettop.sources.engine.frames import ErrorReport, ReadyReport, StateReport, encode_outputs_frame, encode_report
from hettop.sources.engine.job import RunMode, WorkerState
from hettop.sources.engine.loop import Sampler
from hettop.sources.engine.published import VALUES_LIMIT, OutputSet, thin
from hettop.sources.engine.publisher import FrameWriter
from hettop.sources.engine.usage import UsageMeter, peak_memory_mb

LAST_WORDS_S = 2.0
"""How long an engine process that ends waits for a stalled reader to take its last frames."""

OUTPUTS_S = 1.0
"""How long to wait for a stalled reader to take the outputs, so that they are not in the way of samples."""

CLEAN, FAILED, PARENT_GONE = 0, 1, 2


def main() -> None:
    out = begin_child()
    commands = sys.stdin.buffer
    line = commands.readline()
    if not line:
        os._exit(PARENT_GONE)
    job = jobs.decode_job(line)
    state = WorkerState(RunMode.RUN if job.run else RunMode.PAUSE, job.limits, job.condition)
    writer = FrameWriter(out, job.backlog_bytes)
    interruptions = Interruptions(ContinueListener(), slept_ns)
    threading.Thread(target=_work, args=(job, state, writer, interruptions), name="worker", daemon=True).start()
    _read_commands(commands, state)
    os._exit(PARENT_GONE)  # at once: the worker may hang in a native call, and has no one to report to


def fed(port: Port, feed: Feed) -> str:
    """The input as it is really fed: `x float32[1,3,320,320]`."""
    shape = getattr(feed.get(port.name), "shape", None)
    return port.describe() if shape is None else replace(port, shape=tuple(shape)).describe()


def chosen_axes(ports: Sequence[Port], feed: Feed, options: InputOptions) -> str:
    """Which inputs have axes that the model leaves open and nobody set: their length decides what is measured."""
    given = {*options.shapes, *options.values}
    left_open = [port for port in ports if port.name not in given and not all(isinstance(a, int) for a in port.shape)]
    if not left_open:
        return ""
    return f"dynamic axes fixed (set them with --shape): {', '.join(fed(port, feed) for port in left_open)}"


def _read_commands(lines: BinaryIO, state: WorkerState) -> None:
    for line in lines:
        if not line.endswith(b"\n"):
            return  # torn: the parent died while it wrote
        state.obey(jobs.decode_command(line))


def _work(job: jobs.EngineJob, state: WorkerState, writer: FrameWriter, interruptions: Interruptions) -> None:
    """The worker thread: everything that touches the framework. Ends the process."""
    status = FAILED
    try:
        _measure(job, state, writer, interruptions)
        status = CLEAN
    except BrokenPipeError:
        status = PARENT_GONE
    except HettopError as error:
        writer.post(encode_report(ErrorReport(kind=error.kind, message=error.message, hint=error.hint)))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it in the unit's row)
        writer.post(encode_report(ErrorReport(kind="predict", message=named_reason(error))))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        writer.close(LAST_WORDS_S)
        os._exit(status)  # frameworks' exit handlers have been seen to hang


def _load(backend: Backend, job: jobs.EngineJob, unit: str, options: LoadOptions) -> Loaded:
    """Loads the model. One that cannot be loaded may have been replaced, and then that is the reason."""
    try:
        return backend.load(job.model, unit, options)
    except Exception:
        _check_model(job)
        raise


def _check_model(job: jobs.EngineJob) -> None:
    """Raises HettopError (`io`) where the file is not the one that the recording names.

    To be called after the load: what was loaded can only have been another one if it is another one now.
    """
    if job.sha256 is not None:
        check_unchanged(Path(job.model), job.sha256)


def _measure(job: jobs.EngineJob, state: WorkerState, writer: FrameWriter, interruptions: Interruptions) -> None:
    _tell(writer, "loading")
    qos = set_worker_qos()
    try:
        backend = create(job.backend, RealClock())
        name, threads = split_unit(job.unit)
        options = LoadOptions(
            threads,
            job.function,
            partial(_tell, writer),
            job.hints,
            fresh_state=job.fresh_state,
            strict=job.strict,
            custom_ops=job.custom_ops,
        )
        loaded = _load(backend, job, name, options)
        feed = {} if job.answers is not None else backend.make_inputs(loaded.inputs, job.inputs())
        answering = None if job.answers is None else _answering(backend, loaded, job, job.answers)
    except HettopError:
        raise
    except Exception as error:
        raise HettopError("load", named_reason(error)) from error
    if answering is not None and job.answers is not None:
        loop = AnswerLoop(
            answering,
            backend.clock,
            writer,
            state,
            warmup=job.warmup,
            rate_hz=job.rate_hz,
            concurrency=job.answers.concurrency or 1,
            threads=answering.streamed,
            read_usage=UsageMeter().read,
            interruption=interruptions.poll,
            peak_memory_mb=peak_memory_mb,
        )

        def ready(first_ns: int) -> ReadyReport:
            described = replace(loaded, note="; ".join(filter(None, (loaded.note, answering.words))))
            return _ready(backend, described, feed, job, first_ns=first_ns, qos=qos)

        _give_answers(loop, writer, ready)
        return
    sampler = Sampler(
        backend,
        feed,
        writer,
        state,
        warmup=job.warmup,
        rate_hz=job.rate_hz,
        rest_ns=job.rest_ns,
        read_usage=UsageMeter().read,
        interruption=interruptions.poll,
        peak_memory_mb=peak_memory_mb,
        recycle_after=loaded.recycle_after,
        before_each=backend.renew_state if job.fresh_state and isinstance(backend, Renewing) else None,
    )
    with frozen_collector():
        try:
            first_ns = sampler.first_call()
            writer.post(encode_report(_ready(backend, loaded, feed, job, first_ns=first_ns, qos=qos)))
            writer.flush()
            _check_model(job)  # not before: it takes time that is none of the start's
            asked = ask(
                backend,
                loaded.inputs,
                job.inputs(),
                feed,
                most_sets=job.input_sets,
                first_ns=first_ns,
                go_on=lambda: not state.told_to_pause and state.doing is not RunMode.STOP,
            )
            _publish(writer, asked)
            sampler.predicted_apart(asked.predictions)
            sampler.run()
        finally:
            sampler.flush()  # what was measured before a failing call is kept


def _answering(backend: Backend, loaded: Loaded, job: jobs.EngineJob, answers: jobs.AnswerJob) -> Answering:
    """What gives the answers. Raises HettopError (`usage`, `input`) for a model that gives none token by token."""
    if hasattr(backend, "answering"):
        return cast(Answering, backend.answering(answers, job.inputs()))
    if not isinstance(backend, Stateful):
        raise HettopError(
            "usage", f"backend {backend.name} gives no answers token by token", "use onnxruntime or coreml"
        )
    from hettop.models.decoding import find_roles
    from hettop.sources.engine.decoder import Decoder

    roles = find_roles(loaded.inputs, loaded.outputs, answers.state, stateful=loaded.stateful)
    return Decoder(backend, roles, answers, job.inputs(), backend.clock.now)


def _give_answers(loop: AnswerLoop, writer: FrameWriter, ready: Callable[[int], ReadyReport]) -> None:
    with frozen_collector():
        try:
            writer.post(encode_report(ready(loop.first_answer())))
            writer.flush()
            loop.run()
        finally:
            loop.flush()


def _ready(
    backend: Backend, loaded: Loaded, feed: Feed, job: jobs.EngineJob, *, first_ns: int, qos: str | None
) -> ReadyReport:
    chosen = "" if job.answers is not None else chosen_axes(loaded.inputs, feed, job.inputs())
    return ReadyReport(
        backend=backend.name,
        simulated=backend.simulated,
        pid=os.getpid(),
        load_ns=loaded.load_ns,
        first_ns=first_ns,
        placed=loaded.placed,
        provider_nodes=None if loaded.provider_nodes is None else list(loaded.provider_nodes),
        note=" · ".join(part for part in (loaded.note, chosen) if part),
        inputs=[fed(port, feed) for port in loaded.inputs],
        peak_memory_mb=peak_memory_mb(),
        compile_ns=loaded.compile_ns,
        cached=loaded.cached,
        compiled=loaded.compiled,
        qos=qos,
    )


def _publish(writer: FrameWriter, asked: Asked) -> None:
    if asked.sets:
        writer.post(encode_outputs_frame(asked.sets))
        writer.drain(OUTPUTS_S)


def _tell(writer: FrameWriter, state: str) -> None:
    """Says at once what is to come: the next call may hold this process for minutes."""
    writer.post(encode_report(StateReport(state=state, at_ns=RealClock.now())))
    writer.flush()


EXTRA_NS = 10**9
"""Further sets of inputs may take this long in all: a second more before the first sample is hardly noticed."""

EXTRA_BYTES = 64 << 20
"""Further inputs stay in memory for the life of the process, so that no framework can miss them; more are not made."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`predictions` that were made for it, and the `feeds` of them, to be kept as long as the model is in use."""

    sets: tuple[OutputSet, ...] = ()
    predictions: int = 0
    feeds: tuple[Feed, ...] = ()


def ask(
    backend: Backend,
    ports: Sequence[Port],
    options: InputOptions,
    feed: Feed,
    *,
    most_sets: int,
    first_ns: int,
    go_on: Callable[[], bool],
) -> Asked:
    """The answers to `feed`, which was run last and took `first_ns`, and to inputs of the seeds that follow.

    At most `most_sets` of them, one if the user gave all inputs; none if the backend returns none. A set that fails
    ends it: what the model refuses there is no fault of what is measured, and is reported in the log alone.
    """
    wanted = 1 if all(port.name in options.values or port.kind == "state" for port in ports) else most_sets
    sets: list[OutputSet] = []
    feeds: list[Feed] = []
    if not wanted:
        return Asked()
    room = VALUES_LIMIT // wanted
    now = backend.clock.now
    end, usual_ns = now() + EXTRA_NS, first_ns
    try:
        sets.append(thin(backend.outputs(), room))
        while sets[0] and len(sets) < wanted and go_on():
            if now() + usual_ns > end or (len(sets) * _nbytes(feed)) > EXTRA_BYTES:
                break
            feeds.append(backend.make_inputs(ports, replace(options, seed=options.seed + len(sets))))
            start = now()
            backend.predict(feeds[-1])
            usual_ns = now() - start
            sets.append(thin(backend.outputs(), room))
    except Exception:  # noqa: BLE001 (a framework may raise anything)
        traceback.print_exc(file=sys.stderr)
    return Asked(tuple(each for each in sets if each), len(feeds), tuple(feeds))


def _nbytes(feed: Feed) -> int:
    """Bytes of the arrays; image objects are small and not counted."""
    return sum(getattr(value, "nbytes", 0) for value in feed.values())


if __name__ == "__main__":
    main()
