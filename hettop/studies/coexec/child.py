"""Has a co-execution measured by a dispatch process, passes on what it says, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the dispatch is killed if hettop dies, and its workers too.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from hettop.errors import HettopError
from hettop.processes.call import COLLECT_S, Call
from hettop.processes.child_process import environment_for_child, module_command
from hettop.processes.reaper import Reaper
from hettop.studies.coexec.messages import CoexecJob, CoexecProgress
from hettop.studies.coexec.rates import NOTHING_YET, Result

DISPATCH = module_command("hettop.studies.coexec.dispatch")
READ_BYTES = 1 << 16

PARTIAL_S = 5.0
"""How long a dispatch that was told to end may take to say what it has."""


class EndAskedError(KeyboardInterrupt):
    """Somebody wants it to end."""


def coexecute(
    job: CoexecJob,
    on_progress: Callable[[CoexecProgress], None] = lambda _: None,
    *,
    argv: Sequence[str] = DISPATCH,
    environment: Mapping[str, str] | None = None,
    ending: Collection[int] = (),
) -> Result:
    """What came of it; after an interrupt what came of it until then.

    on_progress: is called with what is going on, and with what is known by now. ending: descriptors; the end of one
    means to end, as an interrupt does. Raises HettopError: as the measuring does, and `interrupted` where one of them
    ended before anything was measured; KeyboardInterrupt, if nothing was measured before it.
    """
    reaper = Reaper()
    try:
        own = environment_for_child(os.environ if environment is None else environment)
        dispatch = Call(
            argv,
            job,
            Result,
            own,
            reaper,
            name="dispatch process",
            progress_type=CoexecProgress,
            on_progress=on_progress,
        )
        try:
            return _result(dispatch, ending)
        finally:
            dispatch.collect(COLLECT_S)
    finally:
        reaper.close()


def _result(dispatch: Call[Result], ending: Collection[int]) -> Result:
    asked: KeyboardInterrupt | None = None
    try:
        while not dispatch.poll():
            dispatch.process.wait(None, ending)
            _look_for_the_end(ending)
    except KeyboardInterrupt as error:
        asked = error
        _await_last_words(dispatch)
    dispatch.collect(COLLECT_S)
    try:
        return dispatch.answer()
    except HettopError as error:
        if isinstance(asked, EndAskedError) and not dispatch.answered:
            raise HettopError("interrupted", NOTHING_YET) from asked
        if asked is not None and not isinstance(asked, EndAskedError):
            raise asked from error
        raise


def _look_for_the_end(ending: Collection[int]) -> None:
    """Raises EndAskedError once one of `ending` has ended."""
    if any(not os.read(each, READ_BYTES) for each in select.select(ending, [], [], 0)[0]):
        raise EndAskedError


def _await_last_words(dispatch: Call[Result]) -> None:
    """What a dispatch that is told to end has by then, or why it has nothing."""
    dispatch.process.hang_up()
    deadline = time.monotonic() + PARTIAL_S
    while not dispatch.poll() and (left := deadline - time.monotonic()) > 0:
        dispatch.process.wait(left)
