"""What a roofline found: the same as a study of layers, with the roofs of the machine."""

from __future__ import annotations

from hettop.studies.layers.result import LayersResult

RESULT = LayersResult
