"""Rooms: whole screens over the panels, by the names that keys call them."""

from __future__ import annotations

from hettop.tui.rooms.load import LoadRoom
from hettop.tui.rooms.room import Room
from hettop.tui.rooms.spikes import SpikesRoom
from hettop.tui.rooms.studies import StudiesRoom
from hettop.tui.rooms.verdict import VerdictRoom

ROOMS: dict[str, type[Room]] = {"load": LoadRoom, "verdict": VerdictRoom, "spikes": SpikesRoom, "studies": StudiesRoom}
