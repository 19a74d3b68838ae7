"""A Textual app with nothing in it: what any Textual app's first paint costs."""

from __future__ import annotations

from textual.app import App


class Empty(App[None]):
    """Paints one empty screen."""


if __name__ == "__main__":
    Empty().run()
