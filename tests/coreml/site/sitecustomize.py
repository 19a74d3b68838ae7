"""Put on PYTHONPATH, this folder makes any Python process see a working Core ML: see tests/coreml/bench.py."""

from __future__ import annotations

from standin_coreml.blank import BlankFinder  # type: ignore[import-not-found]
from standin_coreml.finder import Finder, announce  # type: ignore[import-not-found]

announce(BlankFinder())
announce(Finder())
