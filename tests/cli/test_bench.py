"""`hettop bench` from outside: what it prints, where, and its exit code."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from hettop import events
from hettop.console.measuring import print_recorded
from hettop.record.writer import Closed
from tests.cli.running import (
    HETTOP,
    SIMULATED,
    assert_refused,
    called,
    hettop,
    hettop_process,
    one_document,
    plain_environment,
    read,
    started,
)
from tests.processes.waiting import PATIENCE_S, gone, wait_for
from tests.sources.engine import faulty
from tests.streams import header

SHORT = ("bench", *SIMULATED, "--runs", "70")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_is_one_document_and_stderr_is_silent() -> None:
    done = hettop_process(*SHORT, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert document["simulated"] is True
    assert [(row["unit"], row["n"]) for row in document["conditions"]] == [("CPU_AND_NE", 70), ("ALL", 70)]


def test_the_table_is_as_wide_as_columns_says() -> None:
    done = hettop(*SHORT, COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SIMULATED")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def test_the_real_model_runs_on_the_real_engine() -> None:
    done = hettop_process(
        "bench", "mobilenetv2:32x32", "--units", "CPU_ONLY@1", "--warmup", "2", "--runs", "20", "--json"
    )
    assert done.returncode == 0, done.stderr
    (row,) = one_document(done.stdout)["conditions"]
    assert (row["n"], row["simulated"], row["backend"]) == (20, False, "onnxruntime")
    assert "CPU" in row["placed"]
    assert 0 < row["min_ms"] <= row["p50_ms"] <= row["p90_ms"] <= row["max_ms"]


def test_thresholds_that_are_met_are_noted_with_their_value_unless_quiet() -> None:
    limits = ("--assert", "CPU_AND_NE.p90<100s", "--assert", "ALL.n>=70")
    done = hettop(*SHORT, *limits)
    first, second = done.stderr.splitlines()
    assert done.returncode == 0
    assert first.startswith("threshold met: CPU_AND_NE.p90<100s: p90 of CPU_AND_NE is 0.")
    assert second == "threshold met: ALL.n>=70: n of ALL is 70 under load none"
    quiet = hettop(*SHORT, "-q", *limits)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_a_threshold_that_fails_is_reported_beside_the_result() -> None:
    done = hettop(*SHORT, "--json", "--assert", "ALL.p90<1us", "--assert", "ALL.native_p90<1s", "--assert", "ALL.n>1")
    assert done.returncode == 1
    assert len(one_document(done.stdout)["conditions"]) == 2
    first, second, third = done.stderr.splitlines()
    assert first.startswith("error: threshold not met: ALL.p90<1us: p90 of ALL is 0.")
    assert first.endswith(" ms under load none")
    assert second == "error: threshold undecided: ALL.native_p90<1s: native_p90 of ALL is unknown (n=70)"
    assert third == "threshold met: ALL.n>1: n of ALL is 70 under load none"
    assert hettop(*SHORT, "--assert", "ALL.native_p90<1s").returncode == 4


def test_with_a_required_proof_the_interval_decides_and_few_turns_leave_it_undecided() -> None:
    """At most 1,500 calls in one stretch are 13 independent samples; P90 needs 64."""
    single = ("bench", "--backend", "simulated", "--units", "CPU_AND_NE", "--warmup", "2", "--duration", "900ms")
    done = hettop(*single, "--power", "none", "--assert", "CPU_AND_NE.p90<100s", "--require-proof")
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith("error: threshold undecided: CPU_AND_NE.p90<100s: p90 of CPU_AND_NE is 0.")
    assert "but this percentile needs 64; in one stretch, 110 calls count as one sample" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--require-proof",), "--require-proof needs --assert"),
        (("--require-proof", "--assert", "ALL.mean<3ms"), "cannot be proven: ALL.mean<3ms"),
        (("--require-proof", "--assert", "ALL.p90<3ms"), "from fewer than 7,040 samples: --runs 70"),
        (("--require-proof", "--assert", "ALL.p90<3ms", "--interleave", "--runs", "63"), "from fewer than 64 samples"),
    ],
)
def test_a_proof_that_cannot_come_is_refused_before_measuring(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(hettop(*SHORT, *arguments), words)


@pytest.mark.parametrize(
    ("threshold", "hint"),
    [
        ("all.p99<1s", "--runs 662"),
        (".all.p999<1s", "--runs 6636"),
        ("ALL.misses<1", "--rate"),
        ("ALL.energy<1mJ", "--power SRC"),
        ("ALL.tokens>1", "--prefill"),
    ],
)
def test_a_threshold_that_cannot_be_decided_is_refused_before_measuring(threshold: str, hint: str) -> None:
    done = hettop(*SHORT, "--assert", threshold.replace("all.p99", "ALL.p99", 1))
    assert_refused(done, "--assert cannot be decided")
    assert hint in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--runs", "-3"), "--runs"),
        (("--runs", "5", "--duration", "5s"), "options exclude each other"),
        (("--units", "WARP_DRIVE"), "unknown unit: 'WARP_DRIVE'"),
        (("--units", "CPU_AND_NE"), "this unit cannot run here: CPU_AND_NE"),
        (("--load", "frobnicate:1"), "invalid load 'frobnicate:1'"),
        (("--load", "gpu:1"), "Core ML"),
        (("--assert", "nonsense"), "invalid threshold"),
        (("--assert", "ALL.p90<3ms"), "ALL will not be measured"),
        (("--assert", "CPU_ONLY[cpu:2].p90<3ms"), "nothing will be measured under load cpu:2"),
        (("--runs", "٢"), "--runs"),
        (("--runs", "9" * 5000), "--runs"),
        (("--rate", "-1"), "--rate"),
        (("--bogus\x1b[31m",), "unknown option"),
        (("missing.onnx",), "missing.onnx"),
        (("--record", "/nonexistent-folder/x.jsonl"), "/nonexistent-folder"),
    ],
)
def test_wrong_use_is_answered_in_words_and_leaves_no_file(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    recording = () if "--record" in arguments else ("--record", "r.jsonl")
    assert_refused(called("bench", *arguments, *recording, cwd=tmp_path), words)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_shows_to_be_none_when_it_is_loaded_is_wrong_use_too(tmp_path: Path) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"\x00\x1b[31mnot a model" * 10)
    assert_refused(hettop("bench", "junk.onnx", "--record", "r.jsonl", cwd=tmp_path), "junk.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["junk.onnx"]


def test_when_everything_fails_while_running_the_rows_say_why(tmp_path: Path) -> None:
    script = "CPU_ONLY vanish 3;- - .onnx"  # read by the faulty backend: what goes wrong at which call
    (tmp_path / script).write_text("x")
    done = hettop(
        "bench", script, "--backend", faulty.NAME, "--units", "CPU_ONLY", "--warmup", "9", "--json", cwd=tmp_path
    )
    assert done.returncode == 3, done.stderr
    (row,) = one_document(done.stdout)["conditions"]
    assert (row["n"], row["error"]["kind"]) == (0, "killed")
    assert "Traceback" not in done.stderr


def test_recordings_are_private_and_said_to_be_there(tmp_path: Path) -> None:
    done = hettop(*SHORT, "--record", "r.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 0
    lines = lines_of(tmp_path / "r.jsonl")
    assert (lines[0]["k"], lines[-1]["k"], lines[-1]["why"]) == ("header", "end", "done")
    # 70 steady samples of two units; a first call, two to warm up, none that goes on after another.
    assert lines[-1]["samples"] == 2 * (70 + 1 + 2)
    assert done.stderr == f"recorded {lines[-1]['samples']} samples to r.jsonl\n"
    assert (tmp_path / "r.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_recording_that_is_taken_away_fails_the_bench_and_keeps_the_result(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    with started("bench", *SIMULATED, "--duration", "3s", "--json", "--record", str(file)) as process:
        wait_for(lambda: file.exists() and '"steady"' in file.read_text(), "samples are recorded")
        file.unlink()
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert all(row["n"] > 0 for row in one_document(stdout)["conditions"])
    assert "the recording is incomplete" in stderr


def test_all_that_a_recording_lacks_is_reported_whether_lines_in_it_say_so_or_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_recorded(Closed("r.jsonl", 100, samples=5, dropped=3000, undeclared=70, fault=None))
    assert "warning: samples missing from the recording: 3,070, 70 of them undeclared" in capsys.readouterr().err
    print_recorded(Closed("r.jsonl", 100, samples=5, dropped=3000, undeclared=0, fault=None))
    assert "warning: samples missing from the recording: 3,000\n" in capsys.readouterr().err


def test_an_existing_file_is_kept_unless_force_is_used(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    precious = events.encode(header()) + b"\n"
    file.write_bytes(precious)
    assert_refused(hettop(*SHORT, "--record", "r.jsonl", cwd=tmp_path), "r.jsonl already exists")
    assert_refused(
        hettop("bench", "mobilenetv2", "--shape", "image=9", "--record", "r.jsonl", "--force", cwd=tmp_path), ""
    )
    assert file.read_bytes() == precious, "nothing was measured, so nothing replaces it"
    assert hettop(*SHORT, "--record", "r.jsonl", "--force", cwd=tmp_path).returncode == 0
    assert lines_of(file)[-1]["k"] == "end"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_prints_what_there_is_and_closes_the_recording(number: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    process = started("bench", *SIMULATED, "--duration", "1h", "--json", "--record", str(file))
    with process:
        wait_for(lambda: file.exists() and '"steady"' in file.read_text(), "samples are recorded")
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2, "an engine process and the reaper"
        os.killpg(process.pid, number)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    first, second = one_document(stdout)["conditions"]
    assert first["n"] > 0
    assert (second["n"], second["mean_ms"]) == (0, None)
    assert lines_of(file)[-1]["why"] == "interrupted"
    assert "Traceback" not in stderr
    wait_for(lambda: gone(child.pid for child in family), "all processes end")


def test_a_second_interruption_does_not_cost_the_end_of_the_recording(tmp_path: Path) -> None:
    """The engine process hangs in a call by then, so that closing takes its time."""
    file, script = tmp_path / "r.jsonl", "CPU_ONLY hang 300;- - .onnx"
    (tmp_path / script).write_text("x")
    options = ("--backend", faulty.NAME, "--units", "CPU_ONLY", "--duration", "1h", "--record", str(file))
    with started("bench", script, *options, cwd=tmp_path) as process:
        wait_for(lambda: file.exists() and '"steady"' in file.read_text(), "samples are recorded")

        def over() -> bool:
            process.send_signal(signal.SIGINT)
            return process.poll() is not None or '"end"' in file.read_text()

        wait_for(over, "it ends")
        process.communicate(timeout=PATIENCE_S)
    assert lines_of(file)[-1]["why"] == "interrupted"


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    command = " ".join([*HETTOP, *SHORT, "| head -n 1"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=plain_environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_output_that_cannot_be_written_is_reported_without_a_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*HETTOP, *SHORT],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE_S,
            env=plain_environment(),
        )
    assert done.returncode == 3
    assert done.stderr == "error: input or output failed: No space left on device\n"


@pytest.mark.parametrize(("term", "redraws"), [("xterm-256color", True), ("dumb", False)])
def test_progress_goes_to_a_terminal_that_can_show_it(term: str, redraws: bool) -> None:
    far, near = pty.openpty()
    with subprocess.Popen(
        [*HETTOP, *SHORT, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=near,
        text=True,
        env=plain_environment(TERM=term),
    ) as process:
        os.close(near)
        written = b""
        while part := read(far):
            written += part
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    os.close(far)
    assert process.returncode == 0
    assert len(one_document(stdout)["conditions"]) == 2
    assert (b"\r\x1b[K" in written) is redraws
    assert written.endswith(b"\r\x1b[K") is redraws, "nothing of it stays"


def test_help_begins_with_what_it_does_and_examples() -> None:
    done = hettop("bench", "--help")
    assert done.returncode == 0
    assert "examples:\n  hettop bench" in done.stdout
    for promise in ("662", "docs/method/statistics.md", "Exit codes", "--interleave", "--assert"):
        assert promise in done.stdout


def test_a_bench_whose_load_dies_is_no_bench_under_load(tmp_path: Path) -> None:
    process = started(
        "bench", "mobilenetv2:32x32", "--units", "CPU_ONLY@1", "--duration", "1h", "--load", "cpu:1", "--assert",
        "CPU_ONLY@1.p90<100s",
    )  # fmt: skip
    try:
        wait_for(lambda: bool(load_workers(process.pid)), "a load worker runs")
        load_workers(process.pid)[0].kill()
        _, complaint = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == 3
    assert "the competing load failed" in complaint


def load_workers(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children(recursive=True)
    return [child for child in children if "hettop.sources.load.worker" in child.cmdline()]


def test_a_protocol_sets_the_measurement_and_says_what_overrides_it(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    unit = ("--backend", "simulated", "--units", "CPU_AND_NE")
    done = hettop("bench", *unit, "--protocol", "embench", "--rest", "5ms", "--json", "--record", str(file))
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    (row,) = document["conditions"]
    assert (row["n"], len(row["warmup_ms"])) == (50, 10)
    protocol = document["protocol"]
    assert (protocol["name"], protocol["overridden"]) == ("embench", {"rest_ns": 5_000_000})
    assert protocol["results"][0]["min_ms"] == row["min_ms"]
    steady = [line for line in lines_of(file) if line["k"] == "samples" and line["phase"] == "steady"]
    assert min(gap for line in steady for gap in line["gap_ns"]) >= 4_900_000
    assert lines_of(file)[0]["settings"]["protocol"]["name"] == "embench"
    again = one_document(hettop("replay", str(file), "--headless", "--json").stdout)
    assert again["protocol"] == protocol


def test_rests_and_turns_exclude_each_other() -> None:
    assert_refused(called("bench", "--protocol", "embench", "--interleave"), "no time for pauses")
    assert_refused(called("bench", "--rest", "1s", "--rate", "30"), "no time for pauses")


def test_a_warm_up_until_steady_is_reported_in_the_table_and_overrides_a_protocol() -> None:
    unit = ("--backend", "simulated", "--units", "CPU_ONLY", "--runs", "30")
    done = hettop("bench", *unit, "--warmup", "auto", "--protocol", "m2", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "overridden by --warmup auto, --runs 30" in " ".join(done.stdout.split())
    assert "warmed up until steady" in done.stdout
    assert "no trend over the last" in done.stdout


def test_open_and_closed_loop_stand_side_by_side_measured_in_turns(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    unit = ("--backend", "simulated", "--units", "CPU_AND_NE", "--warmup", "2", "--runs", "30")
    done = hettop("bench", *unit, "--rate", "50", "--closed-too", "--record", str(file), "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    paced, closed = document["conditions"]
    assert (paced["unit"], paced["variant"], paced["n"]) == ("CPU_AND_NE", None, 30)
    assert (closed["unit"], closed["variant"], closed["n"]) == ("CPU_AND_NE~closed", "closed", 30)
    assert paced["deadline_misses"] is not None
    assert closed["deadline_misses"] is None
    assert {10.0} <= {gap["from_ms"] for gap in paced["idle_gap"]}, "20 ms apart, less than 1 ms of work"
    (beside,) = document["beside"]
    assert (beside["unit"], beside["variant"]) == ("CPU_AND_NE", "closed")
    assert one_document(hettop("replay", str(file), "--headless", "--json").stdout)["beside"] == document["beside"]


def test_a_closed_loop_beside_nothing_is_no_comparison() -> None:
    assert_refused(called("bench", "--closed-too"), "--closed-too needs a rate")


def test_two_models_stand_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "ab.jsonl"
    runs = ("--units", "CPU_ONLY@1", "--warmup", "2", "--runs", "60")
    done = hettop(
        "bench", "mobilenetv2:32x32", "--against", "mobilenetv2:96x96", *runs, "--record", str(file), "--json"
    )
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    first, second = document["conditions"]
    assert (first["unit"], first["model"], second["unit"]) == ("CPU_ONLY@1", None, "CPU_ONLY@1~b")
    assert second["model"] == "mobilenetv2:96x96:b1"
    (beside,) = document["beside"]
    low, high = beside["change"]["p50"]["ci"]
    assert -1 < low < high, "an interval of a relative change; which way it goes depends on the machine"
    judged = one_document(hettop("decide", str(file), "--json").stdout)
    assert judged["ranks"]["latency"] == ["CPU_ONLY@1"], "which model to take is not for the verdict to say"


def test_a_model_against_none_there_is_refused() -> None:
    assert_refused(called("bench", "mobilenetv2:32x32", "--against", "nowhere.onnx"), "nowhere.onnx")
    assert_refused(called("bench", "--against", "mobilenetv2", "--rate", "9", "--closed-too"), "exclude each other")
