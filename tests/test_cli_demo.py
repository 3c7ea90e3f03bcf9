"""`tokwire demo`, `tokwire protocols`, `--help`, `--version`: what a newcomer tries first."""

from __future__ import annotations

from typing import Any

import pytest
from tests.test_cli_support import Cli

import tokwire
from tokwire_cli import _demo
from tokwire_replay import ReplayServer, serve

COMMANDS = ["decode", "check", "stream", "demo", "protocols"]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


def test_the_demo_holds_what_a_client_meets(cli: Cli) -> None:
    result = cli("demo")
    events = [tokwire.event_from_json(line) for line in result.out.splitlines()[:-1]]
    answer = tokwire.collect(events)
    assert (result.code, result.err, answer.finish) == (0, "", tokwire.FinishReason.TOOL_CALLS)
    assert answer.text
    assert answer.reasoning
    assert len({call.id for call in answer.tool_calls}) == 2
    assert answer.usage is not None
    assert result.types[-1] == "summary"
    assert result.lines[-1]["end_marker"] is True


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options with which the demo serves its recording; it never waits."""
    asked: list[dict[str, Any]] = []

    def serve_at_once(body: bytes, **options: Any) -> ReplayServer:
        asked.append(options)
        return serve(body, **options | {"delay": 0.0})

    monkeypatch.setattr(_demo, "serve", serve_at_once)
    return asked


def test_the_demo_waits_on_a_terminal_only(cli: Cli, served: list[dict[str, Any]]) -> None:
    cli("demo")
    cli.on_terminal("demo")
    assert [options["delay"] for options in served] == [0.0, 0.03]
    assert served[0]["reads"] == 100


def test_the_demo_can_be_fast(cli: Cli, served: list[dict[str, Any]]) -> None:
    assert "[summary]" in cli.on_terminal("demo", "--fast").out
    assert served[0]["delay"] == 0.0


def test_the_demo_shares_the_display_options(cli: Cli) -> None:
    assert "[tool call]" in cli("demo", "--no-json").out
    assert "tool_call_delta" in cli("demo", "--tool-deltas").types


def test_the_demo_changes_no_default_of_decode(cli: Cli) -> None:
    cli("demo")
    assert cli("decode", "-", stdin=b"").types == ["finish"]


def test_protocols_are_listed_with_their_other_names(cli: Cli) -> None:
    result = cli("protocols")
    assert result.code == 0
    for protocol in tokwire.protocols():
        line = next(line for line in result.out.splitlines() if line.split()[0] == protocol.name)
        assert all(alias in line for alias in protocol.aliases)


def test_the_version_is_that_of_the_library(cli: Cli) -> None:
    result = cli("--version")
    assert (result.code, result.out) == (0, f"tokwire {tokwire.__version__}\n")


@pytest.mark.parametrize("argv", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_names_the_exit_codes(cli: Cli, argv: list[str]) -> None:
    result = cli(*argv)
    assert (result.code, result.err) == (0, "")
    assert "usage: tokwire" in result.out
    assert "exit codes:" in result.out


def test_help_names_every_command(cli: Cli) -> None:
    shown = cli("--help").out
    assert all(f"\n    {command} " in shown for command in [*COMMANDS, "replay"])


def test_help_explains_every_option(cli: Cli) -> None:
    shown = cli("decode", "--help").out
    assert {"--protocol", "--include-reasoning", "--usage", "--tool-deltas", "--json,", "--summary"} <= {*shown.split()}
    assert "--max-event-bytes" in shown
