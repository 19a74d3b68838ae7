"""How this machine and its user are called, for what is to be printed without that."""

from __future__ import annotations

import getpass
import socket


def names_here() -> list[str]:
    """The host's name, long and short, and the user's."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        user = ""
    return [host, host.partition(".")[0], user]
