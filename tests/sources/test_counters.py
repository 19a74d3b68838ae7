"""Counters of the processor: with the kernel's own, which need none, and with planned readings."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable

import pytest

from hettop.sources.counters import (
    MISSES,
    PAGE_FAULTS,
    READING,
    REFERENCES,
    CacheCounters,
    Event,
    Traffic,
    open_event,
    why_no_counters,
)


def test_the_kernel_counts_what_happens_between_begin_and_end() -> None:
    """Page faults, which it counts without the processor: fresh memory costs one for each of its pages at most."""
    try:
        counters = CacheCounters(events=(PAGE_FAULTS, PAGE_FAULTS))
    except (OSError, AttributeError) as error:
        pytest.skip(f"no counters: {error}")
    nbytes = 64 << 20
    before = bytearray(nbytes)
    counters.begin()
    during = bytearray(nbytes)
    during[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(during[:: os.sysconf("SC_PAGE_SIZE")])
    counters.end()
    after = bytearray(nbytes)
    found = counters.traffic()
    counters.close()
    assert len(before) == len(after)
    assert found is not None
    assert 16 <= found.references <= 2 * nbytes / os.sysconf("SC_PAGE_SIZE")
    assert found.references == pytest.approx(found.misses, abs=8)


def planned(*readings: tuple[int, int, int]) -> Callable[[Event], int]:
    """Descriptors that give these readings in turn: of references and misses alternately."""

    def opened(event: Event) -> int:
        mine = readings[0 if event == REFERENCES else 1 :: 2]
        file = tempfile.TemporaryFile()  # noqa: SIM115
        file.write(b"".join(READING.pack(*each) for each in mine))
        file.seek(0)
        return os.dup(file.fileno())

    return opened


def test_counts_are_differences_added_up() -> None:
    """Twice: 1,000 and 500 accesses, 100 and 20 misses."""
    counters = CacheCounters(
        planned(
            *((5_000, 10, 10), (700, 10, 10), (6_000, 20, 20), (800, 20, 20)),
            *((9_000, 50, 50), (990, 50, 50), (9_500, 60, 60), (1_010, 60, 60)),
        )
    )
    for _ in range(2):
        counters.begin()
        counters.end()
    assert counters.traffic() == Traffic(1_500, 120)
    counters.close()


def test_an_event_that_had_a_counter_for_a_part_of_the_time_is_scaled_and_one_that_never_had_is_unknown() -> None:
    halved = CacheCounters(planned((0, 0, 0), (0, 0, 0), (100, 40, 20), (10, 40, 40)))
    halved.begin()
    halved.end()
    assert halved.traffic() == Traffic(200, 10)
    never = CacheCounters(planned((0, 0, 0), (0, 0, 0), (0, 40, 0), (10, 40, 40)))
    never.begin()
    never.end()
    assert never.traffic() is None
    halved.close()
    never.close()


def test_where_there_are_none_it_is_said_why_and_nothing_stays_open() -> None:
    opened: list[int] = []

    def second_fails(event: Event) -> int:
        if event == MISSES:
            raise OSError(errno.ENOENT, "no such counters")
        opened.append(os.open(os.devnull, os.O_RDONLY))
        return opened[0]

    assert why_no_counters(lambda: CacheCounters(second_fails)) == "no such counters"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
    with pytest.raises(OSError, match="Linux alone"):
        open_event(MISSES, system="darwin")
    with pytest.raises(OSError, match="Linux alone"):
        open_event(MISSES, machine="riscv64")
    assert why_no_counters(lambda: CacheCounters(planned())) == ""
