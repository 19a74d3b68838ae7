"""Guards screens that open and close against keys that come faster than they do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.errors import NoWidget
from textual.events import Event, InputEvent, Key, Paste
from textual.message import Message
from textual.screen import ModalScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    _Base = Screen[Any]
else:
    _Base = object  # Textual takes the style sheets of the first base that is a node: that is the screen's own class

Result = TypeVar("Result")


class Guarded(_Base):
    """Makes a screen ignore everything that reaches it when it is not on top, such as a second Enter.

    Textual would close whichever screen is on top, or end the app with an error where only the panels are left.
    """

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close this screen; does nothing if it is not on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return super().check_action(action, parameters) if self.is_active else False

    async def on_event(self, event: Event) -> None:
        """A key for a screen that has closed is the app's; other input is dropped, as is a click beside the screen.

        The terminal may have shrunk since the click.
        """
        if self.is_active or not isinstance(event, InputEvent | Paste):
            with suppress(NoWidget):
                await super().on_event(event)
        elif isinstance(event, Key):
            event._bubble_to(self.app)

    async def _on_message(self, message: Message) -> None:
        """What a screen does while hettop ends may find its widgets gone, or never made."""
        if message.control is None or isinstance(message, Event) or self in self.app.screen_stack:
            try:
                await super()._on_message(message)
            except NoMatches:
                if not self.app._exit:
                    raise


class Dialog(Guarded, ModalScreen[Result]):
    """A screen above another one, which stays visible around it."""
