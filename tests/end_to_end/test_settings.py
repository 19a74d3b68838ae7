"""Settings as a user has them: the first look, other keys, choices that are there again."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import REPOSITORY

RECORDING = str(REPOSITORY / "recordings" / "simulated-m2.jsonl")


def of_this_user(folder: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}


def test_the_first_look_comes_once_and_choices_are_there_again(tmp_path: Path) -> None:
    user = of_this_user(tmp_path)
    arguments = ["replay", RECORDING, "--at", "20s"]
    folders = [tmp_path / name for name in ("first", "between", "second")]  # a terminal each
    for folder in folders:
        folder.mkdir()
    with Terminal(folders[0], arguments, environment=user) as terminal:
        terminal.until("Welcome to hettop", "3 units")
        terminal.press("Escape")
        terminal.until("1 latency", "2 timeline", without=["Welcome to"])
        terminal.press("H", "2")
        terminal.until("[ ] 2 timeline", without=["─ 2 timeline"])
        terminal.press("Escape")
        terminal.until("1 latency", without=["[ ] 2 timeline"])
        terminal.press("T")
        terminal.until("Enter keeps")
        terminal.press("Down", "Enter")
        terminal.until("1 latency", without=["Enter keeps"])
        terminal.press("q")
        terminal.assert_left(0)
    with Terminal(folders[1], ["config"], environment=user) as terminal:
        terminal.until('["timeline"]', "chosen on the screen", "LEFT:0")
    with Terminal(folders[2], arguments, environment=user) as terminal:
        terminal.until("1 latency", "3 units", "REPLAY", without=["2 timeline", "Welcome to"])
        terminal.press("q")
        terminal.assert_left(0)


def test_other_keys_and_what_is_wrong_with_some(tmp_path: Path) -> None:
    user = of_this_user(tmp_path)
    config = tmp_path / "config" / "hettop" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('theme = "hettop-phosphor"\n[keys]\n"quit" = "Q"\n"help" = "e"\nzoom = "i"\n')
    (tmp_path / "state" / "hettop").mkdir(parents=True)
    (tmp_path / "state" / "hettop" / "state.json").write_text('{"introduced": true}')
    with Terminal(tmp_path, ["replay", RECORDING], environment=user) as terminal:
        terminal.until("config.toml, line 5: zoom: i is already the key")
        terminal.until("Q quit", "e help")
        terminal.press("e")
        terminal.until("pause or resume inference; in a replay: playback")
        terminal.press("e")
        terminal.until("1 latency", without=["pause or resume inference"])
        terminal.press("q", "Q")
        terminal.assert_left(0)
