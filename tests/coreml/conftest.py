from __future__ import annotations

from pathlib import Path

import pytest

from tests.coreml.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small model that most tests run."""
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.models import linear

    return linear(tmp_path_factory.mktemp("models") / "linear.mlpackage")
