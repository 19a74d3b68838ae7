"""Stands in for sudo: never asks, and runs the stand-in of powermetrics as its child, as sudo does.

STAND_IN_SUDO: `ticket` (all is allowed), `password` (nothing is), `rule` (powermetrics' exact command line is),
`forbidden`, `silent` (answers nothing), or a file: each command takes a ticket, a byte, from it until there is none.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = "-s cpu_power,gpu_power,thermal -f plist -i 500 -a 0 -b 0 -n 7200"
EXACT = ["/usr/bin/powermetrics", *OPTIONS.split(" ")]


def main() -> int:
    mode = os.environ.get("STAND_IN_SUDO", "ticket")
    assert sys.argv[1] == "-n", "without -n it would ask"
    asked = sys.argv[2:]
    if mode == "silent":
        time.sleep(3600)
    if mode == "forbidden":
        return refused("Sorry, user someone is not allowed to execute 'powermetrics' as root on mac.")
    if mode == "password" or (mode == "rule" and asked not in (["-l", *EXACT], EXACT)):
        return refused("sudo: a password is required")
    if asked in (["-v"], ["true"]) or asked[0] == "-l":
        return 0
    if mode not in ("ticket", "rule") and not took_ticket(Path(mode)):
        return refused("sudo: a password is required")
    assert asked == EXACT, "no rule would match"
    stand_in = Path(__file__).with_name("powermetrics.py")
    if os.environ.get("STAND_IN_POWERMETRICS") == "gone":
        return refused("sudo: /usr/bin/powermetrics: command not found")
    child = subprocess.Popen([sys.executable, str(stand_in), *asked[1:]])
    signal.signal(signal.SIGTERM, lambda number, _frame: child.send_signal(number))  # sudo passes it on
    note_pids(child.pid)
    return child.wait() % 256


def took_ticket(path: Path) -> bool:
    tickets = path.read_bytes()
    path.write_bytes(tickets[1:])
    return bool(tickets)


def refused(words: str) -> int:
    sys.stderr.write(words + "\n")
    return 1


def note_pids(child: int) -> None:
    if "STAND_IN_PIDS" in os.environ:
        with Path(os.environ["STAND_IN_PIDS"]).open("a") as file:
            file.write(f"{os.getpid()}\n{child}\n")


if __name__ == "__main__":
    sys.exit(main())
