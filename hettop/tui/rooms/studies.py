"""The room of studies: questions about the inside of the model, each answered by measuring it while inference rests."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from hettop.format import clock, percent
from hettop.text import clean
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, fit, line, width_of, wrapped
from hettop.tui.picture import Picture
from hettop.tui.rooms.room import CHOSEN_TAB, Room, Steer
from hettop.tui.studies import answer

if TYPE_CHECKING:
    from hettop.events import Study

_REST = "Enter measures it. Inference rests meanwhile: each would be measured with the other beside it."
_LOADED = "Competing load is on, and a study is measured without: Esc, then l and 0 end it."
_REPLAY = "No study is in this recording. Studies run the model, and a replay has none: open the model itself."
_SIMULATED = "The simulated machine has no model to look into: open a model itself."
_EARLIER = "What stands below was found by the run before."
_BAR = 16
_MARKS = {"running": glyphs.RECORD, "done": glyphs.DONE, "failed": glyphs.FAILED, "ended": glyphs.ENDED}
_INKS = {"running": "accent", "done": "good", "failed": "error", "ended": "muted"}


class StudiesRoom(Room):
    """← → choose a study, Enter runs it or ends the one that runs, ↑ ↓ move its answer."""

    NAME: ClassVar[str] = "studies"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Previous study", id="studies.previous"),
        Binding("right", "turn(1)", "Next study", id="studies.next"),
    ]

    def __init__(self, steer: Steer, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(steer, ascii=ascii)
        self.chosen: str | None = None
        self._questions: dict[int, str] = {}  # by the rows that they stand in

    def heading(self, picture: Picture) -> Line:
        """A tab for each study, with a mark of what became of it."""
        names, chosen = _names(picture), self._chosen(picture)
        if not names:
            return line(("inside the model", "title"))
        studies = {study.name: study for study in picture.session.studies}
        return tuple(span for name in names for span in _tab(name, studies.get(name), chosen=name == chosen))

    def foot(self, picture: Picture) -> Line:
        running = _running(picture)
        if running is None:
            return ()
        return _progress(running, picture.session.header.elapsed_ns)

    def hints(self, picture: Picture) -> list[tuple[str, str]]:
        turn = [("←→", "study")] if len(_names(picture)) > 1 else []
        if not picture.offers:
            return turn
        running = _running(picture)
        if running is None:
            return turn if _is_loaded(picture) else [*turn, ("Enter", "run it")]
        return [*turn, ("Enter", "end it" if running.name == self._chosen(picture) else f"end {running.name}, run it")]

    def rows(self, picture: Picture, width: int, height: int) -> list[Line]:
        chosen = self._chosen(picture)
        if chosen is None:
            why = _REPLAY if picture.replay is not None else _SIMULATED
            return _paragraph(why, width)
        study = next((study for study in picture.session.studies if study.name == chosen), None)
        words = next((offer.words for offer in picture.offers if offer.name == chosen), "")
        head = _status(study, words, picture.session.header.elapsed_ns, width)
        if study is None or study.found is None:
            told = _paragraph(_LOADED, width, "warning") if _is_loaded(picture) else _paragraph(_REST, width)
            rest = [*told, ()] if picture.offers and _running(picture) is None else []
            above = [*head, *rest]
            self._questions = {len(above) + i: offer.name for i, offer in enumerate(picture.offers)}
            return [*above, *_questions(picture, chosen, width)]
        self._questions = {}
        return [*head, *answer(study, width, max(1, height - len(head)))]

    def choose(self) -> None:
        picture = self.picture
        if picture is None or not picture.offers:
            return
        name, running = self._chosen(picture), _running(picture)
        if running is not None and running.name == name:
            self.steer(lambda live: live.end_study())
            return
        if name in [offer.name for offer in picture.offers]:
            self.steer(lambda live: live.study(name))

    def point(self, row: int) -> None:
        """Of the questions, the one that was clicked."""
        if row in self._questions:
            self._turn_to(self._questions[row])

    def point_heading(self, column: int) -> None:
        """The tab that was clicked."""
        if self.picture is None:
            return
        studies = {study.name: study for study in self.picture.session.studies}
        for name in _names(self.picture):
            column -= width_of(_tab(name, studies.get(name), chosen=False))
            if column < 0:
                self._turn_to(name)
                return

    def _turn_to(self, name: str) -> None:
        self.chosen = name
        self.to_top()

    def action_turn(self, direction: int) -> None:
        """The study beside the one that is shown."""
        names = _names(self.picture) if self.picture is not None else []
        if self.picture is None or not names:
            return
        at = names.index(self._chosen(self.picture) or names[0])
        self._turn_to(names[(at + direction) % len(names)])

    def _chosen(self, picture: Picture) -> str | None:
        """Until another is chosen, the first, or the one that runs: it stays when that ends."""
        names, running = _names(picture), _running(picture)
        if self.chosen not in names and running is not None:
            self.chosen = running.name
        return self.chosen if self.chosen in names else next(iter(names), None)


def _names(picture: Picture) -> list[str]:
    """The studies that can be run, and those that were."""
    offered = [offer.name for offer in picture.offers]
    return [*offered, *(study.name for study in picture.session.studies if study.name not in offered)]


def _is_loaded(picture: Picture) -> bool:
    return picture.session.header.load != "none"


def _running(picture: Picture) -> Study | None:
    """The study that runs; in a replay nothing does any more."""
    return next((study for study in picture.session.studies if study.state == "running"), None)


def _tab(name: str, study: Study | None, *, chosen: bool) -> Line:
    """As wide whether it is chosen or not: tabs must not move under the mouse."""
    mark = "" if study is None else _MARKS.get(study.state, "")
    ink = "muted" if study is None else _INKS.get(study.state, "muted")
    if chosen:
        return line((f"{CHOSEN_TAB[0]}{clean(name, 20)}{mark}{CHOSEN_TAB[1]}", "badge"))
    return line((f" {clean(name, 20)}", "text"), (mark, ink), (" ", "text"))


def _status(study: Study | None, words: str, now_ns: int, width: int) -> list[Line]:
    """What it is about, and what became of it."""
    about = [fit(line((words[:1].upper() + words[1:], "strong")), width)] if words else []
    if study is None:
        return [*about, ()]
    earlier = _paragraph(_EARLIER, width, "warning") if study.earlier and study.found is not None else []
    return [*about, *_became(study, now_ns, width), *earlier, ()]


def _became(study: Study, now_ns: int, width: int) -> list[Line]:
    if study.state == "failed" and study.error is not None:
        told = [f"Failed: {clean(study.error.message)}", *filter(None, [clean(study.error.hint)])]
        return [row for text in told for row in _paragraph(text, width, "error")]
    if study.state == "running":
        when = f"{clean(study.doing or 'measuring', width)} · {clock(_elapsed(study, now_ns))}"
        return [fit(line((when, "accent")), width)]
    ended = "ended by the user" if study.state == "ended" else "finished"
    return _paragraph(f"{ended} at {clock(study.t)}, after {clock(study.elapsed_ns)}", width)


def _questions(picture: Picture, chosen: str, width: int) -> list[Line]:
    """What each study finds out."""
    widest = max((len(offer.name) for offer in picture.offers), default=0)
    rows = []
    for offer in picture.offers:
        cursor, ink = (f"{glyphs.VIEWED} ", "active") if offer.name == chosen else ("  ", "strong")
        rows.append(fit(line((f"{cursor}{offer.name:<{widest + 2}}", ink), (offer.words, "muted")), width))
    return rows


def _progress(study: Study, now_ns: int) -> Line:
    """How far it is, and how long it may yet take, if it tells."""
    elapsed = _elapsed(study, now_ns)
    if not study.share:
        return line((f" {clean(study.name, 20)} runs, {clock(elapsed)} ", "accent"))
    done = round(study.share * _BAR)
    left = round(study.elapsed_ns / study.share * (1 - study.share)) - (elapsed - study.elapsed_ns)
    return line(
        (f" {clean(study.name, 20)} ", "accent"),
        (glyphs.FULL * done, "accent"),
        (glyphs.DOT * (_BAR - done), "muted"),
        (f" {percent(study.share)}, about {clock(max(0, left))} left ", "text"),
    )


def _elapsed(study: Study, now_ns: int) -> int:
    """Of one that runs: until now."""
    return study.elapsed_ns + max(0, now_ns - study.t)


def _paragraph(text: str, width: int, ink: str = "muted") -> list[Line]:
    return [fit(line((part, ink)), width) for part in wrapped(text, width)]
