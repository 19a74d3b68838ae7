"""Lines of `--stream`: what a study's command tells a program that follows, the live view among them."""

from __future__ import annotations

from typing import Any

import msgspec

from hettop.events import Failure


class StreamLine(msgspec.Struct, frozen=True):
    """One line: what is going on with the share that is done (0..1), all that is known by now, or why it failed."""

    doing: str | None = None
    share: float | None = None
    document: dict[str, Any] | None = None
    failed: Failure | None = None
