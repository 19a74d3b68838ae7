"""The keys that steer a measurement: units, load, recording, marks, power."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TextIO

from textual.app import SuspendNotSupported

from hettop.errors import HettopError
from hettop.session.views.structs import UnitRow
from hettop.tui.actions.controls import Controls, words
from hettop.tui.dialogs import MarkScreen
from hettop.tui.feed import AccessRequest
from hettop.tui.panels.units import UnitsPanel


class Measuring(Controls):
    """What is done to a live measurement; `action_pause` and `choose` mean the like in a replay."""

    def action_pause(self) -> None:
        if self.live is not None:
            self.send(self.live.toggle_pause)
        elif self.replay is not None:
            self.send(self.replay.toggle_play)

    def action_next_unit(self) -> None:
        rows = self._rows()
        if not rows:
            return
        names = [row.unit for row in rows]
        current = self.unit or next((row.unit for row in rows if row.active), names[-1])
        at = names.index(current) if current in names else -1
        self.choose(names[(at + 1) % len(names)])

    def choose(self, unit: str) -> None:
        """Measure this unit; where nothing is being measured, look at it (again: at the active one)."""
        if self.live is not None:
            self.send(partial(self.live.switch, unit))
        else:
            self.unit = None if unit == self.unit else unit
            self.draw()

    def action_interleave(self) -> None:
        """All units in turns; while they are, back to the one that is looked at."""
        if self.live is None:
            return
        view = self.frame_state.session if self.frame_state is not None else None
        if view is not None and view.header.mode == "interleave" and view.latency.unit is not None:
            self.choose(view.latency.unit)
        else:
            self.send(self.live.interleave)

    def action_record(self) -> None:
        if self.live is not None:
            self.send(self.live.toggle_recording)

    def action_reset(self) -> None:
        if self.live is not None:
            self.send(self.live.reset)

    def action_restart(self) -> None:
        """The unit that failed, the active one first; else the active one if it loads or gives no answer."""
        rows = self._rows()
        failed = [row for row in rows if row.error is not None or row.state == "failed"]
        waiting = [row for row in rows if row.active and row.waiting]
        chosen = next((row for row in failed if row.active), next(iter((*failed, *waiting)), None))
        if chosen is None:
            self.notify("no unit has failed, and none keeps one waiting", markup=False)
        elif self.live is not None:
            self.send(partial(self.live.restart, chosen.unit))

    def action_baseline(self) -> None:
        if self.live is not None:
            self.send(self.live.take_baseline)

    def action_power_access(self) -> None:
        """Ask for the password on the plain terminal, where sudo asks itself; then look for power again."""
        if self.live is None:
            return
        try:
            asking = self.live.power_access()
        except HettopError as error:
            self.notify(words(error), severity="warning", markup=False)
            return
        try:
            with self.suspend():
                granted = run_on_terminal(asking)
        except SuspendNotSupported:
            self.notify("this terminal cannot be left for a moment; run sudo -v before hettop", markup=False)
            return
        if granted:
            self.send(self.live.retry_power)
        else:
            self.notify("no access to power figures was given", severity="warning", markup=False)

    def action_mark(self) -> None:
        self.push_screen(MarkScreen(), self._mark)

    def _mark(self, text: str | None) -> None:
        if text is not None and self.live is not None:
            self.send(partial(self.live.mark, text))

    def _rows(self) -> tuple[UnitRow, ...]:
        return self.frame_state.session.units.rows if self.frame_state is not None else ()

    def on_units_panel_chosen(self, message: UnitsPanel.Chosen) -> None:
        self.choose(message.unit)


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
