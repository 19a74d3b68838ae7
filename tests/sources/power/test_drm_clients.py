"""Clients of GPUs as Linux counts them (Documentation/gpu/drm-usage-stats.rst); shares worked out by hand."""

from __future__ import annotations

from pathlib import Path

from hettop.sources.power.drm_clients import Client, DrmClients, parse_client
from tests.sources.power.devices import client

SECOND = 10**9
I915 = ("drm-driver:\ti915", "drm-pdev:\t0000:00:02.0", "drm-client-id:\t5")
XE = ("drm-driver:\txe", "drm-pdev:\t0000:03:00.0", "drm-client-id:\t9")


def test_the_busiest_engine_counts(tmp_path: Path) -> None:
    clients = DrmClients(tmp_path, lambda: (41, 42))
    client(
        tmp_path, 41, 7, *I915, "drm-engine-render:\t0 ns", "drm-engine-video:\t0 ns", "drm-engine-capacity-video:\t2"
    )
    assert clients.shares(0) == {}
    now = ("drm-engine-render:\t300000000 ns", "drm-engine-video:\t800000000 ns", "drm-engine-capacity-video:\t2")
    client(tmp_path, 41, 7, *I915, *now)
    assert clients.shares(SECOND) == {"0000:00:02.0": 0.4}  # of two video engines 0.8 s


def test_cycles_count_by_the_devices_own_clock(tmp_path: Path) -> None:
    clients = DrmClients(tmp_path, lambda: (41,))
    client(tmp_path, 41, 7, *XE, "drm-cycles-ccs:\t100", "drm-total-cycles-ccs:\t1000")
    clients.shares(0)
    client(tmp_path, 41, 7, *XE, "drm-cycles-ccs:\t400", "drm-total-cycles-ccs:\t2000")
    assert clients.shares(5 * SECOND) == {"0000:03:00.0": 0.3}


def test_a_client_with_two_descriptors_counts_once_and_two_clients_add_up(tmp_path: Path) -> None:
    clients = DrmClients(tmp_path, lambda: (41, 42))
    other = (*I915[:2], "drm-client-id:\t6")
    for at, busy in ((0, 0), (SECOND, 250_000_000)):
        for pid, fd, lines in ((41, 7, I915), (41, 8, I915), (42, 7, other)):
            client(tmp_path, pid, fd, *lines, f"drm-engine-render:\t{busy} ns")
        shares = clients.shares(at)
    assert shares == {"0000:00:02.0": 0.5}


def test_a_value_that_falls_stands_still(tmp_path: Path) -> None:
    clients = DrmClients(tmp_path, lambda: (41,))
    found = []
    for second, busy in enumerate((500, 400, 600)):
        client(tmp_path, 41, 7, *I915, f"drm-engine-render:\t{busy * 10**6} ns")
        found.append(clients.shares(second * SECOND))
    assert found == [{}, {"0000:00:02.0": 0.0}, {"0000:00:02.0": 0.1}]


def test_other_files_and_ended_processes_are_passed_over(tmp_path: Path) -> None:
    clients = DrmClients(tmp_path, lambda: (41, 99))
    client(tmp_path, 41, 3, *I915, "drm-engine-render:\t1 ns", link="/tmp/file")
    assert clients.shares(0) == clients.shares(SECOND) == {}
    assert parse_client("pos:\t0\nflags:\t02\n") is None
    assert parse_client("\n".join((*XE, "drm-engine-x:\t\nnonsense"))) == Client("0000:03:00.0", "9")
