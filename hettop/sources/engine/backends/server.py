"""Asks an OpenAI-compatible server for answers, and takes the time of each chunk that it streams.

Where the model runs, and on what, is the server's business; httpx is imported when a model is loaded.
"""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.ports import Feed, InputOptions, Port
from hettop.models.served import check_address
from hettop.sources.engine.backend import Answer, Clock, Loaded, LoadOptions
from hettop.sources.engine.job import AnswerJob
from hettop.sources.engine.token_stream import EventReader, error_words
from hettop.text import clean
from hettop.units import NS_PER_S

UNIT = "SERVER"
NOT_ASKED = "the server decides what runs its model"
KEY = "HETTOP_API_KEY"
"""The variable of the environment whose value is sent as a bearer token; it is printed and recorded nowhere."""

CONNECT_S, SILENT_S = 10.0, 120.0
"""Limits of a connection; and of silence within an answer, a whole response header and a whole list of models."""

REFUSAL_S = 10.0
"""How long the words of a refusal may take; what came until then is shown."""

WITHOUT_TOKEN_NS = 300 * NS_PER_S
"""A stream that is alive, but brings no token for so long, is given up."""

LONGEST_LIST = 1 << 20
"""Bytes of a list of models; hundreds of models take less."""

BEYOND = 16
"""An answer may exceed the number of tokens asked for by so many chunks; then it is taken for one that never ends. A
server's count beyond that is not believed."""

TOGETHER_NS = 300_000
"""Chunks closer than this were there together: queued ones are handed out as fast as the client reads, which takes up
to 0.26 ms (P99). A model that gives 3,000 tokens per second to one reader looks the same."""

NEW_WORDS = 4
"""Words by the clock at the beginning of a prompt: 67 million beginnings."""

LONGEST_ERROR = 4096
CHAT = "/chat/completions"
EVENT_STREAM = "text/event-stream"
WORDS = (
    "time year people way day man thing woman life child world school state family student group country problem hand "
    "part place case week company system program question work number night point home water room mother area money "
    "story fact month lot right study book eye job word business issue side kind head house service friend father "
    "power hour game line end member law car city community name"
)
"""Common words, most of which are one token in common vocabularies; prompts are drawn from them."""


def _import_httpx() -> Any:
    try:
        return importlib.import_module("httpx")
    except ImportError as error:
        raise HettopError("missing", "asking a server needs httpx", "pip install 'hettop[http]'") from error


