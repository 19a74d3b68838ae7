"""The pages of `hettop help TOPIC`: what the screen itself says, and a few paragraphs for what it takes for granted.

Each is plain text; figures are those of the code where the code has them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_INDENT = "  "


UNITS = """
A unit is a configuration of compute units that a model is loaded with, by Core ML's names:

  CPU_ONLY       the CPU alone
  CPU_AND_GPU    CPU and GPU
  CPU_AND_NE     CPU and Neural Engine
  ALL            whatever Core ML thinks best
  CPU_ONLY@2     two threads, where the backend can (ONNX Runtime)

A unit is permission, not an order: Core ML decides operation by operation, and may run all of CPU_AND_NE on the
CPU. What is known to have run it stands in the column `runs on`; it is empty until a plan, or a power counter,
says so. Work that ran on the CPU is never labelled GPU or NE.

On a Mac .mlpackage and .mlmodel files run by Core ML and .onnx files by ONNX Runtime; elsewhere all run on ONNX
Runtime's CPU engine, Core ML files translated. `hettop --demo` simulates an Apple M2 and says SIMULATED
everywhere. `hettop doctor` tells which units are there, and why others are not.
"""

PHASES = """
Every sample is kept; only steady ones enter the distribution.

  first        the first call after a load
  warmup       the calls after it, 10 unless --warmup says otherwise
  steady       what percentiles, means and spikes are made of
  resume       the first of a block, after another unit ran or after a pause
  transition   while a change of load is not yet confirmed

First call and load time stand apart, because the user of an app meets them once and the rest a thousand times.
"""

PERCENTILES = """
P90 is the latency that nine of ten calls stay below. hettop takes numpy's linear definition (type 7). Within
the JSON quantiles are exact up to 100,000 samples a condition; beyond that, and on the screen, within 0.5 %.

  P90     shown always, with how many of 64 samples it still lacks
  P99     not shown below 662 samples
  P99.9   not shown below 6,636 samples

Below these numbers one slow call more or less would move the figure. The interval beside P90 is made of order
statistics and holds for samples that do not hang on each other; `hettop decide` corrects for those that do. An
average says nothing of a stutter: look at P99 and at the slowest call. More: docs/method/statistics.md.
"""

SPIKES = """
A sample is a spike when it is above both exp(median + 10 MAD) of the log latencies and 1.5 x the median: the
fence, the dashed line of the timeline. There is no fence below 20 samples. The screen counts a spike by the fence in
force when it came (from 64 samples on); tables and JSON count all samples by the fence of all, and say where those two
differ (`spikes.as_they_came`).

Candidate causes (a redraw of the screen, garbage collection, page faults, a change of load, clock or heat) are
what happened at the same moment more often than chance would have it; they are candidates. A spike every few
hundred milliseconds is a clock; one that comes with `frames missed` is the machine, not the model.
"""

LOAD = """
Competing load is started by hettop itself, at a level that is known, and ends with it, however it ends.

  cpu:2            two workers that compute and never wait
  memory:1         one that streams more than the last-level cache
  gpu:1, ane:1     models of the same kind on CPU_AND_GPU, CPU_AND_NE (a Mac)
  memory:2@50%     half of the time
  cpu:1+memory:1   both

On the screen `l` opens its dials. `hettop sweep --loads none,cpu:1,cpu:2` measures one after another. Samples
under different loads are different conditions and are never mixed.
"""

POWER = """
Watts come from the best source that works here, such as powermetrics on a Mac or RAPL on Linux; `hettop
doctor` lists all, and what mends those that do not work. powermetrics needs root; hettop never is, and never sees a
password: `p` leaves the screen for a moment, shows the command, and lets sudo ask.

A rail that nobody reads is n/a, never 0 W. The sum is CPU+GPU+ANE, an estimate, never the whole machine; the
scale is absolute, up to the highest value seen.

