"""Answers of a scripted server, on a clock that the test drives: what came when, stalls, bursts and failures."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.models.ports import InputOptions
from hettop.sources.engine.answers import AnswerLoop
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.server import BEYOND, KEY, ServerAnswers, ServerBackend, _words
from hettop.sources.engine.frames import AnswerReport, SampleFrame
from hettop.sources.engine.job import AnswerJob, Limits, RunMode
from tests.sources.engine.fakes import MS, FakeClock, ListedOut, ScriptedState
from tests.sources.engine.scripted_server import MODEL, Script, Wait, chunk, event, steady

httpx: Any = pytest.importorskip("httpx", reason="httpx is not installed")

ADDRESS = "http://localhost:8080/v1"


class Pieces(httpx.SyncByteStream):  # type: ignore[misc]
    """The pieces of a script; a wait moves the clock."""

    def __init__(self, script: Script, clock: FakeClock) -> None:
        self._script, self._clock = script, clock

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._script.pieces():
            if isinstance(piece, Wait):
                self._clock.advance(round(piece.ms * MS))
            else:
                yield piece
        if not self._script.ends and self._script.status == 200:
            raise httpx.RemoteProtocolError("peer closed connection")


class Bytes(httpx.SyncByteStream):  # type: ignore[misc]
    """Pieces as they are; `taken` counts those that were read."""

    def __init__(self, *pieces: bytes, clock: FakeClock | None = None) -> None:
        self._pieces, self._clock, self.taken = pieces, clock, 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.taken += 1
            if self._clock is not None:
                self._clock.advance(1000 * MS)
            yield piece


def asked_for_models(stream: Bytes, clock: FakeClock | None = None, status: int = 200, **headers: str) -> ServerAnswers:
    """Of a server that answers `stream` to everything."""
    return refusing(stream, clock or FakeClock(), status, served=None, **headers)


def refusing(stream: Bytes, clock: FakeClock, status: int, served: str | None = MODEL, **headers: str) -> ServerAnswers:
    """Of a server that answers `stream` to everything, whose model need not be asked for."""
    respond = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, stream=stream))
    job = AnswerJob(max_tokens=40, served=served)
    return ServerAnswers(httpx.Client(transport=respond), ADDRESS, job, httpx=httpx, seed=5, now=clock.now)


def answers(clock: FakeClock, *scripts: Script, asked: list[Any] | None = None, **job: Any) -> ServerAnswers:
    requests: list[Any] = [] if asked is None else asked

    def respond(request: Any) -> Any:
        if request.method == "GET":
            return httpx.Response(200, stream=Bytes(json.dumps({"data": [{"id": MODEL}]}).encode()))
        requests.append(json.loads(request.content))
        script = scripts[min(len(requests), len(scripts)) - 1]
        return httpx.Response(script.status, stream=Pieces(script, clock))

    client = httpx.Client(transport=httpx.MockTransport(respond))
    return ServerAnswers(client, ADDRESS, AnswerJob(**{"max_tokens": 40, **job}), httpx=httpx, seed=5, now=clock.now)


def measured(*scripts: Script, **job: Any) -> ListedOut:
    """One answer of each script."""
    clock, out = FakeClock(), ListedOut()
    state = ScriptedState(clock, doing=RunMode.RUN, limits=Limits(runs=max(1, len(scripts) - 1)))
    loop = AnswerLoop(answers(clock, *scripts, **job), clock, out, state, warmup=0)
    loop.first_answer()
    loop.run()
    return out


def tokens(out: ListedOut) -> dict[int, list[tuple[int, float]]]:
    """(position, ms) of the tokens after the first, by answer."""
    found: dict[int, list[tuple[int, float]]] = {}
    for frame in out.frames:
        if isinstance(frame, SampleFrame) and not frame.first_token and frame.phase == "steady":
            pairs = [(at + (frame.position or 0), ns / MS) for at, ns in enumerate(frame.latency.tolist())]
            found.setdefault(frame.answer or 0, []).extend(pairs)
    return found


def reports(out: ListedOut) -> list[AnswerReport]:
    return [frame for frame in out.frames if isinstance(frame, AnswerReport)]


PLAIN = Script(steady([5, 5]))


def test_scripted_stalls_are_found_where_they_are() -> None:
    gaps = [5.0] * 30
    gaps[9], gaps[21] = 700.0, 1250.0
    out = measured(PLAIN, Script(steady(gaps, first_ms=300), usage=(11, 31)))
    found = tokens(out)[1]
    assert [at for at, _ in found] == list(range(1, 31))
    assert [ms for _, ms in found] == pytest.approx(gaps, abs=1)
    assert [(at, round(ms)) for at, ms in found if ms > 100] == [(10, 700), (22, 1250)]
    report = reports(out)[1]
    assert (report.first_ns, report.longest_ns) == (300 * MS, 1250 * MS)
    assert (report.finish, report.chunks, report.tokens, report.prompt_tokens) == ("length", 31, 31, 11)


def test_a_burst_counts_the_wait_before_it_and_no_gap_within_it() -> None:
    out = measured(
        PLAIN,
        Script([Wait(20), " a", Wait(5), " b", Wait(400), chunk(" c") + chunk(" d") + chunk(" e"), Wait(5), " f"]),
    )
    assert tokens(out)[1] == [(1, 5.0), (2, 400.0), (5, 5.0)]
    assert (reports(out)[1].chunks, reports(out)[1].several) == (6, 2)


def test_chunks_of_one_packet_are_a_burst_however_the_library_hands_them_out() -> None:
    out = measured(PLAIN, Script([Wait(20), " a", Wait(400), " b", Wait(0.02), " c", Wait(5), " d"]))
    assert tokens(out)[1] == [(1, 400.0), (3, 5.0)]


def test_a_chunk_of_several_tokens_is_no_gap() -> None:
    out = measured(PLAIN, Script([Wait(20), " a", Wait(5), " b", Wait(90), " c d e", Wait(5), " f"]))
    assert tokens(out)[1] == [(1, 5.0), (3, 5.0)]
    assert (reports(out)[1].several, reports(out)[1].tokens) == (1, None)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(status=429), "HTTP 429: scripted refusal"),
        (Script(status=500), "HTTP 500: scripted refusal"),
        (Script([Wait(20), " a", b"data: {broken\n\n"]), "malformed chunk: {broken"),
        (Script([Wait(20), " a"], ends=False), "connection lost: peer closed connection"),
        (Script([" x"] * (40 + BEYOND + 1)), "the answer does not end: 57 chunks for 40 tokens"),
        (Script([Wait(200_000), b": alive\n\n", Wait(200_000), b": alive\n\n"]), "no token for 300 s"),
    ],
)
def test_a_failed_answer_says_why_and_the_next_one_goes_on(script: Script, words: str) -> None:
    out = measured(PLAIN, script, PLAIN)
    failed = reports(out)[1]
    assert failed.finish == "failed"
    assert failed.error.startswith(words)
    assert [report.finish for report in reports(out)] == ["length", "failed", "length", "length"]


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ((11, 3), (11, 3)),
        ((0, 0), (None, None)),
        ((0, 3), (None, 3)),
        ((11, 0), (None, None)),
        ((11, 40 + BEYOND), (11, 40 + BEYOND)),
        ((11, 40 + BEYOND + 1), (None, None)),
    ],
)
def test_counts_that_contradict_the_answer_are_unknown(
    usage: tuple[int, int], counts: tuple[int | None, int | None]
) -> None:
    report = reports(measured(PLAIN, Script(steady([5, 5]), usage=usage)))[1]
    assert (report.prompt_tokens, report.tokens) == counts
    assert report.chunks == 3


def test_a_stream_that_merely_stops_is_not_complete() -> None:
    answering = answers(FakeClock(), PLAIN)
    answer = answering.answer(0)
    with pytest.raises(HettopError, match="closed the connection before the answer's end"):
        list(answering._read(iter([chunk(" a")]), answer))


def test_each_answer_is_asked_for_with_a_prompt_of_its_own() -> None:
    asked: list[Any] = []
    answering = answers(FakeClock(), PLAIN, asked=asked, prompt_tokens=9, temperature=0.5)
    for number in (0, 1, 0):
        list(answering.answer(number).chunks)
    prompts = [request["messages"][0]["content"] for request in asked]
    assert prompts[0] == prompts[2] != prompts[1]
    assert [len(prompt.split()) for prompt in prompts] == [9, 9, 9]
    assert prompts[0].split()[0] != prompts[1].split()[0], "nothing of it was read before"
    assert [asked[1][key] for key in ("model", "max_tokens", "temperature", "seed", "stream")] == [
        *(MODEL, 40, 0.5, 6, True)
    ]


def test_a_later_run_begins_its_prompts_with_other_words() -> None:
    """A server that kept the prompts of a run would read those of the next one in no time."""
    clock = FakeClock()
    asked: list[Any] = []
    for _ in range(2):
        clock.advance(10**9)
        list(answers(clock, PLAIN, asked=asked, prompt_tokens=9).answer(0).chunks)
    first, second = (request["messages"][0]["content"].split() for request in asked)
    assert first[:4] != second[:4]
    assert first[4:] == second[4:], "the rest is by the seed"


def test_a_model_that_was_not_asked_for_is_named() -> None:
    step = event({"model": "served", "choices": [{"delta": {"content": "x"}}]})
    answering = answers(FakeClock(), Script([Wait(1), step]))
    assert answering.words == f"model {MODEL}, streamed over HTTP"
    list(answering.answer(0).chunks)
    assert answering.words == f"model {MODEL} (the server names served in its answers), streamed over HTTP"


def test_prompts_come_from_a_file_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("first\n\nsecond\n")
    answering = answers(FakeClock(), PLAIN, prompts=str(path))
    assert [answering.prompt(number) for number in range(3)] == ["first", "second", "first"]
    path.write_text("\n")
    with pytest.raises(HettopError, match="no prompts"):
        answers(FakeClock(), PLAIN, prompts=str(path))
    with pytest.raises(HettopError, match="file not found"):
        answers(FakeClock(), PLAIN, prompts=str(tmp_path / "none"))


def test_a_server_that_is_not_there_is_missing() -> None:
    def refuse(_: Any) -> Any:
        raise httpx.ConnectError("refused")

    client = httpx.Client(transport=httpx.MockTransport(refuse))
    with pytest.raises(HettopError, match="no server answers at http://localhost:8080/v1: refused") as caught:
        ServerAnswers(client, ADDRESS, AnswerJob(), httpx=httpx, seed=0, now=lambda: 0)
    assert caught.value.kind == "missing"


def test_a_list_of_models_without_an_end_is_given_up() -> None:
    stream = Bytes(*[b" " * 65536] * 100)
    with pytest.raises(HettopError, match="the list of models does not end"):
        asked_for_models(stream)
    assert stream.taken == 17, "1 MiB is 16 pieces"


def test_json_that_is_nested_too_deeply_is_invalid() -> None:
    with pytest.raises(HettopError, match=r"lists no model \(HTTP 200\)"):
        asked_for_models(Bytes(b"[" * 200_000))
    assert _words(b"[" * 4096).startswith("[[[")


def test_what_drips_is_given_up() -> None:
    clock = FakeClock()
    stream = Bytes(*[b" "] * 1000, clock=clock)  # a byte per second
    with pytest.raises(HettopError, match="the list of models does not end"):
        asked_for_models(stream, clock)
    assert stream.taken == 121
    stream = Bytes(*[b"x"] * 1000, clock=clock)
    with pytest.raises(HettopError, match=r"HTTP 500: x{11}$"):
        list(refusing(stream, clock, 500).answer(0).chunks)
    assert stream.taken == 11


def test_a_response_header_that_does_not_end_is_given_up() -> None:
    stopped = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):  # the client hangs up
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not stopped.wait(0.005):
                connection.sendall(b"X: y\r\n")

    moments = count(0, 50_000 * MS)  # each look at the clock is 50 s later
    with socket.create_server(("127.0.0.1", 0)) as listening, httpx.Client(trust_env=False) as client:
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        asking = ServerAnswers(client, address, AnswerJob(served="m"), httpx=httpx, seed=5, now=lambda: next(moments))
        try:
            with pytest.raises(HettopError, match="no response header within 120 s"):
                list(asking.answer(0).chunks)
        finally:
            stopped.set()
            thread.join()
    assert next(moments) == 5 * 50_000 * MS, "one look for the prompts, one for the end, and three before reading"


def test_redirects_and_other_content_are_named() -> None:
    with pytest.raises(HettopError, match=r"redirects to http://localhost:1/v2 \(not followed\)") as caught:
        asked_for_models(Bytes(), status=302, Location="http://localhost:1/v2/models")
    assert caught.value.hint == "give that address"
    page = refusing(Bytes(b"<html>\n\n</html>\n"), FakeClock(), 200, **{"Content-Type": "text/html; charset=utf-8"})
    with pytest.raises(HettopError, match="the server answered text/html instead of an event stream"):
        list(page.answer(0).chunks)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ('"\\ud800x"', "invalid model name: \ufffdx"),
        ('{"a": 1}', "is not text"),
        ("7", "is not text"),
        ('""', "is not text"),
    ],
)
def test_a_model_without_a_valid_name_is_refused(name: str, words: str) -> None:
    with pytest.raises(HettopError, match=words):
        asked_for_models(Bytes(b'{"data": [{"id": %s}]}' % name.encode()))


def test_the_key_of_the_environment_is_sent_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "a-secret")
    monkeypatch.setenv("HTTP_PROXY", "http://example.com:1")
    backend = ServerBackend(RealClock())
    loaded = backend.load(ADDRESS, "SERVER", LoadOptions())
    assert backend._client.headers["authorization"] == "Bearer a-secret"
    assert "a-secret" not in repr(loaded)
    assert not backend._client.follow_redirects
    assert backend._client.trust_env is False


def test_units_and_addresses_that_do_not_fit_are_refused() -> None:
    backend = create("server", RealClock())
    assert [unit for unit, why in backend.units().items() if why is None] == ["SERVER"]
    with pytest.raises(HettopError, match="the server decides"):
        backend.load(ADDRESS, "CPU_ONLY", LoadOptions())
    with pytest.raises(HettopError, match="needs httpx"):
        ServerBackend(RealClock(), _no_httpx).load(ADDRESS, "SERVER", LoadOptions())
    remote = ServerBackend(RealClock())
    remote.load("http://192.0.2.1/v1", "SERVER", LoadOptions())
    with pytest.raises(HettopError, match="not on this machine"):
        remote.answering(AnswerJob(), InputOptions())


def _no_httpx() -> Any:
    raise HettopError("missing", "asking a server needs httpx", "pip install 'hettop[http]'")
