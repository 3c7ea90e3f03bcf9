"""`FinishReason`: the words of the servers, the constants, and reasons outside the known set."""

from __future__ import annotations

import copy
import itertools
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import FinishReason
from tokwire._finish import OPENAI_WORDS, reason_for
from tokwire.protocols import find_protocol

CONSTANTS = {
    "STOP": "stop",
    "LENGTH": "length",
    "TOOL_CALLS": "tool_calls",
    "CONTENT_FILTER": "content_filter",
    "MAX_TOOL_ITERATIONS": "max_tool_iterations",
    "UNSPECIFIED": "unspecified",
}
ON_THE_WIRE = ("STOP", "LENGTH", "TOOL_CALLS", "CONTENT_FILTER")
ALL = list(FinishReason)
OTHERS = [FinishReason.other(raw) for raw in ("eos", "EOS", "", "stop", "other", "unspecified", "ende gut \U0001f600")]


def spellings(word: str) -> list[str]:
    """A word in several mixtures of ASCII cases."""
    alternating = "".join(letter.upper() if place % 2 else letter for place, letter in enumerate(word))
    return [word, word.upper(), word.title(), alternating]


@pytest.mark.parametrize(("name", "word"), CONSTANTS.items())
def test_each_constant_has_its_word(name: str, word: str) -> None:
    reason = FinishReason[name]
    assert reason.as_str() == str(reason) == f"{reason}" == word
    assert repr(reason) == f"FinishReason.{name}"
    assert not reason.is_other


def test_there_are_no_other_constants() -> None:
    assert [reason.name for reason in FinishReason] == list(CONSTANTS)


@pytest.mark.parametrize("name", CONSTANTS)
def test_only_length_is_truncated(name: str) -> None:
    assert FinishReason[name].is_truncated == (name == "LENGTH")


@pytest.mark.parametrize(
    ("word", "name"), [(spelling, name) for name in ON_THE_WIRE for spelling in spellings(CONSTANTS[name])]
)
def test_a_known_word_is_known_in_any_case(word: str, name: str) -> None:
    assert FinishReason.from_wire(word) is FinishReason[name]


@pytest.mark.parametrize(
    "word",
    [
        *("ERR_Budget", "", "length_ish", "max_tokens", "function_call", "eos", "end_turn", "error", "abort"),
        *("tool_use", " stop", "stop\n", "stop\0", "STOP_SEQUENCE"),
    ],
)
def test_an_unknown_word_is_kept_verbatim(word: str) -> None:
    reason = FinishReason.from_wire(word)
    assert reason.is_other
    assert reason.as_str() == str(reason) == word
    assert not reason.is_truncated
    assert reason == FinishReason.other(word)


@pytest.mark.parametrize("word", ["unspecified", "max_tool_iterations", "UNSPECIFIED", "Max_Tool_Iterations"])
def test_no_server_can_claim_what_only_the_client_knows(word: str) -> None:
    reason = FinishReason.from_wire(word)
    assert reason not in ALL
    assert reason.is_other
    assert reason.as_str() == word


@pytest.mark.parametrize("word", ["\u017ftop", "\uff33\uff34\uff2f\uff30", "\u017fTOP", "content_f\u0131lter"])
def test_only_ascii_case_is_ignored(word: str) -> None:
    assert FinishReason.from_wire(word) == FinishReason.other(word)


@given(st.text())
def test_every_word_gives_a_reason_that_keeps_it(word: str) -> None:
    reason = FinishReason.from_wire(word)
    if word.lower() in {CONSTANTS[name] for name in ON_THE_WIRE} and word.isascii():
        assert reason in ALL
        assert str(reason) == word.lower()
    else:
        assert str(reason) == word
        assert reason.is_other


def test_a_protocol_can_bring_its_own_words() -> None:
    words = {"done": FinishReason.STOP, "max_tokens": FinishReason.LENGTH}
    assert reason_for("DONE", words) is FinishReason.STOP
    assert reason_for("Max_Tokens", words).is_truncated
    assert reason_for("stop", words) == FinishReason.other("stop")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("end_turn", "STOP"),
        ("stop_sequence", "STOP"),
        ("END_TURN", "STOP"),
        ("max_tokens", "LENGTH"),
        ("model_context_window_exceeded", "LENGTH"),
        ("tool_use", "TOOL_CALLS"),
        ("refusal", "CONTENT_FILTER"),
        ("Refusal", "CONTENT_FILTER"),
    ],
)
def test_the_words_of_anthropic_are_known(word: str, name: str) -> None:
    assert reason_for(word, find_protocol("anthropic").finish_words) is FinishReason[name]


