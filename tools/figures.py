"""Figures of the structure of hettop, for CONTRIBUTING.md: `python -m tools.figures` prints them as a table.

Lines and modules are those below `hettop/`. A module is entered when a call of a function of it begins; each work is
done once before, so that imports and caches do not count.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

import hettop
from hettop.app.live import LiveFeed
from hettop.measurement.headless import Headless
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import Setup, prepare
from hettop.session.session import RAW_LIMIT
from hettop.tui.app import HettopApp
from hettop.tui.preferences import Preferences

PACKAGE = Path(hettop.__file__).resolve().parent
PUMP_EVERY_S = 0.05
SIMULATED = ModelOptions(backend="simulated")


@contextmanager
def entered_modules() -> Iterator[set[str]]:
    """The modules below `hettop/` of which a function is called on this thread meanwhile, filled in at the end."""
    found: set[str] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    modules: set[str] = set()
    sys.setprofile(profile)
    try:
        yield modules
    finally:
        sys.setprofile(None)
        modules.update(str(Path(name).relative_to(PACKAGE)) for name in found if name.startswith(str(PACKAGE)))


def entered_by_pump(setup: Setup) -> set[str]:
    """Of one pump of a live view whose units take turns."""
    feed = LiveFeed(Measurement(setup, MeasureOptions(warmup=0), rows=setup.units, raw_limit=0))
    try:
        feed.interleave()
        _pump_for(feed.pump, 4.0)
        with entered_modules() as modules:
            _pump_for(feed.pump, 1.0)
    finally:
        feed.close()
    return modules


def entered_by_draw(setup: Setup) -> set[str]:
    """Of one redraw of the whole screen at 120x40, without a pump."""
    return asyncio.run(_draw(setup))


async def _draw(setup: Setup) -> set[str]:
    feed = LiveFeed(Measurement(setup, MeasureOptions(warmup=0), rows=setup.units, raw_limit=0))
    app = HettopApp(lambda: feed, preferences=Preferences(), fps=0.01)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            feed.interleave()
            _pump_for(feed.pump, 2.0)
            feed.pump = lambda: None  # type: ignore[method-assign]
            app.draw()
            await pilot.pause()
            with entered_modules() as modules:
                app.draw()
                await pilot.pause()
    finally:
        feed.close()
    return modules


def entered_by_measuring(setup: Setup) -> set[str]:
    """Of a measurement without a screen, from its start to its end."""
    _measure(setup)
    with entered_modules() as modules:
        _measure(setup)
    return modules


def _measure(setup: Setup) -> None:
    headless = Headless(setup, MeasureOptions(warmup=0, runs=20, power="none"), raw_limit=RAW_LIMIT)
    while not headless.finished:
        headless.pump()
        time.sleep(PUMP_EVERY_S)
    headless.close("done")


def entered_by_sweep_point() -> set[str]:
    """Of `hettop sweep` with one point, from its arguments to its JSON."""
    from hettop.cli.main import run

    command = ["sweep", "mobilenetv2:32x32", "--units", "CPU_ONLY@1", "--batch", "1", "--runs", "20", "--json"]
    with tempfile.TemporaryFile("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        run(command)
        with entered_modules() as modules:
            run(command)
    return modules


def _pump_for(pump: Callable[[], None], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pump()
        time.sleep(PUMP_EVERY_S)


def main() -> None:
    """Print the table."""
    files = sorted(PACKAGE.rglob("*.py"))
    lines = [len(file.read_text(encoding="utf-8").splitlines()) for file in files]
    setup = prepare(SIMULATED, ("all",), 2)
    figures = {
        "lines in `hettop/`": sum(lines),
        "modules": len(files),
        "modules under 60 lines": sum(n < 60 for n in lines),
        "modules entered by one pump": len(entered_by_pump(setup)),
        "modules entered by one draw": len(entered_by_draw(setup)),
        "modules entered by a measurement without a screen": len(entered_by_measuring(setup)),
        "modules entered by a sweep of one point": len(entered_by_sweep_point()),
    }
    for name, value in figures.items():
        sys.stdout.write(f"| {name} | {value:,} |\n")


if __name__ == "__main__":
    main()
