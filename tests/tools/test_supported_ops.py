"""The page of supported operations says what the table holds, and every operation of coremltools is accounted for."""

from __future__ import annotations

import importlib
from typing import Any

from hettop.models.mil.table import FAMILIES, TABLE
from tests.models.mil.programs import mb
from tools import supported_ops

registry: Any = importlib.import_module("coremltools.converters.mil.mil.ops.registry").SSAOpRegistry


def test_the_page_is_up_to_date() -> None:
    assert supported_ops.PAGE.read_text(encoding="utf-8") == supported_ops.page(), "run python -m tools.supported_ops"


def test_no_operation_belongs_to_two_families() -> None:
    assert sum(len(family.OPS) for family in FAMILIES) == len(TABLE)


def test_every_operation_of_coremltools_is_translated_or_said_to_be_missing() -> None:
    assert mb is not None
    # complex numbers and state updates are lowered before a program is written, and the reader itself reads constants
    known = {name for name in registry.core_ops if not name.startswith(("complex_", "_")) and name != "const"}
    assert known - set(TABLE) - set(supported_ops.MISSING) == set()
    assert set(TABLE) - known == {"write_state"}


def test_limits_and_gaps_name_operations() -> None:
    assert set(supported_ops.LIMITS) <= set(TABLE)
    assert set(supported_ops.MISSING).isdisjoint(TABLE)