class ServerBackend:
    """One server and one of its models. `find_httpx` imports the client, in the engine process."""

    name = "server"
    simulated = False
    has_native = False

    def __init__(self, clock: Clock, find_httpx: Callable[[], Any] = _import_httpx) -> None:
        self.clock = clock
        self._find_httpx = find_httpx
        self._httpx: Any = None
        self._client: Any = None
        self._address = ""

    def units(self) -> dict[str, str | None]:
        return {**dict.fromkeys(CORE_ML_UNITS, NOT_ASKED), UNIT: None}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Opens a client for the address; no model is loaded by that. Raises HettopError: `missing`, `usage`."""
        if unit != UNIT or options.threads is not None:
            raise HettopError("unsupported-unit", f"{clean(unit)}: {NOT_ASKED}", f"use {UNIT}")
        self._httpx = self._find_httpx()
        key = os.environ.get(KEY)
        self._client = self._httpx.Client(
            headers={"Accept-Encoding": "identity", **({} if not key else {"Authorization": f"Bearer {key}"})},
            timeout=self._httpx.Timeout(SILENT_S, connect=CONNECT_S),
            follow_redirects=False,  # another address was not named
            trust_env=False,
            limits=self._httpx.Limits(max_connections=None, max_keepalive_connections=None),
        )
        self._address = model.rstrip("/")
        return Loaded(unit, None, None, (), ())

    def answering(self, job: AnswerJob, inputs: InputOptions) -> ServerAnswers:
        """Raises HettopError: `usage` for an address on another machine, `missing` for one where nothing answers."""
        check_address(self._address, remote=job.remote)
        return ServerAnswers(self._client, self._address, job, httpx=self._httpx, seed=inputs.seed, now=self.clock.now)

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:  # noqa: ARG002 (has no inputs)
        return {}

    def predict(self, feed: Feed) -> None:  # noqa: ARG002 (gives answers only)
        raise HettopError("predict", "a server gives answers token by token, not single calls")

    def outputs(self) -> Mapping[str, Any]:
        return {}

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass


class ServerAnswers:
    """Asks for one answer after another; several threads may do so at once."""

    streamed = True

    def __init__(
        self,
        client: Any,
        address: str,
        job: AnswerJob,
        *,
        httpx: Any,
        seed: int,
        now: Callable[[], int],
    ) -> None:
        self._header = threading.local()  # when that of a thread must have come
        self._client, self._httpx, self._address = client, httpx, address
        self._job, self._seed, self._now = job, seed, now
        self._prompts = None if job.prompts is None else read_prompts(Path(job.prompts))
        self._model = job.served or self._first_model()
        if any("\ud800" <= character <= "\udfff" for character in self._model):
            raise HettopError(
                "usage", f"invalid model name: {clean(self._model, 80)}: not valid Unicode", "name it with --model NAME"
            )
        self._answering_model = ""
        self._begun = self._now()

    @property
    def words(self) -> str:
        """The model that was asked for; after the first answer, which one the server says has answered."""
        asked, other = clean(self._model, 80), clean(self._answering_model, 80)
        answered = f" (the server names {other} in its answers)" if other not in ("", asked) else ""
        return f"model {asked}{answered}, streamed over HTTP"

    def answer(self, number: int) -> Answer:
        answer = Answer(iter(()))
        answer.chunks = self._chunks(number, answer)
        return answer

    def prompt(self, number: int) -> str:
        """A line of the file, one after another, or words by the seed. The first of them are by the clock, so that no
        server has read the beginning of a prompt before: llama.cpp keeps what it read for earlier runs, too."""
        if self._prompts is not None:
            return self._prompts[number % len(self._prompts)]
        words, n = WORDS.split(), self._job.prompt_tokens
        new = np.random.default_rng([self._seed, number, self._begun]).integers(0, len(words), min(n, NEW_WORDS))
        usual = np.random.default_rng([self._seed, number]).integers(0, len(words), n)
        return " ".join(words[at] for at in (*new, *usual[new.size :]))

    def _chunks(self, number: int, answer: Answer) -> Iterator[tuple[int, bool]]:
        try:
            with self._asked("POST", CHAT, json=self._request(number)) as found:
                if found.status_code != self._httpx.codes.OK:
                    raise self._refused(found)
                count = yield from self._read(found.iter_raw(), answer, found.headers.get("content-type", ""))
                self._check_counts(answer, count)
        except self._httpx.TimeoutException as error:
            raise HettopError("predict", f"the server was silent for {SILENT_S:.0f} s") from error
        except self._httpx.HTTPError as error:
            raise HettopError(
                "predict", f"connection lost: {clean(str(error) or type(error).__name__, 120)}"
            ) from error

    @contextmanager
    def _asked(self, method: str, path: str, **content: Any) -> Iterator[Any]:
        """The response, its header read. Raises HettopError (`predict`) if that takes too long, or for a redirect."""
        request = self._client.build_request(
            method, self._address + path, extensions={"trace": self._limit_reads}, **content
        )
        self._header.end = self._now() + round(SILENT_S * NS_PER_S)
        try:
            response = self._client.send(request, stream=True)
        finally:
            self._header.end = None
        try:
            if response.next_request is not None:
                there = clean(str(response.next_request.url).removesuffix(path), 120)
                raise HettopError("predict", f"the server redirects to {there} (not followed)", "give that address")
            yield response
        finally:
            response.close()

    def _limit_reads(self, event: str, info: Mapping[str, Any]) -> None:
        """Limits the time of a whole header on a new connection, as httpx's own limit begins anew with every byte.

        httpcore reports a connection by these events, https://www.encode.io/httpcore/extensions/#trace, and reads in
        the thread that asks.
        """
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        stream = info["return_value"]
        read = stream.read

        def limited(*args: Any, **options: Any) -> bytes:
            end = getattr(self._header, "end", None)
            if end is not None and self._now() > end:
                raise HettopError("predict", f"no response header within {SILENT_S:.0f} s")
            data: bytes = read(*args, **options)
            return data

        stream.read = limited

    def _until(self, seconds: float, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces that come within that time, and the one after it."""
        end = self._now() + round(seconds * NS_PER_S)
        for piece in pieces:
            yield piece
            if self._now() > end:
                return

    def _read(
        self, pieces: Iterator[bytes], answer: Answer, content_type: str = EVENT_STREAM
    ) -> Generator[tuple[int, bool], None, int]:
        """Arrival, and whether it is one token with a gap of its own, of each chunk with text; returns their number."""
        reader, count, last_token, previous = EventReader(), 0, self._now(), 0
        for piece in pieces:
            moment = self._now()
            came_with = count > 0 and moment - previous < TOGETHER_NS
            for chunk in reader.feed(piece):
                answer.tokens = answer.tokens if chunk.tokens is None else chunk.tokens
                answer.prompt_tokens = answer.prompt_tokens if chunk.prompt_tokens is None else chunk.prompt_tokens
                answer.cached_tokens = answer.cached_tokens if chunk.cached_tokens is None else chunk.cached_tokens
                answer.finish = chunk.finish or answer.finish
                self._answering_model = chunk.model or self._answering_model
                if chunk.done:
                    answer.finish = answer.finish or "stop"
                    return count
                if chunk.text:
                    count += 1
                    last_token = moment
                    yield moment, not (chunk.several or came_with)
                    came_with, previous = True, moment
            if count > self._job.max_tokens + BEYOND:
                raise HettopError(
                    "predict", f"the answer does not end: {count} chunks for {self._job.max_tokens} tokens"
                )
            if moment - last_token > WITHOUT_TOKEN_NS:
                raise HettopError("predict", f"no token for {WITHOUT_TOKEN_NS // NS_PER_S} s")
        media = content_type.partition(";")[0].strip().lower()
        if not (count or answer.finish) and media not in ("", EVENT_STREAM):
            raise HettopError("predict", f"the server answered {clean(media, 60)} instead of an event stream")
        if reader.torn or not answer.finish:
            raise HettopError("predict", "the server closed the connection before the answer's end")
        return count

    def _check_counts(self, answer: Answer, count: int) -> None:
        """Discards the server's numbers of tokens if they contradict the chunks with text, or what was asked for."""
        none, many = answer.tokens == 0 and count > 0, (answer.tokens or 0) > self._job.max_tokens + BEYOND
        if none or many or answer.prompt_tokens == 0:
            answer.prompt_tokens = None
        if (answer.cached_tokens or 0) > (answer.prompt_tokens or 0):
            answer.cached_tokens = None
        if none or many:
            answer.tokens, answer.contradicted = None, True

    def _request(self, number: int) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": self.prompt(number)}],
            "max_tokens": self._job.max_tokens,
            "temperature": self._job.temperature,
            "seed": self._seed + number,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def _refused(self, response: Any) -> HettopError:
        body = _read_up_to(LONGEST_ERROR, self._until(REFUSAL_S, response.iter_raw()))
        return HettopError("predict", f"HTTP {response.status_code}: {_words(body)}")

    def _first_model(self) -> str:
        """The first that the server lists. Raises HettopError (`missing`)."""
        hint = "start the server, or check the address; name the model with --model NAME"
        try:
            with self._asked("GET", "/models") as found:
                end = self._now() + round(SILENT_S * NS_PER_S)
                body = _read_up_to(LONGEST_LIST, self._until(SILENT_S, found.iter_raw()))
                endless = len(body) > LONGEST_LIST or self._now() > end
        except HettopError as error:
            raise HettopError("missing", error.message, error.hint or hint) from error
        except self._httpx.HTTPError as error:
            raise HettopError(
                "missing", f"no server answers at {clean(self._address, 80)}: {clean(str(error), 80)}", hint
            ) from error
        if endless:
            raise HettopError("missing", "the list of models does not end", hint)
        try:
            name = json.loads(body)["data"][0]["id"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise HettopError("missing", f"the server lists no model (HTTP {found.status_code})", hint) from error
        if not isinstance(name, str) or not name:
            raise HettopError("missing", "the name of the server's first model is not text", hint)
        return name


def read_prompts(path: Path) -> list[str]:
    """The lines of a file that are not empty. Raises HettopError (`missing`, `io`, `usage`)."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise HettopError("missing", f"file not found: --prompts {clean(str(path), 80)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise HettopError("io", f"cannot read --prompts {clean(str(path), 80)}: {clean(str(error), 80)}") from error
    prompts = [line.strip() for line in lines if line.strip()]
    if not prompts:
        raise HettopError("usage", f"no prompts in {clean(str(path), 80)}", "write one prompt per line")
    return prompts


def _read_up_to(limit: int, pieces: Iterator[bytes]) -> bytes:
    """What `pieces` hold, or a little more than `limit` bytes of it."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            break
    return bytes(body)


def _words(body: bytes) -> str:
    """What a refusal says, from its JSON if it is some."""
    text = body[:LONGEST_ERROR].decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return clean(text, 120) or "no reason given"
    return error_words(document, body) if isinstance(document, dict) else clean(text, 120)
