"""Command-line options that several commands share, in plain argparse.

Imports nothing heavy: `hettop --help` must answer at once.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hettop.compute_units import ALIASES_HELP, ALL_UNITS, parse_unit, parse_units
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL, AnswerOptions, ModelOptions
from hettop.sources.engine.names import BACKENDS
from hettop.sources.power.names import FILE, NONE, SOURCES
from hettop.text import clean
from hettop.units import NS_PER_S

_DURATION = re.compile(r"(?P<value>[0-9]+(?:\.[0-9]+)?)(?P<suffix>ms|s|m|min|h)?")
_SECONDS = {"ms": 1e-3, None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MOST_DIGITS = 20
LONGEST_S = 7 * 24 * 3600
LOWEST_PORT, HIGHEST_PORT = 1024, 65_535  # below, ports are the system's
STAGE = "@FUNCTION|NAME=1,128"
LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 1e-3, 1e6  # the lowest is one arrival in a quarter of an hour

MODEL_GROUP = "model options"
MEASURE_GROUP = "measurement options"
OUTPUT_GROUP = "output options"
GENERAL_GROUP = "general options"

TABLE, JSON, JSON_LINES, CSV, MARKDOWN, HTML = "table", "json", "jsonl", "csv", "md", "html"
FORMAT_OF_SUFFIX = {
    ".txt": TABLE,
    ".json": JSON,
    ".jsonl": JSON_LINES,
    ".csv": CSV,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
}
PIPE = "-"


def describe(parser: argparse.ArgumentParser, summary: str, examples: str, notes: str = "") -> None:
    """Let the help of `parser` begin with a summary and examples, and end with `notes`."""
    parser.description = f"{summary}\n\nexamples:\n{examples}"
    parser.epilog = notes


def group_of(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """The group of options with this title, made when it is first asked for."""
    groups = {group.title: group for group in parser._action_groups}
    return groups.get(title) or parser.add_argument_group(title)


def with_words(name: str, words: str) -> str:
    """A name, with an explanation in brackets if there is one."""
    return f"{name} ({words})" if words else name


def invalid(what: str, text: str, hint: str) -> argparse.ArgumentTypeError:
    """The error for a value that an option cannot have; the parser splits it at the last semicolon."""
    return argparse.ArgumentTypeError(f"invalid {what}: {clean(text, 60)!r}; {hint}")


def duration_ns(text: str) -> int:
    """`10s`, `500ms`, `2m`, or a bare number of seconds, in ns."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found["value"]) * _SECONDS[found["suffix"]] if found else 0.0
    if seconds > LONGEST_S:
        raise invalid("duration", text, f"the longest is {LONGEST_S // 3600}h")
    if not seconds > 0:
        raise invalid("duration", text, "write 10s, 500ms, 2m or 1h (a bare number is seconds)")
    return round(seconds * NS_PER_S)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not _is_whole(text) or not 1 <= int(text) <= 10**9:
        raise invalid("number", text, "write a whole number of at least 1")
    return int(text)


def not_negative(text: str) -> int:
    """A whole number of at least 0."""
    if not _is_whole(text) or int(text) > 10**9:
        raise invalid("number", text, "write a whole number of at least 0")
    return int(text)


