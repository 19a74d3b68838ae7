"""The room of studies: questions about the inside of the model, each answered by a command that runs meanwhile."""

from __future__ import annotations

from typing import ClassVar

from hettop.format import clock
from hettop.text import clean
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, Span, fit, line, wrapped
from hettop.tui.feed import StudyState
from hettop.tui.picture import Picture
from hettop.tui.rooms.room import Room, Steer

_REST = "Inference rests while a study runs: each would be measured with the other beside it."
_REPLAY = "Studies run the model, and a replay has none, nor has the simulated machine: open a model itself."
_LONGEST = 400  # characters of a line


class StudiesRoom(Room):
    """↑ ↓ choose a study, Enter runs it, or ends the one that runs; PgUp and PgDn move its answer."""

    NAME: ClassVar[str] = "studies"

    def __init__(self, steer: Steer, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(steer, ascii=ascii)
        self._at = 0

    def heading(self, picture: Picture) -> Line:
        return line(("inside the model", "title"), (f" · {clean(picture.session.header.model, 40)}", "muted"))

    def hints(self, picture: Picture) -> list[tuple[str, str]]:
        if not picture.studies:
            return []
        running = any(study.running for study in picture.studies)
        return [("↑↓", "study"), ("Enter", "end it" if running else "run it"), ("PgUp PgDn", "its answer")]

    def rows(self, picture: Picture, width: int, height: int) -> list[Line]:  # noqa: ARG002 - scrolled
        if not picture.studies:
            return [fit(line((text, "muted")), width) for text in wrapped(_REPLAY, width)]
        self._at = min(self._at, len(picture.studies) - 1)
        menu = [_menu_line(study, width, chosen=i == self._at) for i, study in enumerate(picture.studies)]
        note = [fit(line((text, "muted")), width) for text in wrapped(_REST, width)]
        return [*menu, (), *note, (), *_answer(picture.studies[self._at], width)]

    def scroll(self, direction: int) -> None:
        """Moves the cursor among the studies."""
        studies = len(self.picture.studies) if self.picture else 0
        self._at = max(0, min(self._at + direction, studies - 1))
        self.redraw()

    def choose(self) -> None:
        if self.picture is None or not self.picture.studies:
            return
        if any(study.running for study in self.picture.studies):
            self.steer(lambda live: live.end_study())
            return
        name, width = self.picture.studies[self._at].name, self.columns
        self.steer(lambda live: live.study(name, width))


def _menu_line(study: StudyState, width: int, *, chosen: bool) -> Line:
    cursor: Span = (f"{glyphs.VIEWED} " if chosen else "  ", "active")
    state = f"running {clock(study.elapsed_ns)}" if study.running else study.state
    ink = "accent" if study.running else "good" if study.state == "done" else "muted"
    if study.state.startswith("failed"):
        ink = "error"
    return fit(
        line(
            cursor,
            (f"{study.name:<15}", "active" if chosen else "strong"),
            (f"{state:<18}", ink),
            (study.words, "muted"),
        ),
        width,
    )


def _answer(study: StudyState, width: int) -> list[Line]:
    """What it printed, as it printed it: its lines were made for this width."""
    return [fit(line((clean(text, _LONGEST), "text")), width) for text in study.lines]
