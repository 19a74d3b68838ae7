"""Addresses of servers: on this machine unless another is allowed, and without anything secret."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.models.served import check_address, is_address


@pytest.mark.parametrize(
    "address", ["http://localhost:11434/v1", "http://127.0.0.1:8080/v1", "http://127.8.8.8", "https://[::1]:1/v1"]
)
def test_this_machine_is_allowed(address: str) -> None:
    assert is_address(address)
    check_address(address, remote=False)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "http://192.168.1.2:8080/v1",
            "https://api.example.com/v1",
            "http://localhost.example.com",
            "http://0.0.0.0:1",
        ),
        *("http://127.0.0.1.example.com", "http://[2001:db8::1]/v1", "http://2130706433/v1"),
    ],
)
def test_another_machine_needs_an_option(address: str) -> None:
    with pytest.raises(HettopError, match="not on this machine") as caught:
        check_address(address, remote=False)
    assert "--allow-remote" in caught.value.hint
    check_address(address, remote=True)


@pytest.mark.parametrize(
    "address", ["http://me:secret@localhost/v1", "http://localhost/v1?key=secret", "http://localhost/#secret"]
)
def test_secrets_in_an_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(HettopError) as caught:
        check_address(address, remote=True)
    assert "secret" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("address", ["http://", "http://localhost:port/v1", "http://[::1/v1"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(HettopError, match="invalid address"):
        check_address(address, remote=True)


def test_files_and_names_are_no_addresses() -> None:
    assert not any(map(is_address, ("mobilenetv2", "http.onnx", "models/http:/x.onnx")))