def _is_whole(text: str) -> bool:
    """Whether it consists of ASCII digits; text with more digits than any limit has is not converted at all."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def rest(text: str) -> int:
    """A pause in ns; 0 is none."""
    return 0 if text.strip() in ("0", "0s") else duration_ns(text)


def rate(text: str) -> float:
    """Arrivals per second."""
    try:
        value = float(text.lower().removesuffix("hz"))
    except ValueError:
        value = 0.0
    if not LOWEST_RATE_HZ <= value <= HIGHEST_RATE_HZ:
        raise invalid("rate", text, f"write inferences per second, such as 30 ({LOWEST_RATE_HZ:g} to 1000000)")
    return value


def add_units_option(parser: argparse.ArgumentParser, words: str, *, default: str | None = ALL_UNITS) -> None:
    """`--units`, a list; `--unit` is accepted too."""
    usual = None if default is None else parse_units(default)
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument(
        "--units", type=parse_units, default=usual, metavar="U,V", help=f"{words}; aliases: {ALIASES_HELP}"
    )
    add_alias(group, "--unit", "units", parse_units)


def add_unit_option(parser: argparse.ArgumentParser, words: str, *, default: str) -> None:
    """`--units` for a command that measures one unit; `--unit` is accepted too."""
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--units", type=parse_unit, default=default, metavar="U", help=f"{words} ({default})")
    add_alias(group, "--unit", "units", parse_unit)


def add_alias(group: argparse._ActionsContainer, flag: str, name: str, read: Callable[[str], Any] = str) -> None:
    """Another name of an option, which no help shows."""
    group.add_argument(flag, dest=name, type=read, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def add_warmup_option(parser: argparse.ArgumentParser, default: int) -> None:
    group_of(parser, MEASURE_GROUP).add_argument(
        "--warmup", type=not_negative, default=default, metavar="N", help=f"calls before measuring ({default})"
    )


def add_length_options(parser: argparse.ArgumentParser, runs: int, per: str) -> None:
    """`-n/--runs` or `--duration`; `per` is what each counts for, `runs` the default."""
    length = group_of(parser, MEASURE_GROUP).add_mutually_exclusive_group()
    length.add_argument("-n", "--runs", type=positive, metavar="N", help=f"steady samples per {per} ({runs})")
    length.add_argument("--duration", type=duration_ns, metavar="10s", help=f"or steady time per {per}")


def add_runs_option(parser: argparse.ArgumentParser, default: int) -> None:
    group_of(parser, MEASURE_GROUP).add_argument(
        "-n", "--runs", type=positive, default=default, metavar="N", help=f"calls to measure ({default})"
    )


def add_model_options(parser: argparse.ArgumentParser, *, or_recording: bool = False) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        default=DEFAULT_MODEL,
        metavar="MODEL|RECORDING" if or_recording else "MODEL",
        help=("a recording, or " if or_recording else "")
        + "an .onnx, .mlpackage, .mlmodel or .aimodel file, a server's URL, tinydecoder, or a network with seeded "
        "weights (hettop models lists them): mobilenetv2[:HxW[:bN]] (default)",
    )
    group = group_of(parser, MODEL_GROUP)
    group.add_argument(
        "--backend", metavar="B", help=", ".join(with_words(name, entry.words) for name, entry in BACKENDS.items())
    )
    group.add_argument("--function", metavar="NAME", help="function of a multifunction model")
    add_shape_option(parser)
    group.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of an input: a number, a .npy file or an image",
    )
    group.add_argument(
        "--hint",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Core ML optimization hint, such as specializationStrategy=FastPrediction",
    )
    group.add_argument(
        "--custom-ops", action="append", default=[], metavar="LIB", help="library of custom operators (ONNX Runtime)"
    )
    group.add_argument("--seed", type=not_negative, default=0, metavar="N", help="seed of random inputs (0)")


def add_shape_option(parser: argparse.ArgumentParser) -> None:
    group_of(parser, MODEL_GROUP).add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,640,640", help="shape of an input with dynamic axes"
    )


def add_against_option(parser: argparse.ArgumentParser) -> None:
    group_of(parser, MEASURE_GROUP).add_argument(
        "--against", metavar="MODEL", help="a second model, measured in turns on the same units as UNIT~b"
    )


def add_power_option(parser: argparse.ArgumentParser, when: str = "", default: str = "best available") -> None:
    """`when`: the use of the command that it is for, if not all."""
    sources = f"{', '.join(SOURCES)}, {FILE}PATH (a capture) or {NONE}"
    group_of(parser, MEASURE_GROUP).add_argument(
        "--power", metavar="SRC", help=f"{when}power source: {sources} ({default})"
    )


def add_measure_options(parser: argparse.ArgumentParser) -> None:
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument(
        "--rate", type=rate, metavar="HZ", help="arrivals per second; latency then counts from the planned start"
    )
    add_power_option(parser)
    group.add_argument(
        "--load", default="none", metavar="LOAD", help="competing load, such as cpu:2+memory:1@50%% (none)"
    )
    group.add_argument(
        "--canary",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="count frames that a 60 Hz screen misses (on in the live view and with --load or --rate)",
    )
    add_record_option(parser)


def add_record_option(
    parser: argparse.ArgumentParser, words: str = "record the session (.jsonl or .jsonl.zst)"
) -> None:
    """`--record`, and `--force` unless the parser has it."""
    group_of(parser, OUTPUT_GROUP).add_argument("--record", metavar="FILE", help=words)
    add_force_option(parser)


def add_force_option(parser: argparse.ArgumentParser, words: str = "replace existing files") -> None:
    if "--force" not in parser._option_string_actions:
        group_of(parser, OUTPUT_GROUP).add_argument("--force", action="store_true", help=words)


def port(text: str) -> int:
    """A port that a program may listen on."""
    if not _is_whole(text) or not LOWEST_PORT <= int(text) <= HIGHEST_PORT:
        raise invalid("port", text, f"write a port from {LOWEST_PORT} to {HIGHEST_PORT}")
    return int(text)


def add_metrics_option(parser: argparse.ArgumentParser) -> None:
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--prometheus",
        type=port,
        metavar="PORT",
        help="serve metrics at http://127.0.0.1:PORT/metrics (extra: prometheus)",
    )


def wants_canary(arguments: argparse.Namespace, *, otherwise: bool) -> bool:
    """Whether to run the canary: as the user chose, otherwise where the machine is shared with a load or a rate."""
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
        answers=AnswerOptions(
            prompt_tokens=getattr(arguments, "prompt_tokens", None),
            max_tokens=getattr(arguments, "max_tokens", None),
            prompts=getattr(arguments, "prompts", None),
            served=getattr(arguments, "served", None),
            concurrency=getattr(arguments, "concurrency", None),
            temperature=getattr(arguments, "temperature", None),
            state=tuple(getattr(arguments, "state", ())),
            remote=getattr(arguments, "remote", False),
        ),
        strict=bool(getattr(arguments, "strict", False)),
        custom_ops=tuple(getattr(arguments, "custom_ops", ())),
    )


ANSWER_GROUP = "token stream options (tinydecoder, a server's URL, or any decoder with one of these)"


def temperature(text: str) -> float:
    """A temperature of sampling, 0 or above."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise invalid("temperature", text, "write a number from 0 to 100")
    return value


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    group = group_of(parser, ANSWER_GROUP)
    group.add_argument("--max-tokens", type=positive, metavar="N", help="tokens per answer (64)")
    group.add_argument("--prompt-tokens", type=positive, metavar="N", help="tokens of a seeded prompt (32)")
    group.add_argument("--temperature", type=temperature, metavar="T", help="seeded sampling (0: the likeliest token)")
    group.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="IN=OUT",
        help="output that is fed back to an input in the next call (default: by name and shape)",
    )
    group.add_argument("--model", dest="served", metavar="NAME", help="servers: the model to ask (the first listed)")
    group.add_argument("--prompts", metavar="FILE", help="servers: a prompt per line, instead of seeded ones")
    group.add_argument("--concurrency", type=positive, metavar="N", help="servers: answers under way at once (1)")
    group.add_argument(
        "--allow-remote", dest="remote", action="store_true", help="servers: allow one that is not on this machine"
    )


