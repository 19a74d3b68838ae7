"""Reads an answer that an OpenAI-compatible server streams: server-sent events with a JSON chunk each.

Pure: bytes in, chunks out. Format: https://platform.openai.com/docs/api-reference/chat-streaming and the WHATWG's
"Server-sent events".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hettop.errors import HettopError
from hettop.text import clean

LONGEST = 1 << 20
"""A chunk of a token or a few is a few hundred bytes; a line or an event beyond this is none."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DONE = b"[DONE]"
FINISHES = frozenset({"stop", "length", "content_filter", "tool_calls"})
OTHER = "other"
"""Why an answer ended, in the words of the API; any other word of a server is `other`, so that none is taken for one
of hettop's own, such as `cut`."""

TEXTS = ("content", "reasoning_content", "reasoning")
"""Fields of a delta that hold what the model wrote."""


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """One event of the stream. `text`: what was written, empty for one that only says something of the answer."""

    text: str = ""
    finish: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    tokens: int | None = None
    done: bool = False
    logprobs: int | None = None
    model: str = ""

    @property
    def several(self) -> bool:
        """Whether it shows that it holds more than one token: by its log probabilities, else by having two words."""
        return self.logprobs > 1 if self.logprobs is not None else len(self.text.split()) > 1


class EventReader:
    """Cuts bytes, fed in pieces of any size, into events."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = self._after_return = False
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[StreamChunk]:
        """The events that `data` completes. Raises HettopError (`predict`) for one that makes no sense."""
        *lines, self._rest = self._lines(data)
        if len(self._rest) > LONGEST:
            raise HettopError("predict", "malformed chunk: a line without an end")
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
                self._size += len(line)
                if self._size > LONGEST:
                    raise HettopError("predict", "malformed chunk: an event without an end")
            elif not line and self._data:
                event, self._data, self._size = b"\n".join(self._data), [], 0
                yield read_chunk(event)

    def _lines(self, data: bytes) -> list[bytes]:
        """The lines that `data` ends, then what follows them. CR, LF and CRLF end lines, which may be cut in two."""
        if data:
            data, self._after_return = data.removeprefix(b"\n") if self._after_return else data, data.endswith(b"\r")
        text = self._rest + data
        if not self._begun:
            if len(text) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(text):
                return [text]
            text, self._begun = text.removeprefix(BYTE_ORDER_MARK), True
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")

    @property
    def torn(self) -> bool:
        """Whether an event has begun that did not end."""
        return bool(self._data or self._rest.strip())


def read_chunk(event: bytes) -> StreamChunk:
    """One event's data. Raises HettopError (`predict`) for malformed data, and for an error of the server."""
    if event == DONE:
        return StreamChunk(done=True)
    try:
        chunk = _decode(event)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _malformed(event) from None
    if not isinstance(chunk, dict):
        raise _malformed(event)
    if chunk.get("error"):
        raise HettopError("predict", f"the server reports an error: {error_words(chunk, event)}")
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choice, dict):
        raise _malformed(event)
    usage = chunk.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    details = counted.get("prompt_tokens_details")
    return StreamChunk(
        text=_text(choice),
        finish=_finish(choice.get("finish_reason")),
        prompt_tokens=_count(counted, "prompt_tokens"),
        cached_tokens=_count(details, "cached_tokens") if isinstance(details, dict) else None,
        tokens=_count(counted, "completion_tokens"),
        logprobs=_logprobs(choice),
        model=name if isinstance(name := chunk.get("model"), str) else "",
    )


_decode = msgspec.json.Decoder().decode


def _malformed(event: bytes) -> HettopError:
    return HettopError("predict", f"malformed chunk: {clean(event.decode('utf-8', 'replace'), 60)}")


def error_words(document: Mapping[str, Any], body: bytes) -> str:
    """What a server's error object says; `body`, which it was read from, where it has no message."""
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return clean(message if isinstance(message, str) and message else body.decode("utf-8", "replace"), 120)


def _finish(word: object) -> str | None:
    if not isinstance(word, str) or not word:
        return None
    return word if word in FINISHES else OTHER


def _text(choice: Mapping[str, Any]) -> str:
    delta = choice.get("delta")
    parts = [delta.get(name) for name in TEXTS] if isinstance(delta, dict) else [choice.get("text")]
    return "".join(part for part in parts if isinstance(part, str))


def _logprobs(choice: Mapping[str, Any]) -> int | None:
    found = choice.get("logprobs")
    content = found.get("content") if isinstance(found, dict) else None
    return len(content) if isinstance(content, list) and content else None


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None
