"""The script for Mac owners: over the bench, and over a stand-in for hettop that does what a step may do."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hettop.measurement.options import DEFAULT_MODEL
from hettop.models.cache import default_cache
from hettop.models.resolve import model_package
from hettop.sources.engine.watchdog import Timeouts
from tests.cli.running import hettop, plain_environment
from tests.coreml.bench import Bench
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "packaging/mac-check.sh"
STEPS = ("doctor", "bench", "load", "paced", "replay", "verify", "decide", "power", "control", "onnx", "again", "plan")
MAY_BE_REFUSED = ("power", "control")
LOADING = ("bench", "load", "paced", "control", "again", "plan")
OUT = "hettop-mac-check"
PATIENCE_S = 1200  # other tests run beside it
USER = "markeduser"


SMALL = f"{DEFAULT_MODEL}:32x32"
RUN_SMALL = f"""
from hettop.measurement import options
options.DEFAULT_MODEL = '{SMALL}'
from hettop.__main__ import main
raise SystemExit(main())
"""
WITH_SMALL_MODEL = f"""
case "$1 $2" in "plan {DEFAULT_MODEL}") shift 2; set -- plan {SMALL} "$@";; esac
exec {sys.executable} -c "{RUN_SMALL}" "$@"
"""
"""hettop with a smaller default model: the steps are the same, and a tenth of the work."""


def marked_home(folder: Path) -> Path:
    """A home whose name nobody else has, and that a path seems to end in the middle of."""
    home = folder / "Márked Person"
    home.mkdir()
    return home


def write_hettop(home: Path, body: str) -> None:
    """A hettop that is installed, and does this."""
    write_program(home / "hettop", f'[ "$1" = --version ] && exit 0\n{body}')


def environment(home: Path, *, anonymize: bool = True, **more: str) -> dict[str, str]:
    """anonymize: whether it is really done, by an interpreter; else each file stays as it is."""
    python = sys.executable if anonymize else "true"
    names = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "XDG_CACHE_HOME": str(home / "cache")}
    return plain_environment(**names, PYTHON=python, HETTOP=str(home / "hettop"), **more)


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def checked(home: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(SCRIPT)], cwd=home, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def packed(home: Path) -> dict[str, str]:
    """The files of the archive by name, whose records name no user."""
    with tarfile.open(home / f"{OUT}.tar.gz") as archive:
        assert {(member.uname, member.gname) for member in archive.getmembers()} == {("", "")}
        files = [member for member in archive.getmembers() if member.isfile()]
        return {
            member.name.removeprefix(f"{OUT}/"): content.read().decode()
            for member in files
            if (content := archive.extractfile(member)) is not None
        }


def results(home: Path) -> dict[str, str]:
    """How each step ended, by the summary in the archive."""
    lines = packed(home)["summary.txt"].splitlines()
    return {name: result for name, result, _ in (line.split(": ", 2) for line in lines)}


def assert_anonymous(files: Mapping[str, str], home: Path) -> None:
    host = socket.gethostname()
    marks = [USER, home.name, json.dumps(home.name)[1:-1], str(home.parent), *([host] if len(host) > 5 else [])]
    named = {(name, mark) for name, text in files.items() for mark in marks if mark in text or mark in name}
    assert named == set()


@pytest.mark.timeout(PATIENCE_S)
def test_all_steps_succeed_on_a_mac_and_no_file_of_the_archive_names_its_owner(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    home = marked_home(tmp_path)
    write_hettop(home, WITH_SMALL_MODEL)
    few: dict[str, Any] = {"RUNS": "20", "PACED_RUNS": "10", "LOAD": "cpu:1@10%", "POWER_FOR": "1s"}
    own = environment(home, **few)
    model_package(SMALL, default_cache(own))  # which children of the bench cannot make
    done = checked(home, Bench(tmp_path).environment(own))
    assert done.returncode == 0, done.stderr
    assert f"send {OUT}.tar.gz" in done.stdout
    ended = results(home)
    assert tuple(ended) == STEPS
    assert {result for name, result in ended.items() if name not in MAY_BE_REFUSED} == {"exit 0"}
    files = packed(home)
    assert_anonymous(files, home)
    measured = json.loads(files["bench.out"])
    assert {row["unit"] for row in measured["conditions"]} >= {"CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"}
    again = json.loads(files["again.out"])
    assert all(row["cached"] for row in again["conditions"] if row["backend"] == "coreml")
    (tmp_path / "sent.jsonl").write_text(files["bench.jsonl"], encoding="utf-8")
    verified = hettop("verify", str(tmp_path / "sent.jsonl"))
    assert verified.returncode == 0, verified.stdout


# What each step prints of its owner, in each kind of file.
PRINTS = """
printf '{"home": "%s/models/m.onnx", "user": "by %s"}\n' "$HOME" "$USER"
printf 'File "%s/hettop/x.py", line 1, by %s\n' "$HOME" "$USER" >&2
[ "$1" != bench ] ||
    printf '{"k":"header","t":0,"id":"7f3c","model":{"note":"%s"}}\n' "$HOME" > hettop-mac-check/bench.jsonl
