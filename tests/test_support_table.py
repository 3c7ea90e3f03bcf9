"""The table of what each protocol supports: the pages hold the one that the recordings give."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support_table import FEATURES, PAGES, decode, support_table, with_table

import tokwire


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_pages_hold_the_table_of_today(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert with_table(page, support_table()) == page, "run: python -m tests.support_table"


def test_a_feature_is_seen_or_not_by_what_comes_out() -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'
    seen = {feature for feature, shows in FEATURES.items() if shows(decode("openai-chat", body))}
    assert seen == {"end of the stream told by the server"}


def test_every_registered_protocol_has_a_column_and_every_feature_a_row() -> None:
    header, _, *rows = support_table().splitlines()
    assert header.count("`") == 2 * len(tokwire.protocols())
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(FEATURES)
    assert all("yes" in row for row in rows)
