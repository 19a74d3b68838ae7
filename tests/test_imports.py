"""Which part may know which: the contracts of pyproject.toml hold, and they leave no part out."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
CHECK = (
    "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, is_debug_mode=False))"
)


def contracts() -> dict[str, dict[str, Any]]:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    return {contract["name"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def test_the_contracts_hold() -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(contracts())} kept, 0 broken" in done.stdout


def test_a_part_without_a_place_in_the_layers_is_refused() -> None:
    """A new part would otherwise be free to be imported from both sides of the stream."""
    (layers,) = [contract for contract in contracts().values() if contract["type"] == "layers"]
    assert layers["exhaustive"]


def test_no_import_is_excepted() -> None:
    assert [name for name, contract in contracts().items() if "ignore_imports" in contract] == []
