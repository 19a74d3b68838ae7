"""The ways in which native code goes wrong."""

from __future__ import annotations

import ctypes
import os
import resource
import signal

FOREVER_S = 3600
ASCII = 128
HOLDING_GIL = ctypes.PyDLL(None)
"""Calls through it hold the GIL, as all of Core ML's binding does."""


def hold(milliseconds: float) -> None:
    if milliseconds > 0:
        HOLDING_GIL.usleep(int(milliseconds * 1000))


def hang() -> None:
    HOLDING_GIL.sleep(FOREVER_S)


def die(name: str) -> None:
    """By the signal of that name, in the way in which native code comes to it; "" does nothing."""
    if not name:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if name == "SIGSEGV":
        ctypes.string_at(0)
    elif name == "SIGABRT":
        HOLDING_GIL.abort()
    os.kill(os.getpid(), signal.Signals[name])
    hang()


def shout(what: str) -> None:
    """To stdout and stderr below Python, all bytes there are: what must not be taken for hettop's own."""
    os.write(1, f"stdout: {what}\n".encode() + bytes(range(256)) * 16 + b"\n")
    os.write(2, f"stderr: {what}\n".encode())


def log(lines: tuple[str, ...]) -> None:
    """As the framework's own messages come: whole lines to stderr below Python."""
    for line in lines:
        os.write(2, f"{line}\n".encode())


def framework_error(text: str) -> RuntimeError:
    """The way an NSError comes through the binding: its user info, as an old-style property list describes it."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    quoted = "".join(_escaped(unit) for unit in units)
    return RuntimeError(f'{{\n    NSLocalizedDescription = "{quoted}";\n}}')


def _escaped(unit: int) -> str:
    character = chr(unit)
    if character in '"\\':
        return f"\\{character}"
    return "\\n" if character == "\n" else character if unit < ASCII else f"\\U{unit:04x}"


def raise_as_framework(text: str) -> None:
    """ "" does nothing."""
    if text:
        raise framework_error(text)
