"""Stands in for `macmon pipe`: a line every `-i` milliseconds (STAND_IN_INTERVAL seconds if that is set).

STAND_IN_MACMON: `new`, `old` (the schema), `stuck`, `deaf`, `killed`, `damaged` or `broken`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import UTC, datetime

from tests.sources.power.captures import CHIPS, macmon_line, truth_of


def main() -> int:
    mode = os.environ.get("STAND_IN_MACMON", "new")
    if sys.argv[1:3] != ["pipe", "-i"] or len(sys.argv) != 4:
        sys.stderr.write("error: unexpected argument found\n")
        return 2
    if mode == "broken":
        sys.stderr.write('Error: "failed to find DVFS table"\n')
        return 1
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    interval = float(os.environ.get("STAND_IN_INTERVAL", int(sys.argv[3]) / 1000))
    if "STAND_IN_PIDS" in os.environ:
        with open(os.environ["STAND_IN_PIDS"], "a") as file:  # noqa: PTH123 - one import less to wait for
            file.write(f"{os.getpid()}\n")
    while True:
        time.sleep(interval)
        line = macmon_line(truth_of(CHIPS["M1"]), datetime.now(UTC).isoformat(), new=mode != "old")
        os.write(1, b"{]\n" if mode == "damaged" else line)
        if mode in ("stuck", "deaf"):
            time.sleep(3600)
        if mode == "killed":
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
