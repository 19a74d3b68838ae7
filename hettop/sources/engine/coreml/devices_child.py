"""A short-lived process that asks Core ML for its devices: `python -m hettop.sources.engine.coreml.devices_child`.

Apart from everything else because the framework takes seconds to import and may hang.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.processes.serve import Caller, serve
from hettop.sources.engine.coreml.framework import Framework


def devices(_job: None, _caller: Caller) -> Sequence[str]:
    return Framework().devices()


if __name__ == "__main__":
    serve(devices, type(None))
