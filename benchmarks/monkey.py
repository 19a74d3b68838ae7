"""Random keys, mouse, pastes and sizes on demo and replay: whether the screen survives, and its recording is valid."""

from __future__ import annotations

import signal
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.plan import ROOT, Plan
from benchmarks.rows import Row, Unit, worst_at_most
from benchmarks.terminal import Terminal

SESSIONS = Unit("", decimals=0)
KEYS = 20_000
LARGEST = (500, 200)
PAUSE_S = 0.009  # on average: 20,000 keys in three minutes, more than a hand can press
SEEDS = 3
STORM = 40
"""Sizes, pastes or clicks that follow each other without a pause."""
SETTLED_S = 0.5
TIMEOUT_S = 60.0

PROGRAM = """
import sys
from hettop.cli.main import run
from hettop.tui.app import HettopApp

async def stay(app):
    pass

HettopApp.action_quit = HettopApp.action_help_quit = stay
sys.exit(run(sys.argv[1:]))
"""
"""hettop without its keys to quit: it must not end by itself."""

_SEQUENCES = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1bOP"]
_SEQUENCES += ["\x1b[1;2C", "\x1b[1;2D", "\x1b[3~", "\x1b", "\x1b", "\r", "\r", "\t", "\x7f", "\x10", "\x03"]
REPLAYED = [ROOT / "recordings" / name for name in ("simulated-m2.jsonl", "tokens-tinydecoder.jsonl")]
_SPLIT = "ü€🙂"


def steps(random: Random) -> Iterator[list[bytes] | tuple[int, int]]:
    """What a monkey does: data to send, in the parts in which it is sent, or a new size of the terminal."""
    while True:
        kind = random.random()
        if kind < 0.7:
            keys = random.choices([*string.printable[:95], *_SEQUENCES * 3], k=random.choice([1, 1, 2, 4]))
            yield ["".join(keys).encode()]
        elif kind < 0.8:
            yield [
                random.choice([b"\r", b"\x1b", b"?", b"m", b"\x10", b"H", b"T", b",", b"/"]) * random.randrange(2, 9)
            ]
        elif kind < 0.84:
            character = random.choice(_SPLIT).encode()
            yield [character[:1], character[1:]]
        elif kind < 0.94:
            button, x, y = random.choice([0, 0, 0, 2, 35, 64, 65]), random.randrange(1, 520), random.randrange(1, 220)
            yield [f"\x1b[<{button};{x};{y}{end}".encode() for end in "Mm"]
        elif kind < 0.945:
            yield from _storm(random)
        elif kind < 0.97:
            text = "".join(random.choices(string.printable[:97], k=random.choice([1, 100, 5000])))
            yield [random.choice([f"\x1b[200~{text}\x1b[201~", text * 20]).encode()]
        else:
            yield random.randint(1, LARGEST[0]), random.randint(1, LARGEST[1])
            yield random.choice([(1, 1), (20, 5), (80, 24), (120, 40), LARGEST])


def _storm(random: Random) -> Iterator[list[bytes] | tuple[int, int]]:
    """Many sizes, pastes or clicks at once."""
    kind = random.randrange(3)
    if kind == 0:
        yield from [(random.randint(1, LARGEST[0]), random.randint(1, LARGEST[1])) for _ in range(STORM)]
    elif kind == 1:
        yield [b"\x1b[200~%s\x1b[201~" % (b"x\n" * random.randrange(500)) * STORM]
    elif kind == 2:
        press = [(random.randint(0, 66), random.randint(1, 520), random.randint(1, 220)) for _ in range(STORM)]
        yield ["".join(f"\x1b[<{button};{x};{y}{end}" for button, x, y in press for end in "Mm").encode()]


def play(terminal: Terminal, random: Random, keys: int) -> bool:
    """Send so many keys or more: some go together. Returns whether the program still runs and draws."""
    sent = 0
    for step in steps(random):
        if isinstance(step, tuple):
            terminal.resize(*step)
        else:
            for part in step:
                sent += 1
                terminal.send(part)
                time.sleep(random.uniform(0, 2 * PAUSE_S))
        if sent >= keys or terminal.process.poll() is not None:
            break
    return all(_draws_at(terminal, size) for size in ((100, 30), (120, 40)))


def _draws_at(terminal: Terminal, size: tuple[int, int]) -> bool:
    """Whether the program draws after a change to this size."""
    time.sleep(SETTLED_S)
    drawn = terminal.total_bytes
    terminal.resize(*size)
    deadline = time.monotonic() + TIMEOUT_S
    while terminal.total_bytes == drawn and terminal.process.poll() is None and time.monotonic() < deadline:
        time.sleep(PAUSE_S)
    return terminal.total_bytes > drawn and terminal.process.poll() is None


def survives(arguments: list[str], folder: Path, random: Random, keys: int) -> tuple[bool, int]:
    """Whether hettop with `arguments` survives a monkey, and its exit code after the SIGTERM that ends it then."""
    (folder / "state" / "hettop").mkdir(parents=True, exist_ok=True)
    own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"), "PYTHONPATH": str(ROOT)}
    with Terminal([sys.executable, "-c", PROGRAM, *arguments], environment=own, folder=folder) as terminal:
        terminal.await_text(b"P90", TIMEOUT_S)
        alive = play(terminal, random, keys)
        terminal.process.send_signal(signal.SIGTERM)
        return alive, terminal.process.wait(TIMEOUT_S)


def is_valid(recording: Path) -> bool:
    """Whether `hettop verify` finds nothing wrong."""
    return not subprocess.run(
        [sys.executable, "-m", "hettop", "verify", str(recording)], cwd=ROOT, capture_output=True, check=False
    ).returncode


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for sessions that ended by themselves and for recordings that are invalid."""
    keys, recordings, lost = plan.either(KEYS, 300), [], []
    for seed in range(plan.either(SEEDS, 1)):
        recordings.append(plan.folder / f"monkey-{seed}.jsonl")
        for arguments in (["--demo", "--record", str(recordings[-1])], *(["replay", str(each)] for each in REPLAYED)):
            alive, code = survives(arguments, plan.folder, Random(seed), keys)
            lost.append(float(not alive or code != 143))
    yield worst_at_most(f"monkey: sessions lost in {keys:,} random keys each", 0, lost, SESSIONS)
    harmed = [float(not is_valid(recording)) for recording in recordings]
    yield worst_at_most("monkey: recordings harmed", 0, harmed, SESSIONS)
