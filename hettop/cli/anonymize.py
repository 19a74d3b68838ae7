"""Rewrites files in place without names of users and machines, paths and ids.

`python -m hettop.cli.anonymize FILE…`, for packaging/mac-check.sh, whose archive is sent to other people.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hettop.processes.command import command_output
from hettop.report.anonymize import anonymous_file


def main(paths: list[str]) -> None:
    names = names_here()
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8", errors="replace")
        path.write_text(anonymous_file(text, names), encoding="utf-8")


def names_here() -> list[str]:
    """The names in `identity_here`, longer ones first: one may be part of another."""
    return sorted((name for names in identity_here().values() for name in names), key=len, reverse=True)


def identity_here() -> dict[str, list[str]]:
    """What names this user and this machine, by what it is; without what the system does not report."""
    host = socket.gethostname()
    folders: list[Path] = []
    with contextlib.suppress(RuntimeError):  # there is none, as in a container
        folders.append(Path.home())
    with contextlib.suppress(KeyError):
        folders.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    found = {
        "home folder": [name for folder in folders for name in (str(folder), folder.name)],
        "host name": [host, host.partition(".")[0]],
        "user name": _user_names(),
        "serial number": serial_numbers(sys.platform),
    }
    return {kind: list(dict.fromkeys(filter(None, names))) for kind, names in found.items()}


def _user_names() -> list[str]:
    """The logins in the environment and of the system, who ran sudo, and the full name where the system has one."""
    names = [os.environ.get(name, "") for name in ("LOGNAME", "USER", "SUDO_USER")]
    with contextlib.suppress(KeyError):  # a user without a name, as in a container
        entry = pwd.getpwuid(os.getuid())
        names += [entry.pw_name, entry.pw_gecos.partition(",")[0].strip()]
    return names


IOREG = ("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
_IDENTITY = re.compile(r'"IOPlatform(?:SerialNumber|UUID)" = "([^"]+)"')
SERIAL_FILES = ("/etc/machine-id", *(f"/sys/class/dmi/id/{name}_serial" for name in ("product", "board", "chassis")))


def serial_numbers(
    system: str, run: Callable[[Sequence[str]], str] = command_output, files: Sequence[str] = SERIAL_FILES
) -> list[str]:
    """The serial numbers of this machine that its user may read. `system` as `sys.platform` names it."""
    if system == "darwin":
        return _IDENTITY.findall(run(IOREG))
    found: list[str] = []
    for path in map(Path, files):
        with contextlib.suppress(OSError):
            found.append(path.read_text(encoding="utf-8", errors="replace").strip())
    return [each for each in found if any(map(str.isdigit, each))]  # not `To be filled by O.E.M.`


if __name__ == "__main__":
    main(sys.argv[1:])
