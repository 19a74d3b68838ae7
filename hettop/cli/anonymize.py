"""Rewrites files in place without names of users and machines, paths and ids.

`python -m hettop.cli.anonymize FILE…`, for packaging/mac-check.sh, whose archive is sent to other people.
"""

from __future__ import annotations

import getpass
import socket
import sys
from pathlib import Path

from hettop.report.anonymize import anonymous_file


def main(paths: list[str]) -> None:
    names = names_here()
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8", errors="replace")
        path.write_text(anonymous_file(text, names), encoding="utf-8")


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


if __name__ == "__main__":
    main(sys.argv[1:])
