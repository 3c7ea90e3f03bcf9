"""`AgentOptions`: where the model is, as whom to ask it, and how the answer and the turn shall be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import NODEFAULT, Struct
from msgspec.structs import force_setattr, replace

from ..._arguments import Repair
from ..._decoder import DecoderOptions
from ..._limits import Limits
from .._hooks import Hooks
from .._retry import RetryConfig
from .._tools import Tool
from . import _checks as checks
from ._protocol_rules import rules_of
from ._secrets import HidesText

__all__ = ["AgentOptions"]

FLAGS = (
    "auto_execute_tools",
    "include_reasoning",
    "include_usage",
    "replay_thinking",
    "synthesize_tool_ids",
)
CHECKED: dict[str, Callable[[object], object]] = {
    "api_key": checks.checked_key,
    "headers": checks.checked_caller_headers,
    "model": checks.checked_model,
    "base_url": checks.checked_base_url,
    "protocol": checks.checked_protocol,
    "tools": checks.checked_tools,
}
"""What is kept of an option. The secrets come first: whatever is refused afterwards, they are hidden already."""

TIMEOUTS = ("timeout", "connect_timeout", "idle_timeout", "tool_timeout")


class AgentOptions(Struct, frozen=True, kw_only=True):
    """All that a client is told beside the prompt. Validated when made, and unchangeable: `replace` makes another.

    What is left at None is not sent, so that the server's own default holds. Neither the `repr` nor an error shows the
    key, the value of a header that may be a credential, a query of the URL, or the values in `extra_body`; options
    cannot be written as JSON. Pickling them writes everything.

    Attributes:
        model: The name of the model, as the server knows it.
        base_url: Where the API is, with its version and without the path of the call: `https://api.openai.com/v1`,
            `https://api.anthropic.com/v1`. A query (Azure's `?api-version=...`) goes behind the path of the call. No
            user and password: credentials go into a header.
        api_key: The credential, as text or as an object that hides it behind `get_secret_value()`. It is sent where
            the protocol wants it. None or "" sends none; then `headers` may hold one (Azure's `api-key`).
        protocol: Name or alias of the API that the server speaks; kept as the protocol's own name.
        system_prompt: Instructions for the model, ahead of the history and no part of it.
        max_tokens: How many tokens the answer may have. The protocol `anthropic` cannot do without. OpenAI's newest
            models want it as `max_completion_tokens` in `extra_body`.
        temperature: How freely the model chooses: from 0 to 2, or to 1 on `anthropic` and `bedrock`.
        tools: What the model may call, each under a name of its own.
        auto_execute_tools: A client runs the tools by itself and goes on until the model calls none.
        max_tool_iterations: Rounds of tools in one turn, for `auto_execute_tools`; 0 runs none.
        include_reasoning: Give `Reasoning` events.
        include_usage: Ask for the counts of tokens, and give `Usage` events.
        replay_thinking: Keep signed thinking in the history and send it back, as Anthropic wants it with tools.
        timeout: Seconds for one request, from the connection to the last byte of the answer. None for no limit, here
            and below.
        connect_timeout: Seconds for making a connection.
        idle_timeout: Seconds without any byte of the answer, its head included.
        tool_timeout: Seconds for one run of a tool.
        headers: More headers, as a mapping or pairs; they replace ours of the same name, without case.
        extra_body: More fields of the request body, as the API names them. They replace ours; None takes one away.
        synthesize_tool_ids: Make ids for tool calls that come without, in place of dropping them.
        repair_arguments: Called with tool arguments that are not JSON; an object that it returns is used.
        retry: When to send a failed request again; None for never.
        hooks: Functions that see prompts and tool calls pass by, and may change or block them.
        limits: How much of anything the server may send.

    Raises:
        ValueError: A value breaks the rule that the message tells.
        TypeError: A value has the wrong type, an option is missing or unknown.
    """

    model: str
    base_url: str
    api_key: checks.KeyArgument | None = None
    protocol: str = "openai-chat"
    system_prompt: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    tools: Sequence[Tool] = ()
    auto_execute_tools: bool = False
    max_tool_iterations: int = 5
    include_reasoning: bool = False
    include_usage: bool = False
    replay_thinking: bool = False
    timeout: float | None = 120.0
    connect_timeout: float | None = 10.0
    idle_timeout: float | None = 60.0
    tool_timeout: float | None = None
    headers: checks.HeadersArgument = ()
    extra_body: Mapping[str, Any] = {}
    synthesize_tool_ids: bool = False
    repair_arguments: Repair | None = None
    retry: RetryConfig | None = None
    hooks: Hooks = Hooks()
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for name, checked in CHECKED.items():
            force_setattr(self, name, checked(getattr(self, name)))
        rules = rules_of(self.protocol)
        force_setattr(self, "extra_body", checks.checked_extra_body(self.extra_body, rules))
        if self.system_prompt is not None:
            force_setattr(self, "system_prompt", checks.exact_text("system_prompt", self.system_prompt))
        if self.temperature is not None:
            checks.checked_temperature(self.temperature, self.protocol, rules)
        if self.max_tokens is not None:
            checks.checked_whole_number("max_tokens", self.max_tokens, 1)
        elif rules.needs_max_tokens and self.extra_body.get("max_tokens") is None:
            raise ValueError(
                f"AgentOptions(max_tokens=None): {self.protocol} answers no request without; set it, say to 4096"
            )
        checks.checked_whole_number("max_tool_iterations", self.max_tool_iterations, 0)
        for name in TIMEOUTS:
            if getattr(self, name) is not None:
                checks.checked_timeout(name, getattr(self, name))
        self._check_types()

    def _check_types(self) -> None:
        for name in FLAGS:
            checks.checked_type(name, getattr(self, name), bool, "True or False")
        checks.checked_type("hooks", self.hooks, Hooks, "Hooks(...)")
        checks.checked_type("limits", self.limits, Limits, "Limits(...)")
        if self.retry is not None:
            checks.checked_type("retry", self.retry, RetryConfig, "RetryConfig(...) or None")
        if self.repair_arguments is not None and not callable(self.repair_arguments):
            raise TypeError("AgentOptions(repair_arguments): expected a function or None")

    def replace(self, **changes: Any) -> Self:
        """The same options with some of them changed, validated anew.

        Raises:
            ValueError: A value breaks a rule.
            TypeError: An option is unknown, or a value has the wrong type.
        """
        return replace(self, **changes)

    @staticmethod
    def needs_max_tokens(protocol: str) -> bool:
        """Whether the API of a protocol, told by name or alias, refuses requests without `max_tokens`.

        Raises:
            ValueError: No protocol has that name.
            TypeError: It is no text.
        """
        return rules_of(checks.checked_protocol(protocol)).needs_max_tokens

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def key_text(self) -> str:
        """The key as it is sent, "" where there is none. Show it to nobody."""
        return self.api_key.get_secret_value() if isinstance(self.api_key, HidesText) else ""

    def decoder_options(self) -> DecoderOptions:
        """What a `StreamDecoder` for an answer to these options is told."""
        return {
            "include_reasoning": self.include_reasoning,
            "include_usage": self.include_usage,
            "keep_thinking": self.replay_thinking,
            "synthesize_tool_ids": self.synthesize_tool_ids,
            "repair_arguments": self.repair_arguments,
            "limits": self.limits,
        }

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return list(self._shown())

    def __repr__(self) -> str:
        return f"AgentOptions({', '.join(f'{name}={value!r}' for name, value in self._shown())})"

    def _shown(self) -> Iterator[tuple[str, Any]]:
        """The options that differ from the defaults, without what may be secret in them."""
        defaults = dict(zip(reversed(self.__struct_fields__), reversed(self.__struct_defaults__), strict=False))
        url, query, _ = self.base_url.partition("?")
        prompt = self.system_prompt
        instead = {
            "base_url": url + ("?..." if query else ""),
            "system_prompt": prompt and checks.shortened(prompt),
            "tools": tuple(tool.name for tool in self.tools),
            "extra_body": tuple(self.extra_body),
        }
        for name in self.__struct_fields__:
            value = instead.get(name, getattr(self, name))
            if value not in (defaults.get(name, NODEFAULT), (), {}):
                yield name, value
