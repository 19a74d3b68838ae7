"""Models behind the address of a server: which addresses are taken, and that they are on this machine.

Connects to nothing.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from hettop.errors import HettopError
from hettop.text import clean

EXAMPLE = "write http://localhost:11434/v1"


def is_address(name: str) -> bool:
    """Whether a model is named by the address of a server."""
    return re.match(r"https?://", name, re.IGNORECASE) is not None


def check_address(name: str, *, remote: bool) -> None:
    """Raises HettopError (`usage`) for an address that cannot be used, and for another machine unless `remote`."""
    try:
        parts = urlsplit(name)
        _ = parts.port
    except ValueError:
        raise HettopError("usage", f"invalid address: {clean(name, 80)}", EXAMPLE) from None
    if not parts.hostname:
        raise HettopError("usage", f"invalid address: {clean(name, 80)}", EXAMPLE)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        where = f"{parts.scheme}://{parts.hostname}"
        raise HettopError(
            "usage",
            f"no credentials or parameters in an address, which is recorded: {clean(where, 60)}",
            "set HETTOP_API_KEY in the environment",
        )
    if not remote and not is_loopback(parts):
        raise HettopError(
            "usage",
            f"not on this machine: {clean(parts.hostname, 60)}",
            "add --allow-remote: prompts are sent there, and times include the network",
        )


def is_loopback(parts: SplitResult) -> bool:
    """Whether the host is this machine's loopback by its name or address."""
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
