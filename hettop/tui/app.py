"""The screen's application: composes the panels and draws frames from the feed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, cast

from textual._compositor import ChopsUpdate
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Event, MouseDown, MouseEvent, MouseMove

from hettop.errors import HettopError
from hettop.resources import themes_folder
from hettop.session.views.contrast import ContrastView
from hettop.session.views.structs import SessionView, ViewRequest
from hettop.text import clean
from hettop.tui.actions.display import Arranging
from hettop.tui.actions.measuring import Measuring
from hettop.tui.actions.replaying import Replaying
from hettop.tui.feed import Feed
from hettop.tui.frame_state import FrameState
from hettop.tui.keys import bindings
from hettop.tui.panels.events import EventLine, EventsPanel
from hettop.tui.panels.figures import Figures
from hettop.tui.panels.header import Header
from hettop.tui.panels.hints import Hints
from hettop.tui.panels.host import HostPanel
from hettop.tui.panels.latency import LatencyPanel
from hettop.tui.panels.power import PowerPanel
from hettop.tui.panels.scrub import ScrubBar
from hettop.tui.panels.timeline import TimelinePanel
from hettop.tui.panels.units import UnitsPanel
from hettop.tui.preferences import Preferences
from hettop.tui.screens.answers import AnswersScreen
from hettop.tui.screens.load import LoadScreen
from hettop.tui.screens.spikes import SpikesScreen
from hettop.tui.screens.studies import StudiesScreen
from hettop.tui.screens.verdict import VerdictScreen
from hettop.tui.themes import DEFAULT, load_themes
from hettop.tui.updates import SmallUpdate
from hettop.units import NS_PER_S

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen

    # The session needs numpy and msgspec, the first screen does not: it is painted before they are imported.
    from hettop.session.session import Session

    Look = Callable[[Session, ViewRequest], SessionView]

PUMP_EVERY_S = 0.25
"""Each frame processes events; below 4 frames a second a timer does, too, so that a recording does not fall behind."""
NUMBERS_EVERY_S = 0.5
"""Numbers and distributions change no more often: nobody could read them. The timeline moves with each frame."""

CONTRAST_EVERY_NS = 10**9
_SEVERITIES: dict[str, Literal["information", "warning", "error"]] = {"warning": "warning", "error": "error"}
_LONG_NOTICE_S = 10  # an error in a file, with its line, takes time to note
_NOTICE_LIMIT = 400  # characters


class Shows(Protocol):
    """A part of the screen that draws frame states."""

    def show(self, frame_state: FrameState) -> None: ...


class HettopApp(Measuring, Replaying, Arranging):
    """The screen of a live measurement or of a replay.

    open_feed: starts the session and returns its feed; the caller closes that after the app has ended. It is called
        after the first paint, because engines and their libraries load slowly. A HettopError that it raises ends the
        app and is kept in `fault`.
    replaying: whether the feed will be a replay's.
    theme: a name; None is hettop's dark theme. Raises HettopError (`usage`) for an unknown name.
    fps: redraws per second.
    ascii: draw with ASCII characters only.
    sixteen: the terminal has 16 colours: themes use those that they name, instead of the nearest.
    look: makes the views of a session (tests pass fixed ones; None: the session's own).
    clock: CPU time of this thread in ns, from which the cost of a redraw is reported to the feed.
    preferences: the user's other preferences.
    """

    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - Textual's
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-low"), (18, "-short"), (27, "-medium"), (34, "-tall")]  # noqa: RUF012 - Textual's

    def __init__(
        self,
        open_feed: Callable[[], Feed],
        *,
        replaying: bool = False,
        theme: str | None = None,
        fps: float = 4.0,
        ascii: bool = False,  # noqa: A002 - the option's name
        sixteen: bool = False,
        look: Look | None = None,
        clock: Callable[[], int] = time.thread_time_ns,
        theme_folders: Sequence[Path] | None = None,
        preferences: Preferences | None = None,
    ) -> None:
        super().__init__(replaying=replaying, ascii=ascii, preferences=preferences)
        self.fault: HettopError | None = None
        self._ended_by: int | None = None
        self._running_loop: asyncio.AbstractEventLoop | None = None
        self._open_feed = open_feed
        self._fps = fps
        self._look = look
        self._clock = clock
        self._since: int | None = None
        self._ticks = 0
        self._resized = False
        self._aged_at = 0.0
        self._contrast: ContrastView | None = None
        self._contrast_at: tuple[object, ...] | None = None
        self._use_themes(theme, [themes_folder()] if theme_folders is None else theme_folders, sixteen=sixteen)
        if not self.preferences.animated:
            self.animation_level = "none"
        self._latency = LatencyPanel(ascii=ascii)
        self._timeline = TimelinePanel(ascii=ascii)
        self._units = UnitsPanel(ascii=ascii)
        self._events = EventsPanel(ascii=ascii)
        self._power = PowerPanel(ascii=ascii)
        self._host = HostPanel(ascii=ascii)
        self._header = Header(ascii=ascii)
        self._event_line = EventLine(ascii=ascii)
        self._scrub = ScrubBar(ascii=ascii) if replaying else None
        self._figures = Figures(ascii=ascii)
        self._hints = Hints(self.keys, ascii=ascii)

    def _use_themes(self, wanted: str | None, folders: Sequence[Path], *, sixteen: bool) -> None:
        own = self.preferences.theme_folder
        themes, self._theme_faults = load_themes([*folders, *([own] if own is not None else [])], sixteen=sixteen)
        for theme in themes:
            self.register_theme(theme)
        self.theme_names = [theme.name for theme in themes]
        chosen = wanted or (DEFAULT if DEFAULT in self.theme_names else self.theme)
        if chosen not in self.available_themes:
            raise HettopError("usage", f"unknown theme {clean(chosen)!r}", f"known: {', '.join(self.theme_names)}")
        self.theme = chosen

    @property
    def _braille(self) -> bool:
        return self.preferences.braille and not self.ascii_only

    @property
    def _showing(self) -> list[Shows]:
        panels = (self._latency, self._timeline, self._units, self._events, self._power, self._host)
        figures = self._figures if self._figures.display else None
        parts = (self._header, figures, *panels, self._event_line, self._scrub)
        return [part for part in parts if part is not None]

    @property
    def _moving(self) -> list[Shows]:
        """The parts that are drawn in every frame."""
        return [self._header, self._timeline, *([self.page_screen] if self.page_screen is not None else [])]

    def compose(self) -> ComposeResult:
        yield self._header
        with Container(id="body"):
            with Container(id="main"):
                yield self._figures
                yield self._latency
                yield self._timeline
                yield self._units
            with Container(id="side"):
                yield self._power
                yield self._host
                yield self._events
        yield self._event_line
        if self._scrub is not None:
            yield self._scrub
        yield self._hints

    def on_mount(self) -> None:
        """Start drawing."""
        self._running_loop = asyncio.get_running_loop()
        self._aged_at = self._running_loop.time()
        if self._ended_by is not None:  # by a signal that came before the loop
            self._leave()
        for text in (*(fault.message for fault in self._theme_faults), *self.preferences.notices):
            self.notify(clean_lines(text), severity="warning", timeout=_LONG_NOTICE_S, markup=False)
        self._latency.focus()
        self.call_after_refresh(self.arrange)
        self.call_after_refresh(self._begin)

    def end(self, signal_number: int) -> None:
        """End because of a signal; may be called from a signal handler at any moment."""
        self._ended_by = signal_number
        if self._running_loop is not None:
            self._running_loop.call_soon_threadsafe(self._leave)

    async def on_event(self, event: Event) -> None:
        """Drop mouse events over what is being removed, such as a notice: selecting text there raises an error."""
        if isinstance(event, MouseDown | MouseMove) and not event.is_forwarded and self._is_removed_at(event):
            return
        await super().on_event(event)

    def _is_removed_at(self, event: MouseEvent) -> bool:
        if not self.screen_stack:
            return True
        widget, _ = self.screen.get_widget_and_offset_at(event.x, event.y)
        return widget is not None and widget.parent is None

    @property
    def crash(self) -> Exception | None:
        """The internal error that ended the app."""
        return self._exception

    def _handle_exception(self, error: Exception) -> None:
        """End without printing the error, with all local variables, as Textual would: the caller reports it."""
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()

    def _leave(self) -> None:
        self.exit(return_code=128 + (self._ended_by or 0))

    def _begin(self) -> None:
        """Open the feed and start drawing."""
        if self._look is None:
            from hettop.session.views.session_view import view

            self._look = view
        try:
            self.feed = self._open_feed()
        except HettopError as error:
            self.fault = error
            self.exit()
            return
        self.set_interval(1 / self._fps, self._tick)
        if self._fps < 1 / PUMP_EVERY_S:
            self.set_interval(PUMP_EVERY_S, self._pump)
        self.refresh_bindings()
        if self.preferences.screen:
            self.action_screen(self.preferences.screen)
        self.frame()

    def on_panel_resized(self) -> None:
        """Redraw with the new number of columns; once for all panels that changed together."""
        if not self._resized:
            self._resized = True
            self.call_later(self._draw_resized)

    def _draw_resized(self) -> None:
        self._resized = False
        self.draw()

    def _tick(self) -> None:
        self._ticks += 1
        replaying = self.feed is not None and self.feed.replay is not None  # which may be anywhere in the next frame
        self.frame(whole=replaying or self._ticks % max(1, round(self._fps * NUMBERS_EVERY_S)) == 0)

    def frame(self, *, whole: bool = True) -> None:
        """Process events, draw, and report the cost of the previous drawing."""
        if self.feed is None:
            return
        now = self._clock()
        if self._since is not None:
            self.feed.drew_frame(now - self._since)
        self._since = now
        self._pump()
        if not self.screen_stack:  # a last tick while the program ends
            return
        for notice in self.feed.notices():
            severity = _SEVERITIES.get(notice.severity, "information")
            self.notify(clean_lines(notice.text), severity=severity, markup=False)
        self.draw(whole=whole)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, ChopsUpdate):
            renderable = cast("RenderableType", SmallUpdate(renderable))
        super()._display(screen, renderable)

    def show_notices(self) -> None:
        if self._hints.is_mounted:
            self._hints.show_notices()
        if self.page_screen is not None:
            self.page_screen.show_notices()

    def _pump(self) -> None:
        """Let the feed process events."""
        if self.feed is not None:
            self.feed.pump()
        self._age_notices()

    def _age_notices(self) -> None:
        """Take away what was seen for long enough; a message that is behind a dialog was not read yet."""
        now = 0.0 if self._running_loop is None else self._running_loop.time()
        passed, self._aged_at = now - self._aged_at, now
        covered = not self.screen_stack or getattr(self.screen, "COVERS", False)
        if self.notices.shown and not covered and self.notices.age(passed):
            self.show_notices()

    def draw(self, *, whole: bool = True) -> None:
        """Give every panel the frame state; while frozen the last one. Unless `whole`, only the parts that move."""
        if self.feed is None or self._look is None or not self.screen_stack or not self._hints.is_mounted:
            return
        self.lay_out()
        self._hints.zoom(self.zoomed)
        if not (self.frozen and self.frame_state is not None):
            self.frame_state = self._frame_state(self.feed, self._look, whole=whole or self.frame_state is None)
        elif not self.frame_state.frozen:
            self.frame_state = replace(self.frame_state, frozen=True)
        self._hints.announce(self.frame_state.studying)
        if getattr(self.screen, "COVERS", False):  # Textual would draw the changes of a covered panel
            return
        # Textual draws all of the screen for any change behind a dialog.
        under_dialog = self.screen not in (self.main, self.page_screen)
        for part in self._shown_parts:
            if whole or (part in self._moving and not under_dialog):
                part.show(self.frame_state)

    @property
    def _shown_parts(self) -> Sequence[Shows]:
        """The panels and the screen over them; without the panels that it covers."""
        page = self.page_screen
        if page is None:
            return self._showing
        return [page] if page.place_in(*self.size).covers else [*self._showing, page]

    def _window_ns(self, feed: Feed) -> int:
        """The time window; no longer than a replayed recording, which would leave the rest of the charts empty."""
        status = feed.replay_status()
        window_ns = self.window_s * NS_PER_S
        return window_ns if status is None else min(window_ns, max(status.duration_ns, NS_PER_S))

    def _frame_state(self, feed: Feed, look: Look, *, whole: bool) -> FrameState:
        budget = feed.budget()
        before = None if self.frame_state is None else self.frame_state.session
        request = ViewRequest(
            now_ns=feed.now_ns,
            window_ns=self._window_ns(feed),
            unit=self.unit,
            histogram_columns=self._latency.columns,
            timeline_slots=self._timeline.columns * (2 if self._braille else 1),
            violin_columns=self._units.violin_columns,
            power_slots=self._power.columns,
            conditions=self.page_screen is not None,
            spikes=isinstance(self.page_screen, SpikesScreen),
            studies=isinstance(self.page_screen, StudiesScreen),
            answers=isinstance(self.page_screen, AnswersScreen),
            percentiles=self._units.zoomed,
            pointed_ns=self.pointed_ns,
            log_lines=self._events.wanted,
            spike=page.chosen if isinstance(page := self.page_screen, SpikesScreen) else None,
            spike_slots=page.chart_columns if isinstance(page, SpikesScreen) else 1,
            contrast_columns=self._contrast_columns(feed.now_ns),
            all_units=self.all_units,
            scale=self.scale,
            ridge_columns=self._latency.ridge_columns,
            budget_ms=None if budget is None else budget.limit_ms,
            budget_quantile=0.99 if budget is None else budget.quantile,
            reused=None if whole else before,
            earlier_timeline=None if before is None else before.timeline,
        )
        columns = 0 if self._scrub is None else self._scrub.columns
        session = look(feed.session, request)
        if isinstance(self.page_screen, LoadScreen):
            session = self._with_contrast(session)
        return FrameState(
            session=session,
            recording=feed.recording_status(),
            replay=feed.replay_status(),
            frozen=self.frozen,
            fps=self._fps,
            braille=self._braille,
            bands=feed.replay.overview(columns) if feed.replay is not None and columns else (),
            loads=feed.live.loads() if feed.live is not None and self.page_screen is not None else (),
            verdict=feed.verdict() if isinstance(self.page_screen, VerdictScreen) else None,
            offers=feed.live.studies() if feed.live is not None and isinstance(self.page_screen, StudiesScreen) else (),
            without_load_left_ns=feed.live.without_load_left_ns() if feed.live is not None else None,
            pages={study.name: feed.study_page(study) for study in session.studies},
        )

    def _contrast_columns(self, now_ns: int) -> int:
        """The columns of the comparison of loads; 0 without one, and while the last one is of the same second."""
        page = self.page_screen
        if not isinstance(page, LoadScreen):
            self._contrast_at = None
            return 0
        header = self.frame_state.session.header if self.frame_state is not None else None
        found = (now_ns // CONTRAST_EVERY_NS, page.columns, self.unit, header and (header.load, header.units))
        if found == self._contrast_at:
            return 0
        self._contrast_at = found
        return page.columns

    def _with_contrast(self, session: SessionView) -> SessionView:
        """The session's view with the last comparison of loads where it has no new one: it takes as long as a frame."""
        if session.contrast is None:
            return replace(session, contrast=self._contrast)
        self._contrast = session.contrast
        return session


def clean_lines(text: str) -> str:
    """Cleaned text that keeps its line breaks."""
    return "\n".join(clean(part, _NOTICE_LIMIT) for part in text.splitlines()[:8])
