"""Metrics of a running session, read over HTTP as Prometheus would."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator

import pytest

from hettop.errors import HettopError
from hettop.measurement.metrics import Metrics
from hettop.session.session import Session
from tests.streams import MS, header, window

prometheus_client = pytest.importorskip("prometheus_client")
from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: E402

CLASSIC = "application/openmetrics-text; version=1.0.0"
NATIVE = "application/openmetrics-text; version=2.0.0"
PATIENCE_S = 30


def session(*, simulated: bool = False) -> Session:
    """100 samples of 2 ms and one of 9 ms."""
    found = Session()
    found.fold(header(simulated=simulated))
    found.fold(window([2 * MS] * 100 + [9 * MS]))
    return found


class Pumped:
    """Metrics of a session that answers all the time, as one that is measured does."""

    def __init__(self, of: Session) -> None:
        self.metrics = Metrics(0)
        self._of, self._over = of, threading.Event()
        self._thread = threading.Thread(target=self._pump)
        self._thread.start()

    def _pump(self) -> None:
        while not self._over.wait(0.01):
            self.metrics.answer(self._of)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.metrics.close()


@pytest.fixture
def pumped() -> Iterator[Pumped]:
    found = Pumped(session(simulated=True))
    yield found
    found.close()


def ask(port: int, accept: str = CLASSIC, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", "/metrics", headers={"Accept": accept, **headers})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def samples(text: str, name: str) -> list[tuple[dict[str, str], float]]:
    return [
        (sample.labels, sample.value)
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
        if sample.name == name
    ]


def test_it_reports_what_is_known_now_in_the_words_of_the_export(pumped: Pumped) -> None:
    status, text = ask(pumped.metrics.port)
    assert status == 200
    ((labels, count),) = samples(text, "hettop_latency_seconds_count")
    assert labels == {"unit": "CPU_ONLY", "load": "none", "simulated": "true"}
    assert count == 101
    ((_, median),) = samples(text, "hettop_latency_p50_seconds")
    assert median == pytest.approx(0.002)
    pumped._of.fold(window([2 * MS] * 9, t0=10**9))
    ((_, count),) = samples(ask(pumped.metrics.port)[1], "hettop_latency_seconds_count")
    assert count == 110


def test_every_series_of_simulated_data_says_so(pumped: Pumped) -> None:
    _, text = ask(pumped.metrics.port)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    assert all('simulated="true"' in line for line in lines)


def test_measured_data_says_that_it_is_not_simulated() -> None:
    pumped = Pumped(session())
    _, text = ask(pumped.metrics.port)
    pumped.close()
    ((labels, _),) = samples(text, "hettop_latency_seconds_count")
    assert labels["simulated"] == "false"


def test_what_asks_for_plain_text_gets_it(pumped: Pumped) -> None:
    status, text = ask(pumped.metrics.port, "text/plain;version=0.0.4")
    assert status == 200
    assert 'hettop_latency_seconds_bucket{le="+Inf",load="none",simulated="true",unit="CPU_ONLY"} 101.0' in text


@pytest.mark.skipif(not hasattr(prometheus_client.samples, "NativeHistogram"), reason="the library has none")
def test_native_histograms_are_for_those_who_ask_for_them(pumped: Pumped) -> None:
    assert "schema:" not in ask(pumped.metrics.port)[1]
    _, text = ask(pumped.metrics.port, NATIVE)
    (line,) = [line for line in text.splitlines() if "schema:" in line]
    # 2 ms lies in (2^(-144/16), 2^(-143/16)] s, 9 ms in (2^(-109/16), 2^(-108/16)] s: 35 buckets further on.
    assert "count:101,sum:0.209,schema:4" in line
    assert "positive_spans:[-143:1,34:1],positive_deltas:[100,-99]" in line


def test_a_session_that_stands_still_reports_nothing_rather_than_old_figures() -> None:
    metrics = Metrics(0, patience_s=0.05)
    status, text = ask(metrics.port)
    metrics.close()
    assert status == 200
    assert samples(text, "hettop_latency_seconds_count") == []


def test_it_listens_on_loopback_alone(pumped: Pumped) -> None:
    assert pumped.metrics._server.server_address[0] == "127.0.0.1"
    for name in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        status, text = ask(pumped.metrics.port, Host=name)
        assert status == 403
        assert "hettop_" not in text
    assert ask(pumped.metrics.port, Host=f"localhost:{pumped.metrics.port}")[0] == 200


def test_a_port_that_is_taken_is_answered_in_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(HettopError, match="cannot serve metrics on port") as caught:
            Metrics(taken.getsockname()[1])
    assert "--prometheus" in caught.value.hint


def test_nothing_is_made_while_nobody_asks() -> None:
    metrics = Metrics(0)

    class Untouchable(Session):
        @property
        def simulated(self) -> bool:
            raise AssertionError("nobody asked")

    metrics.answer(Untouchable())
    metrics.close()
    metrics.close()


def test_clients_that_go_away_or_talk_nonsense_write_nothing_on_the_screen(
    pumped: Pumped, capfd: pytest.CaptureFixture[str]
) -> None:
    for said in (b"", b"nonsense\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\xff" * 100_000):
        with socket.create_connection(("127.0.0.1", pumped.metrics.port), PATIENCE_S) as client:
            client.sendall(said)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # close with a reset
    assert ask(pumped.metrics.port)[0] == 200
    assert capfd.readouterr() == ("", "")
