"""`hettop coexec` from outside."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from hettop.events import Study
from hettop.studies.coexec.rates import Energy, Result
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.coexec.setup import measure
from hettop.studies.registry import result_of
from tests.cli.running import (
    HETTOP,
    assert_refused,
    called,
    hettop,
    hettop_process,
    one_document,
    plain_environment,
    started,
)
from tests.processes.waiting import gone, wait_for
from tests.record.stories import read

SIMULATED = ("coexec", "--backend", "simulated", "--units", "CPU_ONLY,CPU_AND_NE", "--duration", "1s")
SMALL = ("coexec", "mobilenetv2:32x32", "--units", "CPU_ONLY@1,CPU_ONLY@2", "--duration", "500ms")


def test_the_document_holds_rates_shares_and_the_gain_and_the_page_of_them_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tuple[Result, Energy]] = []

    def noted(*arguments: Any) -> tuple[Result, Energy]:
        found.append(measure(*arguments))
        return found[-1]

    monkeypatch.setattr("hettop.studies.coexec.command.measure", noted)
    done = hettop(*SIMULATED, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert document["simulated"] is True
    assert document["in_order"] is True
    assert [unit["unit"] for unit in document["units"]] == ["CPU_ONLY", "CPU_AND_NE"]
    assert sum(unit["share"] for unit in document["units"]) == pytest.approx(1)
    alone = [unit["alone_per_s"] for unit in document["units"]]
    assert document["gain"] == pytest.approx(document["together_per_s"] / max(alone) - 1)
    assert document["of_ideal"] == pytest.approx(document["together_per_s"] / sum(alone))
    assert document["of_ideal"] > 0.5  # they sleep: a busy machine costs them little
    assert document["max_reorder"] < document["depth"] == 64
    assert document["p90_ms"] >= document["p50_ms"] > 0
    assert document["energy_mj_per_inference"] is None
    assert "simulated" in document["energy_why"]
    monkeypatch.setattr("hettop.studies.coexec.command.measure", lambda *_: found[-1])
    page = hettop(*SIMULATED, COLUMNS="80")
    assert page.returncode == 0
    assert "SIMULATED" in page.stdout.splitlines()[0]
    assert "all in order" in page.stdout
    assert max(map(len, page.stdout.splitlines())) <= 80


def test_too_short_a_time_gives_no_gain_and_says_so() -> None:
    """Blocks of six calls of the CPU's, and ten are needed; where the machine is busy they hold none of both."""
    done = hettop(*SIMULATED[:-1], "50ms", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert (document["gain"], document["of_ideal"]) == (None, None)
    # For how long depends on the calls that a busy machine got done.
    few = r"10 are needed to compare rates: measure for \d+ s or longer"
    assert re.search(few, document["gain_why"]) or document["together_per_s"] is None


def documents(lines: Iterable[str]) -> list[dict[str, Any]]:
    return [line["document"] for line in map(json.loads, lines) if line["document"] is not None]


def test_a_stream_reports_what_is_known_round_by_round_and_ends_with_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    done = hettop(*SIMULATED[:-1], "3s", "--stream", "--record", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    shares = [line["share"] for line in lines if line["doing"] is not None]
    assert shares[0] is None, "loading"
    assert shares[1:] == pytest.approx([i / len(shares[1:]) for i in range(len(shares) - 1)])
    told = documents(done.stdout.splitlines())
    rounds = [document["rounds"] for document in told]
    assert rounds == sorted(rounds)
    assert rounds[-1] == len(told[-1]["together_by_round"]) == len(told[-1]["ideal_by_round"]) == 3
    (study,) = [event for event in read(path)[0] if isinstance(event, Study)]
    result = result_of(study)
    assert isinstance(result, CoexecResult)
    assert result.rounds == 3
    assert result.gain == pytest.approx(told[-1]["gain"], rel=1e-5)


ENDLESS = ("coexec", "--backend", "simulated", "--units", "CPU_ONLY,CPU_AND_NE", "--until-ended", "--stream")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_endless_one_with_its_last_document_and_leaves_no_process(number: signal.Signals) -> None:
    with started(*ENDLESS) as process:
        children, lines = until_a_round(process)
        process.send_signal(number)
        lines += process.stdout  # type: ignore[arg-type]
        assert process.wait() == 0
    told = documents(lines)
    assert told[-1]["rounds"] >= 1
    assert told[-1]["interrupted"] is False
    assert told[-1]["in_order"] is True
    assert told[-1]["delivered"] >= told[-2]["delivered"]
    wait_for(lambda: gone(children), "all of them gone")


def until_a_round(process: subprocess.Popen[str]) -> tuple[list[int], list[str]]:
    """Its descendants, and what it reported until the first whole round."""
    assert process.stdout is not None
    lines: list[str] = []
    while not any(document["rounds"] for document in documents(lines)):
        lines.append(process.stdout.readline())
        assert lines[-1]
    return [child.pid for child in psutil.Process(process.pid).children(recursive=True)], lines


def test_the_end_of_a_piped_input_ends_it_too() -> None:
    pipe = subprocess.PIPE
    environment = plain_environment()
    with subprocess.Popen([*HETTOP, *ENDLESS], stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        children, lines = until_a_round(process)
        out, _ = process.communicate()  # closes its standard input
        assert process.returncode == 0
    assert documents([*lines, *out.splitlines()])[-1]["rounds"] >= 1
    wait_for(lambda: gone(children), "all of them gone")


def test_an_input_that_ends_while_it_loads_leaves_nothing_measured_and_that_is_said() -> None:
    done = subprocess.run(
        [*HETTOP, *ENDLESS], input="", capture_output=True, text=True, check=False, env=plain_environment()
    )
    assert done.returncode == 3
    assert "nothing was measured yet" in done.stderr
    assert documents(done.stdout.splitlines()) == []


@pytest.mark.parametrize("length", [("--until-ended",), ("--duration", "60s")])
def test_a_signal_while_it_loads_is_answered_in_words(length: tuple[str, ...]) -> None:
    units = ("mobilenetv2:32x32", "--units", "CPU_ONLY@1,CPU_ONLY@2")
    with started("coexec", *units, *length, "--stream") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["doing"] == "loading"
        process.send_signal(signal.SIGTERM)
        out, told = process.communicate()
    assert process.returncode == 3
    assert "nothing was measured yet" in told
    assert documents(out.splitlines()) == []


def test_nothing_is_left_of_one_that_is_killed() -> None:
    with started(*ENDLESS) as process:
        children, _ = until_a_round(process)
        process.kill()
    wait_for(lambda: gone(children), "all of them gone")


def test_a_worker_that_is_killed_is_said_to_be_and_the_stream_goes_on() -> None:
    with started(*ENDLESS) as process:
        children, lines = until_a_round(process)
        victim = next(pid for pid in children if "hettop.studies.coexec.worker" in psutil.Process(pid).cmdline())
        psutil.Process(victim).kill()
        assert process.stdout is not None
        before = documents(lines)[-1]["rounds"]
        while documents(lines)[-1]["rounds"] < before + 3:
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGHUP)  # ends it as the others do
        lines += process.stdout
        assert process.wait() == 0
    wait_for(lambda: gone(children), "all of them gone")
    last = documents(lines)[-1]
    (dead,) = [unit for unit in last["units"] if unit["error"] is not None]
    assert "killed by SIGKILL" in dead["error"]["message"]
    assert last["in_order"] is True
    assert last["together_by_round"][-1] > 0
    assert any(note.startswith(f"{dead['unit']} died") for note in last["notes"])


def test_a_model_runs_on_two_sessions_of_onnx_runtime(tmp_path: Path) -> None:
    done = hettop_process(*SMALL, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert document["in_order"] is True
    assert document["simulated"] is False
    assert all("CPUExecutionProvider" in unit["placed"] for unit in document["units"])
    assert all(unit["alone_per_s"] > 0 and unit["error"] is None for unit in document["units"])
    assert "--power" in document["energy_why"]
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_named_twice_has_two_calls_in_flight() -> None:
    twice = ("coexec", "--backend", "simulated", "--units", "CPU_ONLY,CPU_ONLY")
    done = hettop(*twice, "--duration", "1s", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert [(unit["unit"], unit["copy"]) for unit in document["units"]] == [("CPU_ONLY", 1), ("CPU_ONLY#2", 2)]
    first, second = document["units"]
    assert first["alone_per_s"] == second["alone_per_s"] > 0, "one of them was measured alone, for both"
    assert first["together_calls"] > 0
    assert second["together_calls"] > 0
    assert document["ideal_per_s"] == pytest.approx(2 * first["alone_per_s"])
    assert document["best"] == "CPU_ONLY"
    assert "2 of CPU_ONLY" in document["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--units", "CPU_ONLY@1"), "at least two units"),
        (("--units", "CPU_ONLY@1,TPU"), "unknown unit"),
        (("--units", "CPU_ONLY@1,CPU_AND_NE"), "cannot run here"),
        (("nothing.onnx",), "model not found: nothing.onnx"),
        (("--depth", "0"), "at least 1"),
        (("--duration", "soon"), "invalid duration"),
        (("--backend", "simulated", "--units", "CPU_ONLY,CPU_ONLY@2"), "cannot set threads"),
        (("--until-ended", "--duration", "3s"), "options exclude each other"),
        (("--json", "--stream"), "options exclude each other: --stream"),
        (("--live", "--json"), "--format has no effect with --live"),
        (("--live", "--until-ended"), "options exclude each other"),
        (("--live", "--duration", "3s"), "options exclude each other"),
        (("--live", "--block", "1s"), "--block has no effect with --live"),
        # Two alone and both together: 3 blocks of 10 s, and 50 ms of rest before each.
        ((*SIMULATED[1:], "--block", "10s"), "blocks of 10 s do not fit into 1 s"),
        (("--live", "--units", "CPU_ONLY@1"), "at least two units"),
        (("--live",), "needs a terminal"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str) -> None:
    if "cannot run here" in words:
        arguments = ("--backend", "onnxruntime", *arguments)
    assert_refused(called("coexec", *arguments), words)


def test_a_model_that_cannot_be_loaded_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"not a model at all")
    assert_refused(hettop("coexec", "m.onnx", "--units", "CPU_ONLY@1,CPU_ONLY@2", cwd=tmp_path), "CPU_ONLY@1: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loads", "none"), "--loads has no effect without --granularities"),
        (("--granularities", "--units", "CPU_ONLY@1,CPU_ONLY@2"), "--units has no effect with --granularities"),
        (("--granularities", "--until-ended"), "--until-ended has no effect with --granularities"),
        (("--granularities", "--live"), "--live has no effect with --granularities"),
        (("--granularities", "--threads", "1"), "valid values are 2 to 1024"),
        (("--granularities", "--loads", "gpu:1"), "Core ML"),
        (("--granularities", "--loads", "sun:1"), "invalid load"),
        (("--granularities", "--backend", "simulated"), "onnxruntime"),
        (("--granularities", "nothing.onnx"), "model not found: nothing.onnx"),
    ],
)
def test_wrong_use_of_granularities_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("coexec", *arguments), words)
