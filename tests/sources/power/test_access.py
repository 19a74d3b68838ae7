"""Access to powermetrics: what is run, what is said, and rules that allow no more than they must."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.sources.power.powermetrics import COMMAND, access_command, explanation, root_warning, sudoers_rules


def test_the_command_is_the_one_that_is_documented() -> None:
    assert " ".join(COMMAND) == (
        "/usr/bin/sudo -n /usr/bin/powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -a 0 -b 0 -n 7200"
    )


def test_access_is_asked_for_on_a_terminal_only() -> None:
    assert access_command(on_terminal=True) == ["/usr/bin/sudo", "-v"]
    with pytest.raises(HettopError, match="no terminal"):
        access_command(on_terminal=False)


def test_the_exact_command_and_what_hettop_never_sees_are_explained() -> None:
    text = explanation()
    assert "\n  /usr/bin/sudo -v\n" in text
    assert f"\n  {' '.join(COMMAND)}\n" in text
    assert "neither sees nor keeps" in text


def test_a_rule_is_the_whole_command_line_and_nothing_shorter() -> None:
    (rule,) = [line for line in sudoers_rules("anna").splitlines() if not line.startswith("#")]
    who, command = rule.split(" NOPASSWD: ")
    assert who == "anna ALL=(root)"
    assert command == ("/usr/bin/powermetrics -s cpu_power\\,gpu_power\\,thermal -f plist -i 500 -a 0 -b 0 -n 7200")
    assert "-o FILE` writes FILE as root" in sudoers_rules("anna")


@pytest.mark.parametrize("user", ["", "ALL", "%admin", "#501", "a b", "a\nALL ALL=(ALL) NOPASSWD: ALL", "-x", "ü"])
def test_a_name_that_would_mean_more_in_a_rule_is_refused(user: str) -> None:
    with pytest.raises(HettopError):
        sudoers_rules(user)


def test_only_root_on_a_mac_is_warned() -> None:
    assert root_warning(501, "darwin") is None
    assert root_warning(0, "linux") is None
    assert "run hettop as a normal user" in str(root_warning(0, "darwin"))
