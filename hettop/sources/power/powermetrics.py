"""powermetrics as a source: started through `sudo -n` with a constant command line, read as it prints.

Never asks for a password and never runs as root itself. Knows the words of sudo and powermetrics when they refuse, what
gives access for a while, and the rules that make it permanent.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from hettop.errors import HettopError
from hettop.processes.child_process import ChildExit
from hettop.processes.command import run_command
from hettop.sources.power.child import ChildOutput, english
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.sample import PARTIAL, POWERMETRICS_STEP_MJ, PowerSample
from hettop.sources.power.source import (
    ENDED,
    EXPIRED,
    FAILED,
    UNAVAILABLE,
    Availability,
    Machine,
    PowerLostError,
    of_another_system,
)
from hettop.sources.power.text import HEADER
from hettop.text import clean
from hettop.units import NS_PER_S

SUDO = "/usr/bin/sudo"
POWERMETRICS = "/usr/bin/powermetrics"
INTERVAL_MS = 500
SAMPLES = 7200  # an hour: a powermetrics that nobody ends any more ends by itself
INTERVAL_NS = INTERVAL_MS * 10**6

POWERMETRICS_ARGV = (
    POWERMETRICS,
    *("-s", "cpu_power,gpu_power,thermal"),
    *("-f", "plist"),
    *("-i", str(INTERVAL_MS)),
    *("-a", "0"),
    *("-b", "0"),
    *("-n", str(SAMPLES)),
)
"""Always this, to the letter: a sudoers rule that allows no more than it can match nothing else."""

COMMAND = (SUDO, "-n", *POWERMETRICS_ARGV)

EXPIRED_REASON = "power access expired"
EXPIRED_FIX = "run sudo -v in this terminal"
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")

MOST_LOST = 10  # documents in a row of which none gave a sample
MOST_NOISE = 256 << 10  # bytes without a single document
MOST_EMPTY = 4  # samples in a row without any rail
PROBE_PATIENCE_S = 5.0

_EXPIRED = ("a password is required", "a terminal is required to read the password", "no tty present")
_NEEDS = "macOS reports power to root only"
NO_SUDO_FIX = f"check `{SUDO} -V`, or use macmon, which needs no password: brew install macmon"
NO_ANSWER_FIX = f"run `{SUDO} -v` in this terminal to see what it waits for, or use macmon"
# What they print, in which state that leaves the source, and what to say.
_REFUSALS: tuple[tuple[str, str, str, str], ...] = (
    *((words, EXPIRED, EXPIRED_REASON, EXPIRED_FIX) for words in _EXPIRED),
    (
        "must be invoked as the superuser",
        UNAVAILABLE,
        "powermetrics was not started as root",
        "check the sudoers rules",
    ),
    (
        "not in the sudoers file",
        UNAVAILABLE,
        "you may not use sudo on this Mac",
        "ask the administrator, or use macmon",
    ),
    ("not allowed to execute", UNAVAILABLE, "sudo does not allow you to run powermetrics", "hettop doctor --sudoers"),
    ("cannot start sudo", UNAVAILABLE, "{words}", NO_SUDO_FIX),
    ("sudo does not respond", UNAVAILABLE, "sudo does not respond", NO_ANSWER_FIX),
    ("may not run sudo", UNAVAILABLE, "you may not use sudo on this Mac", "ask the administrator, or use macmon"),
    (
        "unrecognized sampler",
        UNAVAILABLE,
        "this macOS does not have a sampler: {words}",
        "please report this with the macOS version",
    ),
    ("command not found", UNAVAILABLE, f"{POWERMETRICS} was removed", "it is part of macOS"),
    ("No such file or directory", UNAVAILABLE, f"{POWERMETRICS} was removed", "it is part of macOS"),
)


class PowermetricsSource:
    """The rails, clusters, GPU and thermal pressure of a Mac, every 500 ms."""

    name = "powermetrics"
    resolution_mj: float | None = POWERMETRICS_STEP_MJ
    note = ""

    def __init__(self, machine: Machine, in_all: int = SAMPLES) -> None:
        """`in_all`: after how many samples it ends by itself."""
        self._machine, self._in_all = machine, in_all
        self._child: ChildOutput | None = None
        self._stopped = False

    def granted_ns(self, asked_ns: int) -> int | None:  # noqa: ARG002 - the command line is constant
        return INTERVAL_NS

    def probe(self) -> Availability:
        """Whether powermetrics can be started without a password; sudo is called so that it never prompts."""
        if not self._machine.is_mac:
            return of_another_system("macOS")
        for path in (POWERMETRICS, SUDO):
            if self._machine.find(path) is None:
                return Availability(False, f"file not found: {path}", "it is part of macOS", impossible=True)
        # A ticket or a rule for everything; else a rule for this very command line.
        for question in (("true",), ("-l", *POWERMETRICS_ARGV)):
            code, words = self._asked((SUDO, "-n", *question))
            if code == 0:
                return Availability(True)
        state, reason, fix = _refusal(words)
        if state == EXPIRED:
            return Availability(False, _NEEDS, EXPIRED_FIX, needs_access=True)
        return Availability(False, reason, fix)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """Samples of 500 ms, whatever is asked for, until it is stopped; PowerLostError when it ends before."""
        del interval_ns
        self._stopped = False
        try:
            self._child = ChildOutput(COMMAND, self._machine, farewell_s=2 * INTERVAL_NS / NS_PER_S)
        except OSError as error:
            raise PowerLostError(f"cannot start sudo: {error.strerror}", NO_SUDO_FIX, state=UNAVAILABLE) from None
        reading = LiveReading()
        with closing(self._child.chunks()) as chunks:
            for chunk in chunks:
                if self._stopped:
                    break
                yield from reading.samples(chunk)
        if not self._stopped:
            raise _lost(self._child, reading.n, self._in_all)

    def stop(self) -> None:
        self._stopped = True
        if self._child is not None:
            self._child.stop()

    def _asked(self, command: Sequence[str]) -> tuple[int, list[str]]:
        """Exit code and output of a command that ends at once."""
        machine = self._machine
        try:
            done = run_command(command, english(machine.environment), patience_s=PROBE_PATIENCE_S, start=machine.spawn)
        except OSError as error:
            return 1, [f"cannot start sudo: {error.strerror}"]
        if done.exit is None:
            return 1, ["sudo does not respond"]
        return done.exit.status or 0, list(done.errors)


class LiveReading:
    """Samples so far. Raises PowerLostError if nothing usable will come."""

    def __init__(self) -> None:
        self.n = 0
        self._parser = PlistParser()
        self._tail = b""
        self._seen = 0
        self._is_plist = False
        self._empty = 0

    def samples(self, chunk: bytes) -> Iterator[PowerSample]:
        if not self._is_plist:
            self._look_at(chunk)
        for sample in self._parser.feed(chunk):
            self._parser.lost.clear()
            self.n += 1
            self._empty = 0 if any(value is not None for value in sample.mw.values()) else self._empty + 1
            if self._empty >= MOST_EMPTY:
                raise _empty(sample)
            yield sample
        if sum(self._parser.lost.values()) > MOST_LOST:
            raise PowerLostError(f"invalid output from powermetrics ({', '.join(self._parser.lost)})")

    def _look_at(self, chunk: bytes) -> None:
        """Check before the first document whether the output is a property list at all."""
        self._seen += len(chunk)
        data = self._tail + chunk
        self._tail = data[1 - len(HEADER) :]  # no mark is longer, and none is read twice
        self._is_plist = b"<plist" in data
        if self._is_plist:
            return
        if HEADER in data or b"Intel energy model" in data:
            raise PowerLostError(
                "powermetrics prints text, as on an Intel Mac; it is read on Apple silicon", state=UNAVAILABLE
            )
        if self._seen > MOST_NOISE:
            raise PowerLostError("powermetrics does not print a property list", state=UNAVAILABLE)


def _empty(sample: PowerSample) -> PowerLostError:
    """Why no sample has a rail: none was printed, or the printed values are impossible."""
    if PARTIAL in sample.flags:
        words = "powermetrics prints impossible powers (negative, not a number, or above 10 kW)"
        return PowerLostError(words, "restart this Mac, or use macmon: brew install macmon", state=UNAVAILABLE)
    words = "powermetrics reports no power here, as in a virtual machine"
    return PowerLostError(words, state=UNAVAILABLE)


def _lost(child: ChildOutput, n: int, in_all: int) -> PowerLostError:
    if n >= in_all:
        return PowerLostError(f"powermetrics printed all {in_all} samples", state=ENDED)
    state, reason, fix = _refusal(child.last_words)
    if state == FAILED:
        how = _how_it_ended(child.exit)
        reason = f"powermetrics {how}" + (f": {reason}" if reason else "" if n else " without a sample")
    return PowerLostError(clean(reason), fix, state=state)


def _how_it_ended(ended: ChildExit | None) -> str:
    if ended is None:
        return "closed its output"
    return f"was killed (signal {ended.signal})" if ended.signal is not None else f"ended (exit {ended.code})"


def _refusal(words: Sequence[str]) -> tuple[str, str, str]:
    """State, reason and fix of a failed start; for an unknown message FAILED and that message."""
    for line in words:
        for mark, state, reason, fix in _REFUSALS:
            if mark.lower() in line.lower():
                return state, clean(reason.format(words=clean(line, 100))), fix
    return FAILED, clean(words[-1]) if words else "", ""


def access_command(*, on_terminal: bool) -> list[str]:
    """The command that grants hettop access for some minutes; to be run on the terminal while the screen is suspended.

    Raises HettopError (`usage`) without a terminal: sudo would have nobody to ask.
    """
    if not on_terminal:
        raise HettopError("usage", "no terminal for the password prompt", "hettop doctor --sudoers prints rules")
    return [SUDO, "-v"]


def explanation() -> str:
    """The text that is printed before `access_command` runs."""
    return f"""\
