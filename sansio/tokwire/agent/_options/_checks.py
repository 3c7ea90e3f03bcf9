"""The rules of each option. Every refusal names the option and the rule, and the value where it can be no secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._http import checked_headers, split_url
from ...protocols import ApiProtocol, find_protocol
from .._schema import json_copy
from .._tools import Tool
from ._protocol_rules import ProtocolRules, field_at
from ._secrets import HiddenHeaders, HidesText, Secret

__all__: list[str] = []

LONGEST_TIMEOUT = 1e9
"""Seconds, thirty years: the clocks of all systems can count them."""

SHOWN_CHARACTERS = 100

HeadersArgument = Mapping[str, str] | Iterable[tuple[str, str]]
KeyArgument = str | HidesText


def refusal(option: str, value: object, rule: str) -> str:
    """The text of an error."""
    shown = shortened(value) if isinstance(value, str) else value
    return f"AgentOptions({option}={shown!r}): {rule}"


def shortened(text: str) -> str:
    """The beginning of a text that is too long to be shown."""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def exact_text(option: str, value: object) -> str:
    """The value as a plain `str`: JSON and headers take no subclass of it.

    Raises:
        TypeError: It is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"AgentOptions({option}): expected a text, not {type(value).__name__}")
    return str.__str__(value)


def checked_type(option: str, value: object, kind: type, expected: str) -> None:
    """See that an option has its type.

    Raises:
        TypeError: It has another one.
    """
    if not isinstance(value, kind):
        raise TypeError(f"AgentOptions({option}): expected {expected}, not {type(value).__name__}")


def checked_model(model: object) -> str:
    """The name of the model, as it is.

    Raises:
        ValueError: It is blank.
        TypeError: It is no text.
    """
    text = exact_text("model", model)
    if not text.strip():
        raise ValueError(refusal("model", text, "the name of a model cannot be empty or blank"))
    return text


def checked_base_url(base_url: object) -> str:
    """The base URL, its scheme in lower case and its path without slashes at the end.

    Raises:
        ValueError: It is no http or https URL, or holds a user, a password or a fragment.
        TypeError: It is no text.
    """
    text = exact_text("base_url", base_url)
    if not text.strip():
        raise ValueError("AgentOptions(base_url): it is empty; expected the URL of an API, such as http://localhost/v1")
    scheme, found, rest = text.partition("://")
    path, question, query = rest.partition("?")
    shown = refusal("base_url", f"{scheme}://{path}" + ("?..." if question else ""), "")
    if not scheme.isalpha() or not found or "@" in text:
        shown = "AgentOptions(base_url): "  # it may be a key in the wrong place, or hold a password
    if "#" in text:
        raise ValueError(f"{shown}it holds a fragment, which no server gets to see; leave it out")
    url = f"{scheme.lower()}://{path.rstrip('/')}{question}{query}"
    try:
        split_url(url)
    except ValueError as error:
        raise ValueError(shown + str(error).removeprefix("HTTPRequest: ")) from None
    return url


def checked_key(api_key: object) -> Secret | None:
    """The key, hidden; None where it is None or empty. What is refused is never shown.

    Raises:
        ValueError: No header can carry it.
        TypeError: It is neither a text nor an object that hides one.
    """
    text = api_key.get_secret_value() if isinstance(api_key, HidesText) else api_key
    if text is None:
        return None
    if not isinstance(text, str):
        kind = type(text).__name__
        raise TypeError(f"AgentOptions(api_key): expected a text, or an object with get_secret_value(), not {kind}")
    text = str.__str__(text)
    try:
        checked_headers((("authorization", text),), 0)
    except ValueError:
        blank = "; it has blanks or line ends around it: strip them" if text != text.strip() else ""
        raise ValueError(f"AgentOptions(api_key): it holds characters that no header can carry{blank}") from None
    return Secret(text) if text else None


def checked_caller_headers(headers: object) -> HiddenHeaders:
    """The headers by name, the last of a name without case. No message repeats a value.

    Raises:
        ValueError: A name or a value breaks HTTP's rules.
        TypeError: They are neither a mapping nor pairs of text.
    """
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise TypeError(f"AgentOptions(headers): expected a mapping or pairs, not {type(headers).__name__}")
    by_name: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or [isinstance(part, str) for part in pair] != [True, True]:
            raise TypeError("AgentOptions(headers): expected pairs of text (name, value)")
        name, value = map(str.__str__, pair)
        try:
            checked_headers(((name, value),), 0)
        except ValueError as error:
            fault = str(error).removeprefix("HTTPRequest: ")
            shown = name.partition(":")[0]  # behind it may stand the value, when a whole line was taken for the name
            raise ValueError(f"AgentOptions(headers[{shown!r}]): {fault}") from None
        by_name[name.lower()] = (name, value)
    return HiddenHeaders(by_name)


