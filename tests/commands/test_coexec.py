"""`hettop coexec` from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import assert_refused, called, hettop, one_document

SIMULATED = ("coexec", "--backend", "simulated", "--units", "CPU_ONLY,CPU_AND_NE", "--duration", "1s")
SMALL = ("coexec", "mobilenetv2:32x32", "--units", "CPU_ONLY@1,CPU_ONLY@2", "--duration", "1s")


def test_the_document_holds_rates_shares_and_the_gain() -> None:
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


def test_a_model_runs_on_two_sessions_of_onnx_runtime(tmp_path: Path) -> None:
    done = hettop(*SMALL, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert document["in_order"] is True
    assert document["simulated"] is False
    assert all("CPUExecutionProvider" in unit["placed"] for unit in document["units"])
    assert all(unit["alone_per_s"] > 0 and unit["error"] is None for unit in document["units"])
    assert "--power" in document["energy_why"]
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_named_twice_has_two_calls_in_flight() -> None:
    command = ("coexec", "mobilenetv2:32x32", "--units", "CPU_ONLY@1,CPU_ONLY@1", "--duration", "1s")
    done = hettop(*command, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert [(unit["unit"], unit["copy"]) for unit in document["units"]] == [("CPU_ONLY@1", 1), ("CPU_ONLY@1#2", 2)]
    first, second = document["units"]
    assert first["alone_per_s"] == second["alone_per_s"] > 0, "one of them was measured alone, for both"
    assert first["together_calls"] > 0
    assert second["together_calls"] > 0
    assert document["ideal_per_s"] == pytest.approx(2 * first["alone_per_s"])
    assert document["best"] == "CPU_ONLY@1"
    assert "2 of CPU_ONLY@1" in document["notes"][0]


def test_the_page_says_simulated_and_fits_the_terminal() -> None:
    done = hettop(*SIMULATED, COLUMNS="80")
    assert done.returncode == 0
    assert "SIMULATED" in done.stdout.splitlines()[0]
    assert "all in order" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--units", "CPU_ONLY@1"), "two units at least"),
        (("--units", "CPU_ONLY@1,TPU"), "unknown unit"),
        (("--units", "CPU_ONLY@1,CPU_AND_NE"), "cannot run here"),
        (("nothing.onnx",), "no model nothing.onnx"),
        (("--depth", "0"), "at least 1"),
        (("--duration", "soon"), "no duration"),
        (("--backend", "simulated", "--units", "CPU_ONLY,CPU_ONLY@2"), "cannot set threads"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str) -> None:
    if "cannot run here" in words:
        arguments = ("--backend", "onnxruntime", *arguments)
    assert_refused(called("coexec", *arguments), words)


def test_a_model_that_cannot_be_loaded_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"not a model at all")
    assert_refused(hettop("coexec", "m.onnx", "--units", "CPU_ONLY@1,CPU_ONLY@2", cwd=tmp_path), "CPU_ONLY@1: ")


def test_granularities_are_compared_under_each_load() -> None:
    options = ("--granularities", "--threads", "2", "--duration", "1s", "--warmup", "1", "--loads", "none,cpu:1@50%")
    done = hettop("coexec", "mobilenetv2:32x32", *options, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert [each["load"] for each in document["loads"]] == ["none", "cpu:1@50%"]
    for each in document["loads"]:
        names = [row["name"] for row in each["granularities"]]
        assert names == ["single", "intra-operator", "inter-operator", "sub-graph", "task"]
        assert all(row["per_s"] > 0 for row in each["granularities"])
        assert len(each["stages"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loads", "none"), "--loads goes with --granularities"),
        (("--granularities", "--units", "CPU_ONLY@1,CPU_ONLY@2"), "--units goes without --granularities"),
        (("--granularities", "--threads", "1"), "not parallel"),
        (("--granularities", "--loads", "gpu:1"), "Core ML"),
        (("--granularities", "--loads", "sun:1"), "no load"),
        (("--granularities", "--backend", "simulated"), "onnxruntime"),
        (("--granularities", "nothing.onnx"), "no model nothing.onnx"),
    ],
)
def test_wrong_use_of_granularities_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("coexec", *arguments), words)
