"""Command-line options that several commands share, in plain argparse.

Imports nothing heavy: `hettop --help` must answer at once.
"""

from __future__ import annotations

import argparse
import re

from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL, ModelOptions
from hettop.sources.engine.names import BACKENDS
from hettop.sources.power.names import FILE, NONE, SOURCES
from hettop.units import NS_PER_S

_DURATION = re.compile(r"(?P<value>[0-9]+(?:\.[0-9]+)?)(?P<suffix>ms|s|m|min|h)?")
_SECONDS = {"ms": 1e-3, None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MOST_DIGITS = 20
LONGEST_S = 7 * 24 * 3600
LOWEST_PORT, HIGHEST_PORT = 1024, 65_535  # below, ports are the system's
_STREAM_HELP = "print JSON lines meanwhile: what is going on, how much is done, all that is known; the last is whole"
STAGE = "@FUNCTION|NAME=1,128"
LOWEST_RATE_HZ = 1e-3  # one arrival in a quarter of an hour


def describe(parser: argparse.ArgumentParser, summary: str, examples: str, notes: str = "") -> None:
    """Let the help of `parser` begin with a summary and examples, and end with `notes`."""
    parser.description = f"{summary}\n\nexamples:\n{examples}"
    parser.epilog = notes


def with_words(name: str, words: str) -> str:
    """A name with what there is to know of it in brackets."""
    return f"{name} ({words})" if words else name


def duration_ns(text: str) -> int:
    """`10s`, `500ms`, `2m` or plain seconds, in ns."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found["value"]) * _SECONDS[found["suffix"]] if found else 0.0
    if not 0 < seconds <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 10s, 500ms or 2m")
    return round(seconds * NS_PER_S)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not _is_whole(text) or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def not_negative(text: str) -> int:
    """A whole number of at least 0."""
    if not _is_whole(text) or int(text) > 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def _is_whole(text: str) -> bool:
    """Of digits as everybody writes them; more of them than any limit has are not even converted."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def rest(text: str) -> int:
    """A rest in ns; 0 is none."""
    return 0 if text.strip() in ("0", "0s") else duration_ns(text)


def rate(text: str) -> float:
    """Arrivals a second."""
    try:
        value = float(text.lower().removesuffix("hz"))
    except ValueError:
        value = 0.0
    if not LOWEST_RATE_HZ <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no rate; write a number of inferences a second, such as 30")
    return value


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="an .onnx, .mlpackage or .mlmodel file, or mobilenetv2[:HxW[:bN]], with seeded weights (the default)",
    )
    parser.add_argument(
        "--backend", metavar="B", help=", ".join(with_words(name, entry.words) for name, entry in BACKENDS.items())
    )
    parser.add_argument("--function", metavar="NAME", help="function of a multifunction model")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,640,640", help="shape of an input with dynamic axes"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of an input: a number, a .npy file or an image",
    )
    parser.add_argument(
        "--hint",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="optimisation hint for Core ML, such as specializationStrategy=FastPrediction",
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="N", help="seed of made-up inputs (0)")


def add_against_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against", metavar="MODEL", help="another model beside it, in turns on the same units, as UNIT~b"
    )


def add_power_option(parser: argparse.ArgumentParser, when: str = "") -> None:
    """`when`: in which use of the command, if not in all."""
    sources = f"{', '.join(SOURCES)}, {FILE}PATH (a capture: for show) or {NONE}"
    parser.add_argument("--power", metavar="SRC", help=f"{when}source of power: {sources} (the best there is)")


def add_measure_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate", type=rate, metavar="HZ", help="pace arrivals; response and misses then count from the planned start"
    )
    add_power_option(parser)
    parser.add_argument("--load", default="none", metavar="LOAD", help="competing load, such as cpu:2+memory:1@50%%")
    parser.add_argument(
        "--canary",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="count the frames that a 60 Hz screen misses meanwhile (on in the live view, and with --load or --rate)",
    )
    parser.add_argument(
        "--record", metavar="FILE", help="record the session as JSON Lines; FILE.jsonl.zst is compressed after its end"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file given to --record")


def port(text: str) -> int:
    """A port that a program may listen on."""
    if not _is_whole(text) or not LOWEST_PORT <= int(text) <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; choose one from {LOWEST_PORT} to {HIGHEST_PORT}")
    return int(text)


def add_metrics_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prometheus",
        type=port,
        metavar="PORT",
        help="meanwhile, serve metrics at http://127.0.0.1:PORT/metrics (extra: prometheus)",
    )


def wants_canary(arguments: argparse.Namespace, *, otherwise: bool) -> bool:
    """Whether the canary is to run: as the user said, else where others share the machine."""
    if arguments.canary is not None:
        return bool(arguments.canary)
    return otherwise or arguments.load != "none" or arguments.rate is not None


def model_options(arguments: argparse.Namespace) -> ModelOptions:
    return ModelOptions(
        model=arguments.model,
        backend=arguments.backend,
        function=arguments.function,
        shapes=tuple(arguments.shape),
        values=tuple(arguments.input),
        hints=tuple(arguments.hint),
        seed=arguments.seed,
    )


def add_token_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prefill",
        action="append",
        default=[],
        metavar=STAGE,
        help="of a token-by-token model: the function that takes in a prompt, or the shape of an input; UNIT~prefill",
    )
    parser.add_argument(
        "--decode", action="append", default=[], metavar=STAGE, help="and what goes on from there, token by token; UNIT"
    )
    parser.add_argument(
        "--tokens",
        metavar="PREFILL,DECODE",
        help="tokens of a sequence in a call of each (by the axis in which their shapes differ)",
    )


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """`--json`, `--stream`, and `--record` with `--force`."""
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    parser.add_argument("--stream", action="store_true", help=_STREAM_HELP)
    parser.add_argument("--record", metavar="FILE", help="keep it as a recording, for hettop report and hettop replay")
    parser.add_argument("--force", action="store_true", help="replace FILE")


def check_result_options(arguments: argparse.Namespace) -> None:
    """Raises HettopError (`usage`) for two kinds of output, and for `--force` without a file."""
    if arguments.as_json and arguments.stream:
        raise HettopError("usage", "--json prints when all is done, --stream meanwhile", "use one of them")
    if arguments.force and arguments.record is None:
        raise HettopError("usage", "--force replaces a recording, and none is written", "add --record FILE")


def model_arguments(model: ModelOptions) -> list[str]:
    """The model as the user wrote it, for another command line."""
    told = [model.model]
    for option, value in (("--backend", model.backend), ("--function", model.function)):
        told += [option, value] if value is not None else []
    for option, values in (("--shape", model.shapes), ("--input", model.values), ("--hint", model.hints)):
        told += [part for value in values for part in (option, value)]
    return [*told, "--seed", str(model.seed)] if model.seed else told
