"""The pages of `hettop help TOPIC`: plain text, with lists made from the code's own tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_INDENT = "  "


UNITS = """
A unit is a Core ML compute-unit setting that a model is loaded with. Names are case-insensitive and have aliases:

  CPU_ONLY       cpu, cpuOnly         CPU
  CPU_AND_GPU    gpu, cpuAndGPU       CPU and GPU
  CPU_AND_NE     ne, ane,             CPU and Neural Engine (ANE)
                 cpuAndNeuralEngine
  ALL            .all                 Core ML chooses
  all                                 every unit of this machine
  CPU_ONLY@2     cpu@2                two threads (ONNX Runtime)
  OV:CPU         ov:cpu               a device of an execution provider (ONNX Runtime);
                                      HETTOP_PROVIDERS=none leaves all of them out

A unit is a permission: Core ML decides per operation and may run all of CPU_AND_NE on the CPU. The column `runs on`
shows what is known to have run the model, from a compute plan or a power counter; it is empty if unknown.

On a Mac, Core ML runs .mlpackage and .mlmodel files, and ONNX Runtime runs .onnx files. On other systems ONNX Runtime
runs all of them, on the CPU or on execution providers. `hettop --demo` simulates an Apple M2. `hettop doctor` lists the
units of this machine, and execution providers to install.
"""

PHASES = """
All samples are kept; only steady ones count in percentiles, means and spikes.

  first        the first call after loading
  warmup       the calls after it (10, or --warmup)
  steady       all further calls
  resume       the first call after a pause or after another unit ran
  transition   calls while a change of load is not yet confirmed, or around a stop of the process
"""

PERCENTILES = """
P90 is the latency that 90% of calls do not exceed. Quantiles use numpy's linear definition (type 7). In JSON they are
exact up to 100,000 samples per condition; beyond that, and on the screen, within 0.5%.

  P90     always shown, with how many of its 64 samples are missing
  P99     not shown below 662 samples
  P99.9   not shown below 6,636 samples

Below these numbers a single slow call would change the result. The interval beside P90 counts samples that depend on
each other as fewer independent ones (the effective sample size) and holds for each unit alone. Those of `hettop decide`
hold for all units together and count samples more strictly, so they are wider for the same file.
More: docs/method/statistics.md.
"""

SPIKES = """
A spike is a sample above the spike threshold: above both exp(median + 10 MAD) of the log latencies and 1.5 x the
median, of the slowest state (mode of the latencies) with at least 5% of the samples. The timeline shows it as a dashed
line. Each sample is judged by the threshold of its condition (unit, load,
thermal state) at its time, once; the first 64 samples of a condition set the first threshold and are not judged.
Screen, event log, tables, reports and JSON (`spikes.n`) give this one number.

Candidate causes (redraws, garbage collection, page faults, changes of load, clock or temperature) are events that are
correlated with spikes. They are not proven causes. Garbage collection, page faults and context switches are those of
hettop's engine process, in which the model runs. More: docs/method/statistics.md.

The canary is a process of hettop that draws nothing 60 times per second and counts the frames that come too late:
missed frames show that the whole machine stalls, not the model alone.
"""

LOAD = """
hettop starts competing load itself, at a known level, and ends it on exit.

  cpu:2            two busy workers
  memory:1         one worker that streams more than the last-level cache
  gpu:1, ane:1     models on CPU_AND_GPU and CPU_AND_NE (macOS)
  memory:2@50%     busy half of the time
  cpu:1+memory:1   both

On the screen `l` opens the controls. `hettop sweep --loads none,cpu:1,cpu:2` measures loads one after another.
Samples under different loads are different conditions and are never mixed.
"""

POWER = """
Power comes from the best source that works here, such as powermetrics on a Mac or RAPL on Linux; `hettop doctor` lists
all sources and fixes. powermetrics needs root; hettop does not run as root and never asks for a password. `p` leaves
the screen, shows the command and lets sudo ask.

A rail without a reading is n/a, never 0 W. The sum is CPU+GPU+ANE, an estimate, not the power of the whole machine.

Energy per inference is power over the time of the samples, shared among those that overlap: gross, and net after `b`
has measured an idle baseline. More: docs/method/power.md.

Some systems report 0 W under load, so 0 is evidence only for a validated rail: `hettop doctor --control` checks this.
"""

VERDICT = """
`v` on the screen, or `hettop decide RECORDING`, recommends a unit: the lowest mean for real time, the lowest P99/P50
for predictable latency, the lowest median for batches, the least energy on battery. It also names units to avoid.

A requirement counts as met only if it is proven: if a 95% interval contains the limit, the verdict is undecided and
reports how many more samples are needed. A unit with wrong outputs is never recommended.

  hettop decide session.jsonl --budget 16ms@p99
  hettop decide model.onnx --rate 60 --budget 16ms@p90 --until-proven

