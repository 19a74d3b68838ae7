"""How many threads can run at once is bound by affinity and by control groups, of either version."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from hettop.processes.cpus import UsableCpus, cpu_list, usable_cpus


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("cpus", "quota", "threads"),
    [(None, None, 8), ((0, 1, 2), None, 3), (None, 2.5, 2), (None, 0.5, 1), ((0, 1), 4.0, 2), ((0, 1, 2), 1.0, 1)],
)
def test_threads_are_bound_by_the_tighter_limit_and_never_none(
    cpus: tuple[int, ...] | None, quota: float | None, threads: int
) -> None:
    assert UsableCpus(8, cpus, quota).threads == threads


def test_lists_of_cpus_are_written_as_linux_does() -> None:
    assert [cpu_list(each) for each in ((0,), (0, 1, 2, 3, 8), (1, 3, 4))] == ["0", "0-3,8", "1,3-4"]


def test_only_what_restricts_is_reported() -> None:
    assert UsableCpus(2, (0, 1), None).warnings == []
    assert UsableCpus(2, (0, 1), None).restricted_to is None
    assert UsableCpus(4, (0, 2), 1.5).warnings == [
        "restricted by CPU affinity to 2 of 4 CPUs: 0,2",
        "limited by its control group to 1.5 CPUs: beyond that, calls are throttled",
    ]


def found(folder: Path, own: str, cpus: int = 64) -> float | None:
    with mock.patch.object(os, "cpu_count", return_value=cpus):
        return usable_cpus(folder / "cgroup", written(folder / "self", own)).quota


def test_the_tightest_limit_of_a_group_and_those_around_it_counts(tmp_path: Path) -> None:
    for place, text in (("", "max 100000"), ("a.slice", "150000 100000"), ("a.slice/b.scope", "400000 100000")):
        written(tmp_path / "cgroup" / place / "cpu.max", text)
    assert found(tmp_path, "0::/a.slice/b.scope\n") == 1.5
    assert found(tmp_path, "0::/\n") is None


def test_a_container_sees_only_the_root_of_its_group(tmp_path: Path) -> None:
    written(tmp_path / "cgroup" / "cpu.max", "50000 100000")
    assert found(tmp_path, "0::/docker/abc\n") == 0.5


def test_version_1_has_a_file_for_each_number_and_minus_one_for_none(tmp_path: Path) -> None:
    for place, quota in (("", -1), ("docker", 300_000)):
        written(tmp_path / "cgroup" / "cpu" / place / "cpu.cfs_quota_us", str(quota))
        written(tmp_path / "cgroup" / "cpu" / place / "cpu.cfs_period_us", "100000")
    assert found(tmp_path, "3:memory:/docker\n2:cpu,cpuacct:/docker\n") == 3.0
    assert found(tmp_path, "2:cpu,cpuacct:/\n") is None


@pytest.mark.parametrize("text", ["", "max", "x y", "100000 0", "1 2 3"])
def test_files_that_hold_something_else_are_no_limit(text: str, tmp_path: Path) -> None:
    written(tmp_path / "cgroup" / "cpu.max", text)
    assert found(tmp_path, "0::/\nnonsense\n") is None


def test_a_quota_beyond_the_machine_is_none(tmp_path: Path) -> None:
    written(tmp_path / "cgroup" / "cpu.max", "800000 100000")
    assert found(tmp_path, "0::/\n", cpus=4) is None
    assert found(tmp_path, "0::/\n", cpus=16) == 8.0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_the_affinity_of_this_process_counts(tmp_path: Path) -> None:
    with (
        mock.patch.object(os, "sched_getaffinity", return_value={1, 0}),
        mock.patch.object(os, "cpu_count", return_value=4),
    ):
        assert usable_cpus(tmp_path, tmp_path / "none") == UsableCpus(4, (0, 1), None)
