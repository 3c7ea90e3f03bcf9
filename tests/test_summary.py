"""`StreamSummary` and its records, and the notes that they are made of."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest

from tokwire import (
    DroppedToolCall,
    FinishReason,
    PartialToolCall,
    RedactedThinkingBlock,
    Signature,
    StreamDecoder,
    StreamSummary,
    ThinkingBlock,
    Usage,
)
from tokwire._notes import StreamNotes

DROPPED = DroppedToolCall(0, 2, "call_1", None, '{"a"', "the server never sent its name")
SIGNATURE = Signature(0, "signature", 1, None, None, "EqQB+/==")
RECORDS: list[Any] = [DROPPED, SIGNATURE, ThinkingBlock("let me see", "c2ln"), RedactedThinkingBlock("opaque")]
FULL = StreamSummary(
    finish_reason=FinishReason.other("eos"),
    raw_finish_reason="eos",
    end_marker=True,
    response_id="resp_1",
    model="model-x",
    finish_reasons={0: "eos", 1: "stop"},
    usage=Usage(1, 2, raw={"prompt_tokens": 1}),
    media={"image": 2},
    signatures=(SIGNATURE,),
    thinking_blocks=(ThinkingBlock("let me see", "c2ln"), RedactedThinkingBlock("opaque")),
    dropped_tool_calls=(DROPPED,),
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_is_a_value(record: Any) -> None:
    copied = pickle.loads(pickle.dumps(record))
    assert copied == record
    assert hash(copied) == hash(record)
    assert [other for other in RECORDS if other == copied] == [record]
    with pytest.raises(AttributeError):
        setattr(record, record.__struct_fields__[0], None)


def test_a_summary_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    frozen: Any = FULL
    with pytest.raises(AttributeError):
        frozen.end_marker = False


def test_records_can_be_matched_by_position() -> None:
    match RECORDS:
        case [
            DroppedToolCall(choice, index, call_id, name, arguments, reason),
            Signature(_, kind, block_index, item_id, tool_use_id, data),
            ThinkingBlock(text, signature),
            RedactedThinkingBlock(opaque),
        ]:
            assert (choice, index, call_id, name, arguments) == (0, 2, "call_1", None, '{"a"')
            assert reason == "the server never sent its name"
            assert (kind, block_index, item_id, tool_use_id, data) == ("signature", 1, None, None, "EqQB+/==")
            assert (text, signature, opaque) == ("let me see", "c2ln", "opaque")
        case _:
            pytest.fail("the records do not match")


def test_thinking_reads_back_from_json_by_its_tag() -> None:
    kept: Any = FULL.thinking_blocks
    written = msgspec.json.encode(kept)
    assert msgspec.json.decode(written, type=tuple[ThinkingBlock | RedactedThinkingBlock, ...]) == kept


def test_a_summary_can_be_written_as_json() -> None:
    written = msgspec.json.decode(msgspec.json.encode(FULL))
    assert written.keys() == set(StreamSummary.__struct_fields__)
    assert written["finish_reasons"] == {"0": "eos", "1": "stop"}
    assert written["dropped_tool_calls"][0]["reason"] == DROPPED.reason


def test_a_decoder_has_a_summary_before_its_first_byte() -> None:
    assert StreamDecoder("openai-chat").summary == StreamSummary(
        finish_reason=FinishReason.UNSPECIFIED,
        raw_finish_reason=None,
        end_marker=False,
        response_id=None,
        model=None,
        finish_reasons={},
        usage=None,
        media={},
        signatures=(),
        thinking_blocks=(),
        dropped_tool_calls=(),
    )


def test_a_summary_does_not_change_when_the_stream_goes_on() -> None:
    decoder = StreamDecoder("openai-chat")
    decoder.receive_data(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    assert list(decoder.events()) == []
    before = decoder.summary
    decoder.receive_data(b'data: {"id":"late","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}\n\n')
    assert list(decoder.events()) == []
    assert (before.response_id, before.finish_reasons) == (None, {0: "stop"})
    assert (decoder.summary.response_id, decoder.summary.finish_reasons) == ("late", {0: "stop", 1: "length"})


# The notes.


def test_media_is_counted_by_kind() -> None:
    notes = StreamNotes(None)
    notes.count_media("image", 2)
    notes.count_media("audio")
    notes.count_media("image")
    assert notes.media == {"image": 3, "audio": 1}


def test_what_comes_in_pieces_is_counted_once() -> None:
    notes = StreamNotes(None)
    for piece in ("a1", "a1", "a2", "a1"):
        notes.count_media("audio", once_for=piece)
    notes.count_media("image", once_for="a1")
    assert notes.media == {"audio": 2, "image": 1}


def test_signatures_keep_their_order_and_all_that_names_them() -> None:
    call = PartialToolCall(0)
    call.id = "call_1"
    notes = StreamNotes(None)
    notes.sign("signature", "s1", block_index=0)
    notes.sign("reasoning.encrypted", "s2", choice=1, item_id="rs_1")
    notes.sign("thought_signature", "s3", call=call)
    assert notes.signatures() == (
        Signature(0, "signature", 0, None, None, "s1"),
        Signature(1, "reasoning.encrypted", None, "rs_1", None, "s2"),
        Signature(0, "thought_signature", None, None, "call_1", "s3"),
    )


@pytest.mark.parametrize("data", ["", None, 5, b"bytes", ["s"], {"s": 1}, True])
def test_what_is_no_text_is_no_signature(data: object) -> None:
    notes = StreamNotes(None)
    notes.sign("signature", data)
    assert notes.signatures() == ()


def test_thinking_is_joined_by_block_in_the_order_of_the_first_mention() -> None:
    notes = StreamNotes(None)
    notes.think(1, text="first ")
    notes.think(0, text="other")
    notes.redact(2, "opaque")
    notes.think(1, text="thought")
    notes.think(1, signature="si")
    notes.think(1, signature="gn")
    assert notes.thinking_blocks() == (
        ThinkingBlock("first thought", "sign"),
        ThinkingBlock("other"),
        RedactedThinkingBlock("opaque"),
    )


def test_a_block_that_has_only_a_signature_is_kept() -> None:
    notes = StreamNotes(None)
    notes.think(0, signature="s")
    assert notes.thinking_blocks() == (ThinkingBlock("", "s"),)


def test_looking_at_the_thinking_changes_nothing() -> None:
    notes = StreamNotes(None)
    notes.think(0, text="a")
    assert notes.thinking_blocks() == notes.thinking_blocks()
    notes.think(0, text="b")
    assert notes.thinking_blocks() == (ThinkingBlock("ab"),)


def test_halves_of_a_surrogate_pair_are_joined_across_pieces_and_never_kept_alone() -> None:
    notes = StreamNotes(None)
    notes.think(0, text="\ud83d")
    notes.think(0, text="\ude00 and \ud83d")
    notes.redact(1, "\udc00")
    notes.sign("signature", "\ud800x")
    assert notes.thinking_blocks() == (ThinkingBlock("\U0001f600 and \ufffd"), RedactedThinkingBlock("\ufffd"))
    assert notes.signatures()[0].data == "\ufffdx"


@pytest.mark.parametrize("cap", [1, 2, 5])
def test_every_list_is_capped_and_keeps_what_came_first(cap: int) -> None:
    notes = StreamNotes(cap)
    for number in range(10):
        notes.sign("signature", f"s{number}")
        notes.think(number, text=f"t{number}")
    assert [signature.data for signature in notes.signatures()] == [f"s{number}" for number in range(cap)]
    assert notes.thinking_blocks() == tuple(ThinkingBlock(f"t{number}") for number in range(cap))


def test_a_block_that_is_kept_still_grows_when_there_is_no_room_for_others() -> None:
    notes = StreamNotes(1)
    notes.think(0, text="a")
    notes.think(1, text="lost")
    notes.redact(2, "lost")
    notes.think(0, text="b")
    assert notes.thinking_blocks() == (ThinkingBlock("ab"),)


def test_without_room_to_remember_media_is_still_counted() -> None:
    notes = StreamNotes(1)
    for name in ("a", "b"):
        notes.count_media("audio", once_for=name)
    notes.count_media("audio", once_for="a")
    assert notes.media == {"audio": 2}