"""


@pytest.mark.parametrize("step", ["replay", "verify", "decide"])
def test_a_step_that_fails_fails_the_check_and_the_archive_has_the_others_too(step: str, tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, f"{PRINTS}\n[ $1 = {step} ] && exit 3\nexit 0")
    done = checked(home, environment(home, anonymize=False))
    assert done.returncode == 1
    assert done.stderr == f"failed: {step} (see {OUT}/summary.txt)\n"
    assert f"send {OUT}.tar.gz" in done.stdout
    assert results(home) == {name: "exit 3 FAILED" if name == step else "exit 0" for name in STEPS}
    assert {f"{name}.{kind}" for name in STEPS for kind in ("out", "err")} <= packed(home).keys()


@pytest.mark.parametrize(("code", "allowed"), [(2, ["power", "control", "plan"]), (3, ["control"]), (1, []), (130, [])])
def test_few_steps_may_end_with_another_code(code: int, allowed: list[str], tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, f"exit {code}")
    assert checked(home, environment(home, anonymize=False)).returncode == 1
    assert [name for name, result in results(home).items() if "FAILED" not in result] == allowed


def test_wrong_use_is_a_failure_although_it_ends_with_a_code_that_a_step_may_have(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, '[ "$1" = power ] || exit 0\necho "usage: hettop power" >&2\nexit 2')
    assert checked(home, environment(home, anonymize=False)).returncode == 1
    assert [name for name, result in results(home).items() if "FAILED" in result] == ["power"]


def test_without_an_installation_nothing_is_run_and_the_command_that_installs_is_shown(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    done = checked(home, environment(home))
    assert done.returncode == 2
    assert "hint: python3.13 -m venv .venv && .venv/bin/pip install .\n" in done.stderr
    assert not (home / OUT).exists()


def test_a_folder_that_holds_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, "exit 0")
    (home / OUT).mkdir()
    (mine := home / OUT / "notes.txt").write_text(f"by {USER}\r\n", newline="")
    done = checked(home, environment(home))
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"error: folder is not empty: {OUT}")
    assert mine.read_bytes() == f"by {USER}\r\n".encode()
    assert not (home / f"{OUT}.tar.gz").exists()


def test_names_go_from_every_kind_of_file(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, PRINTS)
    checked(home, environment(home))
    files = packed(home)
    assert_anonymous(files, home)
    assert json.loads(files["load.out"]) == {"home": "m.onnx", "user": "by …"}
    assert files["load.err"] == 'File "x.py", line 1, by …\n'
    assert json.loads(files["bench.jsonl"]) == {"k": "header", "t": 0, "model": {"note": "…"}}


def test_a_file_that_cannot_be_anonymized_is_not_sent(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, PRINTS)
    write_program(home / "python", 'case "$*" in *load.err*) exit 1 ;; esac')
    done = checked(home, {**environment(home), "PYTHON": str(home / "python")})
    assert done.returncode == 1
    assert "deleted, could not be anonymized: load.err\n" in done.stderr
    ended = {f"{name}.{kind}" for name in STEPS for kind in ("out", "err")}
    assert packed(home).keys() == {*ended, "bench.jsonl", "summary.txt"} - {"load.err"}


# No shell: dash loses a Ctrl-C that comes while it starts its next command.
UNTIL_CTRL_C = "import signal, time; signal.signal(2, signal.SIG_DFL); open('here', 'w').close(); time.sleep(100)"


def test_what_there_is_when_somebody_ends_it_is_packed(tmp_path: Path) -> None:
    home = marked_home(tmp_path)
    write_hettop(home, f'{PRINTS}\n[ "$1" = replay ] && exec {sys.executable} -c "{UNTIL_CTRL_C}"\nexit 0')
    process = subprocess.Popen(
        ["sh", str(SCRIPT)], cwd=home, env=environment(home), stdout=subprocess.DEVNULL, start_new_session=True
    )
    wait_for((home / "here").exists, "the step that is ended")
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE_S) == 1
    assert tuple(results(home)) == ("doctor", "bench", "load", "paced", "replay")
    assert_anonymous(packed(home), home)


def test_the_workflow_gives_the_script_more_time_than_all_loads_can_take() -> None:
    workflow = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    job = workflow.partition("  mac-checks:\n")[2]
    whole, step = (int(minutes) for minutes in re.findall(r"timeout-minutes: (\d+)", job))
    assert step * 60 > len(LOADING) * Timeouts().load_s
    assert whole > step
    assert "os: [macos-14, macos-15, macos-26]" in job
    assert 'python: ["3.11", "3.13"]' in job
    assert "if: always()" in job.partition("upload-artifact")[2], "the archive is kept whatever happened"
