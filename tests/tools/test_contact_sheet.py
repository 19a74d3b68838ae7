"""The contact sheet: the views that were asked for, each at three sizes."""

from __future__ import annotations

from pathlib import Path

from hettop.tui.constants import PANELS, PRESETS
from hettop.tui.screens import SCREENS
from tools.contact_sheet import SIZES, VIEWS, main


def test_a_view_is_drawn_at_each_size(tmp_path: Path) -> None:
    out = tmp_path / "sheet.html"
    main([str(out), "studies"])
    text = out.read_text(encoding="utf-8")
    assert text.count("<svg") == len(SIZES) == 3
    assert [f"{width}x{height}" in text for width, height in SIZES] == [True] * 3
    assert "inside-mobilenetv2.jsonl" in text
    assert "url(http" not in text


def test_every_panel_layout_and_screen_is_on_it() -> None:
    names = " ".join(view.name for view in VIEWS)
    assert all(name in names for name in (*PANELS.values(), *PRESETS[1:], *SCREENS))
