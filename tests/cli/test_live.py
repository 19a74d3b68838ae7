"""`hettop` itself where there is no terminal to draw on."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import pytest

from hettop.app.live import LiveFeed
from hettop.cli.live import _first_units
from tests.cli.running import HETTOP, assert_refused, called, hettop, plain_environment, read
from tests.processes.waiting import PATIENCE_S
from tests.sources.engine import faulty

UNITS = {"CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"}


def on_terminal(*arguments: str, cwd: Path, **environment: str) -> tuple[int, str]:
    """Exit code and all that was written, of one that a terminal is attached to."""
    far, near = pty.openpty()
    with subprocess.Popen(
        [*HETTOP, *arguments], stdin=near, stdout=near, stderr=near, cwd=cwd, env=plain_environment(**environment)
    ) as process:
        os.close(near)
        written = b""
        while part := read(far):
            written += part
        code = process.wait(PATIENCE_S)
    os.close(far)
    return code, written.decode(errors="replace")


class Measured(NamedTuple):
    """What two that took their ten seconds printed: one without a terminal, one on a dumb one."""

    without: subprocess.CompletedProcess[str]
    dumb: tuple[int, str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with ThreadPoolExecutor(1) as meanwhile:
        folder = tmp_path_factory.mktemp("dumb")
        dumb = meanwhile.submit(on_terminal, "--backend", "simulated", "--unit", "ALL", cwd=folder, TERM="dumb")
        without = hettop("--demo", NO_COLOR="1")
        yield Measured(without, dumb.result())


def test_without_a_terminal_it_measures_and_prints_the_table(measured: Measured) -> None:
    done = measured.without
    assert (done.returncode, done.stderr) == (0, "no terminal: measuring for 10 s\n")
    assert done.stdout.startswith("SIMULATED")
    assert "\x1b" not in done.stdout


def test_without_a_terminal_a_model_that_always_fails_has_failed(tmp_path: Path) -> None:
    (tmp_path / (script := "CPU_ONLY vanish 3;- - .onnx")).write_text("x")
    done = hettop(script, "--backend", faulty.NAME, "--unit", "CPU_ONLY", cwd=tmp_path)
    assert done.returncode == 3
    assert "error: CPU_ONLY: engine process killed by SIGKILL" in done.stderr


def numbers_of(row: list[str]) -> tuple[int, float]:
    """n and mean, whatever words on load and thermal state stand before them."""
    n, mean = [word for word in row[1:] if word[0].isdigit()][:2]
    return int(n.replace(",", "")), float(mean)


def test_ten_seconds_are_shared_by_all_units(measured: Measured) -> None:
    rows = [line.split() for line in measured.without.stdout.splitlines()]
    table = [row for row in rows if row and row[0] in UNITS and not any(word.strip(",").endswith("%") for word in row)]
    found = {row[0]: numbers_of(row) for row in table}
    assert set(found) == UNITS
    for n, mean_ms in found.values():
        assert n * mean_ms / 1000 < 3.0, "two and a half seconds each"


def test_a_dumb_terminal_gets_the_table(measured: Measured) -> None:
    code, written = measured.dumb
    assert code == 0
    assert "SIMULATED" in written
    assert "\x1b" not in written


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--unit", "WARP_DRIVE"), "unknown unit"),
        (("--demo", "--backend", "onnxruntime"), "options exclude each other: --demo, --backend onnxruntime"),
        (("--fps", "1000"), "--fps"),
        (("--unts", "CPU_ONLY"), "did you mean '--units'?"),
        (("missing.onnx",), "model not found: missing.onnx"),
    ],
)
def test_wrong_use_is_answered_before_anything_is_measured(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called(*arguments), words)


def test_a_mistyped_command_gets_as_a_hint_which_one_was_meant_or_which_ones_there_are() -> None:
    meant, there_are = "did you mean 'bench'?", "hettop help lists all commands"
    for arguments, words, hint in (
        (("benhc",), "unknown command or model: 'benhc'", meant),
        (("benhc", "--json"), "unknown command or model: 'benhc'", meant),
        (("zzz",), "model not found: zzz", there_are),
    ):
        done = called(*arguments)
        assert_refused(done, words)
        assert hint in done.stderr
    for others in (("missing.onnx",), ("--bogus",), ("bench", "--bogus")):
        assert "all commands" not in called(*others).stderr


@pytest.mark.parametrize("name", ["nope", "\x1b[31m"])
def test_an_unknown_theme_is_refused_before_a_file_is_made(tmp_path: Path, name: str) -> None:
    code, written = on_terminal("--theme", name, "--record", "r.jsonl", cwd=tmp_path)
    assert code == 2
    assert "unknown theme" in written
    assert "hettop-dark" in written
    assert "\x1b[?1049h" not in written, "no screen was opened"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("option", "value"), [("--budget", "soon"), ("--energy", "a little")])
def test_a_budget_that_is_none_is_refused_before_anything_starts(option: str, value: str) -> None:
    refused = hettop(option, value)
    assert refused.returncode == 2
    assert "invalid" in refused.stderr


class Rows:
    """The calls of a feed with these rows."""

    def __init__(self, *rows: str) -> None:
        self.session = SimpleNamespace(units=dict.fromkeys(rows))
        self.calls: list[tuple[str, ...]] = []

    def interleave(self, rows: list[str] | None = None) -> None:
        self.calls.append(("turns", *(rows or self.session.units)))

    def switch(self, row: str) -> None:
        self.calls.append(("alone", row))

    def warn(self, text: str) -> None:
        self.calls.append(("warning", text))


@pytest.mark.parametrize(
    ("named", "usual", "calls"),
    [
        ((), None, [("alone", "CPU_ONLY")]),
        (("CPU_ONLY",), None, [("alone", "CPU_ONLY")]),
        (("CPU_ONLY", "CPU_AND_NE"), None, [("turns", "CPU_ONLY", "CPU_AND_NE")]),
        (("all",), None, [("turns", "CPU_ONLY", "CPU_AND_NE", "ALL")]),
        ((), "ALL", [("alone", "ALL")]),
        (
            (),
            "CPU_ONLY@9",
            [("warning", "the unit of your settings cannot run here: CPU_ONLY@9"), ("alone", "CPU_ONLY")],
        ),
    ],
)
def test_several_named_units_run_in_turns(
    named: tuple[str, ...], usual: str | None, calls: list[tuple[str, ...]]
) -> None:
    feed = Rows("CPU_ONLY", "CPU_AND_NE", "ALL")
    _first_units(cast(LiveFeed, feed), named=named, interleave=False, usual=usual)
    assert feed.calls == calls


def test_a_screen_that_would_be_drawn_into_a_file_is_refused(tmp_path: Path) -> None:
    far, near = pty.openpty()
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        done = subprocess.run(
            [*HETTOP, "--demo", "--record", "r.jsonl"],
            stdin=near,
            stdout=near,
            stderr=stderr,
            check=False,
            cwd=tmp_path,
            env=plain_environment(),
            timeout=PATIENCE_S,
        )
    os.close(near)
    os.close(far)
    assert done.returncode == 2
    assert log.read_text() == (
        "error: stderr is redirected, and the screen is drawn on it\nhint: leave out 2>, or use hettop bench\n"
    )
    assert not (tmp_path / "r.jsonl").exists()
