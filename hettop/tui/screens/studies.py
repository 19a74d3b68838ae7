"""The room of studies: questions about the inside of the model, each answered by measuring it while inference rests."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from hettop.format import clock, percent
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, width_of, wrapped
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import CHOSEN_TAB, PageScreen, RunControl

if TYPE_CHECKING:
    from hettop.events import Study

_REST = "Enter measures it. Inference rests meanwhile: each would be measured with the other beside it."
_LOADED = "Competing load is on, and a study is measured without: Esc, then l and 0 end it."
_REPLAY = "No study is in this recording. Studies run the model, and a replay has none: open the model itself."
_SIMULATED = "The simulated machine has no model to look into: open a model itself."
_EARLIER = "What stands below was found by the run before."
_UNKNOWN = "This version cannot draw what it found."
_BAR = 16
_MARKS = {"running": glyphs.RECORD, "done": glyphs.DONE, "failed": glyphs.FAILED, "ended": glyphs.ENDED}
_INKS = {"running": "accent", "done": "good", "failed": "error", "ended": "muted"}


class StudiesScreen(PageScreen):
    """← → choose a study, Enter runs it or ends the one that runs, ↑ ↓ move its answer."""

    NAME: ClassVar[str] = "studies"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Previous study", id="studies.previous"),
        Binding("right", "turn(1)", "Next study", id="studies.next"),
    ]

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self.chosen: str | None = None
        self._questions: dict[int, str] = {}  # by the rows that they stand in

    def heading(self, frame_state: FrameState) -> Line:
        """A tab for each study, with a mark of what became of it."""
        names, chosen = _names(frame_state), self._chosen(frame_state)
        if not names:
            return line(("inside the model", "title"))
        studies = {study.name: study for study in frame_state.session.studies}
        return tuple(span for name in names for span in _tab(name, studies.get(name), chosen=name == chosen))

    def foot(self, frame_state: FrameState) -> Line:
        running = _running(frame_state)
        if running is None:
            return ()
        return _progress(running, frame_state.session.header.elapsed_ns)

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        turn = [("←→", "study")] if len(_names(frame_state)) > 1 else []
        if not frame_state.offers:
            return turn
        running = _running(frame_state)
        if running is None:
            return turn if _is_loaded(frame_state) else [*turn, ("Enter", "run it")]
        return [
            *turn,
            ("Enter", "end it" if running.name == self._chosen(frame_state) else f"end {running.name}, run it"),
        ]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        chosen = self._chosen(frame_state)
        if chosen is None:
            why = _REPLAY if frame_state.replay is not None else _SIMULATED
            return _paragraph(why, width)
        study = next((study for study in frame_state.session.studies if study.name == chosen), None)
        words = next((offer.words for offer in frame_state.offers if offer.name == chosen), "")
        head = _status(study, words, frame_state.session.header.elapsed_ns, width)
        if study is None or study.found is None:
            told = _paragraph(_LOADED, width, "warning") if _is_loaded(frame_state) else _paragraph(_REST, width)
            rest = [*told, ()] if frame_state.offers and _running(frame_state) is None else []
            above = [*head, *rest]
            self._questions = {len(above) + i: offer.name for i, offer in enumerate(frame_state.offers)}
            return [*above, *_questions(frame_state, chosen, width)]
        self._questions = {}
        return [*head, *self._answer(frame_state, study, width, max(1, height - len(head)))]

    def _answer(self, frame_state: FrameState, study: Study, width: int, height: int) -> list[Line]:
        from hettop.report.terminal.blocks import block_lines  # the first paint of the screen does without

        page = frame_state.pages.get(study.name, ())
        if not page:
            return _paragraph(_UNKNOWN, width)
        return [fit(each, width) for each in block_lines(page, width, height)]

    def choose(self) -> None:
        frame_state = self.frame_state
        if frame_state is None or not frame_state.offers:
            return
        name, running = self._chosen(frame_state), _running(frame_state)
        if running is not None and running.name == name:
            self.run_control(lambda live: live.end_study())
            return
        if name in [offer.name for offer in frame_state.offers]:
            self.run_control(lambda live: live.study(name))

    def point(self, row: int) -> None:
        """Of the questions, the one that was clicked."""
        if row in self._questions:
            self._turn_to(self._questions[row])

    def point_heading(self, column: int) -> None:
        """The tab that was clicked."""
        if self.frame_state is None:
            return
        studies = {study.name: study for study in self.frame_state.session.studies}
        for name in _names(self.frame_state):
            column -= width_of(_tab(name, studies.get(name), chosen=False))
            if column < 0:
                self._turn_to(name)
                return

    def _turn_to(self, name: str) -> None:
        self.chosen = name
        self.to_top()

    def action_turn(self, direction: int) -> None:
        """The study beside the one that is shown."""
        names = _names(self.frame_state) if self.frame_state is not None else []
        if self.frame_state is None or not names:
            return
        at = names.index(self._chosen(self.frame_state) or names[0])
        self._turn_to(names[(at + direction) % len(names)])

    def _chosen(self, frame_state: FrameState) -> str | None:
        """Until another is chosen, the first, or the one that runs: it stays when that ends."""
        names, running = _names(frame_state), _running(frame_state)
        if self.chosen not in names and running is not None:
            self.chosen = running.name
        return self.chosen if self.chosen in names else next(iter(names), None)


def _names(frame_state: FrameState) -> list[str]:
    """The studies that can be run, and those that were."""
    offered = [offer.name for offer in frame_state.offers]
    return [*offered, *(study.name for study in frame_state.session.studies if study.name not in offered)]


def _is_loaded(frame_state: FrameState) -> bool:
    return frame_state.session.header.load != "none"


def _running(frame_state: FrameState) -> Study | None:
    """The study that runs; in a replay nothing does any more."""
    return next((study for study in frame_state.session.studies if study.state == "running"), None)


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


def _questions(frame_state: FrameState, chosen: str, width: int) -> list[Line]:
    """What each study finds out."""
    widest = max((len(offer.name) for offer in frame_state.offers), default=0)
    rows = []
    for offer in frame_state.offers:
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
