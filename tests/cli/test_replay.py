"""`hettop replay` without a screen: the numbers of the session that made the recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hettop import events
from tests.cli.running import SIMULATED, assert_refused, called, hettop, hettop_process, one_document
from tests.streams import MS, S, header, window


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Three windows of 10 samples of 2 ms, ending at 1, 2 and 3 s, and a mark."""
    stream: list[events.AnyEvent] = [header(simulated=True)]
    stream += [window([2 * MS] * 10, t0=n * S, t=(n + 1) * S) for n in range(3)]
    stream.append(events.End(t=3 * S, why="done", samples=30))
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(events.encode(event) + b"\n" for event in stream))
    return path


def test_what_was_live_is_what_is_replayed(tmp_path: Path) -> None:
    live = hettop("bench", *SIMULATED, "--runs", "200", "--json", "--record", "r.jsonl", cwd=tmp_path)
    replayed = hettop("replay", "r.jsonl", "--headless", "--json", cwd=tmp_path)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    document = one_document(replayed.stdout)
    assert document.pop("skipped") == {}
    assert document.pop("crc_errors") == 0
    assert document == one_document(live.stdout)


def test_without_a_terminal_it_prints_the_table(recording: Path) -> None:
    done = hettop_process("replay", str(recording))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SIMULATED · Test model · Test chip\n")
    assert "CPU_ONLY  30  2.00" in done.stdout
    assert "\x1b" not in done.stdout


def test_at_says_where_to_stop(recording: Path) -> None:
    done = hettop("replay", str(recording), "--at", "2s", "--json")
    (row,) = one_document(done.stdout)["conditions"]
    assert row["n"] == 20
    for same in ("2", "0:02", "0:00:02.0", "2000ms"):
        assert hettop("replay", str(recording), "--at", same, "--json").stdout == done.stdout
    half, as_clock = (hettop("replay", str(recording), "--at", at, "--json").stdout for at in ("50%", "1.5s"))
    assert half == as_clock, "of 3 s"
    whole = hettop("replay", str(recording), "--at", "100%", "--json").stdout
    assert one_document(whole) == one_document(hettop("replay", str(recording), "--json").stdout)


def test_what_was_skipped_is_reported(recording: Path) -> None:
    with recording.open("ab") as file:
        file.write(b'nonsense\n{"k":"martian","t":3000000000}\n{"k":"sam')
    document = one_document(hettop("replay", str(recording), "--json").stdout)
    assert sum(document["skipped"].values()) == 3
    assert len(document["skipped"]) == 3
    assert document["conditions"][0]["n"] == 30
    warnings = hettop("replay", str(recording)).stderr.splitlines()
    assert len([line for line in warnings if "skipped 1 lines" in line]) == 3


def test_a_recording_without_samples_is_a_valid_result(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(events.encode(header()) + b"\n")
    done = hettop("replay", str(tmp_path / "empty.jsonl"), "--json")
    assert done.returncode == 0
    assert one_document(done.stdout)["conditions"] == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 50, "is not a hettop recording"),
        (b'{"a":1}\n', "is not a hettop recording"),
        (json.dumps({"k": "header", "t": 0, "format": "hettop", "version": [2, 0]}).encode() + b"\n", "version 2"),
    ],
)
def test_what_is_no_recording_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    assert_refused(called("replay", "x.jsonl", "--headless", cwd=tmp_path), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "FILE"),
        (("missing.jsonl",), "missing.jsonl"),
        (("missing.jsonl", "--speed", "1000"), "--speed"),
        (("missing.jsonl", "--at", "soon"), "--at"),
        (("missing.jsonl", "--fps", "0"), "--fps"),
        ((".",), "is a folder"),
    ],
)
def test_wrong_use_is_answered_in_words(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("replay", *arguments), words)
