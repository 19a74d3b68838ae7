"""The energy of a token: its time at the mean power, where no other answer ran at the same time."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.events import AnyEvent
from hettop.session.session import Session
from hettop.session.statistics import statistics
from tests.streams import MS, S, header, window


def answer(number: int, start_ns: int, end_ns: int, *, several: int = 0) -> events.Answer:
    return events.Answer(
        t=end_ns,
        unit="U",
        condition="none",
        phase="steady",
        answer=number,
        t0=start_ns,
        end_ns=end_ns,
        chunks=101,
        several=several,
        tokens=101,
        first_ns=10 * MS,
        finish="length",
    )


def energy(*answers: events.Answer) -> tuple[float | None, str | None]:
    """Of 100 gaps of 10 ms at 4 W."""
    session = Session()
    session.fold(header(answers={}))
    gaps = window([10 * MS] * 100, unit="U", gap=0)
    power = [events.Power(t=t * MS, source="test", elapsed_ns=400 * MS, mw={"cpu": 4000.0}) for t in (500, 900)]
    stream: list[AnyEvent] = [gaps, *power, *answers]
    for event in sorted(stream, key=lambda each: each.t):
        session.fold(event)
    assert session.header is not None
    again = Session.restored(session.header, session.keyframe(S, 0))
    (row,) = statistics(again)
    return row.energy_mj_per_inference, row.energy_reason


def test_one_answer_after_another_gives_the_energy_of_a_token() -> None:
    mj, reason = energy(answer(0, 0, S // 2), answer(1, S // 2, S))
    assert reason is None
    assert mj == pytest.approx(40.0)


def test_overlapping_answers_give_none() -> None:
    mj, reason = energy(answer(0, 0, S // 2), answer(1, S // 2 - 1, S))
    assert (mj, "answers overlap" in str(reason)) == (None, True)


def test_chunks_of_several_tokens_give_none() -> None:
    mj, reason = energy(answer(0, 0, S // 2, several=1))
    assert (mj, reason) == (None, "chunks held several tokens")
