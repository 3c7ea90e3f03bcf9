"""`tokwire decode` for programs: JSON lines, the last lines, and the exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.test_cli_support import DONE, HELLO, Cli, call_chunk, chunk, sse, text_chunk

import tokwire

if TYPE_CHECKING:
    from pathlib import Path

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


def test_events_are_json_lines_that_the_core_reads_back(cli: Cli) -> None:
    result = cli("decode", "-", stdin=HELLO)
    assert [tokwire.event_from_json(line) for line in result.out.splitlines()] == tokwire.decode(HELLO, "openai-chat")
    assert (result.code, result.err) == (0, "")


def test_a_file_is_read(cli: Cli, tmp_path: Path) -> None:
    recording = tmp_path / "answer.sse"
    recording.write_bytes(HELLO)
    assert cli("decode", str(recording)).text == "Hello"


def test_stdin_and_file_give_the_same(cli: Cli, tmp_path: Path) -> None:
    recording = tmp_path / "answer.sse"
    recording.write_bytes(HELLO)
    assert cli("decode", str(recording)) == cli("decode", "-", stdin=HELLO)


@pytest.mark.parametrize("name", ["openai-chat", "openai", "OPENAI_CHAT", "auto", "AUTO"])
def test_the_protocol_has_names(cli: Cli, name: str) -> None:
    assert cli("decode", "-", "--protocol", name, stdin=HELLO).text == "Hello"


@pytest.mark.parametrize(
    ("option", "kind"),
    [("--include-reasoning", "reasoning"), ("--usage", "usage"), ("--tool-deltas", "tool_call_delta")],
)
def test_events_that_must_be_asked_for(cli: Cli, option: str, kind: str) -> None:
    body = sse(
        chunk({"reasoning_content": "hm"}),
        call_chunk(0, "{}", "call_1", "look"),
        chunk(finish="tool_calls", usage=USAGE),
    )
    assert kind not in cli("decode", "-", stdin=body + DONE).types
    assert kind in cli("decode", "-", option, stdin=body + DONE).types


def test_the_summary_is_the_last_line_and_has_all_fields(cli: Cli) -> None:
    result = cli("decode", "-", "--summary", stdin=HELLO)
    assert result.types == ["block", "block", "finish", "summary"]
    summary = result.lines[-1]
    assert set(summary) == {"type", *tokwire.StreamSummary.__struct_fields__}
    assert (summary["end_marker"], summary["model"], summary["finish_reasons"]) == (True, "m1", {"0": "stop"})


def test_no_json_gives_text_in_a_pipe_too(cli: Cli) -> None:
    assert cli("decode", "-", "--no-json", stdin=HELLO).out == "Hello\n[finish] stop\n"


def test_bytes_after_the_end_marker_do_not_matter(cli: Cli) -> None:
    result = cli("decode", "-", stdin=HELLO + b"\x00garbage")
    assert (result.code, result.text) == (0, "Hello")


# Exit codes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", "eos"])
def test_a_finish_reason_is_an_end(cli: Cli, reason: str) -> None:
    assert cli("decode", "-", stdin=sse(text_chunk("a"), chunk(finish=reason))).code == 0


def test_an_end_marker_is_an_end(cli: Cli) -> None:
    assert cli("decode", "-", stdin=sse(text_chunk("a")) + DONE).code == 0


def test_an_error_in_the_stream_is_1(cli: Cli) -> None:
    error = {"message": "too busy", "type": "overloaded", "code": 503}
    result = cli("decode", "-", "--summary", stdin=sse(text_chunk("a"), {"error": error}))
    assert (result.code, result.types) == (1, ["block", "error", "summary"])
    assert result.lines[1] == {
        "type": "error",
        "kind": "APIError",
        "message": "too busy",
        "status_code": 503,
        "error_type": "overloaded",
        "code": 503,
        "retryable": True,
        "body": error,
    }
    assert "overloaded: too busy" in result.err
    assert "again" in result.err


def test_a_long_message_is_cut_for_the_person_only(cli: Cli) -> None:
    result = cli("decode", "-", stdin=sse({"error": {"message": "x" * 5000}}))
    assert result.lines[0]["message"] == "x" * 5000
    assert result.err == f"error: {'x' * 2000}... (3,000 more characters)\n"


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["decode"],
        ["nonsense"],
        ["decode", "-", "--protocol", "morse"],
        ["decode", "-", "--max-event-bytes", "0"],
        ["decode", "-", "--max-event-bytes", "many"],
        ["check", "-", "--cuts", "random"],
        ["check", "-", "--cuts", "few"],
    ],
)
def test_wrong_usage_is_2(cli: Cli, argv: list[str]) -> None:
    result = cli(*argv)
    assert (result.code, result.out) == (2, "")
    assert "usage: tokwire" in result.err


def test_an_unknown_protocol_is_answered_with_the_known_ones(cli: Cli) -> None:
    result = cli("decode", "-", "--protocol", "morse")
    assert "morse" in result.err
    assert "anthropic" in result.err


@pytest.mark.parametrize("command", ["decode", "check"])
def test_a_missing_file_is_2(cli: Cli, tmp_path: Path, command: str) -> None:
    missing = str(tmp_path / "missing.sse")
    result = cli(command, missing)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: {missing}: No such file or directory\n"


def test_a_folder_is_2(cli: Cli, tmp_path: Path) -> None:
    result = cli("decode", str(tmp_path))
    assert (result.code, result.err) == (2, f"error: {tmp_path}: Is a directory\n")


def test_a_body_that_just_stops_is_3(cli: Cli) -> None:
    result = cli("decode", "-", stdin=sse(text_chunk("a")))
    assert (result.code, result.types) == (3, ["block", "finish"])
    assert "without an end marker and without a finish reason" in result.err


def test_a_body_cut_within_an_event_is_3(cli: Cli) -> None:
    result = cli("decode", "-", "--summary", stdin=sse(text_chunk("a")) + b'data: {"choices":[{"de')
    assert (result.code, result.types) == (3, ["block", "error", "summary"])
    assert result.lines[1]["kind"] == "StreamTruncated"


def test_a_broken_payload_is_4_and_says_where(cli: Cli) -> None:
    before = sse(text_chunk("a"))
    result = cli("decode", "-", stdin=before + b"data: {nonsense}\n\n" + DONE)
    assert (result.code, result.types) == (4, ["block", "error"])
    error = result.lines[-1]
    assert (error["kind"], error["offset"]) == ("RemoteProtocolError", len(before))
    assert "{nonsense}" in error["excerpt"]


def test_a_limit_is_4_and_the_advice_names_the_option(cli: Cli) -> None:
    body = sse(text_chunk("a"), text_chunk("b" * 500)) + DONE
    result = cli("decode", "-", "--max-event-bytes", "300", stdin=body)
    assert (result.code, result.types) == (4, ["block", "error"])
    error = result.lines[-1]
    assert (error["kind"], error["limit"], error["value"]) == ("LimitExceeded", "max_event_bytes", 300)
    assert "--max-event-bytes 600" in result.err


def test_a_limit_above_the_default_holds_for_the_line_as_well(cli: Cli) -> None:
    body = sse(text_chunk("x" * (33 << 20)), chunk(finish="stop")) + DONE
    assert cli("decode", "-", "--protocol", "openai", stdin=body).code == 4
    assert cli("decode", "-", "--protocol", "openai", "--max-event-bytes", str(34 << 20), stdin=body).code == 0


def test_invalid_tool_arguments_are_4_and_name_the_call(cli: Cli) -> None:
    body = sse(call_chunk(0, '{"city": "Pa', "call_1", "weather"), chunk(finish="length", usage=USAGE)) + DONE
    result = cli("decode", "-", "--usage", stdin=body)
    assert (result.code, result.types) == (4, ["usage", "error"])
    error = result.lines[-1]
    assert (error["kind"], error["finish_reason"]) == ("InvalidToolArguments", "length")
    assert [(call["id"], call["name"], call["arguments"]) for call in error["calls"]] == [
        ("call_1", "weather", '{"city": "Pa')
    ]
    assert "weather" in result.err


def test_every_invalid_call_is_named(cli: Cli) -> None:
    calls = [call_chunk(index, "{]", f"call_{index}", f"tool_{index}") for index in range(3)]
    result = cli("decode", "-", stdin=sse(*calls, chunk(finish="tool_calls")) + DONE)
    assert all(f"call_{index}" in result.err for index in range(3))


def test_the_wrong_protocol_is_4(cli: Cli) -> None:
    result = cli("decode", "-", "--protocol", "anthropic", stdin=HELLO)
    assert (result.code, result.types) == (4, ["error"])
    assert "looks like openai-chat" in result.err
