"""What every test of the screen shares: an environment that does not colour the result."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest-textual-snapshot keeps its own state in the environment.
    textual = [name for name in os.environ if name.startswith("TEXTUAL_") and "SNAPSHOT" not in name]
    for name in (*textual, *(name for name in ("NO_COLOR", "COLORTERM") if name in os.environ)):
        monkeypatch.delenv(name)
