"""The registry: protocols by name, refusal of taken names, and one of a third party that is used like any other."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.pigeon import on_payload, pigeon, post, recognises

from tokwire import (
    ApiProtocol,
    Block,
    Finish,
    FinishReason,
    Reasoning,
    StreamDecoder,
    StreamEvent,
    TextBlock,
    ToolUseBlock,
    Usage,
    Verdict,
    collect,
    decode,
    detect,
    protocols,
    register_protocol,
)
from tokwire.protocols import find_protocol
from tokwire.protocols._readers import as_dict, as_id, as_index, as_list, as_text, as_word

registry = importlib.import_module("tokwire.protocols")
BUILT_IN = ("openai-chat", "anthropic")


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry to change: what is registered in the test is gone after it."""
    before = protocols()
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_by_name", dict(registry._by_name))
        yield
    assert protocols() == before


def text(fragment: str) -> StreamEvent:
    """The event of a text fragment."""
    return Block(TextBlock(fragment))


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        *[
            (name, "openai-chat")
            for name in ("openai-chat", "openai", "openai_chat", "OpenAI", "OPENAI-CHAT", "Openai_Chat")
        ],
        *[(name, "anthropic") for name in ("anthropic", "ANTHROPIC", "Anthropic")],
    ],
)
def test_a_protocol_is_found_by_name_and_alias_in_any_case(spelling: str, name: str) -> None:
    assert find_protocol(spelling).name == name
    assert StreamDecoder(spelling).protocol is find_protocol(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "openai ",
            "openai chat",
            "openaichat",
            "claude",
            "gpt",
            "mistral",
            "open-ai",
            "anthropic\0",
            "None",
        ),
        *("\u212aimi", "open\uff21i", "openai\u2010chat", "ope\u0280ai", "anthrop\u0131c"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name: str) -> None:
    for use in (find_protocol, StreamDecoder, lambda protocol: decode(b"", protocol)):
        with pytest.raises(ValueError, match="unknown protocol") as caught:
            use(name)
        assert repr(name) in str(caught.value)
        assert all(known in str(caught.value) for known in ("openai-chat", "openai", "openai_chat", "anthropic"))


@pytest.mark.parametrize("stranger", [None, 1, b"openai", ["openai"], Verdict.UNKNOWN])
def test_what_is_neither_a_name_nor_a_protocol_is_a_type_error(stranger: Any) -> None:
    with pytest.raises(TypeError, match=type(stranger).__name__):
        find_protocol(stranger)
    with pytest.raises(TypeError):
        StreamDecoder(stranger)


def test_the_protocols_are_listed_once_each_in_the_order_of_registration() -> None:
    assert tuple(protocol.name for protocol in protocols() if protocol.name in BUILT_IN) == BUILT_IN
    assert len(set(protocols())) == len(protocols())


def test_a_protocol_can_be_used_without_being_registered() -> None:
    own = pigeon()
    assert StreamDecoder(own).protocol is own
    assert decode(post({"say": "coo"}, {"over": 1}), own) == [text("coo"), Finish(FinishReason.UNSPECIFIED)]
    assert own not in protocols()
    with pytest.raises(ValueError, match="unknown protocol"):
        find_protocol("pigeon-post")


@pytest.mark.usefixtures("own_registry")
def test_a_registered_protocol_is_used_by_any_of_its_names() -> None:
    own = pigeon()
    register_protocol(own)
    assert protocols()[-1] is own
    assert [protocol.name for protocol in protocols()].count("pigeon-post") == 1
    for name in ("pigeon-post", "PIGEON-POST", "pigeon", "Pigeon", "coo", "COO"):
        assert find_protocol(name) is own
        assert collect(decode(post({"say": "coo"}, {"over": 1}), name)).text == "coo"
    with pytest.raises(ValueError, match=r"coo, .*pigeon"):
        find_protocol("raven")


@pytest.mark.usefixtures("own_registry")
def test_a_registered_protocol_is_detected_by_its_marks() -> None:
    body = post({"say": "coo"})
    assert detect(body) is None
    own = pigeon()
    register_protocol(own)
    assert detect(body) is own


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_registered_protocol_decodes_like_a_built_in_one(size: int) -> None:
    register_protocol(pigeon())
    body = b"\xef\xbb\xbf: coo\r\n\r\n" + post(
        *({"think": "seeds?"}, {"say": "Br"}, {"tick": 1}, {"say": "ead."}, {"pigeon": "feather"}),
        *({"ask": "fetch", "slot": 1, "id": "p1", "with": '{"n": '}, {"ask": "fetch", "slot": 1, "with": "2}"}),
        *({"ask": "peck", "slot": 0, "id": "p0"}, {"weight": {"grains": 5}}, {"landed": "HOME"}, {"over": True}),
        {"say": "after the end"},
    )
    decoder = StreamDecoder("pigeon", include_reasoning=True, include_usage=True)
    events: list[StreamEvent] = []
    for start in range(0, len(body), size):
        decoder.receive_data(body[start : start + size])
        events += decoder.events()
    assert events == [
        *(Reasoning("seeds?"), text("Br"), text("ead.")),
        *(Block(ToolUseBlock("p0", "peck", {})), Block(ToolUseBlock("p1", "fetch", {"n": 2}))),
        *(Usage(output_tokens=5, raw={"grains": 5}), Finish(FinishReason.STOP)),
    ]
    assert decoder.summary.raw_finish_reason == "HOME"
    assert decoder.summary.end_marker


