"""The example on docs/reference/api.md runs, and says what is so."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import hettop

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/reference/api.md").read_text()


def test_its_example_runs() -> None:
    code = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
    printed = io.StringIO()
    with contextlib.chdir(REPOSITORY), contextlib.redirect_stdout(printed):
        exec(code, {})
    lines = printed.getvalue().splitlines()
    assert lines[0] == "mobilenetv2:224x224:b1 SIMULATED"
    assert "CPU_AND_NE under none: P50 0.627 ms, P90 0.671 ms" in lines
    assert lines[-1].startswith("lowest P90: CPU_AND_NE none")


def test_it_names_every_attribute() -> None:
    public = {name for name in vars(hettop.Recording) if not name.startswith("_")}
    named = set(re.findall(r"`(\w+)", PAGE))
    assert public - named == set()
