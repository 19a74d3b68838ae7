"""Access to powermetrics: what to run, what it does and does not do, and the rules that make it permanent.

Words and commands only: runs nothing, installs nothing, and never sees a password.
"""

from __future__ import annotations

from hettop.errors import HettopError

SUDO = "/usr/bin/sudo"
POWERMETRICS = "/usr/bin/powermetrics"
INTERVAL_MS = 500
SAMPLES = 7200  # an hour: a powermetrics that nobody ends any more ends by itself
INTERVAL_NS = INTERVAL_MS * 10**6

POWERMETRICS_ARGV = (
    POWERMETRICS,
    *("-s", "cpu_power,gpu_power,thermal"),
    *("-f", "plist"),
    *("-i", str(INTERVAL_MS)),
    *("-a", "0"),
    *("-b", "0"),
    *("-n", str(SAMPLES)),
)
"""Always this, to the letter: a sudoers rule that allows no more than it can match nothing else."""

COMMAND = (SUDO, "-n", *POWERMETRICS_ARGV)

EXPIRED_REASON = "power access expired"
EXPIRED_FIX = "sudo -v, in this very terminal"
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def access_command(*, on_terminal: bool) -> list[str]:
    """What gives hettop access for a while; to be run on the terminal, with the screen out of the way.

    Raises HettopError (`usage`) without a terminal: sudo would have nobody to ask.
    """
    if not on_terminal:
        raise HettopError("usage", "no terminal to ask for a password on", "hettop doctor --sudoers prints rules")
    return [SUDO, "-v"]


def explanation() -> str:
    """What is printed before `access_command` runs."""
    return f"""\
macOS tells the power of CPU, GPU and Neural Engine to root only. This asks for access:

  {SUDO} -v

sudo asks for your password, itself and on this terminal: hettop neither sees nor keeps it, and stays your own process.
For the next minutes (five, unless your administrator chose otherwise), on this terminal, hettop can then start

  {" ".join(COMMAND)}

which prints figures and changes nothing. It runs on when the access has expired, for an hour; then press p again.
Press Ctrl-C to go on without power. To be asked no more: hettop doctor --sudoers
"""


def sudoers_rules(user: str) -> str:
    """Rules for /etc/sudoers.d that allow `user` this one command line without a password, and why no less narrow.

    Raises HettopError (`usage`) for a name that would mean something else in a rule.
    """
    if not user or not set(user) <= _NAME_CHARACTERS or user == "ALL" or user.startswith(("-", ".")):
        raise HettopError("usage", f"{user!r} is no user name that a sudoers rule can hold", "name a plain user")
    command = " ".join(POWERMETRICS_ARGV).replace(",", "\\,")  # a bare comma ends a command in sudoers
    return f"""\
# Lets {user} read power figures without a password: this command line to the letter, and no other.
# Install it yourself, with a check of its syntax:
#   hettop doctor --sudoers > hettop.sudoers && visudo -cf hettop.sudoers
#   sudo install -m 0440 -o root -g wheel hettop.sudoers /private/etc/sudoers.d/hettop
# To take it back: sudo rm /private/etc/sudoers.d/hettop
# Do not shorten it. A rule that names powermetrics without its arguments allows any of them, and
# `powermetrics -o FILE` writes FILE as root: whoever may run that can overwrite any file of this Mac.
{user} ALL=(root) NOPASSWD: {command}
"""


def root_warning(euid: int, platform: str) -> str | None:
    """What to say if hettop itself runs as root on a Mac; None if it does not, or where root has other uses.

    platform: as `sys.platform` names it.
    """
    if euid != 0 or platform != "darwin":
        return None
    return "running as root, and so does every model: start it as yourself (on a Mac, sudo -v gives access to power)"