def add_strict_option(parser: argparse.ArgumentParser) -> None:
    group_of(parser, MODEL_GROUP).add_argument(
        "--strict", action="store_true", help="fail where a unit would leave operations to the CPU (ONNX Runtime)"
    )


def add_token_options(parser: argparse.ArgumentParser) -> None:
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument(
        "--prefill",
        action="append",
        default=[],
        metavar=STAGE,
        help="language models: the function, or input shape, of the prefill stage (UNIT~prefill)",
    )
    group.add_argument(
        "--decode",
        action="append",
        default=[],
        metavar=STAGE,
        help="language models: the function, or input shape, of the decode stage (UNIT)",
    )
    group.add_argument(
        "--tokens",
        metavar="PREFILL,DECODE",
        help="tokens per call of each stage (default: from the axis in which their shapes differ)",
    )


class _SetFormat(argparse.Action):
    """Sets the output format; two options that set different ones exclude each other."""

    accepted: Mapping[str, tuple[str, Any]] = {}
    """Further values of `--format`, with what each sets instead: the destination and the value."""

    def __call__(self, _: argparse.ArgumentParser, space: argparse.Namespace, values: Any, *__: Any) -> None:
        value = self.const if self.nargs == 0 else values
        if value in self.accepted:
            setattr(space, *self.accepted[value])
            return
        before = getattr(space, self.dest, None)
        if before not in (None, value):
            raise HettopError("usage", f"output formats exclude each other: {before}, {value}", "use one of them")
        setattr(space, self.dest, value)


def _format_name(text: str) -> str:
    return MARKDOWN if text.lower() == "markdown" else text


