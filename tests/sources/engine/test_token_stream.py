"""Bytes of a streamed answer, cut anywhere."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.sources.engine.token_stream import EventReader, StreamChunk, read_chunk
from tests.sources.engine.scripted_server import chunk, event

STREAM = (
    event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    + b": a comment\n\n"
    + chunk("Hé")
    + chunk(" wörld")
    + event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    + event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
    + b"data: [DONE]\n\n"
)
READ = [
    StreamChunk(),
    StreamChunk(text="Hé"),
    StreamChunk(text=" wörld"),
    StreamChunk(finish="stop"),
    StreamChunk(prompt_tokens=9, tokens=2),
    StreamChunk(done=True),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans())
def test_events_do_not_depend_on_where_the_bytes_were_cut(cuts: list[int], end_of_line: bytes, marked: bool) -> None:
    stream = b"\xef\xbb\xbf" * marked + STREAM.replace(b"\n", end_of_line)
    reader, found, bounds = EventReader(), [], [0, *sorted(cuts), len(stream)]
    for begin, end in pairwise(bounds):
        found += list(reader.feed(stream[begin:end]))
    assert found == READ
    assert not reader.torn


def test_marks_and_line_ends_count_wherever_they_are_cut() -> None:
    reader = EventReader()
    stream = b"\xef\xbb\xbf" + STREAM.replace(b"\n", b"\r\n")
    assert [found for at in range(len(stream)) for found in reader.feed(stream[at : at + 1])] == READ


def test_an_event_that_has_begun_is_torn() -> None:
    reader = EventReader()
    assert list(reader.feed(chunk("a")[:-3])) == []
    assert reader.torn


@pytest.mark.parametrize("text", ["{", "[]", "nonsense", '{"choices": [7]}', "[" * 100_000])
def test_a_malformed_chunk_is_an_error(text: str) -> None:
    with pytest.raises(HettopError, match="malformed chunk"):
        read_chunk(text.encode())


def test_an_endless_line_is_an_error() -> None:
    with pytest.raises(HettopError, match="a line without an end"):
        list(EventReader().feed(b"data: " + b"x" * (2 << 20)))


def test_an_endless_event_is_an_error() -> None:
    reader = EventReader()
    lines = b"data: 89\n" * 116_508  # of 8 bytes each: 932,064 bytes, then twice as many
    assert list(reader.feed(lines)) == []
    with pytest.raises(HettopError, match="an event without an end"):
        list(reader.feed(lines))


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("cut", "other"),
        ("failed", "other"),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_only_the_words_of_the_api_say_why_an_answer_ended(word: object, finish: str | None) -> None:
    assert read_chunk(json.dumps({"choices": [{"finish_reason": word}]}).encode()).finish == finish


def test_an_error_of_the_server_is_passed_on() -> None:
    with pytest.raises(HettopError, match="reports an error: out of memory"):
        read_chunk(json.dumps({"error": {"message": "out of memory"}}).encode())


def test_an_error_without_a_message_is_shown_as_the_server_wrote_it() -> None:
    with pytest.raises(HettopError, match=r'reports an error: \{"error": \{"code": 5\}\}'):
        read_chunk(b'{"error": {"code": 5}}')


@pytest.mark.parametrize(
    ("choice", "several"),
    [
        ({"delta": {"content": " hello"}}, False),
        ({"delta": {"content": " hello world"}}, True),
        ({"delta": {"reasoning_content": "so it is"}}, True),
        ({"text": "a b"}, True),
        ({"delta": {"content": "ab cd"}, "logprobs": {"content": [{"token": "ab cd"}]}}, False),
        ({"delta": {"content": "abcd"}, "logprobs": {"content": [{"token": "ab"}, {"token": "cd"}]}}, True),
    ],
)
def test_several_tokens_show_by_words_or_log_probabilities(choice: object, several: bool) -> None:
    assert read_chunk(json.dumps({"choices": [choice]}).encode()).several is several
