"""The README's install section: what it promises about Python is what the package declares."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hettop.sources.engine.coreml.availability import NEWEST_PYTHON

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
NEWEST = ".".join(map(str, NEWEST_PYTHON))


def test_the_commands_that_are_run_as_they_are_name_python3_and_macs_their_own_above_them() -> None:
    for mark in ("<!-- run -->", "<!-- test -->"):
        above, _, below = README.partition(f"{mark}\n```sh\n")
        assert below.startswith("python3 -m venv .venv && "), mark
        assert f"`python{NEWEST}` for `python3`" in above.strip().splitlines()[-1], mark


def test_pip_refuses_an_old_python_in_the_words_that_are_quoted() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    quoted = re.search(r"requires a different Python: 3\.9\.\d+ not in '([^']+)'", README)
    assert quoted is not None
    assert quoted[1] == project["requires-python"]


def test_uv_is_told_of_a_python_that_has_core_ml() -> None:
    told = [call for call in re.findall(r"`(uv run [^`]*)`", README) if f"--python {NEWEST} " not in call]
    assert told == []
    assert not (REPOSITORY / ".python-version").exists(), "pyenv obeys it, too"