@pytest.mark.parametrize(
    ("taken", "by"),
    [
        ("openai", "openai-chat"),
        ("OpenAI-Chat", "openai-chat"),
        ("ANTHROPIC", "anthropic"),
        ("coo", "pigeon-post"),
    ],
)
@pytest.mark.usefixtures("own_registry")
def test_a_taken_name_or_alias_is_refused_and_nothing_of_it_stays(taken: str, by: str) -> None:
    register_protocol(pigeon())
    before = protocols()
    for wrong in (pigeon(name=taken, aliases=()), pigeon(name="raven", aliases=("crow", taken))):
        with pytest.raises(ValueError, match=f"{taken.lower()!r} is taken by {by}"):
            register_protocol(wrong)
    assert protocols() == before
    for name in ("raven", "crow"):
        with pytest.raises(ValueError, match="unknown protocol"):
            find_protocol(name)


@pytest.mark.usefixtures("own_registry")
def test_a_protocol_cannot_be_registered_twice() -> None:
    own = pigeon()
    register_protocol(own)
    with pytest.raises(ValueError, match="taken by pigeon-post"):
        register_protocol(own)


@pytest.mark.parametrize("name", ["", " ", " x", "x\n", "caf\u00e9", "\u212a"])
def test_a_name_that_nobody_could_type_is_refused(name: str) -> None:
    for fields in ({"name": name}, {"aliases": ("fine", name)}):
        with pytest.raises(ValueError, match="cannot name a protocol"):
            pigeon(**fields)


def test_a_protocol_is_what_it_is_and_not_what_it_holds() -> None:
    own = pigeon()
    assert own != pigeon()
    assert len({own, pigeon(), own}) == 2
    frozen: Any = own
    with pytest.raises(AttributeError):
        frozen.name = "other"


def test_a_protocol_needs_no_more_than_a_name_a_reader_and_what_it_recognises() -> None:
    least = ApiProtocol(name="least", on_payload=on_payload, recognises=recognises)
    assert not least.marks({"say": "coo"}, None)
    body = post({"ask": "f", "slot": 0, "id": "a"}, {"landed": "stop"})
    assert decode(body, least) == [Block(ToolUseBlock("a", "f", {})), Finish(FinishReason.STOP)]


# The readers that protocols share: what has the wrong type is as if it were not there.

STRANGERS: list[Any] = [None, True, False, 0, 1.5, "", "text", [], ["x"], {}, {"a": 1}]


@pytest.mark.parametrize("value", STRANGERS, ids=repr)
def test_each_reader_takes_its_own_type_and_nothing_else(value: Any) -> None:
    assert as_dict(value) == (value if isinstance(value, dict) else {})
    assert as_list(value) == (value if isinstance(value, list) else [value] if isinstance(value, dict) else [])
    assert as_text(value) == (value if isinstance(value, str) else "")
    assert as_word(value) == (value if isinstance(value, str) and value else None)


@pytest.mark.parametrize(
    ("value", "call_id"),
    [
        *(
            ("a", "a"),
            (" ", " "),
            ("Null", "Null"),
            ("0", "0"),
            (0, "0"),
            (-7, "-7"),
            (10**30, str(10**30)),
            (1.5, "1.5"),
        ),
        *(("", None), (None, None), ("null", None), (True, None), (False, None), (["a"], None), ({"id": "a"}, None)),
        ("a\ud800", "a\ufffd"),
    ],
)
def test_an_id_is_text_or_a_number_as_text(value: object, call_id: str | None) -> None:
    assert as_id(value) == call_id


@pytest.mark.parametrize(
    ("value", "index"),
    [
        *((0, 0), (7, 7), (-1, -1), (10**30, 10**30), ("0", 0), ("12", 12), ("-3", -3), (0.0, 0), (2.0, 2), (-1.0, -1)),
        *((None, None), (True, None), (False, None), (0.5, None), (float("inf"), None), (float("nan"), None)),
        *(("", None), ("-", None), ("--1", None), ("1.5", None), ("one", None), ("\u0663", None), ("\u00b2", None)),
        *(([0], None), ({"index": 0}, None)),
    ],
    ids=repr,
)
def test_an_index_is_a_whole_number_in_any_form(value: object, index: int | None) -> None:
    assert as_index(value) == index
