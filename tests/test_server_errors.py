"""Errors that servers report inside a stream: which payload reports one, and what becomes of its parts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import APIError
from tokwire._server_errors import api_error, has_error
from tokwire.protocols import find_protocol

STATUSES = {"overloaded_error": 529, "rate_limit_exceeded": 429, "throttlingException": 429}
PARTS = ("status_code", "type", "code", "message", "param", "request_id")

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["429", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "type", "code", "status", "status_code", "message", "detail", "param", "object"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def read(payload: object, name: str | None = None) -> dict[str, Any]:
    """The parts of the error in a payload, those left out that the server did not give."""
    error = api_error(payload, STATUSES, name=name)
    return {part: getattr(error, part) for part in PARTS if getattr(error, part) not in (None, "")}


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "no"}},
        {"error": "no"},
        {"error": {}},
        {"error": []},
        {"error": 0},
        {"error": True},
        {"error": {"message": "no"}, "choices": [{"delta": {"content": "text"}}]},
        {"object": "error", "message": "no"},
        {"type": "error"},
        {"type": "error", "error": None},
    ],
)
@pytest.mark.parametrize("is_recognised", [True, False])
def test_an_error_is_seen_in_every_shape(payload: object, is_recognised: bool) -> None:  # noqa: FBT001 - a column
    assert has_error(payload, None, is_recognised=is_recognised)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"error": None},
        {"error": False},
        {"error": ""},
        {"choices": [], "error": None},
        {"object": "chat.completion.chunk", "type": "message"},
        {"message": "error", "code": 500},
        {"detail": None},
        {"detail": ""},
        [{"error": {"message": "no"}}],
        "error",
        None,
        500,
    ],
)
def test_what_says_nothing_of_an_error_is_none(payload: object) -> None:
    assert not has_error(payload, None, is_recognised=False)
    assert not has_error(payload, "message", is_recognised=False)


@pytest.mark.parametrize("payload", [{}, {"error": None}, {"message": "no"}, [], "text", None, 1, {"choices": []}])
def test_an_event_named_error_is_one_in_any_shape(payload: object) -> None:
    assert has_error(payload, "error", is_recognised=True)


@pytest.mark.parametrize("detail", ["Not Found", [{"msg": "field required"}], {"reason": "x"}])
def test_a_detail_is_an_error_only_in_a_payload_that_is_not_recognised_otherwise(detail: object) -> None:
    assert has_error({"detail": detail}, None, is_recognised=False)
    assert not has_error({"detail": detail}, None, is_recognised=True)


@pytest.mark.parametrize(
    ("payload", "parts"),
    [
        # An error member: an object, text, or nothing but its presence.
        (
            {"error": {"message": "slow", "type": "rate_limit_error", "code": 429, "param": "model"}},
            {"message": "slow", "type": "rate_limit_error", "code": 429, "status_code": 429, "param": "model"},
        ),
        ({"error": "out of memory"}, {"message": "out of memory"}),
        ({"error": {}}, {}),
        ({"error": []}, {}),
        ({"error": True}, {}),
        # What is missing there stands beside it, and what is there wins.
        (
            {"error": {"message": "m"}, "type": "kind", "code": "c", "status": 503, "request_id": "r"},
            {"message": "m", "type": "kind", "code": "c", "status_code": 503, "request_id": "r"},
        ),
        ({"error": "e", "message": "beside", "status_code": 500}, {"message": "e", "status_code": 500}),
        ({"error": {"code": "c"}, "message": "beside"}, {"message": "beside", "code": "c"}),
        (
            {"error": {"status": 429, "type": "t"}, "code": 500, "type": "u"},
            {"type": "t", "status_code": 429, "code": 500},
        ),
        # Flat bodies.
        ({"object": "error", "message": "m", "code": 40303}, {"message": "m", "code": 40303}),
        (
            {"object": "error", "message": "m", "type": "BadRequest", "code": 400},
            {"message": "m", "type": "BadRequest", "code": 400, "status_code": 400},
        ),
        ({"detail": "Not Found"}, {"message": "Not Found"}),
        ({"detail": [{"loc": ["body"], "msg": "x"}]}, {"message": '[{"loc":["body"],"msg":"x"}]'}),
        ({"error": False, "message": "m"}, {"message": "m"}),
        ({"message": "m", "error": ""}, {"message": "m"}),
        # Text that is no JSON, no payload at all, and other values.
        ("upstream is gone", {"message": "upstream is gone"}),
        (None, {}),
        (5, {}),
        (["x"], {}),
        # Names for the message.
        ({"error": {"msg": "m"}}, {"message": "m"}),
        ({"error": {"error_message": "m"}}, {"message": "m"}),
        ({"error": {"details": "m"}}, {"message": "m"}),
        ({"error": {"message": "", "detail": "m"}}, {"message": "m"}),
        ({"error": {"message": {"a": 1}, "msg": "m"}}, {"message": "m"}),
        ({"error": {"message": {"a": 1}}}, {"message": '{"a":1}'}),
        # Tags of events are no types.
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            {"type": "overloaded_error", "message": "m", "status_code": 529},
        ),
        ({"type": "error", "message": "m"}, {"message": "m"}),
        ({"type": "response.failed", "error": {"code": "server_error"}}, {"code": "server_error"}),
        ({"error": {"type": "error"}, "type": "kind"}, {"type": "kind"}),
        ({"error": {"type": "errors", "code": None}}, {"type": "errors"}),
        ({"error": {"type": 5, "param": ["p"], "code": 1.5, "request_id": 9}}, {}),
        # A word in `status` stands for the type, and digits there are no word.
        ({"error": {"status": "UNAVAILABLE", "code": 503}}, {"type": "UNAVAILABLE", "code": 503, "status_code": 503}),
        ({"error": {"status": "503"}}, {"status_code": 503}),
        ({"error": {"type": "t", "status": "UNAVAILABLE"}}, {"type": "t"}),
        # Words with a documented status: a type, a name, a code. A number goes first.
        ({"error": {"type": "overloaded_error"}}, {"type": "overloaded_error", "status_code": 529}),
        ({"error": {"code": "rate_limit_exceeded"}}, {"code": "rate_limit_exceeded", "status_code": 429}),
        (
            {"error": {"type": "overloaded_error", "code": 500}},
            {"type": "overloaded_error", "code": 500, "status_code": 500},
        ),
        ({"error": {"type": "new_kind", "code": "new_code"}}, {"type": "new_kind", "code": "new_code"}),
    ],
)
def test_the_parts_of_an_error_are_found_under_all_their_names(payload: object, parts: dict[str, Any]) -> None:
    assert read(payload) == parts


@pytest.mark.parametrize(
    ("members", "status"),
    [
        *[({name: 429}, 429) for name in ("code", "status", "status_code")],
        *[({name: "429"}, 429) for name in ("code", "status", "status_code")],
        ({"code": 400, "status": 500, "status_code": 503}, 400),
        ({"code": 1234, "status": 500, "status_code": 503}, 500),
        ({"code": "E7", "status": "BAD", "status_code": 503}, 503),
        ({"code": None, "status": "502"}, 502),
        *[({"code": code}, code) for code in (400, 599)],
        *[({"code": code}, None) for code in (0, -429, 200, 399, 600, 42900, True, 429.5, None, [429], {"a": 429})],
        *[
            ({"code": code}, None)
            for code in ("399", "600", " 429", "0429", "4 29", "", "\u0664\u0662\u0669", "\u00b2\u00b2\u00b2")
        ],
    ],
)
def test_the_status_is_the_first_number_that_can_be_one(members: dict[str, Any], status: int | None) -> None:
    assert api_error({"error": {"message": "m", **members}}, {}).status_code == status
    assert api_error({"object": "error", **members}, {}).status_code == status
    assert api_error({"error": "m", **members}, {}).status_code == status


def test_the_name_of_an_exception_is_its_type_where_the_payload_has_none() -> None:
    assert read({"message": "m"}, "throttlingException") == {
        "message": "m",
        "type": "throttlingException",
        "status_code": 429,
    }
    assert read({"type": "own", "message": "m"}, "throttlingException") == {"type": "own", "message": "m"}
    assert read(None, "throttlingException") == {"type": "throttlingException", "status_code": 429}


@pytest.mark.parametrize(
    ("payload", "body"),
    [
        ({"error": {"message": "m", "x": [1]}, "id": "r"}, {"message": "m", "x": [1]}),
        ({"error": "text", "id": "r"}, "text"),
        ({"error": {}}, {}),
        ({"object": "error", "message": "m"}, {"object": "error", "message": "m"}),
        ({"error": None, "type": "error"}, {"error": None, "type": "error"}),
        ({"detail": "x"}, {"detail": "x"}),
        ("text", "text"),
        (None, None),
    ],
)
def test_the_body_is_the_error_member_or_the_whole_payload_where_it_is_flat(payload: object, body: object) -> None:
    assert api_error(payload, STATUSES).body == body


def test_an_error_says_type_message_and_status() -> None:
    error = api_error({"error": {"type": "overloaded_error", "message": "try later"}}, STATUSES)
    assert str(error) == "overloaded_error: try later (status 529)"
    assert error.retryable


ANTHROPIC = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@pytest.mark.parametrize(("kind", "status"), ANTHROPIC.items())
def test_the_types_of_anthropic_have_their_documented_status(kind: str, status: int) -> None:
    payload = {"type": "error", "error": {"type": kind, "message": "m"}}
    error = api_error(payload, find_protocol("anthropic").error_statuses)
    assert (error.type, error.status_code) == (kind, status)
    assert error.retryable == (status in {429, 500, 504, 529})


def test_halves_of_surrogate_pairs_never_leave() -> None:
    error = api_error({"error": {"message": "a\ud800", "\udc00": ["\udc00"]}}, {})
    assert error.message == "a\ufffd"
    assert error.body == {"message": "a\ufffd", "\ufffd": ["\ufffd"]}
    assert str(error).encode()


@given(json_values, st.none() | st.just("error"))
def test_any_payload_gives_an_error_that_can_be_shown(payload: Any, name: str | None) -> None:
    if has_error(payload, name, is_recognised=False):
        error = api_error(payload, STATUSES, name=name)
        assert isinstance(error, APIError)
        assert str(error).encode()
        assert error.status_code is None or error.status_code in range(400, 600)
