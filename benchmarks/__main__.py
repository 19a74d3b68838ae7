"""`python -m benchmarks [NAME...] [--quick]`: measures, and prints one Markdown table. Always exits with 0."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks.plan import Plan, environment
from benchmarks.rows import Row, table_head, table_line

NAMES = (
    "start",
    "harness",
    "fold",
    "slicing",
    "coexec",
    "power",
    "tokens",
    "switch",
    "kill",
    "flips",
    "record",
    "day",
    "soak",
    "monkey",
    "ui",
    "remote",
    "observer",
    "truth",
    "core_ai",
)
LIBRARIES = ("textual", "numpy", "msgspec", "onnxruntime", "zstandard")


def main() -> None:
    arguments = _parser().parse_args()
    chosen = arguments.names or NAMES
    _print(_conditions())
    _print(f"\n{table_head()}")
    with tempfile.TemporaryDirectory(prefix="hettop-benchmark-") as folder:
        # Children started by any benchmark inherit it, through whatever starts them.
        settled = environment(Path(folder))
        os.environ.clear()
        os.environ.update(settled)
        for name in chosen:
            for row in _rows(name, Plan(Path(folder), arguments.quick, _say)):
                _print(table_line(row))
    _print(f"\nload average afterwards: {_load_average()}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure hettop's own figures.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)} (all)")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that everything runs")
    return parser


def _rows(name: str, plan: Plan) -> Iterator[Row]:
    """A benchmark that breaks is a row as well, so that the others are still measured."""
    begin = time.monotonic()
    _say(f"{name} …")
    try:
        yield from importlib.import_module(f"benchmarks.{name}").measure(plan)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is shown in full and in the table)
        traceback.print_exc()
        yield Row(name, "–", "not measured", f"{type(error).__name__}: {error}", 0, None)
    _say(f"{name}: {time.monotonic() - begin:.0f} s")


def _conditions() -> str:
    versions = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {versions}; load average {_load_average()}"
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _load_average() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
