"""Models are converted here by the hundred: each time coremltools looks for garbage in all that was imported."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _no_garbage_is_looked_for_after_each_conversion() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda *_: 0)
        yield
