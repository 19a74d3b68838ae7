"""Studies of the model that is being watched: hettop's own commands, run beside the screen, one at a time.

What they find comes into the event stream, so that the screen, a replay and a report tell the same of it.
"""

from __future__ import annotations

from hettop.wiring.studies.kinds import Kind, Together, coexecution, kinds, model_arguments
from hettop.wiring.studies.reading import found_of
from hettop.wiring.studies.running import Studies

__all__ = ["Kind", "Studies", "Together", "coexecution", "found_of", "kinds", "model_arguments"]
