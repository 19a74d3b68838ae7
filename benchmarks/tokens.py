"""Token streams in real time: what the client of a server costs per chunk, and how well it times stalls."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.plan import Plan
from benchmarks.rows import Row, Unit, at_most, for_comparison
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.server import ServerBackend
from hettop.sources.engine.job import AnswerJob
from tests.sources.engine.scripted_server import Script, serving, steady

GAP_MS = 8.0
STALL_MS = 120.0
CHUNKS, QUICK_CHUNKS = 1000, 100
STALLS_EVERY = 20
CHUNK_AIM_NS, STALL_AIM_NS = 200_000, 1_000_000
MICROSECONDS = Unit(" us", 1e-3, 0)


def measure(plan: Plan) -> Iterator[Row]:
    chunks = QUICK_CHUNKS if plan.quick else CHUNKS
    plan.say(f"{chunks} chunks, {GAP_MS:g} ms apart")
    script = Script(steady([GAP_MS] * (chunks - 1)))
    with serving(script) as (address, served):
        arrivals, busy_ns = _received(address, chunks)
        sent = served.sent_ns[:chunks]
    yield at_most("server's client: processor time per chunk of a stream", CHUNK_AIM_NS, busy_ns, MICROSECONDS)
    delays = [arrival - at for at, arrival in zip(sent, arrivals, strict=True)]
    yield for_comparison("server's client: from the server's write to the time taken", delays, MICROSECONDS)
    yield from _stalls(plan, chunks // 2)


def _stalls(plan: Plan, chunks: int) -> Iterator[Row]:
    gaps = [STALL_MS if at % STALLS_EVERY == 0 else GAP_MS for at in range(1, chunks)]
    plan.say(f"{sum(gap == STALL_MS for gap in gaps)} stalls among {chunks} chunks")
    with serving(Script(steady(gaps))) as (address, served):
        arrivals, _ = _received(address, chunks)
        sent = served.sent_ns[:chunks]
    off = [
        abs((arrivals[at] - arrivals[at - 1]) - (sent[at] - sent[at - 1]))
        for at in range(1, chunks)
        if gaps[at - 1] == STALL_MS
    ]
    yield at_most(f"server's client: error of stalls of {STALL_MS:g} ms", STALL_AIM_NS, off, MICROSECONDS)


def _received(address: str, chunks: int) -> tuple[list[int], list[int]]:
    """Arrival of each chunk, and the processor time that this thread took for it."""
    backend = ServerBackend(RealClock())
    backend.load(address, "SERVER", LoadOptions())
    answering = backend.answering(AnswerJob(max_tokens=chunks), InputOptions())
    arrivals, busy = [], []
    before = time.thread_time_ns()
    for moment, _ in answering.answer(0).chunks:
        after = time.thread_time_ns()
        arrivals.append(moment)
        busy.append(after - before)
        before = time.thread_time_ns()
    return arrivals, busy[1:]
