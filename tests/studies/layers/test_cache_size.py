"""The last-level cache as Linux and macOS report it."""

from __future__ import annotations

import stat
from pathlib import Path

from hettop.studies.layers.worker import last_level_cache_bytes


def sysfs(folder: Path, *levels: tuple[int, str, str]) -> Path:
    for number, (level, kind, size) in enumerate(levels):
        place = folder / f"index{number}"
        place.mkdir()
        for name, text in (("level", str(level)), ("type", kind), ("size", size)):
            (place / name).write_text(f"{text}\n")
    return folder


def test_the_highest_level_counts(tmp_path: Path) -> None:
    folder = sysfs(
        tmp_path, (1, "Data", "32K"), (1, "Instruction", "64K"), (2, "Unified", "1M"), (3, "Unified", "32768K")
    )
    assert last_level_cache_bytes("linux", folder) == 32 << 20


def test_instructions_are_no_data(tmp_path: Path) -> None:
    assert last_level_cache_bytes("linux", sysfs(tmp_path, (1, "Data", "48K"), (2, "Instruction", "2M"))) == 48 << 10


def test_a_machine_that_does_not_report_is_unknown(tmp_path: Path) -> None:
    assert last_level_cache_bytes("linux", tmp_path / "none") is None
    assert last_level_cache_bytes("linux", sysfs(tmp_path, (3, "Unified", "lots"))) is None
    assert last_level_cache_bytes("darwin", command=str(tmp_path / "no-sysctl")) is None


def test_on_a_mac_the_first_name_that_has_a_size_counts(tmp_path: Path) -> None:
    script = tmp_path / "sysctl"
    script.write_text('#!/bin/sh\ncase "$2" in hw.perflevel0.l2cachesize) echo 16777216;; *) exit 1;; esac\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    assert last_level_cache_bytes("darwin", command=str(script)) == 16 << 20
