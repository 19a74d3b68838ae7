"""What sudo, powermetrics and macmon print when they fail, as a user sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from hettop.processes.child_process import ChildProcess, ProcessGuard
from hettop.processes.command import start_command
from hettop.sources.power.macmon import MacmonSource
from hettop.sources.power.powermetrics import PowermetricsSource
from hettop.sources.power.source import Machine, PowerLostError, PowerSource
from tests.coreml.error_texts import FROM_MACMON, FROM_POWERMETRICS, FROM_SUDO, ErrorText
from tests.sources.power.machines import first, mac


def failing_with(raw: str) -> Machine:
    """A Mac on which whatever is started prints that and ends."""

    def failing(
        _argv: Sequence[str], environment: Mapping[str, str] | None, guard: ProcessGuard | None
    ) -> ChildProcess:
        return start_command(["/bin/sh", "-c", 'printf "%s\\n" "$1" >&2; exit 1', "sh", raw], environment, guard)

    return replace(mac().machine, spawn=failing)


def why_lost(source: PowerSource) -> str:
    with pytest.raises(PowerLostError) as caught:
        first(source, 1)
    return caught.value.message


def named(texts: Sequence[ErrorText]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("text", [pytest.param(text, id=text.name) for text in texts])


@named([*FROM_SUDO, *FROM_POWERMETRICS])
def test_why_powermetrics_gives_nothing(text: ErrorText) -> None:
    assert text.said in why_lost(PowermetricsSource(failing_with(text.raw)))


@named(FROM_MACMON)
def test_why_macmon_gives_nothing(text: ErrorText) -> None:
    assert why_lost(MacmonSource(failing_with(text.raw))).endswith(f": {text.said}")