Energy an inference is power over the time that samples overlapped, shared among them; gross, and net once `b`
has taken an idle baseline. How much of the time power covered stands beside it. More: docs/method/power.md.

A reading of 0 is evidence only if the rail is known to count on this Mac: some systems report 0 under load.
`hettop doctor --control` checks that and remembers it.
"""

VERDICT = """
`v` on the screen, or `hettop decide RECORDING`, says which unit to use: for real time the lowest mean, for
steadiness the lowest max/min, for batches the lowest median, for a battery the least energy. It names what to
avoid.

It says yes only to what is proven: where a 95 % interval holds both answers it says how many more samples would
decide. A unit whose answers are wrong is never advised. Pairs that a handful of slow samples decide are named.

  hettop decide session.jsonl --budget 16ms@p99
  hettop decide model.onnx --rate 60 --until-proven

Exit code 1 says that no unit is proven to meet the budget. More: docs/method/verdict.md.
"""

RECORDINGS = """
A recording is the stream of events that the screen is drawn from: JSON Lines, one object a line. The screen,
the table and the JSON of a replay come from the same fold, so they cannot disagree.

  hettop --record session.jsonl      or press r; session.jsonl.zst is compressed after its end
  hettop replay session.jsonl        the same screen; arrows seek, < > change the speed
  hettop replay session.jsonl --headless --json
  hettop verify session.jsonl        is it whole? hettop repair mends it into a new file
  hettop export session.jsonl --to csv
  hettop compare before.jsonl after.jsonl

After kill -9 at most the last second is missing. Nothing is overwritten without --force. A recording names the
machine and the model's file, but no user. More: docs/reference/format.md.
"""

THEMES = """
`t` goes to the next theme, `T` opens a list that shows each as the cursor reaches it: Enter keeps, Esc
restores. Nothing is said by colour alone: glyphs and words say it too, so NO_COLOR and hettop-mono lose
nothing.

Your own are TOML files in the folder `themes` beside the config file (`hettop config` says where):

  name = "mine"
  dark = true

  [colors]
  primary = "#5fb3d9"      # up to P90, focus, the active unit
  warning = "#e6b455"      # P90 to P99, PAUSED
  error = "#f0616d"        # above P99, spikes, faults
  accent = "#c39bdf"       # marks, SIMULATED, load
  success = "#7fc08a"
  foreground = "#d3dae3"
  background = "#12161c"
  surface = "#1a2028"      # header and bottom line

  [sixteen]                # on a terminal that has no more than 16 colours
  primary = "bright cyan"
  error = "red"

All but name and primary may be left out; what [sixteen] leaves out is as usual. NO_COLOR takes hettop-mono.
A fault is told with file, line and key, and the theme left out.
"""

CONFIG = """
A TOML file. `hettop config` tells where it lies, what is in force and where each value came from; `hettop
config --init` writes an example, all in comments. The settings, and what they are without it:

Each has an environment variable too, HETTOP_THEME, HETTOP_LAYOUT_HIDDEN and so on; HETTOP_CONFIG names another
file. An option goes before the environment, that before a choice made on the screen, that before the file. A
choice made on the screen (theme, hidden panels, zoom) holds until the file says something else than it did
then; hettop config --forget forgets them.

Keys, by the ids of hettop help keys:

  [keys]
  "unit.next" = "u"
  "screen.load" = "L,f5"

A key that has a meaning already is refused, and the message says which. Settings are about the screen: commands
that measure without one read none of them, so that a script's result never hangs on somebody's home.
"""

CODES = """
  0     done; or a valid, empty recording
  1     a threshold, budget or comparison failed
  2     wrong use, unreadable input, a unit that this machine lacks
  3     everything requested failed while running
  130   interrupted; what was measured is printed

Something odd? `hettop doctor` tells what works here and what mends the rest; `hettop doctor --anonymize` prints
the same without names and paths, for a bug report. HETTOP_DEBUG=1 prints the traceback of a fault in hettop
itself.
"""


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
