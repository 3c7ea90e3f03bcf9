"""`build_request`: the URL, the headers and the JSON that the requests of all protocols share."""

from __future__ import annotations

import importlib
import json
import traceback
from typing import Any

import pytest
from tests.agent_bodies import HELLO, KEY, PNG, QUAY, TIDE, options
from tests.pigeon import pigeon

import tokwire
from tokwire import (
    HTTPRequest,
    LocalProtocolError,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    build_request,
)
from tokwire.agent._requests._common import as_object, inline_image, join_url, result_images, result_text


class Shouted(str):
    """A text of another type."""

    __slots__ = ()


def request(messages: Any = (HELLO,), **changes: Any) -> HTTPRequest:
    """A request of openai-chat."""
    return build_request(options(**changes), messages)


def body(messages: Any = (HELLO,), **changes: Any) -> dict[str, Any]:
    """The JSON of its body."""
    parsed: dict[str, Any] = json.loads(request(messages, **changes).body)
    return parsed


def test_a_request_posts_json_and_asks_for_a_stream() -> None:
    made = request()
    assert (made.method, made.url) == ("POST", "http://harbour.example/v1/chat/completions")
    assert made.headers == (("content-type", "application/json"), ("accept", "text/event-stream"))
    assert made.body == b'{"model":"gull-1","messages":[{"role":"user","content":"Hello"}],"stream":true}'


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h", "/chat", "http://h/chat"),
        ("http://h/v1", "/chat", "http://h/v1/chat"),
        ("http://h/v1?a=1", "/chat", "http://h/v1/chat?a=1"),
        ("http://h/v1", "/chat?b=2", "http://h/v1/chat?b=2"),
        ("http://h/v1?a=1&c", "/chat?b=2", "http://h/v1/chat?b=2&a=1&c"),
        ("http://h/v1?", "/chat?", "http://h/v1/chat"),
        ("http://h/v1?x=a?b", "", "http://h/v1?x=a?b"),
    ],
)
def test_the_path_of_the_call_stands_before_the_query_of_the_base_url(base: str, path: str, url: str) -> None:
    assert join_url(base, path) == url


def test_azure_needs_nothing_but_options() -> None:
    made = request(
        base_url="https://gull.openai.azure.example/openai/deployments/gull-1/?api-version=2024-10-21",
        headers={"api-key": KEY},
    )
    assert made.url == (
        "https://gull.openai.azure.example/openai/deployments/gull-1/chat/completions?api-version=2024-10-21"
    )
    assert made.header("api-key") == KEY
    assert made.header("authorization") is None


def test_the_headers_of_the_caller_replace_ours_without_case() -> None:
    made = request(
        api_key=KEY, headers=[("Authorization", "mine"), ("CONTENT-TYPE", "application/custom+json"), ("X-Title", "Ü")]
    )
    assert made.headers == (
        ("CONTENT-TYPE", "application/custom+json"),
        ("accept", "text/event-stream"),
        ("Authorization", "mine"),
        ("X-Title", "Ü"),
    )


def test_extra_fields_are_added_and_replace_ours_and_none_takes_one_away() -> None:
    extra = {"temperature": 0.5, "model": None, "stop": ["END"], "missing": None, "metadata": {"inner": None}}
    assert body(temperature=1, extra_body=extra) == {
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "temperature": 0.5,
        "stop": ["END"],
        "metadata": {"inner": None},
    }


def test_building_changes_neither_options_nor_history_and_gives_the_same_twice() -> None:
    history = (HELLO, Message.assistant([TIDE]), Message("user", (ToolResultBlock("1", "2.1 m"),)))
    before = tokwire.history_to_json(history)
    extra = {"metadata": {"port": "Ayr"}}
    chosen = options(extra_body=extra)
    assert build_request(chosen, history) == build_request(chosen, list(history))
    assert tokwire.history_to_json(history) == before
    assert chosen.extra_body == extra


def test_text_is_utf8_also_that_of_a_subclass_of_str() -> None:
    assert "Grüße, 潮".encode() in request([Message.user("Grüße, 潮")]).body
    assert body([Message.user(Shouted("Ahoy"))]) == body([Message.user("Ahoy")])


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands() -> None:
    history = [
        Message.user(Shouted("a\ud800b")),
        Message.assistant([ToolUseBlock("1", "tide", {"x\udfff": ["\udead", 1, ("c",)]})]),
        Message("user", (ToolResultBlock("1", "d"),)),
    ]
    assert body(history, protocol="anthropic", max_tokens=9)["messages"] == [
        {"role": "user", "content": "a\ufffdb"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "tide", "input": {"x\ufffd": ["\ufffd", 1, ["c"]]}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "d"}]},
    ]


def test_a_value_that_json_cannot_hold_is_named_by_its_type() -> None:
    call = ToolUseBlock("1", "tide", {"at": object()})
    with pytest.raises(TypeError, match="holds a object, which JSON cannot hold"):
        request([HELLO, Message.assistant([call]), Message("user", (ToolResultBlock("1", ""),))])


def test_a_protocol_that_can_only_be_decoded_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = importlib.import_module("tokwire.protocols")
    monkeypatch.setattr(registry, "_by_name", dict(registry._by_name))
    tokwire.register_protocol(pigeon())
    with pytest.raises(ValueError, match="no requests can be built for the protocol 'pigeon-post', only for anthropic"):
        request(protocol="coo")


def test_results_are_read_as_text_and_images() -> None:
    plain = ToolResultBlock("1", "  as it is ")
    assert (result_text(plain), result_images(plain)) == ("  as it is ", [])
    blocks = ToolResultBlock("1", (TextBlock("a"), PNG, TextBlock("b"), QUAY))
    assert (result_text(blocks), result_images(blocks)) == ("a\nb", [PNG, QUAY])
    assert result_text(ToolResultBlock("1", ())) == ""


def test_an_image_in_a_data_url_is_parted_into_type_and_data() -> None:
    assert inline_image(PNG) == ("image/png", "iVBORw0K")
    assert inline_image(QUAY) is None


def test_arguments_that_are_no_object_are_wrapped_in_one() -> None:
    assert as_object({"a": 1}) == {"a": 1}
    assert [as_object(value) for value in ([1], None, "x")] == [{"value": [1]}, {"value": None}, {"value": "x"}]


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic"])
def test_the_key_stands_in_one_header_and_nowhere_else(protocol: str) -> None:
    made = request(protocol=protocol, max_tokens=9, api_key=KEY, headers={"X-Trace": "t"})
    assert [name for name, value in made.headers if KEY in value] == [
        "authorization" if protocol == "openai-chat" else "x-api-key"
    ]
    assert KEY.encode() not in made.body
    assert KEY not in made.url + repr(made) + str(made)


def test_no_error_of_building_shows_the_key() -> None:
    for history in ([Message.assistant([TIDE])], [Message("user", (ToolResultBlock("1", ""),))]):
        with pytest.raises(LocalProtocolError) as caught:
            request(history, api_key=KEY, headers={"X-Trace": KEY})
        assert KEY not in "".join(traceback.format_exception(caught.value))