def checked_protocol(protocol: object) -> str:
    """The name under which a protocol is registered.

    Raises:
        ValueError: None is registered under that name, or another one.
        TypeError: It is neither a name nor a protocol.
    """
    name = exact_text("protocol", protocol.name if isinstance(protocol, ApiProtocol) else protocol)
    try:
        found = find_protocol(name)
    except ValueError as error:
        raise ValueError(refusal("protocol", name, str(error))) from None
    if isinstance(protocol, ApiProtocol) and found is not protocol:
        raise ValueError(refusal("protocol", name, "another protocol has that name; register yours under its own"))
    return found.name


def checked_whole_number(option: str, value: object, least: int) -> None:
    """See that an option is a whole number.

    Raises:
        ValueError: It is too small.
        TypeError: It is no whole number.
    """
    rule = f"expected a whole number of at least {least}"
    if type(value) is not int:
        raise TypeError(refusal(option, value, rule))
    if value < least:
        raise ValueError(refusal(option, value, rule))


def checked_number(option: str, value: object, rule: str) -> float:
    """The value, if it is a number at all.

    Raises:
        TypeError: It is none.
    """
    if type(value) not in (int, float):
        raise TypeError(refusal(option, value, rule))
    assert isinstance(value, int | float)
    return value


def checked_temperature(temperature: object, protocol: str, rules: ProtocolRules) -> None:
    """See that the temperature lies in the range of the protocol.

    Raises:
        ValueError: It lies outside.
        TypeError: It is no number.
    """
    highest = rules.max_temperature
    bounds = "of at least 0" if highest is None else f"from 0 to {highest:g}"
    rule = f"{protocol} takes a number {bounds}, or None to leave it to the server"
    value = checked_number("temperature", temperature, rule)
    if not 0 <= value <= (LONGEST_TIMEOUT if highest is None else highest):
        raise ValueError(refusal("temperature", temperature, rule))


def checked_timeout(option: str, value: object) -> None:
    """See that a time limit is a number of seconds.

    Raises:
        ValueError: It is not above 0, or too long for a clock.
        TypeError: It is no number.
    """
    rule = "expected seconds above 0, or None for no limit"
    if not 0 < checked_number(option, value, rule) <= LONGEST_TIMEOUT:
        raise ValueError(refusal(option, value, rule))


def checked_tools(tools: object) -> tuple[Tool, ...]:
    """The tools as a tuple.

    Raises:
        ValueError: Two of them have one name.
        TypeError: There is something else among them.
    """
    if isinstance(tools, Tool | str) or not isinstance(tools, Iterable):
        raise TypeError(f"AgentOptions(tools): expected a list or tuple of tools, not {type(tools).__name__}")
    names: set[str] = set()
    kept = []
    for tool in tools:
        if not isinstance(tool, Tool):
            kind = type(tool).__name__
            raise TypeError(f"AgentOptions(tools): expected tools, not {kind}; make one with @tool or Tool(...)")
        if tool.name in names:
            raise ValueError(
                f"AgentOptions(tools): two tools are named {tool.name!r}; the model could not tell them apart"
            )
        names.add(tool.name)
        kept.append(tool)
    return tuple(kept)


def checked_extra_body(extra_body: object, rules: ProtocolRules) -> dict[str, Any]:
    """A copy of the fields that the caller adds. Their values are never shown: credentials may be among them.

    Raises:
        ValueError: A field is ours to fill in, asks for several answers, or is not JSON.
        TypeError: It is no mapping of text to values.
    """
    if not isinstance(extra_body, Mapping) or not all(isinstance(name, str) for name in extra_body):
        raise TypeError("AgentOptions(extra_body): expected a mapping from names of fields to JSON values")
    for name in rules.own_fields:
        if name in extra_body:
            raise ValueError(
                f"AgentOptions(extra_body): {name!r} is filled in from the history and the protocol; leave it out"
            )
    for names in rules.choices:
        if field_at(extra_body, names) not in (None, 1):
            raise ValueError(
                f"AgentOptions(extra_body): {'.'.join(names)!r} must be 1: a history can hold one answer only"
            )
    try:
        copied: dict[str, Any] = json_copy(dict(extra_body))
    except ValueError as error:
        raise ValueError(f"AgentOptions(extra_body): it cannot be written as JSON: {error}") from None
    return copied
