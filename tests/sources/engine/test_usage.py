from __future__ import annotations

import gc
import mmap

from hettop.sources.engine.usage import UsageMeter, peak_memory_mb


def test_touched_pages_are_charged_as_faults() -> None:
    meter = UsageMeter()
    with mmap.mmap(-1, 64 * mmap.PAGESIZE) as fresh:
        if hasattr(fresh, "madvise") and hasattr(mmap, "MADV_NOHUGEPAGE"):
            fresh.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(64):
            fresh[page * mmap.PAGESIZE] = 1
    report = meter.read()
    assert report is not None
    assert report.minor_faults >= 64


def test_a_collection_is_counted() -> None:
    meter = UsageMeter()
    gc.collect()
    report = meter.read()
    assert report is not None
    assert report.collections >= 1


def test_a_report_says_between_which_readings_it_was_charged() -> None:
    moments = iter([100, 150, 200])
    meter = UsageMeter(lambda: next(moments))
    meter.read()
    gc.collect()
    report = meter.read()
    assert report is not None
    assert (report.since_ns, report.until_ns) == (150, 200)


def test_peak_memory_is_that_of_a_python_process_in_mb() -> None:
    assert 5 < peak_memory_mb() < 5_000


def test_macos_counts_peak_memory_in_bytes_and_linux_in_kib() -> None:
    assert peak_memory_mb("linux") > 500 * peak_memory_mb("darwin")


def test_memory_that_grows_fast_is_told_at_once() -> None:
    moments = iter([0, *(k * 50_000_000 for k in range(7))])
    megabytes = iter([300, 400, 600, 700])  # at 0, .1, .2 and .3 s
    meter = UsageMeter(lambda: next(moments), lambda: next(megabytes) * 1_000_000, lambda: 1_000)
    told = [report.resident_mb if (report := meter.read()) is not None else None for _ in range(7)]
    assert told == [300, None, None, None, 600, None, None]


def test_nobody_looks_while_the_process_never_was_that_large() -> None:
    moments = iter([0, *(k * 200_000_000 for k in range(4))])
    megabytes = iter([300, 600])  # asked for twice only
    peaks = iter([540, 555, 900])
    meter = UsageMeter(lambda: next(moments), lambda: next(megabytes) * 1_000_000, lambda: next(peaks))
    told = [report.resident_mb if (report := meter.read()) is not None else None for _ in range(4)]
    assert told == [300, None, None, 600]


def test_memory_in_use_is_told_at_first_and_every_ten_seconds() -> None:
    moments = iter([0, 0, 1, 9_999_999_999, 10_000_000_000, 10_000_000_001])
    meter = UsageMeter(lambda: next(moments))
    told = []
    for _ in range(5):
        gc.collect()  # so that there is something to report each time
        report = meter.read()
        assert report is not None
        told.append(report.resident_mb)
    assert [value is not None for value in told] == [True, False, False, True, False]
    assert all(5 < value < 5_000 for value in told if value is not None)
