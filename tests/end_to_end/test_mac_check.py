"""The script for Mac owners, over the bench: every step runs, says how it ended, and is in the archive."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.commands.running import HETTOP, plain_environment
from tests.coreml.bench import Bench

SCRIPT = Path(__file__).parents[2] / "docs" / "mac-check.sh"
STEPS = ("doctor", "bench", "load", "paced", "replay", "verify", "decide", "power", "again", "plan")
PATIENCE_S = 300


@pytest.mark.timeout(PATIENCE_S)
def test_it_goes_through_all_steps_on_a_mac_and_packs_what_they_said(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    wrapper = tmp_path / "hettop"
    wrapper.write_text(f'#!/bin/sh\nexec {" ".join(HETTOP)} "$@"\n')
    wrapper.chmod(0o755)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "HETTOP": str(wrapper)}
    few = {"RUNS": "20", "PACED_RUNS": "10", "POWER_FOR": "1s"}
    environment = Bench(tmp_path).environment(plain_environment(**home, **few))
    done = subprocess.run(
        ["sh", str(SCRIPT)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    codes = dict(line.split(": exit ") for line in summary(tmp_path))
    ended = {name: code.partition(":")[0] for name, code in codes.items()}
    assert {name: ended[name] for name in STEPS if name not in ("doctor", "power")} == dict.fromkeys(
        ("bench", "load", "paced", "replay", "verify", "decide", "again", "plan"), "0"
    )
    measured = json.loads((tmp_path / "hettop-mac-check" / "bench.out").read_text())
    assert {row["unit"] for row in measured["conditions"]} >= {"CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"}
    again = json.loads((tmp_path / "hettop-mac-check" / "again.out").read_text())
    assert all(row["cached"] for row in again["conditions"] if row["backend"] == "coreml")
    with tarfile.open(tmp_path / "hettop-mac-check.tar.gz") as packed:
        assert {f"hettop-mac-check/{name}.out" for name in STEPS} <= set(packed.getnames())
    assert "send hettop-mac-check.tar.gz" in done.stdout


def summary(folder: Path) -> list[str]:
    lines = (folder / "hettop-mac-check" / "summary.txt").read_text().splitlines()
    return [":".join(line.split(":")[:2]) for line in lines]
