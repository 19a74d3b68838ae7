"""The version of macOS, whether it runs in a virtual machine, as the kernel knows them, and what keeps it awake.

To a program that was built with an older SDK, macOS shows a compatibility version: 10.16 for 11, 16.0 for 26. It does
so in SystemVersion.plist, from which `platform.mac_ver` reads, and in that program's own sysctl calls. The kernel's
release stays true, and so does what the system's own `sysctl` command prints.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence

from hettop.processes.child_process import ChildProcess
from hettop.processes.command import command_output

SYSCTL = "/usr/sbin/sysctl"
NOT_COMPATIBLE = {"SYSTEM_VERSION_COMPAT": "0"}
"""Whatever this process's environment asks for, the true version is wanted."""

DARWIN_OF_26 = 25
"""From Darwin 25 on a kernel's major version is macOS's less 1; before, from Darwin 20 (macOS 11) on, 9 more."""
DARWIN_OF_11 = 20

Ask = Callable[[str], str]
"""The value of a kernel variable, by its name; "" where it is not known."""


def sysctl(name: str, command: str = SYSCTL) -> str:
    """Ask the system's own command for a kernel variable; "" if there is none, or no such command."""
    return command_output((command, "-n", name), NOT_COMPATIBLE).strip()


def macos_version(
    system: str = sys.platform, kernel: str | None = None, reported: str | None = None, ask: Ask = sysctl
) -> str:
    """Return the true version of macOS, as `26.1`; "" on other systems.

    `kernel` is its release, as `uname -r` prints it, and `reported` what Python takes for the version; by default those
    of this machine. Where the two disagree, the system is asked; if it does not answer, the major version is all.
    """
    if system != "darwin":
        return ""
    kernel = os.uname().release if kernel is None else kernel
    reported = platform.mac_ver()[0] if reported is None else reported
    major = _major(kernel)
    if major is None or _agrees(reported, major):
        return reported
    asked = ask("kern.osproductversion")
    return asked if _agrees(asked, major) else str(major)


def is_virtual_machine(system: str = sys.platform, ask: Ask = sysctl) -> bool:
    """Return whether this macOS is the guest of a hypervisor."""
    return system == "darwin" and ask("kern.hv_vmm_present") == "1"


def _major(kernel: str) -> int | None:
    """The major version of macOS with this kernel; None before macOS 11, which no compatibility version hides."""
    darwin = kernel.partition(".")[0]
    if not darwin.isdecimal() or int(darwin) < DARWIN_OF_11:
        return None
    return int(darwin) + (1 if int(darwin) >= DARWIN_OF_26 else -9)


def _agrees(version: str, major: int) -> bool:
    return version.partition(".")[0] == str(major)


PATIENCE_S = 1.0


def caffeinate(pid: int) -> tuple[str, ...]:
    """No idle sleep for as long as the process `pid` lives: it needs no one to end it."""
    return ("/usr/bin/caffeinate", "-i", "-w", str(pid))


class SleepInhibitor:
    """Active from the start to `close`. Without the command the machine may sleep, which is not an error.

    command: what to start instead of `caffeinate`. platform: as `sys.platform` names it.
    """

    def __init__(self, command: Sequence[str] | None = None, platform: str = sys.platform) -> None:
        self._process: ChildProcess | None = None
        if platform != "darwin":
            return
        try:
            self._process = ChildProcess(
                caffeinate(os.getpid()) if command is None else command,
                None,
                None,
                stdin=False,
                stdout=False,
                stderr=False,
                blocked=(),
                new_session=True,  # the terminal's Ctrl-C is not for it
            )
        except OSError:
            self._process = None

    @property
    def pid(self) -> int | None:
        """Of the process that keeps it awake, if there is one."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Lets the machine sleep again; may be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        process.signal(signal.SIGTERM)
        if not process.ended(PATIENCE_S):
            process.end()
