"""Completions, loaded into the shells that they are for, and what they are made of."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from hettop.cli.commands import Option, all_options
from hettop.cli.completions import SHELLS, VALUES, takes_file, values_of
from hettop.resources import themes_folder
from hettop.tui.themes import load_themes
from tests.cli.running import called, read
from tests.processes.waiting import PATIENCE_S

COMPLETIONS = [
    (("be",), ["bench"]),
    (("bench", "--un"), ["--units"]),
    (("bench", "--units", "CPU_A"), ["CPU_AND_GPU", "CPU_AND_NE"]),
    (("--theme", "hettop-m"), ["hettop-mono"]),
    (("export", "--to", "p"), ["parquet", "perfetto"]),
    (("decide", "--by", ""), ["wall", "native"]),
    (("help", "perc"), ["percentiles"]),
    (("bench", "--warmup", ""), []),
    (("replay", "se"), ["session.jsonl"]),
    (("bench", "--record", "se"), ["session.jsonl"]),
    (("--backend", "s"), ["simulated", "server"]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where completions are asked for: one recording lies there."""
    (tmp_path / "session.jsonl").touch()
    return tmp_path


def script_for(shell: str) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    return SHELLS[shell](dict(all_options()))


@pytest.mark.parametrize(("words", "offered"), COMPLETIONS)
def test_bash_completes(words: tuple[str, ...], offered: list[str], folder: Path) -> None:
    quoted = " ".join(f"'{word}'" for word in ("hettop", *words))
    asked = (
        f"{script_for('bash')}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _hettop; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-u", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        timeout=PATIENCE_S,
    )
    assert done.stderr == ""
    assert done.stdout.split() == offered


@pytest.mark.parametrize(("words", "offered"), COMPLETIONS)
def test_fish_completes(words: tuple[str, ...], offered: list[str], folder: Path) -> None:
    (folder / "hettop.fish").write_text(script_for("fish"), encoding="utf-8")
    asked = f"source hettop.fish; complete -C 'hettop {' '.join(words)}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        timeout=PATIENCE_S,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"},
    )
    assert done.stderr == ""
    assert sorted(line.split("\t")[0] for line in done.stdout.splitlines()) == sorted(offered)


ZSHRC = """\
PROMPT='ready>'; RPROMPT=''
unsetopt zle_bracketed_paste beep list_beep prompt_sp prompt_cr
fpath=("$ZDOTDIR/functions" $fpath)
autoload -U compinit; compinit -u -D
bindkey '^I' complete-word
told() { print -r -- "line<$BUFFER>" }
zle -N told; bindkey '^G' told
"""
"""As a user has it, with the file in a folder of `fpath`; Ctrl+G reports what stands on the line."""


@pytest.mark.parametrize(
    ("typed", "completed", "listed"),
    [
        ("hettop be", "hettop bench ", []),
        ("hettop rep", "hettop rep", ["repair", "replay", "report"]),
        ("hettop bench --un", "hettop bench --units ", []),
        ("hettop bench --units CPU_A", "hettop bench --units CPU_AND_", []),
        ("hettop --theme hettop-m", "hettop --theme hettop-mono ", []),
        ("hettop export --to p", "hettop export --to p", ["parquet", "perfetto"]),
        ("hettop decide --by ", "hettop decide --by ", ["native", "wall"]),
        ("hettop help perc", "hettop help percentiles ", []),
        ("hettop bench --warmup ", "hettop bench --warmup ", []),
        ("hettop replay se", "hettop replay session.jsonl ", []),
        ("hettop bench --record se", "hettop bench --record session.jsonl ", []),
    ],
)
def test_zsh_completes(typed: str, completed: str, listed: list[str], folder: Path) -> None:
    (folder / ".zsh" / "functions").mkdir(parents=True)
    (folder / ".zsh" / "functions" / "_hettop").write_text(script_for("zsh"), encoding="utf-8")
    (folder / ".zsh" / ".zshrc").write_text(ZSHRC, encoding="utf-8")
    shown = tab_in_zsh(typed, folder)
    found = re.search(r"line<(.*)>", shown)
    assert found is not None, shown
    assert found[1] == completed
    assert all(word in shown for word in listed)
    assert "command not found" not in shown


def tab_in_zsh(typed: str, folder: Path) -> str:
    """What zsh shows after a Tab behind what was typed, and Ctrl+G."""
    far, near = pty.openpty()
    home = {"PATH": os.environ["PATH"], "HOME": str(folder), "ZDOTDIR": str(folder / ".zsh")}
    zsh = subprocess.Popen(
        ["zsh", "--no-globalrcs", "-i"],
        stdin=near,
        stdout=near,
        stderr=near,
        cwd=folder,
        env={**home, "TERM": "dumb", "LANG": "C.UTF-8"},
        start_new_session=True,
    )
    os.close(near)
    try:
        shown = until(far, b"ready>")
        os.write(far, f"{typed}\t\x07".encode())
        shown = until(far, b">\r\n")
    finally:
        zsh.kill()
        zsh.wait()
        os.close(far)
    return shown.decode(errors="replace")


def until(far: int, wanted: bytes) -> bytes:
    """What comes from a terminal up to this."""
    deadline = time.monotonic() + PATIENCE_S
    shown = b""
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        part = read(far)
        assert part, shown
        shown += part
    return shown


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_every_command_and_option(shell: str) -> None:
    text = called("completions", shell).stdout
    for command, options in all_options():
        assert command in text
        for flag in (flag for option in options for flag in option.flags):
            assert re.search(rf"(-l {flag[2:]}|-s {flag[1:]})\b" if shell == "fish" else rf"{flag}\b", text), flag


def test_quotes_in_words_do_not_end_a_string() -> None:
    for shell in ("zsh", "fish"):
        script = SHELLS[shell](dict(all_options()))
        for line in (line for line in script.splitlines() if not line.startswith("#")):
            assert line.replace("'\\''", "").count("'") % 2 == 0, line


def test_what_is_offered_is_what_there_is() -> None:
    assert set(VALUES["--theme"]) == {theme.name for theme in load_themes([themes_folder()])[0]}
    flags = {flag for _, options in all_options() for option in options for flag in option.flags}
    assert set(VALUES) <= flags


def test_files_are_offered_where_files_may_stand() -> None:
    assert takes_file(Option(("--record",), "FILE", ""))
    assert takes_file(Option((), "A", ""))
    assert not takes_file(Option(("--backend",), "B", ""))
    assert values_of(Option(("--backend",), "B", "")) == ("coreml", "coreai", "onnxruntime", "simulated", "server")
