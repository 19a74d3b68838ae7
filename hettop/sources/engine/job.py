"""Messages to an engine process: its job,  the commands after it, as JSON lines, and the state they bring it to.

Times are nanoseconds of the machine's monotonic clock.
"""

from __future__ import annotations

import threading
from collections import deque
from enum import Enum, auto

import msgspec

from hettop.events import NO_LOAD
from hettop.models.ports import InputOptions
from hettop.units import MIB

INPUT_SETS = 8
"""Sets of inputs: enough to distinguish wrong outputs from rounding, in little time."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a unit has enough: after `runs` steady samples, or `duration_ns` of steady running. None: never.

    `least_runs` is how many steady samples it takes even if the duration is over.
    """

    runs: int | None = None
    duration_ns: int | None = None
    least_runs: int = 0


class AnswerJob(msgspec.Struct, frozen=True, kw_only=True):
    """Answers token by token instead of single calls: each reads a prompt of its own and gives up to `max_tokens`.

    prompts: a file with a prompt a line, for a server; else prompts are seeded. `served`: the server's name of the
    model. `concurrency`: answers under way at once. `temperature`: 0 takes the most likely token. `state`: pairs of
    input and output by name that override those found. `remote`: whether the server may be on another host.
    """

    prompt_tokens: int = 32
    max_tokens: int = 64
    prompts: str | None = None
    served: str | None = None
    concurrency: int | None = None
    temperature: float = 0.0
    state: dict[str, str] = {}
    remote: bool = False


class EngineJob(msgspec.Struct, frozen=True, kw_only=True):
    """All that a new engine process needs to know.

    It loads the model, makes the first call and `warmup` calls more, and then runs or, with `run` false, waits.
    `rate_hz` paces the samples after the warm-up, `rest_ns` is a rest before each of them. `backlog_bytes` is how much
    it keeps for a reader that stalls.
    Before the warm-up it publishes what the model answers to up to `input_sets` sets of inputs; with 0 nothing.
    `unit` is set for each process by the engine. `sha256` is that of the model's file as it was read first: a unit that
    would load another file fails. None: not checked.
    With `answers` it gives answers token by token; `warmup`, `limits` and `rate_hz` are then of answers.
    With `fresh_state` a stateful model gets a new state before each call, outside of its time, where the backend can.
    With `strict` a unit that would run only a part of the model fails. `custom_ops`: libraries of custom operators.
    """

    backend: str
    model: str
    sha256: str | None = None
    unit: str = ""
    function: str | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
    hints: dict[str, str] = {}
    warmup: int = 10
    limits: Limits = Limits()
    rate_hz: float | None = None
    rest_ns: int = 0
    condition: str = NO_LOAD
    run: bool = True
    backlog_bytes: int = 4 * MIB
    input_sets: int = INPUT_SETS
    fresh_state: bool = False
    answers: AnswerJob | None = None
    strict: bool = False
    custom_ops: tuple[str, ...] = ()

    def inputs(self) -> InputOptions:
        return InputOptions(seed=self.seed, shapes=self.shapes, values=self.values)


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="k"):
    """Something to do from now on."""


class Run(Command, frozen=True, tag="run"):
    """Run without a break."""


class Slots(Command, frozen=True, tag="slots"):
    """Run within these spans [start, end) only; they replace all spans not begun yet."""

    slots: list[tuple[int, int]]


class Pause(Command, frozen=True, tag="pause"):
    """Stay loaded and do nothing."""


class SetLimits(Command, frozen=True, tag="limits"):
    """Replace the limits; counts go on from where they are."""

    limits: Limits


class SetLoad(Command, frozen=True, tag="load"):
    """The competing load that is active now."""

    condition: str


class EndWarmup(Command, frozen=True, tag="warm"):
    """The warm-up has lasted long enough, however much of it is left."""


class Retire(Command, frozen=True, tag="retire"):
    """Hand over to a new process and end, as soon as there is more to run."""


class Stop(Command, frozen=True, tag="stop"):
    """Say goodbye and end."""


AnyCommand = Run | Slots | Pause | SetLimits | SetLoad | EndWarmup | Retire | Stop


def encode(message: EngineJob | AnyCommand) -> bytes:
    """One line, line feed included."""
    return _encoder.encode(message) + b"\n"


def decode_job(line: bytes) -> EngineJob:
    return _job_decoder.decode(line)


def decode_command(line: bytes) -> AnyCommand:
    return _command_decoder.decode(line)


_encoder = msgspec.json.Encoder()
_job_decoder = msgspec.json.Decoder(EngineJob)
_command_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


class RunMode(Enum):
    """What a worker can be asked to do."""

    RUN = auto()
    SLOTS = auto()
    PAUSE = auto()
    STOP = auto()


class WorkerState:
    """What to do now. `changed` is read by the sampling loop after each sample: a plain attribute, no lock.

    `told_to_pause` is set by a command only: a worker that merely began as paused finishes its warm-up.
    `told_warm` and `told_to_retire` stay, whatever is ordered after it.
    """

    def __init__(self, doing: RunMode, limits: Limits, condition: str) -> None:
        self.changed = False
        self.doing = doing
        self.limits = limits
        self.condition = condition
        self.told_to_pause = False
        self.told_warm = False
        self.told_to_retire = False
        self._slots: deque[tuple[int, int]] = deque()
        self._last_begun = -1
        self._news = threading.Condition()

    def obey(self, command: AnyCommand) -> None:
        """Takes in a command and wakes the worker if it waits. Called from the thread that reads them."""
        with self._news:
            match command:
                case SetLimits(limits=limits):
                    self.limits = limits
                case SetLoad(condition=condition):
                    self.condition = condition
                case Slots(slots=slots):
                    self.doing, self.told_to_pause = RunMode.SLOTS, False
                    # The sender cannot know which spans were begun while the command was on its way.
                    self._slots = deque(slot for slot in slots if slot[0] > self._last_begun)
                case Run():
                    self.doing, self.told_to_pause = RunMode.RUN, False
                case Pause():
                    self.doing, self.told_to_pause = RunMode.PAUSE, True
                case EndWarmup():
                    self.told_warm = True
                case Retire():
                    self.told_to_retire = True
                case Stop():
                    self.doing = RunMode.STOP
            self.changed = True
            self._news.notify_all()

    def acknowledge(self) -> None:
        """The worker is about to look at the commands; later ones set `changed` again."""
        self.changed = False

    def next_slot(self, now: int) -> tuple[int, int] | None:
        """The next span that is not over at `now`, to be begun by the caller; None when none is known."""
        with self._news:
            while self._slots and self._slots[0][1] <= now:
                self._slots.popleft()
            return self._slots[0] if self._slots else None

    def begin_slot(self, slot: tuple[int, int]) -> None:
        """The span is begun: it will not be handed out again."""
        with self._news:
            self._last_begun = slot[0]
            while self._slots and self._slots[0][0] <= slot[0]:
                self._slots.popleft()

    def wait(self, seconds: float | None) -> None:
        """Waits for news, `seconds` long at most (None: for ever); returns at once while there are any."""
        with self._news:
            self._news.wait_for(lambda: self.changed, seconds)
