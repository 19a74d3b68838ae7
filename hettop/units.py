"""Units of time and memory, as numbers."""

from __future__ import annotations

NS_PER_S = 10**9
NS_PER_MS = 10**6
BYTES_PER_MB = 10**6
MIB = 1 << 20