@pytest.mark.parametrize("word", ["pause_turn", "quota_exhausted", "Weird_Reason", "stop", "length", "tool_calls", ""])
def test_the_words_of_other_servers_mean_nothing_on_anthropic(word: str) -> None:
    assert reason_for(word, find_protocol("anthropic").finish_words) == FinishReason.other(word)


def test_the_common_words_cannot_be_changed() -> None:
    assert not hasattr(OPENAI_WORDS, "__setitem__")
    assert dict(OPENAI_WORDS) == {CONSTANTS[name]: FinishReason[name] for name in ON_THE_WIRE}


@pytest.mark.parametrize("name", CONSTANTS)
def test_another_reason_never_equals_a_constant_of_the_same_word(name: str) -> None:
    constant, other = FinishReason[name], FinishReason.other(CONSTANTS[name])
    assert constant != other
    assert other != constant
    assert len({constant, other}) == 2
    assert str(constant) == str(other)


def test_reasons_are_equal_exactly_when_they_are_the_same_word_of_the_same_kind() -> None:
    reasons = [*ALL, *OTHERS]
    for (place, one), (another_place, another) in itertools.product(enumerate(reasons), repeat=2):
        assert (one == another) == (place == another_place)


@given(st.text())
def test_equal_words_make_equal_reasons_that_hash_alike(word: str) -> None:
    assert FinishReason.other(word) == FinishReason.other(word)
    assert hash(FinishReason.other(word)) == hash(FinishReason.other(word))


@pytest.mark.parametrize("stranger", ["stop", "other", None, 0, object()])
def test_a_reason_equals_nothing_of_another_type(stranger: object) -> None:
    for reason in (FinishReason.STOP, FinishReason.other("stop")):
        assert reason != stranger
        assert stranger != reason


def test_making_a_reason_adds_no_constant() -> None:
    FinishReason.other("novel")
    assert list(FinishReason) == ALL
    with pytest.raises(ValueError, match="novel"):
        FinishReason("novel")
    with pytest.raises(ValueError, match="other"):
        FinishReason("other")


@pytest.mark.parametrize("reason", OTHERS)
def test_the_repr_of_another_reason_can_be_evaluated(reason: FinishReason) -> None:
    assert eval(repr(reason), {"FinishReason": FinishReason}) == reason


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("reason", [*ALL, *OTHERS])
def test_a_reason_survives_pickling(reason: FinishReason, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(reason, protocol))
    assert back == reason
    assert (back is reason) == (not reason.is_other)


@pytest.mark.parametrize("reason", [*ALL, *OTHERS])
def test_a_reason_survives_copying(reason: FinishReason) -> None:
    assert copy.copy(reason) == reason
    assert copy.deepcopy([reason]) == [reason]


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_copied_constant_is_the_constant(name: str) -> None:
    assert copy.deepcopy(FinishReason[name]) is FinishReason[name]


@pytest.mark.parametrize("reason", [*ALL, *OTHERS])
def test_json_tells_the_kind_of_a_reason(reason: FinishReason) -> None:
    assert msgspec.json.decode(msgspec.json.encode(reason)) == ("other" if reason.is_other else str(reason))


def advice(reason: FinishReason) -> str:
    """What a caller would do, by pattern matching."""
    match reason:
        case FinishReason.STOP:
            return "done"
        case FinishReason.LENGTH:
            return "ask for more"
        case FinishReason.UNSPECIFIED:
            return "nobody said"
        case _ if reason.is_other:
            return f"look up {reason}"
        case _:
            return "something known"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (FinishReason.STOP, "done"),
        (FinishReason.LENGTH, "ask for more"),
        (FinishReason.UNSPECIFIED, "nobody said"),
        (FinishReason.CONTENT_FILTER, "something known"),
        (FinishReason.other("stop"), "look up stop"),
        (FinishReason.other("eos"), "look up eos"),
    ],
)
def test_a_reason_can_be_matched(reason: FinishReason, expected: str) -> None:
    assert advice(reason) == expected
