"""The live view exactly as `hettop` starts it, which also writes down the origin of its session's clock.

`python -m benchmarks.children.live_noting_origin MODEL UNIT RECORDING ORIGIN_FILE`. The origin is in ns of the
machine's monotonic clock; a recording alone does not tell it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from hettop.app.live import LiveFeed
from hettop.cli.screen import ScreenOptions, show
from hettop.console.signals import ScreenSignals
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.sources.engine.backend import RealClock
from hettop.tui.preferences import Preferences

USUAL_FPS = 4.0


class NotingClock(RealClock):
    """The machine's clock; the first reading is the session's origin."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.now = self._first  # only the first reading differs

    def _first(self) -> int:
        moment = RealClock.now()
        self._file.write_text(str(moment), encoding="utf-8")
        self.now = RealClock.now
        return moment


class StoppableFeed(LiveFeed):
    """A live feed whose screen may be stopped by SIGSTOP and go on as if nothing had been.

    At a SIGCONT Textual starts its input anew, beside the old one, as after a suspension it took part in.
    """

    _undisturbed = False

    def pump(self) -> None:
        if not self._undisturbed:  # the first frame comes after Textual has set its handlers
            signal.signal(signal.SIGCONT, signal.SIG_DFL)
            self._undisturbed = True
        super().pump()


def main() -> int:
    model, unit, recording, origin = sys.argv[1:]
    setup = prepare(ModelOptions(model), ("all",), os.cpu_count() or 1)
    rows = (unit, *(other for other in setup.units if other != unit))
    clock = NotingClock(Path(origin))
    feed = StoppableFeed(Measurement(setup, MeasureOptions(record=recording), rows=rows, raw_limit=0, clock=clock))
    with ScreenSignals() as signals:
        try:
            feed.switch(unit)
            usual = ScreenOptions(theme=None, fps=USUAL_FPS, ascii_only=False, preferences=Preferences())
            return show(lambda: feed, usual, signals=signals)
        finally:
            feed.close("quit")


if __name__ == "__main__":
    sys.exit(main())
