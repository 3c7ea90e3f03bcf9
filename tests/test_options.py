"""The options of a decoder: one object, whose names are those that `StreamDecoder` takes."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

from tokwire import DecoderOptions, Limits, StreamDecoder
from tokwire._options import DecodeOptions


def test_the_options_are_those_of_the_decoder() -> None:
    parameters = inspect.signature(StreamDecoder).parameters
    keywords = [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    assert list(DecodeOptions.__struct_fields__) == keywords
    assert list(get_type_hints(DecoderOptions)) == keywords


def test_every_option_of_the_decoder_is_off_unless_asked_for() -> None:
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(StreamDecoder).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert defaults.pop("limits") == Limits()
    assert defaults.pop("repair_arguments") is None
    assert set(defaults.values()) == {False}


def test_options_are_given_by_name_all_of_them_and_stay_as_they_are() -> None:
    options = DecodeOptions(
        include_reasoning=True,
        include_usage=False,
        include_tool_deltas=True,
        include_raw=False,
        keep_thinking=True,
        synthesize_tool_ids=False,
        repair_arguments=None,
        limits=Limits(max_tool_calls=3),
    )
    assert (options.include_reasoning, options.include_usage, options.limits.max_tool_calls) == (True, False, 3)
    frozen: Any = options
    with pytest.raises(AttributeError):
        frozen.include_usage = True
    make: Any = DecodeOptions
    with pytest.raises(TypeError, match="limits"):
        make(**{name: False for name in DecodeOptions.__struct_fields__ if name != "limits"})
