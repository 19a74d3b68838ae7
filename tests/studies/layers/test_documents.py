"""What `hettop layers --json` prints for fixed inputs: fields may be added, none may go or change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hettop.report.document import to_json
from tests.processes.waiting import REPOSITORY
from tests.studies.layers.documents import documents
from tests.studies.sweep.test_measure import missing_or_changed


@pytest.mark.parametrize(("name", "document"), documents().items())
def test_the_document_has_every_field_that_the_first_version_had(name: str, document: dict[str, Any]) -> None:
    before = json.loads((REPOSITORY / f"tests/golden/studies/{name}.json").read_text())
    assert missing_or_changed(before, json.loads(to_json(document))) == []
