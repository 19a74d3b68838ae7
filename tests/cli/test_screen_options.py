"""What the screen is drawn with, where nobody chose it."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import pytest

from hettop.cli.screen import screen_options


def drawn_in_ascii(encoding: str, chosen: bool | None) -> bool:
    arguments = argparse.Namespace(theme=None, fps=None, ascii=chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        return screen_options(arguments).ascii_only


@pytest.mark.parametrize(
    ("encoding", "alone"), [("utf-8", False), ("UTF8", False), ("iso8859-1", True), ("ascii", True), ("cp1252", True)]
)
def test_a_locale_that_is_not_utf_8_draws_ascii_unless_chosen_otherwise(
    encoding: str, alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("")
    monkeypatch.setenv("HETTOP_CONFIG", str(config))
    assert drawn_in_ascii(encoding, None) is alone
    assert drawn_in_ascii(encoding, False) is False
    assert drawn_in_ascii(encoding, True) is True
    config.write_text("ascii = false\n")
    assert drawn_in_ascii(encoding, None) is False
