"""A short-lived process that asks Core ML for its devices: `python -m hettop.sources.engine.coreml.devices_child`.

Apart from everything else because the framework takes seconds to import and may hang; the answer is one line of JSON.
"""

from __future__ import annotations

import json
import os

from hettop.processes.serve import take_stdout
from hettop.sources.engine.coreml.framework import Framework


def main() -> None:
    out = take_stdout()
    found = Framework().devices()
    with open(out, "wb") as stdout:  # noqa: PTH123 (a descriptor)
        stdout.write(json.dumps(found).encode() + b"\n")
    os._exit(0)  # frameworks' exit handlers have been seen to hang


if __name__ == "__main__":
    main()
