"""`--prometheus PORT`: metrics while a measurement runs, in `bench` and in the live view alike."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests.cli.running import HETTOP, hettop, plain_environment
from tests.processes.waiting import PATIENCE_S

pytest.importorskip("prometheus_client")

WITHOUT = (
    "import sys; sys.modules['prometheus_client'] = None; "
    "import hettop.cli.main as cli; sys.argv = ['hettop', 'bench', '--backend', 'simulated', '--prometheus', '9464']; "
    "sys.exit(cli.run(sys.argv[1:]))"
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def text_at(port: int, wanted: str) -> str:
    """What is served once it has `wanted` in it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
                text: str = answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            text = ""
        if wanted in text:
            return text
        assert time.monotonic() < deadline, f"{wanted} never came\n{text}"
        time.sleep(0.1)


def test_a_bench_can_be_read_while_it_runs_and_not_after() -> None:
    port = free_port()
    arguments = ["bench", "--backend", "simulated", "--units", "CPU_AND_NE", "--duration", "60s"]
    with subprocess.Popen(
        [*HETTOP, *arguments, "--prometheus", str(port)], stderr=subprocess.PIPE, text=True, env=plain_environment()
    ) as process:
        text = text_at(port, 'hettop_latency_seconds_count{load="none",')
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE_S)
    assert 'simulated="true"' in text
    assert f"metrics at http://127.0.0.1:{port}/metrics" in said
    assert "Traceback" not in said
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)


def test_a_port_that_is_taken_is_wrong_use_and_starts_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = hettop("bench", "--backend", "simulated", "--prometheus", port)
    assert done.returncode == 2
    assert "cannot serve metrics" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("port", ["0", "80", "70000", "x", "-1", "9" * 30])
def test_what_is_no_port_is_wrong_use(port: str) -> None:
    done = hettop("bench", "--backend", "simulated", f"--prometheus={port}")
    assert done.returncode == 2
    assert "port" in done.stderr


def test_without_the_library_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=plain_environment(),
    )
    assert done.returncode == 2
    assert "pip install 'hettop[prometheus]'" in done.stderr
