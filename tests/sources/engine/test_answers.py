"""The loop of answers, on a clock that the test drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from hettop.errors import HettopError
from hettop.processes.interruptions import STOPPED, Interruption
from hettop.sources.engine.answers import FAILURES_IN_A_ROW, AnswerLoop
from hettop.sources.engine.backend import Answer
from hettop.sources.engine.frames import AnswerReport, InterruptedReport, SampleFrame, StateReport
from hettop.sources.engine.job import AnyCommand, EndWarmup, Limits, Pause, Run, RunMode, Slots, Stop
from tests.sources.engine.fakes import MS, FakeClock, ListedOut, ScriptedState

Gap = float | tuple[float, bool]
"""Milliseconds before a chunk; with False for one that holds several tokens."""


class Scripted:
    """Answers whose chunks come after the scripted gaps, the last script over and over; "fail" raises."""

    words = "scripted"

    def __init__(
        self, clock: FakeClock, scripts: Sequence[Sequence[Gap] | str], *, streamed: bool, tokens: int | None = None
    ) -> None:
        self.streamed = streamed
        self.asked: list[int] = []
        self._clock, self._scripts, self._tokens = clock, scripts, tokens

    def answer(self, number: int) -> Answer:
        self.asked.append(number)
        script = self._scripts[min(number, len(self._scripts) - 1)]
        if isinstance(script, str):
            raise HettopError("predict", script)
        return Answer(self._chunks(script), 7, self._tokens, "stop")

    def _chunks(self, script: Sequence[Gap]) -> Iterator[tuple[int, bool]]:
        for gap in script:
            milliseconds, single = gap if isinstance(gap, tuple) else (gap, True)
            self._clock.advance(round(milliseconds * MS))
            yield self._clock.now(), single


def run(
    *scripts: Sequence[Gap] | str,
    limits: Limits = Limits(runs=1),  # noqa: B008
    warmup: int = 0,
    streamed: bool = False,
    rate_hz: float | None = None,
    script: Sequence[tuple[float, AnyCommand]] = (),
    doing: RunMode = RunMode.RUN,
    tokens: int | None = None,
    stopped_until_ms: float | None = None,
) -> tuple[ListedOut, Scripted]:
    clock, out = FakeClock(), ListedOut()
    state = ScriptedState(clock, [(round(at * MS), each) for at, each in script], doing=doing, limits=limits)
    answering = Scripted(clock, scripts, streamed=streamed, tokens=tokens)
    stops = [] if stopped_until_ms is None else [round(stopped_until_ms * MS)]

    def interruption() -> Interruption | None:
        return Interruption(STOPPED) if stops and clock.now() >= stops[0] and stops.pop() else None

    loop = AnswerLoop(answering, clock, out, state, warmup=warmup, rate_hz=rate_hz, interruption=interruption)
    loop.first_answer()
    loop.run()
    return out, answering


def samples(out: ListedOut, *, first: bool, phase: str = "steady") -> list[tuple[int, int, list[float]]]:
    """(answer, position, latencies in ms) of each frame."""
    return [
        (frame.answer or 0, frame.position or 0, (frame.latency / MS).tolist())
        for frame in out.frames
        if isinstance(frame, SampleFrame) and (frame.first_token, frame.phase) == (first, phase)
    ]


def reports(out: ListedOut) -> list[AnswerReport]:
    return [frame for frame in out.frames if isinstance(frame, AnswerReport)]


def test_first_tokens_and_later_ones_never_share_a_distribution() -> None:
    out, _ = run([30, 1, 1], [20, 2, 3, 4])
    assert samples(out, first=True) == [(1, 0, [20.0])]
    assert samples(out, first=False) == [(1, 1, [2.0, 3.0, 4.0])]
    assert samples(out, first=True, phase="first") == [(0, 0, [30.0])]
    assert samples(out, first=False, phase="warmup") == [(0, 1, [1.0, 1.0])]


def test_an_answer_ends_with_a_report_of_it() -> None:
    out, _ = run([30], [20, 2, 40, 4], tokens=5)
    report = reports(out)[1]
    assert (report.answer, report.phase, report.finish, report.error) == (1, "steady", "stop", "")
    assert (report.chunks, report.several, report.tokens, report.prompt_tokens) == (4, 0, 5, 7)
    assert (report.first_ns, report.longest_ns, report.end_ns - report.start_ns) == (20 * MS, 40 * MS, 66 * MS)


def test_a_chunk_of_several_tokens_is_flagged_and_is_no_gap() -> None:
    out, _ = run([30], [20, 2, (90, False), 4, 5])
    assert samples(out, first=False) == [(1, 1, [2.0]), (1, 3, [4.0, 5.0])]
    assert (reports(out)[1].several, reports(out)[1].tokens) == (1, None)


def test_gaps_are_not_counted_once_a_server_counts_more_tokens_than_it_sends_chunks() -> None:
    out, _ = run([30, 2, 2, 2], warmup=1, limits=Limits(runs=2), tokens=12)
    assert samples(out, first=False) == []
    assert samples(out, first=True) == [(2, 0, [30.0]), (3, 0, [30.0])]
    assert [report.gaps_counted for report in reports(out)] == [True, False, False, False]


def test_one_token_more_than_chunks_is_the_mark_of_the_end() -> None:
    out, _ = run([30, 2, 2, 2], limits=Limits(runs=2), tokens=5)
    assert all(report.gaps_counted for report in reports(out))


def test_warm_up_and_limit_count_answers() -> None:
    out, answering = run([10, 1], warmup=3, limits=Limits(runs=5))
    assert len(samples(out, first=True, phase="warmup")) == 3
    assert len(samples(out, first=True)) == 5
    assert answering.asked == list(range(9))
    done = [frame for frame in out.frames if isinstance(frame, StateReport) and frame.done]
    assert done[0].state == "paused"


def test_a_duration_ends_after_the_answer_that_reaches_it() -> None:
    out, _ = run([10, 10, 10], limits=Limits(duration_ns=100 * MS))
    assert len(samples(out, first=True)) == 4  # of 30 ms each: 90 ms are not enough


def test_failed_answers_are_reported_and_do_not_count() -> None:
    out, _ = run([10, 1], "429 too many requests", [10, 1], limits=Limits(runs=1))
    assert [(report.answer, report.finish) for report in reports(out)] == [(0, "stop"), (1, "failed"), (2, "stop")]
    assert reports(out)[1].error == "429 too many requests"
    assert samples(out, first=True) == [(2, 0, [10.0])]


def test_failures_in_a_row_end_the_unit() -> None:
    with pytest.raises(HettopError, match=f"{FAILURES_IN_A_ROW} answers in a row failed: refused"):
        run([10, 1], "refused")
    with pytest.raises(HettopError, match="refused"):
        run("refused")


@pytest.mark.parametrize("scripts", [("refused",), ([10, 1], "refused")])
def test_a_model_here_is_not_called_a_server(scripts: tuple[str, ...]) -> None:
    for streamed in (True, False):
        with pytest.raises(HettopError) as caught:
            run(*scripts, streamed=streamed)
        assert ("server" in caught.value.hint) == streamed


def test_at_a_rate_the_first_token_knows_how_late_its_answer_began() -> None:
    """Ten a second, each of 250 ms, one at once: planned at 350, 450, 550 ms; begun at 350, 600 and 850."""
    out, _ = run([50, 200], rate_hz=10, limits=Limits(runs=3), streamed=True)
    late = [frame.late for frame in out.frames if isinstance(frame, SampleFrame) and frame.first_token]
    assert [None if each is None else each.tolist() for each in late] == [None, [0], [150 * MS], [300 * MS]]


def test_a_pause_breaks_an_answer_off_and_the_next_one_settles_the_unit() -> None:
    out, _ = run(
        [10, 1], [10, *[10] * 50], limits=Limits(runs=1), script=[(105, Pause()), (300, Run()), (5000, Stop())]
    )
    cut = reports(out)[1]
    assert (cut.finish, cut.answer) == ("cut", 1)
    assert cut.chunks < 20
    assert [frame.phase for frame in out.frames if isinstance(frame, SampleFrame) and frame.first_token] == [
        *("first", "steady", "resume", "steady")
    ]


def test_answers_begin_within_their_slots() -> None:
    """Slots of 100 ms, answers of 30: three fit, and the first of each slot is a `resume`."""
    slots = [(100 * MS, 200 * MS), (400 * MS, 500 * MS)]
    out, _ = run([10, 20], doing=RunMode.PAUSE, limits=Limits(), script=[(35, Slots(slots=slots)), (900, Stop())])
    begun = [(report.phase, report.start_ns // MS) for report in reports(out)]
    assert begun == [
        ("first", 0),
        *[("resume", 100), ("steady", 130), ("steady", 160)],
        *[("resume", 400), ("steady", 430), ("steady", 460)],
    ]


def test_a_warm_up_can_be_ended() -> None:
    out, _ = run([10, 1], warmup=100, limits=Limits(runs=1), script=[(60, EndWarmup())])
    assert 1 <= len(samples(out, first=True, phase="warmup")) < 10


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("signal_is_late_by_ms", [0, 3])
def test_an_answer_during_which_the_process_was_stopped_is_not_steady(
    streamed: bool, signal_is_late_by_ms: float
) -> None:
    """The first answer takes 10 ms; the next one has a token that took 5 s, by a stop that ends at 5,032 ms."""
    stop = [20, 2, 5000, *[2] * 60]
    out, _ = run(
        [10], stop, [20, 2, 2], streamed=streamed, stopped_until_ms=5032 + signal_is_late_by_ms, limits=Limits(runs=1)
    )
    assert [(each.answer, each.phase) for each in reports(out)][1:3] == [
        (1, "transition"),
        (2, "steady"),
    ]
    assert all(answer != 1 for answer, _, _ in [*samples(out, first=True), *samples(out, first=False)])
    (stopped,) = out.reports(InterruptedReport)
    assert isinstance(stopped, InterruptedReport)
    assert (stopped.why, stopped.ns / MS) == (STOPPED, 5000)
