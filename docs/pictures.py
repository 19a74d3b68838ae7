"""Makes every picture of the docs from the recordings: `python docs/pictures.py`. None is made by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hettop.wiring.picture import DEFAULT_SIZE, picture

DOCS = Path(__file__).resolve().parent
RECORDINGS = DOCS.parent / "recordings"
S = 10**9


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen: where it is put below docs/, of which recording, at which moment (None: the end), after which keys."""

    path: str
    recording: str
    at_ns: int | None
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = DEFAULT_SIZE

    def draw(self) -> str:
        return picture(RECORDINGS / self.recording, self.at_ns, self.size, keys=self.keys)


PICTURES = (
    Picture("screen.svg", "simulated-m2.jsonl", round(13.5 * S)),
    Picture("pictures/verdict.svg", "simulated-m2.jsonl", None, ("v",)),
    Picture("pictures/loads.svg", "simulated-m2.jsonl", None, ("l",)),
    Picture("pictures/story-idle.svg", "linux-x86-two-cores.jsonl", round(19.5 * S)),
    Picture("pictures/story-loaded.svg", "linux-x86-two-cores.jsonl", round(45.5 * S)),
    Picture("pictures/story-loads.svg", "linux-x86-two-cores.jsonl", None, ("l",), (100, 24)),
    Picture("pictures/story-spikes.svg", "linux-x86-two-cores.jsonl", None, ("s",), (100, 30)),
    Picture("pictures/narrow.svg", "simulated-m2.jsonl", round(13.5 * S), (), (80, 24)),
)


def main() -> None:
    for each in PICTURES:
        (DOCS / each.path).write_text(each.draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
