"""The screens over the panels, by the names that keys call them."""

from __future__ import annotations

from hettop.tui.screens.answers import AnswersScreen
from hettop.tui.screens.load import LoadScreen
from hettop.tui.screens.page_screen import PageScreen
from hettop.tui.screens.spikes import SpikesScreen
from hettop.tui.screens.studies import StudiesScreen
from hettop.tui.screens.verdict import VerdictScreen

SCREENS: dict[str, type[PageScreen]] = {
    "load": LoadScreen,
    "verdict": VerdictScreen,
    "spikes": SpikesScreen,
    "studies": StudiesScreen,
    "tokens": AnswersScreen,
}
