"""`AgentOptions`: the tools, headers, and fields of the body that a caller adds."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agent_bodies import options, refusal, tide_tool


def test_tools_are_kept_as_a_tuple_and_found_by_name() -> None:
    tide, ferry = tide_tool(), tide_tool("ferry")
    made = options(tools=[tide, ferry])
    assert made.tools == (tide, ferry)
    assert made.tool("ferry") is ferry
    assert made.tool("whale") is None
    assert options(tools=iter([tide])).tools == (tide,)


def test_tools_are_tools_each_with_a_name_of_its_own() -> None:
    assert "two tools are named 'tide'" in refusal(tools=[tide_tool(), tide_tool()])
    assert "expected tools, not function" in refusal(tools=[refusal])
    for wrong in (tide_tool(), "tide", None, 1):
        assert "expected a list or tuple of tools" in refusal(tools=wrong)


@pytest.mark.parametrize(
    "headers", [{"X-Title": "Tides", "x-title": "Ferries"}, [("X-Title", "Tides"), ("x-title", "Ferries")]]
)
def test_headers_come_as_a_mapping_or_pairs_and_the_last_of_a_name_counts(headers: Any) -> None:
    made = options(headers=headers)
    assert dict(made.headers) == {"x-title": "Ferries"}
    assert made.headers == {"x-title": "Ferries"}
    again = made.replace(model="gull-2").headers
    assert again == made.headers
    kept: Any = again
    assert (kept["X-TITLE"], "X-Title" in kept, "Accept" in kept, len(kept)) == ("Ferries", True, False, 1)


def test_header_values_may_hold_what_http_allows() -> None:
    assert dict(options(headers={"X-A": "a\tb é", "X-B": ""}).headers) == {"X-A": "a\tb é", "X-B": ""}


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Bad Header": "herring"}, "AgentOptions(headers['Bad Header']): the name of a header"),
        ({"": "herring"}, "AgentOptions(headers['']): the name of a header"),
        ({"X-A": "herring\r\nX-B: 1"}, "AgentOptions(headers['X-A']): the value of header 'X-A'"),
        ({"X-A": "herring "}, "the value of header 'X-A'"),
        ({"X-A": "herring→"}, "the value of header 'X-A'"),
        ([("Authorization: Bearer herring", "")], "AgentOptions(headers['Authorization']): the name of a header"),
        ({"Content-Length": "3"}, "content-length is not the size of the body; leave it out"),
        ({"X-A": 1}, "expected pairs of text"),
        ([("X-A", "herring", "x")], "expected pairs of text"),
        (["ab"], "expected pairs of text"),
        ("X-A: herring", "expected a mapping or pairs, not str"),
        (None, "expected a mapping or pairs, not NoneType"),
    ],
)
def test_a_wrong_header_is_named_and_its_value_is_not(headers: Any, said: str) -> None:
    message = refusal(headers=headers)
    assert said in message
    assert message.startswith("AgentOptions(headers")
    assert "herring" not in message


def test_extra_fields_are_copied() -> None:
    given = {"stop": ["END"], "top_p": None}
    made = options(extra_body=given)
    given["stop"] = ["CHANGED"]
    assert made.extra_body == {"stop": ["END"], "top_p": None}


@pytest.mark.parametrize(
    ("protocol", "field"),
    [
        ("openai-chat", "messages"),
        ("openai-chat", "stream"),
        ("anthropic", "messages"),
        ("openai-responses", "input"),
        ("gemini", "contents"),
        ("ollama", "stream"),
        ("bedrock", "messages"),
        ("cohere", "messages"),
    ],
)
@pytest.mark.parametrize("value", [None, True, []])
def test_what_the_history_and_the_protocol_fill_in_is_refused(protocol: str, field: str, value: object) -> None:
    message = refusal(protocol=protocol, max_tokens=1, extra_body={field: value})
    assert message.startswith(f"AgentOptions(extra_body): {field!r} is filled in")


def test_several_answers_at_once_are_refused() -> None:
    for fine in (None, 1):
        assert options(extra_body={"n": fine}).extra_body == {"n": fine}
    for wrong in (2, 0, "1"):
        assert "'n' must be 1" in refusal(extra_body={"n": wrong})
    assert "'generationConfig.candidateCount' must be 1" in refusal(
        protocol="gemini", extra_body={"generationConfig": {"candidateCount": 2}}
    )
    assert "candidate_count" in refusal(protocol="gemini", extra_body={"generation_config": {"candidate_count": 3}})
    assert options(protocol="gemini", extra_body={"generationConfig": 2}).extra_body == {"generationConfig": 2}


@pytest.mark.parametrize("wrong", [None, "{}", [("a", 1)], {1: 2}])
def test_extra_fields_are_a_mapping_by_name(wrong: object) -> None:
    assert "expected a mapping from names of fields" in refusal(extra_body=wrong)


def test_extra_fields_are_json() -> None:
    message = refusal(extra_body={"secret": "herring", "x": object()})
    assert message.startswith("AgentOptions(extra_body): it cannot be written as JSON")
    assert "herring" not in message
