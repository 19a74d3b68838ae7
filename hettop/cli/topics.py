"""The pages of `hettop help TOPIC`: what the screen itself says, and a few paragraphs for what it takes for granted.

Each is plain text; figures are those of the code where the code has them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hettop.cli.topic_texts import (
    CODES,
    CONFIG,
    LOAD,
    PERCENTILES,
    PHASES,
    POWER,
    RECORDINGS,
    SPIKES,
    THEMES,
    UNITS,
    VERDICT,
)

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Topic:
    """What it is about, and its page: blocks, of which those that begin with two blanks are set as they stand."""

    summary: str
    blocks: Callable[[], list[str]]


def page(topic: str, width: int) -> str:
    """The topic's page, wrapped to `width` columns."""
    blocks = TOPICS[topic].blocks()
    shown = [block if block.startswith(_INDENT) else textwrap.fill(" ".join(block.split()), width) for block in blocks]
    return "\n\n".join([topic.upper(), *shown]) + "\n"


def _written(text: str) -> Callable[[], list[str]]:
    return lambda: [block.rstrip() for block in text.strip("\n").split("\n\n")]


def _keys() -> list[str]:
    from hettop.tui.keys import GROUPS

    lines = [
        "Each key has an id. In the config file it can have another key: see hettop help config. Keys under Replay are "
        "there in a replay alone."
    ]
    for group, keys in GROUPS:
        lines.append(f"{group}")
        lines.append("\n".join(f"{_INDENT}{key.display:<10} {key.id:<16} {key.words}" for key in keys))
    return lines


def _panels() -> list[str]:
    from hettop.tui.constants import PANELS
    from hettop.tui.explanations import PANELS as ABOUT

    return [f"{number} {name}: {ABOUT[name]}" for number, name in PANELS.items()]


def _themes() -> list[str]:
    from hettop.resources import themes_folder
    from hettop.toml import read_toml

    files = [read_toml(path) for path in sorted(themes_folder().glob("*.toml"))]
    rows = [f"{_INDENT}{file.values['name']:<22} {file.text.splitlines()[0].lstrip('# ')}" for file in files]
    return ["\n".join(rows), *_written(THEMES)()]


def _config() -> list[str]:
    from hettop.app.settings.resolve import shown
    from hettop.app.settings.schema import SETTINGS

    rows = [f"{_INDENT}{each.name:<15} {shown(each.default):<14} {each.words}" for each in SETTINGS]
    first, *rest = _written(CONFIG)()
    return [first, "\n".join(rows), *rest]


TOPICS: Mapping[str, Topic] = {
    "keys": Topic("every key of the screen, and the ids to give them others by", _keys),
    "panels": Topic("what each panel shows, and how to read it", _panels),
    "units": Topic("CPU_ONLY, CPU_AND_NE and the others, and what really runs them", _written(UNITS)),
    "phases": Topic("which samples count, and which are kept apart", _written(PHASES)),
    "percentiles": Topic("P50, P90, P99: what they are, and how many samples they need", _written(PERCENTILES)),
    "spikes": Topic("what counts as a spike, and what its causes are worth", _written(SPIKES)),
    "load": Topic("competing load: what is started, and how it is written", _written(LOAD)),
    "power": Topic("where watts come from, and what energy an inference means", _written(POWER)),
    "verdict": Topic("how hettop decides, and when it does not", _written(VERDICT)),
    "recordings": Topic("what a recording holds, and what can be done with it", _written(RECORDINGS)),
    "themes": Topic("the colour themes, and how to make one", _themes),
    "config": Topic("the config file, environment variables, what is kept", _config),
    "codes": Topic("exit codes, and what to look at when something is wrong", _written(CODES)),
}


def topic_list() -> str:
    """All topics with what they are about, a line each."""
    return "topics:\n" + "".join(f"  {name:<12} {topic.summary}\n" for name, topic in TOPICS.items())
