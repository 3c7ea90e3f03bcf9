"""What the protocols behind the first two share: paths that hold a model, images sent as data, the end of a turn."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent_bodies import FERRY, HELLO, PNG, QUAY, TIDE

from tokwire import AgentOptions, ImageBlock, LocalProtocolError, Message, TextBlock
from tokwire.agent._requests._parts import (
    image_data,
    names_called,
    path_below,
    percent_encoded,
    something,
    without_last_blanks,
)


def test_everything_but_letters_digits_and_four_signs_is_encoded() -> None:
    assert percent_encoded("aZ9-._~") == "aZ9-._~"
    assert percent_encoded("arn:aws/x y+ü%") == "arn%3Aaws%2Fx%20y%2B%C3%BC%25"
    assert percent_encoded("a/b:c", safe="/") == "a/b%3Ac"
    assert percent_encoded("a\ud800b") == "a%3Fb"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "/", "/:"]))
def test_text_is_encoded_as_urllib_does_it(text: str, safe: str) -> None:
    assert percent_encoded(text, safe=safe) == quote(text, safe=safe)


@pytest.mark.parametrize(
    ("base_url", "path"),
    [
        ("http://harbour.example", "/v2/chat"),
        ("http://harbour.example/", "/v2/chat"),
        ("http://harbour.example/v2", "/chat"),
        ("http://harbour.example/gate/v2/?key=a", "/chat"),
        ("http://harbour.example/v22", "/v2/chat"),
        ("http://harbour.example?at=/v2", "/v2/chat"),
    ],
)
def test_the_version_is_added_where_the_base_url_does_not_end_with_it(base_url: str, path: str) -> None:
    options = AgentOptions(model="gull-1", base_url=base_url)
    assert path_below(options, "/v2", "/chat") == path


def test_an_image_by_its_url_is_refused_where_only_data_can_be_sent() -> None:
    assert image_data(PNG, "ollama") == ("image/png", "iVBORw0K")
    with pytest.raises(ValueError, match="holds an image by its URL") as caught:
        image_data(QUAY, "ollama")
    assert str(caught.value) == (
        "a message holds an image by its URL, https://images.example/quay.png, and servers of ollama fetch none; "
        "fetch it, and use ImageBlock.from_bytes"
    )
    with pytest.raises(ValueError, match=r"by its URL, https://harbour\.example/a+, and") as caught:
        image_data(ImageBlock("https://harbour.example/" + "a" * 500), "ollama")
    assert len(str(caught.value)) < 200


def test_the_tools_of_a_message_are_named_in_the_order_of_the_calls() -> None:
    assert names_called([TextBlock("a"), TIDE, FERRY, TIDE]) == ["tide", "ferry", "tide"]
    assert names_called([PNG]) == []


def test_blanks_at_the_end_of_words_that_the_model_goes_on_with_are_left_out() -> None:
    begun = Message.assistant([TextBlock("b "), TextBlock("Once upon \n")])
    expected = Message.assistant([TextBlock("b "), TextBlock("Once upon")])
    assert without_last_blanks([HELLO, begun]) == [HELLO, expected]
    for turns in ([begun, Message.user("go on ")], [Message.assistant([TextBlock("a "), TIDE])]):
        assert without_last_blanks(turns) == turns


def test_a_request_without_any_message_is_an_error() -> None:
    assert something([{"role": "user"}]) == [{"role": "user"}]
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        something([])
