"""The screen of studies: questions about the inside of the model, each answered by a measurement of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from hettop.format import clock, percent, seconds
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, width_of, wrapped
from hettop.text import clean
from hettop.tui.feed import StudyOffer
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import CHOSEN_TAB, PageScreen, RunControl

if TYPE_CHECKING:
    from hettop.events import Study

_REST = "Enter measures it. Inference is paused while this runs, because each would disturb the other."
_LOADED = "Competing load is active. Studies are measured without load: Esc, then l and 0 end it."
_REPLAY = "No study in the recording up to this moment. To run one, open the model itself: hettop MODEL, then y."
_NONE = "No studies here: open a model with hettop MODEL, then y."
_EARLIER = "The result below is from the previous run."
_UNKNOWN = "This version cannot show the result of this study."
_BAR = 16
_COPIED = 100  # cells of a line
_MARKS = {"running": glyphs.RECORD, "done": glyphs.DONE, "failed": glyphs.FAILED, "ended": glyphs.ENDED}
_INKS = {"running": "accent", "done": "good", "failed": "error", "ended": "muted"}


class StudiesScreen(PageScreen):
    """← → select a study, Enter runs it or ends the running one, ↑ ↓ scroll its result."""

    NAME: ClassVar[str] = "studies"
    BESIDE_FROM: ClassVar[int] = 0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Previous study", id="studies.previous"),
        Binding("right", "turn(1)", "Next study", id="studies.next"),
    ]

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self.chosen: str | None = None
        self._questions: dict[int, str] = {}  # by row

    def heading(self, frame_state: FrameState) -> Line:
        """A tab for each study, with a mark of its state."""
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
            can = not _is_loaded(frame_state) and _can_run(frame_state, self._chosen(frame_state))
            return [*turn, ("Enter", "run it")] if can else turn
        if not _can_run(frame_state, self._chosen(frame_state)):
            return turn
        return [
            *turn,
            ("Enter", "end it" if running.name == self._chosen(frame_state) else f"end {running.name}, run it"),
        ]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        chosen = self._chosen(frame_state)
        if chosen is None:
            why = _REPLAY if frame_state.replay is not None else _NONE
            return _paragraph(why, width)
        study = next((study for study in frame_state.session.studies if study.name == chosen), None)
        offer = _offer(frame_state, chosen)
        words = "" if offer is None else offer.words
        head = _status(study, words, frame_state.session.header.elapsed_ns, width)
        if study is None or study.found is None:
            rest = [*self._note(frame_state, chosen, width), ()] if _running(frame_state) is None else []
            above = [*head, *rest]
            self._questions = {len(above) + i: offer.name for i, offer in enumerate(frame_state.offers)}
            return [*above, *_questions(frame_state, chosen, width)]
        self._questions = {}
        return [*head, *self._answer(frame_state, study, width, max(1, height - len(head)))]

    def _note(self, frame_state: FrameState, chosen: str, width: int) -> list[Line]:
        """What Enter does, or why it does nothing."""
        offer = _offer(frame_state, chosen)
        if offer is not None and offer.reason is not None:
            return _paragraph(f"Cannot be run here: {clean(offer.reason)}.", width, "warning")
        if not frame_state.offers:
            return []
        return _paragraph(_LOADED, width, "warning") if _is_loaded(frame_state) else _paragraph(_REST, width)

    def _answer(self, frame_state: FrameState, study: Study, width: int, height: int) -> list[Line]:
        from hettop.report.terminal.blocks import block_lines  # the first paint of the screen does without

        page = frame_state.pages.get(study.name, ())
        if not page:
            return _paragraph(_UNKNOWN, width)
        return [fit(each, width) for each in block_lines(page, width, height)]

    def clipboard_text(self) -> tuple[str, str] | None:
        """The result of the selected study, as its command prints it; the whole screen before there is one."""
        from hettop.report.terminal.blocks import block_text

        frame_state = self.frame_state
        name = self._chosen(frame_state) if frame_state is not None else None
        page = frame_state.pages.get(name) if frame_state is not None and name is not None else None
        return (
            super().clipboard_text() if not page else (f"the study {clean(name or '', 20)}", block_text(page, _COPIED))
        )

    def choose(self) -> None:
        frame_state = self.frame_state
        if frame_state is None or not frame_state.offers:
            return
        name, running = self._chosen(frame_state), _running(frame_state)
        if running is not None and running.name == name:
            self.run_control(lambda live: live.end_study())
            return
        if name is not None and _can_run(frame_state, name):
            self.run_control(lambda live: live.study(name))

    def point(self, row: int, column: int) -> None:  # noqa: ARG002 - whole rows
        """Turn to the question that was clicked."""
        if row in self._questions:
            self._turn_to(self._questions[row])

    def point_heading(self, column: int) -> None:
        """Turn to the tab that was clicked."""
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
        """Turn to the previous (-1) or next (1) study."""
        names = _names(self.frame_state) if self.frame_state is not None else []
        if self.frame_state is None or not names:
            return
        at = names.index(self._chosen(self.frame_state) or names[0])
        self._turn_to(names[(at + direction) % len(names)])

    def _chosen(self, frame_state: FrameState) -> str | None:
        """The study that was selected, else the running one, which stays selected, else the first that can be run."""
        names, running = _names(frame_state), _running(frame_state)
        if self.chosen not in names and running is not None:
            self.chosen = running.name
        if self.chosen in names:
            return self.chosen
        return next((name for name in names if _can_run(frame_state, name)), next(iter(names), None))


def _names(frame_state: FrameState) -> list[str]:
    """The studies that there are, and others that have been run."""
    offered = [offer.name for offer in frame_state.offers]
    return [*offered, *(study.name for study in frame_state.session.studies if study.name not in offered)]


def _offer(frame_state: FrameState, name: str | None) -> StudyOffer | None:
    return next((offer for offer in frame_state.offers if offer.name == name), None)


def _can_run(frame_state: FrameState, name: str | None) -> bool:
    offer = _offer(frame_state, name)
    return offer is not None and offer.reason is None


def _is_loaded(frame_state: FrameState) -> bool:
    return frame_state.session.header.load != "none"


def _running(frame_state: FrameState) -> Study | None:
    """The running study, if there is one."""
    return next((study for study in frame_state.session.studies if study.state == "running"), None)


def _tab(name: str, study: Study | None, *, chosen: bool) -> Line:
    """A tab; as wide when it is selected as when it is not, so that tabs do not move under the mouse."""
    mark = "" if study is None else _MARKS.get(study.state, "")
    ink = "muted" if study is None else _INKS.get(study.state, "muted")
    if chosen:
        return line((f"{CHOSEN_TAB[0]}{clean(name, 20)}{mark}{CHOSEN_TAB[1]}", "badge"))
    return line((f" {clean(name, 20)}", "text"), (mark, ink), (" ", "text"))


def _status(study: Study | None, words: str, now_ns: int, width: int) -> list[Line]:
    """The question and the state of a study."""
    about = [fit(line((words[:1].upper() + words[1:], "strong")), width)] if words else []
    if study is None:
        return [*about, ()]
    earlier = _paragraph(_EARLIER, width, "warning") if study.earlier and study.found is not None else []
    return [*about, *_state(study, now_ns, width), *earlier, ()]


def _state(study: Study, now_ns: int, width: int) -> list[Line]:
    if study.state == "failed" and study.error is not None:
        texts = [f"Failed: {clean(study.error.message)}", *filter(None, [clean(study.error.hint)])]
        return [row for text in texts for row in _paragraph(text, width, "error")]
    if study.state == "running":
        when = f"{clean(study.doing or 'measuring', width)} · {clock(_elapsed(study, now_ns))}"
        return [fit(line((when, "accent")), width)]
    ended = "ended by the user" if study.state == "ended" else "finished"
    return _paragraph(f"{ended} at {clock(study.t)}, took {seconds(round(study.elapsed_ns, -8))}", width)


def _questions(frame_state: FrameState, chosen: str, width: int) -> list[Line]:
    """The question of each study."""
    widest = max((len(offer.name) for offer in frame_state.offers), default=0)
    rows = []
    for offer in frame_state.offers:
        cursor, ink = (f"{glyphs.VIEWED} ", "active") if offer.name == chosen else ("  ", "strong")
        why = "" if offer.reason is None else f" · {clean(offer.reason)}"
        name_ink = ink if offer.reason is None or offer.name == chosen else "muted"
        rows.append(fit(line((f"{cursor}{offer.name:<{widest + 2}}", name_ink), (offer.words + why, "muted")), width))
    return rows


def _progress(study: Study, now_ns: int) -> Line:
    """The progress of a running study, and the remaining time where it is known."""
    elapsed = _elapsed(study, now_ns)
    if not study.share:
        return line((f" {clean(study.name, 20)} running, {clock(elapsed)} ", "accent"))
    done = round(study.share * _BAR)
    left = round(study.elapsed_ns / study.share * (1 - study.share)) - (elapsed - study.elapsed_ns)
    return line(
        (f" {clean(study.name, 20)} ", "accent"),
        (glyphs.FULL * done, "accent"),
        (glyphs.DOT * (_BAR - done), "muted"),
        (f" {percent(study.share)}, about {clock(max(0, left))} left ", "text"),
    )


def _elapsed(study: Study, now_ns: int) -> int:
    """The time since a running study began."""
    return study.elapsed_ns + max(0, now_ns - study.t)


def _paragraph(text: str, width: int, ink: str = "muted") -> list[Line]:
    return [fit(line((part, ink)), width) for part in wrapped(text, width)]
