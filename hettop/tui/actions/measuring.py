"""The actions that control a measurement: units, load, recording, marks, power."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TextIO

from textual.app import SuspendNotSupported

from hettop.errors import HettopError
from hettop.session.views.structs import UnitRow
from hettop.tui.actions.controls import Controls, words
from hettop.tui.dialogs import ConfirmScreen, MarkScreen
from hettop.tui.feed import AccessRequest
from hettop.tui.panels.units import UnitsPanel


class Measuring(Controls):
    """The actions of a live measurement; `action_pause` and `choose` have a counterpart in a replay."""

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
        """Measure this unit; in a replay, view it (again: view the active one)."""
        if self.live is not None:
            self.send(partial(self.live.switch, unit))
        else:
            self.unit = None if unit == self.unit else unit
            self.draw()

    def action_interleave(self) -> None:
        """Interleave all units; while they are, measure only the viewed one again."""
        if self.live is None:
            return
        view = self.frame_state.session if self.frame_state is not None else None
        if view is not None and view.header.mode == "interleave" and view.latency.unit is not None:
            unit = view.latency.unit
            self.choose(unit)
            self.notify(f"{self.key_of('interleave')} interleaves the units again")
        else:
            self.send(self.live.interleave)
            self.notify(f"{self.key_of('interleave')} stops interleaving")

    def action_record(self) -> None:
        if self.live is not None:
            self.send(self.live.toggle_recording)

    def action_reset(self) -> None:
        """Reset the statistics; asks first while recording, because the recording keeps the reset."""
        if self.live is None or self.feed is None:
            return
        if self.feed.recording_status() is None:
            self.send(self.live.reset)
        else:
            self.push_screen(ConfirmScreen("recording: reset the statistics?"), self._reset)

    def _reset(self, confirmed: bool | None) -> None:
        if confirmed and self.live is not None:
            self.send(self.live.reset)

    def action_restart(self) -> None:
        """Restart a failed unit, the active one first; else the active one if it loads or does not answer."""
        rows = self._rows()
        failed = [row for row in rows if row.error is not None or row.state == "failed"]
        waiting = [row for row in rows if row.active and row.waiting]
        chosen = next((row for row in failed if row.active), next(iter((*failed, *waiting)), None))
        if chosen is None:
            self.notify("no unit has failed or is waiting for an answer", markup=False)
        elif self.live is not None:
            self.send(partial(self.live.restart, chosen.unit))

    def action_baseline(self) -> None:
        if self.live is not None:
            self.send(self.live.take_baseline)

    def action_power_access(self) -> None:
        """Ask for the password on the plain terminal, by sudo itself; then retry the power source."""
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
            self.notify("this terminal cannot be suspended; run sudo -v before hettop", markup=False)
            return
        if granted:
            self.send(self.live.retry_power)
        else:
            self.notify("access to power readings was not granted", severity="warning", markup=False)

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
    """Prints the explanation and runs the command; returns whether it succeeded. Ctrl-C counts as failure."""
    stream = out or sys.stdout
    stream.write(f"\n{asking.explanation}\n")
    stream.flush()
    try:
        return subprocess.run(asking.command, check=False).returncode == 0
    except KeyboardInterrupt:
        return False
    except OSError as error:
        stream.write(f"{asking.command[0]}: {error.strerror}\n")
        return False
