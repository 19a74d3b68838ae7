"""How many modules one pump, one redraw and one measurement enter: what a reader has to know of to follow them."""

from __future__ import annotations

import pytest

from hettop.measurement.setup import Setup, prepare
from tools.figures import SIMULATED, entered_by_draw, entered_by_measuring, entered_by_pump


@pytest.fixture(scope="module")
def setup() -> Setup:
    return prepare(SIMULATED, ("all",), 2)


def test_a_pump_enters_few_modules_and_none_that_draws(setup: Setup) -> None:
    modules = entered_by_pump(setup)
    assert {"measurement/measurement.py", "session/session.py", "sources/engine/supervisor.py"} <= modules
    assert len(modules) <= 46
    assert not any(module.startswith(("tui/", "report/", "cli/")) for module in modules)


def test_a_redraw_enters_few_modules_and_none_that_measures(setup: Setup) -> None:
    modules = entered_by_draw(setup)
    assert {"tui/app.py", "session/views/session_view.py"} <= modules
    assert len(modules) <= 48
    assert not any(module.startswith(("sources/", "processes/", "record/")) for module in modules)
    assert not any(module.startswith("report/") and "terminal" not in module for module in modules)


def test_a_measurement_without_a_screen_enters_neither_screen_nor_advice(setup: Setup) -> None:
    modules = entered_by_measuring(setup)
    assert len(modules) <= 54
    assert not any(module.startswith(("tui/", "app/", "analysis/", "report/")) for module in modules)
