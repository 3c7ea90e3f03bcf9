"""What options hold and show to nobody: the key, the values of headers, a query, and extra fields."""

from __future__ import annotations

import copy
import pickle
import pprint
import traceback
from typing import Any

import msgspec
import pytest
from rich.pretty import pretty_repr

from tokwire import AgentOptions

KEY = "sk-herring-4711"


class Locked:
    """An object that hides a text, such as pydantic has one."""

    def __init__(self, value: Any = KEY) -> None:
        self.value = value

    def get_secret_value(self) -> Any:
        """The text."""
        return self.value


class Masked(str):
    """A text that shows itself as stars."""

    __slots__ = ()

    def __str__(self) -> str:
        return "***"

    __repr__ = __str__


def secretive(**changes: Any) -> AgentOptions:
    """Options with a secret in every place where one can be."""
    fields: dict[str, Any] = {
        "model": "gull-1",
        "base_url": f"https://harbour.example/v1?code={KEY}",
        "api_key": KEY,
        "headers": {"api-key": KEY, "X-Trace": KEY, "User-Agent": "gull/1"},
        "extra_body": {"mcp": {"token": KEY}},
    }
    return AgentOptions(**fields | changes)


@pytest.mark.parametrize("given", [KEY, Locked(), Masked(KEY), Locked(Masked(KEY))])
def test_a_key_is_a_text_or_an_object_that_hides_one(given: Any) -> None:
    options = secretive(api_key=given)
    assert options.key_text() == KEY
    assert type(options.key_text()) is str
    assert options.replace(model="gull-2").key_text() == KEY


@pytest.mark.parametrize("nothing", [None, "", Locked(""), Locked(None)])
def test_no_key_and_an_empty_one_are_the_same(nothing: Any) -> None:
    options = secretive(api_key=nothing)
    assert options.api_key is None
    assert options.key_text() == ""


@pytest.mark.parametrize("how", [repr, str, format, pprint.pformat, pretty_repr, lambda it: f"{it!s:>5}"])
def test_nothing_that_shows_options_shows_a_secret(how: Any) -> None:
    options = secretive()
    for shown in (options, options.api_key, options.headers, [options], msgspec.structs.asdict(options)["api_key"]):
        assert "herring" not in how(shown)


def test_the_repr_tells_what_was_set_and_what_can_be_told() -> None:
    assert repr(secretive(max_tool_iterations=0, system_prompt="Be brief. " * 50)) == (
        "AgentOptions(model='gull-1', base_url='https://harbour.example/v1?...', api_key=Secret('***'), "
        f"system_prompt='{'Be brief. ' * 10}...', max_tool_iterations=0, "
        "headers={'api-key': ..., 'X-Trace': ..., 'User-Agent': 'gull/1'}, extra_body=('mcp',))"
    )
    assert (
        repr(AgentOptions(model="gull-1", base_url="http://x")) == "AgentOptions(model='gull-1', base_url='http://x')"
    )


@pytest.mark.parametrize("encode", [msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins])
@pytest.mark.parametrize("key", [KEY, None])
def test_options_cannot_be_written_as_json_even_without_a_key(encode: Any, key: str | None) -> None:
    with pytest.raises(TypeError) as caught:
        encode(secretive(api_key=key))
    assert "herring" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (KEY + "\n", "blanks or line ends around it: strip them"),
        (" " + KEY, "blanks or line ends around it: strip them"),
        (KEY + "\r\nX-A: 1", "characters that no header can carry"),
        (KEY + "→", "characters that no header can carry"),
        (KEY.encode(), "not bytes"),
        (Locked(KEY.encode()), "not bytes"),
        (4711, "not int"),
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(wrong: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        secretive(api_key=wrong)
    assert said in str(caught.value)
    assert str(caught.value).startswith("AgentOptions(api_key)")
    whole = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__context__)
    assert "herring" not in whole.replace('"sk-herring-4711"', "")


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ""},
        {"base_url": f"ftp://harbour.example/?code={KEY}"},
        {"base_url": f"https://gull:{KEY}@harbour.example"},
        {"base_url": KEY},
        {"base_url": f"x?code={KEY}://"},
        {"base_url": f"http://harbour.example?code={KEY}#x"},
        {"headers": {"X-A": KEY + "\n"}},
        {"headers": [(f"Authorization: Bearer {KEY}", "")]},
        {"headers": [KEY]},
        {"extra_body": {"n": 2, "token": KEY}},
        {"extra_body": {"messages": [KEY]}},
        {"extra_body": [KEY]},
        {"tools": KEY},
        {"temperature": 9},
        {"hooks": [KEY]},
        {"limits": KEY},
        {"retry": KEY},
        {"repair_arguments": KEY},
        {"protocol": "anthropic"},
    ],
)
def test_no_error_of_options_shows_a_secret(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        secretive(**changes)
    error: BaseException | None = caught.value
    while error is not None:
        assert "herring" not in f"{error} {error!r} {error.args}"
        error = error.__context__


def test_refused_options_show_no_secret_to_a_debugger_either() -> None:
    with pytest.raises(ValueError, match="temperature") as caught:
        secretive(temperature=9)
    frames = [entry.frame.f_locals for entry in caught.traceback if "self" in entry.frame.f_locals]
    assert frames
    assert not any("herring" in repr(frame["self"]) for frame in frames)


def test_keys_are_compared_by_what_they_hide() -> None:
    assert secretive() == secretive()
    assert secretive() != secretive(api_key="another")
    assert secretive().api_key != KEY
    assert len({secretive().api_key, secretive().api_key, secretive(api_key="another").api_key}) == 2


def test_copies_and_pickles_hold_everything() -> None:
    options = secretive()
    for again in (copy.copy(options), copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert again == options
        assert again.key_text() == KEY