def add_output_options(
    parser: argparse.ArgumentParser,
    formats: Sequence[str] = (TABLE, JSON),
    accepted: Mapping[str, tuple[str, Any]] | None = None,
) -> None:
    """`--format`, its short forms, and `-o/--output` with `--force`. `accepted`: as `_SetFormat` has it."""
    group = group_of(parser, OUTPUT_GROUP)
    short = partial(group.add_argument, dest="format", action=_SetFormat, nargs=0)
    form: Any = group.add_argument(
        "--format",
        action=_SetFormat,
        type=_format_name,
        choices=(*formats, *(accepted or ())),
        metavar="F",
        help=f"{', '.join(formats[:-1])} or {formats[-1]} ({formats[0]})",
    )
    form.accepted = accepted or {}
    if JSON in formats:
        short("--json", const=JSON, help="print JSON (--format json)")
    if JSON_LINES in formats:
        words = "print a JSON line for each sample (--format jsonl)"
        short("--jsonl", const=JSON_LINES, help=words)
    if MARKDOWN in formats:
        words = "print Markdown (--format md)"
        short("--markdown", const=MARKDOWN, help=words)
    suffixes = ", ".join(suffix for suffix, name in FORMAT_OF_SUFFIX.items() if name in formats and len(suffix) < 7)
    group.add_argument(
        "-o", "--output", metavar="OUT", help=f"write the result to OUT; the suffix selects the format ({suffixes})"
    )
    add_force_option(parser)
    parser.set_defaults(formats=tuple(formats))


def choose_format(arguments: argparse.Namespace) -> None:
    """Set `format`, by the suffix of `--output` if no option names it, and `as_json`.

    Raises HettopError (`usage`) where neither says which format the file is to have.
    """
    formats: tuple[str, ...] = arguments.formats
    named = None
    if arguments.output not in (None, PIPE):
        named = FORMAT_OF_SUFFIX.get(os.path.splitext(arguments.output)[1].lower())  # noqa: PTH122 - pathlib is slow
    if arguments.format is not None and named in formats and named != arguments.format:
        raise HettopError(
            "usage",
            f"--format {arguments.format} does not fit the file name: {clean(arguments.output)!r}",
            "leave out one of them, or name another file",
        )
    if arguments.format is None:
        arguments.format = formats[0]
        if arguments.output not in (None, PIPE):
            if named not in formats:
                known = ", ".join(each for each, name in FORMAT_OF_SUFFIX.items() if name in formats)
                hint = f"name a file with one of {known}, or add --format"
                raise HettopError("usage", f"no output format for this file name: {clean(arguments.output)!r}", hint)
            arguments.format = named
    arguments.as_json = arguments.format == JSON


STUDY_FORMATS = (TABLE, JSON, CSV, MARKDOWN)


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """The output options of a study: `--format`, `-o`, `--stream`, and `--record` with `--force`."""
    add_output_options(parser, STUDY_FORMATS)
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--stream", action="store_true", help="print progress and intermediate results as JSON lines"
    )
    add_record_option(parser, "keep the result as a recording, for hettop report and hettop replay")


def check_result_options(arguments: argparse.Namespace) -> None:
    """Raises HettopError (`usage`) for two kinds of output, and for `--force` without a file."""
    if arguments.stream and (arguments.format != TABLE or arguments.output is not None):
        raise HettopError("usage", "options exclude each other: --stream, --format or --output", "use one of them")


def check_force(arguments: argparse.Namespace) -> None:
    """Raises HettopError (`usage`) for `--force` without a file to replace."""
    files = [getattr(arguments, name, None) for name in ("record", "output", "out", "to", "report")]
    if arguments.force and all(file in (None, PIPE) for file in files):
        raise HettopError("usage", "--force has nothing to replace", "name a file, or leave out --force")


def model_arguments(model: ModelOptions) -> list[str]:
    """The model options as a command line."""
    words = [model.model]
    for option, value in (("--backend", model.backend), ("--function", model.function)):
        words += [option, value] if value is not None else []
    for option, values in (("--shape", model.shapes), ("--input", model.values), ("--hint", model.hints)):
        words += [part for value in values for part in (option, value)]
    words += ["--strict"] if model.strict else []
    words += [part for library in model.custom_ops for part in ("--custom-ops", library)]
    return [*words, "--seed", str(model.seed)] if model.seed else words
