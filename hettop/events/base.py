"""What every event shares.

The moment of its commit, and the words for what went wrong.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from hettop.events.limits import Nanoseconds, Text


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="k", eq=False):
    """One line of the stream. `t` is the moment of its commit and never decreases in a file."""

    t: Nanoseconds


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why something did not work, in the words of `HettopError`, with the last lines of its log."""

    kind: Text
    message: Text
    hint: Text = ""
    log: Annotated[list[Text], msgspec.Meta(max_length=20)] = []
