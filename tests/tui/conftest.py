"""What every test of the screen shares: an environment that does not colour the result."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest-textual-snapshot keeps its own state in the environment.
    textual = [name for name in os.environ if name.startswith("TEXTUAL_") and "SNAPSHOT" not in name]
    for name in (*textual, *(name for name in ("NO_COLOR", "COLORTERM") if name in os.environ)):
        monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _style_sheets_are_parsed_once() -> Iterator[None]:
    """Every app would parse the same ones anew, which takes it longer than to draw a frame."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, css: str, *args: Any, **options: Any) -> list[RuleSet]:
        key = (css, args, frozenset(options.items()), frozenset(self._variables.items()))
        if key not in parsed:
            parsed[key] = parse(self, css, *args, **options)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
