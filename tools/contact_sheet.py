"""Draw every view of the screen at three sizes into one HTML page: `python -m tools.contact_sheet OUT.html [NAME ...]`.

NAME: draw only the views whose name has one of these words. All are made from the recordings, as the pictures of the
docs are; the page is for looking at a change of the screen as a whole.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hettop.app.picture import picture
from hettop.tui.constants import PANELS, PRESETS
from tools.pictures import RECORDINGS, S

SIZES = ((80, 24), (120, 40), (200, 60))
SESSION, INTERLEAVED, PACED = "simulated-m2.jsonl", "decide-simulated-m2.jsonl", "simulated-m2-60hz.jsonl"
IDLE_NS, LOADED_NS = round(13.5 * S), round(20.5 * S)


@dataclass(frozen=True, slots=True)
class View:
    """A view: of which recording, at which moment (None: the end), after which keys."""

    name: str
    recording: str
    at_ns: int | None
    keys: tuple[str, ...] = ()


VIEWS = (
    View("main view, first second", SESSION, S),
    View("main view, without load", SESSION, IDLE_NS),
    View("main view, under load", SESSION, LOADED_NS),
    View("main view, all units interleaved", INTERLEAVED, None),
    View("main view, real measurement", "linux-x86-two-cores.jsonl", round(45.5 * S)),
    *(View(f"layout {name}", SESSION, LOADED_NS, ("w",) * at) for at, name in enumerate(PRESETS) if at),
    # On a small screen, the number of a panel that has no room zooms it at once; behind a zoomed one, on any.
    *(View(f"panel {name}, zoomed", SESSION, LOADED_NS, ("1", "z", str(number))) for number, name in PANELS.items()),
    View("load, none yet", SESSION, IDLE_NS, ("l",)),
    View("load, two units under load", SESSION, LOADED_NS, ("l",)),
    View("load, several loads", "linux-x86-two-cores.jsonl", None, ("l",)),
    View("verdict, several units", INTERLEAVED, None, ("v",)),
    View("verdict, one unit, budget by the rate", PACED, round(20 * S), ("v",)),
    View("spikes", SESSION, None, ("s",)),
    View("tokens", "tokens-tinydecoder.jsonl", None, ("A",)),
    View("studies", "inside-mobilenetv2.jsonl", None, ("y",)),
    View("help", SESSION, IDLE_NS, ("question_mark",)),
)
_HEAD = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>hettop: every view</title>
<style>
body { background: #16181d; color: #d8dbe2; font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.1rem; }
.sizes { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: 0; }
figure svg { display: block; height: auto; }
figcaption { color: #8b909c; font-size: .8rem; }
</style></head><body>
<h1>hettop: every view</h1>
"""
_PIXELS_A_CELL = 6


def sheet(views: Sequence[View]) -> str:
    """The page, one section for each view."""
    return "\n".join([_HEAD, *map(section, views), "</body></html>", ""])


def section(view: View) -> str:
    """A view at all sizes."""
    keys = f" · keys {' '.join(view.keys)}" if view.keys else ""
    title = html.escape(f"{view.name} · {view.recording}{keys}")
    return "\n".join([f"<h2>{title}</h2>", '<div class="sizes">', *(figure(view, size) for size in SIZES), "</div>"])


def figure(view: View, size: tuple[int, int]) -> str:
    """A view at one size, as wide as its cells."""
    svg = picture(RECORDINGS / view.recording, view.at_ns, size, None, view.keys)
    caption = f"<figcaption>{size[0]}x{size[1]}</figcaption>"
    return f'<figure style="width: {size[0] * _PIXELS_A_CELL}px">{svg}{caption}</figure>'


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.contact_sheet", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT.html", help="where to write the page")
    parser.add_argument("names", nargs="*", metavar="NAME", help="draw only the views with one of these words")
    given = parser.parse_args(arguments)
    views = [view for view in VIEWS if not given.names or any(name in view.name for name in given.names)]
    given.out.write_text(sheet(views), encoding="utf-8")


if __name__ == "__main__":
    main()
