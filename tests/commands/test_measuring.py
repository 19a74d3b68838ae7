"""What commands that measure without a screen say of power and of turns."""

from __future__ import annotations

import pytest

from hettop.commands.measuring import MORE_RUNS, say_turns, warn_left_out
from hettop.engine.backend import InputOptions
from hettop.models.resolve import ResolvedModel
from hettop.wiring.headless import Turns
from hettop.wiring.setup import Setup
from tests.commands.running import hettop

MS = 1_000_000
SIMULATED = ("bench", "--backend", "simulated", "--units", "CPU_ONLY,CPU_AND_NE", "--warmup", "0")


def test_units_that_all_does_not_include_are_warned_of_with_what_measures_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = ResolvedModel("m", None, "coreml", "0")
    units = ("CPU_ONLY",)
    setup = Setup(model, "coreml", False, units, units, {}, InputOptions(), None, left_out={"ALL": "it can hang"})
    warn_left_out(setup)
    assert capsys.readouterr().err == "warning: ALL is left out of all units: it can hang\nhint: --units ALL\n"


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (None, ""),
        (Turns("ALL", 3, 2_000 * MS, by_power=True), ""),
        (Turns("ALL", 3, 250 * MS, by_power=False), ""),
        (
            Turns("ALL", 2, 2_000 * MS, by_power=True),
            "hettop: hardly interleaved: ALL had 2 turns of at most 2 s, while power is measured none is shorter; "
            "--duration 8s gives more, --power none shorter ones\n",
        ),
        (
            Turns("ALL", 1, 250 * MS, by_power=False),
            "hettop: hardly interleaved: ALL had 1 turn of at most 0.25 s, it had enough before the next; "
            "--duration 1s gives more\n",
        ),
    ],
)
def test_units_that_had_too_few_turns_are_said_to_have(
    turns: Turns | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say_turns(turns)
    assert capsys.readouterr().err == words


def test_what_mends_it_is_what_the_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    say_turns(Turns("ALL", 1, 2_000 * MS, by_power=True), MORE_RUNS)
    assert "; more --runs, --power none" in capsys.readouterr().err


def test_power_that_was_named_and_came_too_seldom_is_said_to_have() -> None:
    done = hettop(*SIMULATED, "--runs", "50", "--power", "simulated", "--interleave")
    too_few, hardly = done.stderr.splitlines()
    assert too_few == (
        "hettop: --power simulated: too few power samples while CPU_ONLY, CPU_AND_NE ran: "
        "--duration 10s measures longer"
    )
    assert hardly.startswith("hettop: hardly interleaved: CPU_ONLY had 1 turn of at most 2 s")
    assert "mJ/inf n/a of CPU_ONLY: no power sample lies wholly within its running" in done.stdout


def test_where_power_covers_what_ran_nothing_is_said() -> None:
    done = hettop(*SIMULATED, "--duration", "1500ms", "--power", "simulated", "--json")
    assert (done.returncode, done.stderr) == (0, "")
