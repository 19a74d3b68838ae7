"""Quality of service, with a recording stand-in for the C library."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.processes.qos import set_screen_qos, set_worker_qos


class Library:
    """A C library of macOS that keeps what it is set to, unless it is stubborn."""

    def __init__(self, present: int = 0x15, stubborn: bool = False) -> None:
        self.calls: list[tuple[int, int]] = []
        self._present, self._stubborn = present, stubborn

    def pthread_set_qos_class_self_np(self, qos: Any, priority: Any) -> int:
        self.calls.append((qos.value, priority.value))
        if self._stubborn:
            return 1
        self._present = qos.value
        return 0

    def qos_class_self(self) -> int:
        return self._present


def test_a_worker_is_user_interactive_and_the_screen_stands_back() -> None:
    worker, screen = Library(), Library()
    assert set_worker_qos(worker, "darwin") == "user-interactive"
    assert set_screen_qos(screen, "darwin") == "utility"
    assert (worker.calls, screen.calls) == ([(0x21, 0)], [(0x11, 0)])


def test_what_is_reported_is_the_class_that_the_thread_really_has() -> None:
    assert set_worker_qos(Library(stubborn=True), "darwin") == "default"
    assert set_worker_qos(Library(present=0x7F, stubborn=True), "darwin") is None


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_elsewhere_there_are_no_classes_and_nothing_is_called(platform: str) -> None:
    library = Library()
    assert set_worker_qos(library, platform) is None
    assert library.calls == []


def test_a_library_without_these_functions_is_no_error() -> None:
    assert set_worker_qos(object(), "darwin") is None
