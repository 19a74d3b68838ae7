"""Which of a unit's conditions is meant where one is to be shown.

Knows nothing of what is shown of it.
"""

from __future__ import annotations

from hettop.session.condition import Condition, ConditionKey
from hettop.session.session import Session


def current_condition(session: Session, unit: str) -> Condition | None:
    """The unit's condition under the load (and thermal state) in force; else its latest under that load."""
    found = session.conditions.get(ConditionKey(unit, session.load, session.thermal))
    if found is not None:
        return found
    same_load = [c for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return same_load[-1] if same_load else None
