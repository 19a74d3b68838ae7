"""`hettop completions`: what a shell needs to complete hettop's commands and options, made from their parsers."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping

from hettop.cli.commands import COMMANDS, LIVE, Option, all_options
from hettop.cli.topics import TOPICS
from hettop.sources.engine.names import BACKENDS
from hettop.sources.power.names import NONE, SOURCES

_FILES = re.compile(r"FILE|MODEL|RECORDING|OUT|PATH|DIR")
"""Placeholders in whose place a file may stand; the two of a comparison are files, too."""

VALUES: Mapping[str, tuple[str, ...]] = {
    "--unit": ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"),
    "--units": ("all", "CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"),
    "--backend": tuple(BACKENDS),
    "--load": ("none", "cpu:1", "cpu:2", "memory:1", "gpu:1", "ane:1"),
    "--power": (*SOURCES, NONE),
    "--source": tuple(SOURCES),
    "--theme": (
        "hettop-dark",
        "hettop-light",
        "hettop-high-contrast",
        "hettop-okabe-ito",
        "hettop-mono",
        "hettop-phosphor",
        "hettop-aurora",
    ),
}
"""Values worth offering where a parser takes any."""

Commands = Mapping[str, list[Option]]


def run(arguments: argparse.Namespace) -> int:
    shell = arguments.shell
    sys.stdout.write(SHELLS[shell](dict(all_options())))
    return 0


def values_of(option: Option) -> tuple[str, ...]:
    """What may be offered for its value; empty where nothing is known, or a file may stand there."""
    if option.takes == "TOPIC":
        return (*TOPICS, *COMMANDS)
    named = next((VALUES[flag] for flag in option.flags if flag in VALUES), ())
    return option.choices or named


def takes_file(option: Option) -> bool:
    """Whether a file may stand there."""
    return _FILES.search(option.takes) is not None or (not option.flags and option.takes in ("A", "B"))


def _bash(commands: Commands) -> str:
    """A function of its own, which does without the bash-completion package."""
    cases = []
    for command, options in commands.items():
        flags = " ".join(flag for option in options for flag in option.flags)
        words = (*(COMMANDS if command == LIVE else ()), *_positional_values(options))
        cases.append(f"        {command or '-'}) flags='{flags}'; words='{' '.join(words)}' ;;")
    offers: dict[str, list[str]] = {}
    for command, options in commands.items():
        for option in (option for option in options if option.takes or option.choices):
            offers.setdefault(_bash_offer(option), []).extend(f"'{command or '-'} {flag}'" for flag in option.flags)
    value_cases = [
        f'        {"|".join(where)}) COMPREPLY=($(compgen {offer} -- "$current")); return ;;'
        for offer, where in offers.items()
        if where
    ]
    return _BASH.format(commands=" ".join(COMMANDS), values="\n".join(value_cases), cases="\n".join(cases))


def _bash_offer(option: Option) -> str:
    """What `compgen` is told, to offer values of this option."""
    return "-f" if takes_file(option) else f"-W '{' '.join(values_of(option))}'"


_BASH = """\
# hettop's completion for bash; made by `hettop completions bash`
_hettop() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command=- flags words word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case " {commands} " in *" $word "*) command="$word"; break ;; esac
    done
    COMPREPLY=()
    case "$command $before" in
{values}
    esac
    case "$command" in
{cases}
    esac
    if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _hettop hettop
"""


def _positional_values(options: list[Option]) -> tuple[str, ...]:
    return tuple(value for option in options if not option.flags for value in values_of(option))


def _zsh(commands: Commands) -> str:
    described = "\n".join(
        f"        {_quoted(f'{name}:{_zsh_words(command.summary)}')}" for name, command in COMMANDS.items()
    )
    cases = [
        f"        {command}) _arguments -s {' '.join(map(_zsh_spec, options))} ;;"
        for command, options in commands.items()
        if command != LIVE
    ]
    live = " ".join(_zsh_spec(option) for option in commands[LIVE] if option.flags)
    return _ZSH.format(commands=described, live=live, cases="\n".join(cases))


_ZSH = """\
#compdef hettop
# hettop's completion for zsh; made by `hettop completions zsh`
_hettop() {{
    local -a commands=(
{commands}
    )
    local context state state_descr line
    typeset -A opt_args
    _arguments -C {live} '1: :->first' '*:: :->rest'
    case "$state" in
    first) _describe -t commands 'hettop command' commands; _files ;;
    rest)
        case "$line[1]" in
{cases}
        *) _files ;;
        esac ;;
    esac
}}
if [[ "$funcstack[1]" == _hettop ]]; then _hettop "$@"; else compdef _hettop hettop; fi
"""


def _zsh_spec(option: Option) -> str:
    """One argument to `_arguments`, quoted."""
    value = ""
    if option.takes or option.choices:
        offered = " ".join(word.replace(":", "\\:") for word in values_of(option))
        action = "_files" if takes_file(option) else f"({offered})" if offered else " "
        value = f":{_zsh_words(option.takes or 'value')}:{action}"
    if not option.flags:
        return _quoted(f"{'*' if option.repeated else ''}{value if option.repeated else ':' + value[1:]}")
    words = f"[{_zsh_words(option.words)}]"
    again = "*" if option.repeated else ""
    return " ".join(_quoted(f"{again}{flag}{words}{value}") for flag in option.flags)


def _zsh_words(text: str) -> str:
    return text.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", " -")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(commands: Commands) -> str:
    lines = [
        "# hettop's completion for fish; made by `hettop completions fish`",
        f"set -l commands {' '.join(COMMANDS)}",
    ]
    none_yet = "not __fish_seen_subcommand_from $commands"
    lines += [
        f'complete -c hettop -n "{none_yet}" -a {name} -d {_quoted(command.summary)}'
        for name, command in COMMANDS.items()
    ]
    for command, options in commands.items():
        where = none_yet if command == LIVE else f"__fish_seen_subcommand_from {command}"
        lines += [line for option in options for line in _fish_lines(option, where)]
    return "\n".join(lines) + "\n"


def _fish_lines(option: Option, where: str) -> list[str]:
    values = values_of(option)
    offered = f" -a {_quoted(' '.join(values))}" if values else ""
    if not option.flags:
        return [f'complete -c hettop -n "{where}"{offered}'] if offered else []
    names = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in option.flags)
    takes = (" -r -F" if takes_file(option) else " -x") if option.takes or option.choices else ""
    return [f'complete -c hettop -n "{where}"{names}{takes}{offered} -d {_quoted(option.words)}']


SHELLS: Mapping[str, Callable[[Commands], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