macOS reports the power of CPU, GPU and Neural Engine to root only. This asks for access:

  {SUDO} -v

sudo asks for your password, itself and on this terminal: hettop neither sees nor keeps it, and stays your own process.
For the next minutes (five, unless your administrator chose otherwise), on this terminal, hettop can then start

  {" ".join(COMMAND)}

which prints figures and changes nothing. It runs on when the access has expired, for an hour; then press p again.
Press Ctrl-C to go on without power. To be asked no more: hettop doctor --sudoers
"""


def sudoers_rules(user: str) -> str:
    """Rules for /etc/sudoers.d that allow `user` this one command line without a password, and why no less narrow.

    Raises HettopError (`usage`) for a name that would mean something else in a rule.
    """
    if not user or not set(user) <= _NAME_CHARACTERS or user == "ALL" or user.startswith(("-", ".")):
        raise HettopError("usage", f"invalid user name for a sudoers rule: {user!r}", "use a plain user name")
    command = " ".join(POWERMETRICS_ARGV).replace(",", "\\,")  # a bare comma ends a command in sudoers
    return f"""\
# Lets {user} read power figures without a password: this command line to the letter, and no other.
# Install it yourself, with a check of its syntax:
#   hettop doctor --sudoers > hettop.sudoers && visudo -cf hettop.sudoers
#   sudo install -m 0440 -o root -g wheel hettop.sudoers /private/etc/sudoers.d/hettop
# To take it back: sudo rm /private/etc/sudoers.d/hettop
# Do not shorten it. A rule that names powermetrics without its arguments allows any of them, and
# `powermetrics -o FILE` writes FILE as root: whoever may run that can overwrite any file of this Mac.
{user} ALL=(root) NOPASSWD: {command}
"""


def root_warning(euid: int, platform: str) -> str | None:
    """What to say if hettop itself runs as root on a Mac; None if it does not, or where root has other uses.

    platform: as `sys.platform` names it.
    """
    if euid != 0 or platform != "darwin":
        return None
    return (
        "running as root, and so is every model; hint: run hettop as a normal user (on a Mac, sudo -v "
        "gives access to power)"
    )
