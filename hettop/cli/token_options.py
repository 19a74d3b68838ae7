"""The options of token-by-token models: what prefill runs, what decode runs, and how many tokens a call is.

Imports nothing heavy; what they mean is the wiring's.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.measurement.options import ModelOptions
    from hettop.measurement.setup import Setup

WHAT = "@FUNCTION|NAME=1,128"


def add_token_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prefill",
        action="append",
        default=[],
        metavar=WHAT,
        help="of a token-by-token model: the function that takes in a prompt, or the shape of an input; UNIT~prefill",
    )
    parser.add_argument(
        "--decode", action="append", default=[], metavar=WHAT, help="and what goes on from there, token by token; UNIT"
    )
    parser.add_argument(
        "--tokens",
        metavar="PREFILL,DECODE",
        help="tokens of a sequence in a call of each (by the axis in which their shapes differ)",
    )


def about_tokens(arguments: argparse.Namespace) -> bool:
    """Whether prefill and decode are to be measured. Raises HettopError (`usage`) where one of both is missing."""
    told = {"--prefill": arguments.prefill, "--decode": arguments.decode}
    missing = [name for name, texts in told.items() if not texts]
    if len(missing) == 2 and arguments.tokens is None:
        return False
    if missing:
        raise HettopError(
            "usage",
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            "write --prefill @prefill --decode @decode, or --prefill tokens=1,128 --decode tokens=1,1",
        )
    return True


def token_setup(arguments: argparse.Namespace, options: ModelOptions, units: tuple[str, ...], cores: int) -> Setup:
    """The units with prefill beside decode. Raises HettopError as `prepare_tokens` does."""
    from hettop.measurement.tokens import parse_stage, parse_tokens, prepare_tokens

    return prepare_tokens(
        options,
        units,
        cores,
        prefill=parse_stage(arguments.prefill, "--prefill"),
        decode=parse_stage(arguments.decode, "--decode"),
        tokens=None if arguments.tokens is None else parse_tokens(arguments.tokens),
    )
