"""Runs a command on the plain terminal, with what it is for printed before it; the screen is out of the way meanwhile.

Reads nothing of what is typed: a password goes from the terminal to the command alone.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TextIO

from hettop.tui.feed import AccessRequest


def run_on_terminal(asking: AccessRequest, out: TextIO | None = None) -> bool:
    """Prints the explanation, runs the command, and tells whether it ended well. Ctrl-C is a no."""
    told = out or sys.stdout
    told.write(f"\n{asking.explanation}\n")
    told.flush()
    try:
        return subprocess.run(asking.command, check=False).returncode == 0
    except KeyboardInterrupt:
        return False
    except OSError as error:
        told.write(f"{asking.command[0]}: {error.strerror}\n")
        return False
