"""What `hettop roofline --json` prints for fixed inputs: fields may be added, none may go or change."""

from __future__ import annotations

from tools.study_documents import lost


def test_no_field_of_the_kept_documents_is_lost() -> None:
    assert lost("roofline") == []
