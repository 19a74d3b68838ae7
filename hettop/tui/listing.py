"""The filter and the order of a list on the screen: of units, events and spikes alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")

UP, DOWN = "↑", "↓"


@dataclass(frozen=True, slots=True)
class Order:
    """The column that a list is sorted by, by its title."""

    column: str
    descending: bool = False

    @property
    def arrow(self) -> str:
        """Stands behind the column's title."""
        return DOWN if self.descending else UP


@dataclass(frozen=True, slots=True)
class SortKey(Generic[Row]):
    """A column that rows can be sorted by. `largest_first`: how it is sorted at first."""

    title: str
    value: Callable[[Row], Any]
    largest_first: bool = False


def matches(wanted: str, *texts: str) -> bool:
    """Whether each word of a filter occurs in one of `texts`, in upper or lower case."""
    text = " ".join(texts).lower()
    return all(word in text for word in wanted.lower().split())


def next_order(order: Order | None, columns: Sequence[SortKey[Any]]) -> Order | None:
    """The next column's order; after the last column none, which is the list's own order."""
    titles = [column.title for column in columns]
    at = titles.index(order.column) + 1 if order is not None and order.column in titles else 0
    return Order(titles[at], columns[at].largest_first) if at < len(titles) else None


def toggled_order(order: Order | None, column: SortKey[Any]) -> Order | None:
    """After a click on a heading: sorted by that column, then reversed, then in the list's own order."""
    if order is None or order.column != column.title:
        return Order(column.title, column.largest_first)
    return Order(column.title, not order.descending) if order.descending == column.largest_first else None


def ordered(rows: Iterable[Row], order: Order | None, columns: Sequence[SortKey[Row]]) -> list[Row]:
    """The rows by one column; those without a value come last in either direction."""
    listed = list(rows)
    column = next((each for each in columns if order is not None and each.title == order.column), None)
    if column is None or order is None:
        return listed
    known = [row for row in listed if column.value(row) is not None]
    known.sort(key=column.value, reverse=order.descending)
    return [*known, *(row for row in listed if column.value(row) is None)]


def filter_note(wanted: str, shown: int, total: int) -> str:
    """For a list's title: ` · /ne: 2 of 4`; empty without a filter."""
    return f" · /{wanted}: {shown} of {total}" if wanted else ""
