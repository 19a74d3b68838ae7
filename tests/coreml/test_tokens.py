"""Prefill and decode of a small token-by-token model, measured for real: by its translation, and by Core ML's bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hettop.cli.bench import _how_to_measure
from hettop.cli.commands import parse
from hettop.errors import HettopError
from tests.cli.running import assert_refused, hettop, hettop_process, one_document
from tests.coreml.bench import Bench
from tests.processes.waiting import REPOSITORY

pytest.importorskip("coremltools", reason="coremltools is not installed")

FUNCTIONS = ("--prefill", "@prefill", "--decode", "@decode")
SHAPES = ("--prefill", "tokens=1,100", "--decode", "tokens=1,1")
SHORT = ("--runs", "70", "--warmup", "2")


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.coreml.models import prefill_and_decode

    return prefill_and_decode(tmp_path_factory.mktemp("functions"), prompt=16)


@pytest.fixture(scope="module")
def flexible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.coreml.models import token_by_token

    return token_by_token(tmp_path_factory.mktemp("flexible") / "flexible.mlpackage")


def on_the_bench(bench: Bench, folder: Path) -> dict[str, str]:
    return bench.environment({"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(folder), "HOME": str(folder)})


def check(document: dict[str, Any], unit: str, prompt: int) -> dict[str, dict[str, Any]]:
    """Both rows are there, and their rates are those of their medians."""
    rows = {row["unit"]: row for row in document["conditions"]}
    assert set(rows) == {unit, f"{unit}~prefill"}
    for row, tokens in ((rows[unit], 1), (rows[f"{unit}~prefill"], prompt)):
        assert (row["n"], row["tokens_per_call"], row["error"]) == (70, tokens, None)
        assert row["tokens_per_s"] == pytest.approx(tokens * 1000 / row["p50_ms"])
    assert document["tokens"] == {
        "prefill": prompt,
        "decode": 1,
        "by": "axis 1 of tokens",
        "prefill_variant": "prefill",
    }
    assert "beside" not in document, "prefill is not slower than decode: it is other work"
    return rows


def test_shapes_run_on_linux_and_a_recording_reports_the_same(flexible: Path, tmp_path: Path) -> None:
    recording = str(tmp_path / "r.jsonl")
    done = hettop("bench", str(flexible), "--units", "CPU_ONLY@1", *SHAPES, *SHORT, "--record", recording, "--json")
    assert done.returncode == 0, done.stderr
    check(one_document(done.stdout), "CPU_ONLY@1", 100)
    again = one_document(hettop("replay", recording, "--headless", "--json").stdout)
    check(again, "CPU_ONLY@1", 100)
    fed = {
        event["unit"]: event["inputs"]
        for event in map(json.loads, Path(recording).read_text().splitlines())
        if event["k"] == "engine" and event.get("inputs")
    }
    assert fed == {
        "CPU_ONLY@1": ["tokens int32[1,1]", "memory float16[1,4]"],
        "CPU_ONLY@1~prefill": ["tokens int32[1,100]", "memory float16[1,4]"],
    }


def test_functions_run_on_linux_and_the_page_says_what_their_state_does(functions: Path) -> None:
    done = hettop("bench", str(functions), "--units", "CPU_ONLY@1", *FUNCTIONS, *SHORT, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    page = " ".join(done.stdout.split())
    assert "CPU_ONLY@1: prefill 16 tokens in " in page
    assert "first token after a 16-token prompt: " in page
    assert "tokens per call: 16 in prefill, 1 in decode, by axis 1 of tokens" in page
    assert "CPU_ONLY@1: ML Program translated to ONNX, CPU; its state is created once when loading" in page
    assert "its state is created before each call, outside the measured time" in page
    assert "decode does not continue from prefill's state" in page


def test_core_ml_renews_the_state_of_prefill_and_keeps_that_of_decode(
    functions: Path, bench: Bench, tmp_path: Path
) -> None:
    environment: dict[str, Any] = on_the_bench(bench, tmp_path)
    command = ("bench", str(functions), "--backend", "coreml", "--units", "CPU_AND_NE", *FUNCTIONS, *SHORT)
    recording = str(tmp_path / "r.jsonl")
    done = hettop_process(*command, "--record", recording, **environment)
    assert done.returncode == 0, done.stderr
    page = " ".join(done.stdout.split())
    assert "CPU_AND_NE: its state is created once when loading and kept between calls" in page
    assert "CPU_AND_NE~prefill: its state is created before each call, outside the measured time" in page
    check(one_document(hettop("replay", recording, "--headless", "--json").stdout), "CPU_AND_NE", 16)
    bench.behave("CPU_AND_NE", one_call_per_state=True)
    page = " ".join(hettop_process(*command, **environment).stdout.split())
    assert "CPU_AND_NE: Core ML cannot run the model: The state is not fresh" in page
    assert "CPU_AND_NE: prefill 16 tokens in " in page
    assert "decode n/a (Core ML cannot run the model: The state is not fresh)" in page


@pytest.mark.parametrize("backend", ["onnxruntime", "coreml"])
def test_answers_carry_the_state_with_either_framework(
    flexible: Path, bench: Bench, tmp_path: Path, backend: str
) -> None:
    environment: dict[str, Any] = on_the_bench(bench, tmp_path)
    command = ("bench", str(flexible), "--backend", backend, "--units", "CPU_ONLY", "--max-tokens", "8")
    done = hettop_process(*command, "--prompt-tokens", "5", "--runs", "6", "--json", **environment)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    rows = {row["unit"]: row["n"] for row in document["conditions"]}
    assert rows == {"CPU_ONLY": 6 * 7, "CPU_ONLY~prefill": 6}
    (answers,) = document["answers"]
    assert (answers["answers"], answers["tokens"], answers["failed"]) == (6, 48, 0)


def test_a_prefill_that_dies_leaves_decode_and_says_so(flexible: Path) -> None:
    done = hettop("bench", str(flexible), "--units", "CPU_ONLY@1", "--prefill", "tokens=1,500", *SHAPES[2:], *SHORT)
    assert done.returncode == 0, done.stderr
    page = " ".join(done.stdout.split())
    assert "prefill n/a (tokens: --shape has the shape [1,500]), decode " in page
    assert "first token after a 500-token prompt: n/a" in page


def test_prefill_and_decode_take_turns() -> None:
    assert _how_to_measure(parse("bench", ["m.mlpackage", *FUNCTIONS])).interleave
    assert not _how_to_measure(parse("bench", ["m.mlpackage"])).interleave


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prefill", "@a"), "missing option: --decode"),
        (("--tokens", "128,1"), "missing option: --prefill, --decode"),
        ((*FUNCTIONS, "--against", "b.onnx"), "options exclude each other: --against, --prefill"),
        ((*FUNCTIONS, "--closed-too", "--rate", "9"), "options exclude each other: --closed-too, --prefill"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(HettopError) as caught:
        _how_to_measure(parse("bench", ["m.mlpackage", *arguments]))
    assert (caught.value.kind, words in caught.value.message) == ("usage", True)


def test_a_length_that_is_not_certain_is_asked_for(flexible: Path) -> None:
    done = hettop("bench", str(flexible), "--prefill", "tokens=1,100", "--decode", "@main")
    assert_refused(done, "--tokens PREFILL,DECODE")
