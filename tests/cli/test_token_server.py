"""`hettop bench URL` against a real streaming server on this machine."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path

import pytest

from tests.cli.running import assert_refused, hettop, one_document
from tests.sources.engine.scripted_server import Script, Wait, serving, steady

pytest.importorskip("httpx", reason="httpx is not installed")

PLAIN = Script(steady([4] * 9, first_ms=15), usage=(12, 10))


def test_answers_of_a_server_are_measured_recorded_and_read_back(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    with serving(PLAIN) as (address, served):
        command = ("bench", address, "--model", "other", "-n", "12", "--warmup", "1", "--json")
        done = hettop(*command, "--record", str(recording), HETTOP_API_KEY="never-recorded")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    rows = {row["unit"]: row for row in document["conditions"]}
    together = document["answers"][0]["chunks_of_several"]  # a busy machine may hand out several at once
    assert {unit: row["n"] for unit, row in rows.items()} == {"SERVER": 12 * 9 - together, "SERVER~prefill": 12}
    assert rows["SERVER"]["min_ms"] > 0
    assert document["model"]["name"] == address
    assert document["model"].get("sha256") is None, "which weights it runs, nobody can read"
    (answers,) = document["answers"]
    assert (answers["answers"], answers["failed"], answers["tokens"]) == (12, 0, 120)
    assert len(served.requests) == 14  # and the first one, and a warm-up
    assert {request["model"] for request in served.requests} == {"other"}
    assert served.headers["Authorization"] == "Bearer never-recorded"
    assert b"never-recorded" not in recording.read_bytes()
    again = one_document(hettop("replay", str(recording), "--headless", "--json").stdout)
    assert again["answers"] == document["answers"]
    kinds = [json.loads(line) for line in recording.read_text().splitlines()]
    assert sum(line["k"] == "answer" for line in kinds) == 14


def test_several_answers_are_under_way_at_once() -> None:
    slow = Script([Wait(150), " x", Wait(150), " y"])
    with serving(slow) as (address, served):
        done = hettop("bench", address, "--concurrency", "4", "-n", "8", "--warmup", "0", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    rows = {row["unit"]: row["n"] for row in document["conditions"]}
    assert rows["SERVER~prefill"] == 8
    assert document["answers"][0]["answers"] == 8
    assert most_at_once(served.begun_ns, served.ended_ns) == 4


def most_at_once(begun: list[int], ended: list[int]) -> int:
    moments = sorted([(moment, 1) for moment in begun] + [(moment, -1) for moment in ended])
    return max(accumulate(step for _, step in moments))


def test_a_server_that_refuses_everything_ends_the_measurement_with_its_words() -> None:
    with serving(Script(status=429)) as (address, _):
        done = hettop("bench", address, "-n", "2")
    assert done.returncode == 3
    assert "HTTP 429: scripted refusal" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("http://192.0.2.1/v1",), "not on this machine: 192.0.2.1"),
        (("http://me:secret@localhost/v1",), "no credentials or parameters in an address"),
        (("http://localhost:1/v1", "--state", "a=b"), "--state is for model files"),
        (("tinydecoder", "--concurrency", "2"), "--concurrency is for servers"),
        (("tinydecoder", "--model", "x"), "--model is for servers"),
        (("mobilenetv2", "--backend", "simulated", "--max-tokens", "4"), "simulated units give no answers"),
        (("tinydecoder", "--against", "mobilenetv2"), "hettop compare a.jsonl b.jsonl"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(hettop("bench", *arguments), words)


def test_a_model_without_state_says_how_to_name_it() -> None:
    done = hettop("bench", "mobilenetv2", "--units", "cpu@1", "--max-tokens", "4")
    assert_refused(done, "no input takes token numbers")