Exit codes: 0 met, 1 every unit is proven to miss the budget, 4 undecided. More: docs/method/verdict.md.
"""

RECORDINGS = """
A recording is a stream of events as JSON Lines. Replay, table and JSON are computed from the same events.

  hettop --record session.jsonl        or press r; .jsonl.zst is compressed when it ends
  hettop replay session.jsonl          the same screen; arrows seek, < > change the speed
  hettop replay session.jsonl --headless --json
  hettop verify session.jsonl          validate; hettop repair writes a repaired copy
  hettop export session.jsonl -o session.csv
  hettop compare before.jsonl after.jsonl

If hettop is killed, at most the last second is missing. Nothing is replaced without --force. A recording contains the
machine and the model's file name, but no user name, and only you can read it (mode 0600).
More: docs/reference/format.md.
"""

THEMES = """
`t` selects the next theme, `T` opens a list. Colour is never the only signal, so NO_COLOR and hettop-mono lose nothing.
--color never selects hettop-mono.

Your own themes are TOML files in the folder `themes` beside the config file (`hettop config` shows where):

  name = "mine"
  dark = true

  [colors]
  primary = "#5fb3d9"      # up to P90, focus, the active unit
  warning = "#e6b455"      # P90 to P99, PAUSED
  error = "#f0616d"        # above P99, spikes, errors
  accent = "#c39bdf"       # marks, SIMULATED, load
  success = "#7fc08a"
  foreground = "#d3dae3"
  background = "#12161c"
  surface = "#1a2028"      # header and footer

  [sixteen]                # for terminals with 16 colours
  primary = "bright cyan"
  error = "red"

Only name and primary are required. An invalid theme is reported with file, line and key, and ignored.
"""

CONFIG = """
Settings are in a TOML file. `hettop config` shows where it is, the effective settings, and where each comes from;
`hettop config --init` writes an example. The settings and their defaults:

Each has an environment variable, such as HETTOP_THEME or HETTOP_LAYOUT_HIDDEN; HETTOP_CONFIG names another file.
Precedence: option, environment variable, choice made on the screen, config file, default. `hettop config --forget`
removes choices made on the screen (theme, hidden panels, zoom).

Keys, by the ids of hettop help keys:

  [keys]
  "unit.next" = "u"
  "freeze" = "space,f5"

A key that is already used is refused. Settings apply to the screen only: bench and other commands ignore them.
"""

_CODES = """
Problems: `hettop doctor` shows what works here and fixes for what does not; `hettop doctor --report`
writes an anonymous archive for a bug report. An internal error names the file that its traceback was saved to;
HETTOP_DEBUG=1 prints it instead.
"""

OPTIONS = """
Values have the same form in every command. A bare number has the unit in this table:

  duration   10s, 500ms, 2m, 1h     a bare number is seconds
  budget     16ms@p99, 500us@p90    a bare number is milliseconds; P99 if no percentile is given
  energy     5mJ                    a bare number is millijoules per inference
  rate       30, 59.94hz            a bare number is inferences per second
  tolerance  5%                     a bare number is a share: 0.05

-o FILE writes the result to FILE and selects the format by its suffix; --format selects it explicitly, and --json and
--markdown are short forms. -q prints results and errors only, -v adds details. --color is auto, always or never.

Recordings have mode 0600; results, exports and reports have the mode of your umask. Existing files are replaced with
--force only.
"""


@dataclass(frozen=True, slots=True)
class Topic:
    """A summary, and the page in blocks; blocks that begin with two blanks are not wrapped."""

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
        "Each key has an id, by which the config file can change it: see hettop help config. Keys under Replay apply "
        "to replays only."
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


def _codes() -> list[str]:
    from hettop.exits import EXIT_CODES

    return ["\n".join(f"{_INDENT}{code:<5} {words}" for code, words in EXIT_CODES.items()), *_written(_CODES)()]


TOPICS: Mapping[str, Topic] = {
    "keys": Topic("keys of the screen, and their ids", _keys),
    "panels": Topic("what each panel shows", _panels),
    "units": Topic("compute units, their names and aliases", _written(UNITS)),
    "options": Topic("values of options, output files, verbosity, colour", _written(OPTIONS)),
    "phases": Topic("which samples count", _written(PHASES)),
    "percentiles": Topic("P50, P90, P99, and how many samples they need", _written(PERCENTILES)),
    "spikes": Topic("the spike threshold, and candidate causes", _written(SPIKES)),
    "load": Topic("competing load, and how to write it", _written(LOAD)),
    "power": Topic("power sources, and energy per inference", _written(POWER)),
    "verdict": Topic("how hettop recommends a unit", _written(VERDICT)),
    "recordings": Topic("what a recording contains, and commands for it", _written(RECORDINGS)),
    "themes": Topic("colour themes, and how to write one", _themes),
    "config": Topic("config file and environment variables", _config),
    "codes": Topic("exit codes", _codes),
}


def topic_list() -> str:
    """All topics with their summaries, a line each."""
    return "topics:\n" + "".join(f"  {name:<12} {topic.summary}\n" for name, topic in TOPICS.items())
