"""How this machine and its user are called, for what is to be printed without that."""

from __future__ import annotations

import getpass
import socket
from pathlib import Path


def names_here() -> list[str]:
    """The home folder and its name, the host's name, long and short, and the user's."""
    host = socket.gethostname()
    try:
        home = Path.home()
        homes = [str(home), home.name]
    except RuntimeError:  # there is none, as in a container
        homes = []
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        user = ""
    return [*homes, host, host.partition(".")[0], user]
