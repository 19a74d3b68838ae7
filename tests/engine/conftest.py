from __future__ import annotations

from collections.abc import Iterator

import pytest

from hettop.engine.reaper import Reaper


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    made = Reaper()
    yield made
    made.close()
