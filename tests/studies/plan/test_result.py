"""What a plan found, as its command prints it and as a line of a recording holds it."""

from __future__ import annotations

from tools.study_documents import lost


def test_documents_have_every_field_that_they_had() -> None:
    assert lost("plan") == []
