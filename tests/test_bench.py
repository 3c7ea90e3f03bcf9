"""The benchmarks: their recordings decode to what they were made from, and every part runs on tiny inputs.

Nothing here looks at a time.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from bench import __main__ as command
from bench import growth, memory, peers, report, speed, streams, timing, weight
from bench.contestants import FLOOR, TOKWIRE, Answer, Contestant, WrongAnswer, check, each_event, parsed, version_of
from bench.floor import call_per_read
from bench.typed_streams import TYPED

import tokwire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZES = (None, 1, 7, 100, 1 << 10, 16 << 10, 1 << 24)
TINY = command.Effort(count=30, rounds=1, growth_rounds=1, imports=1, scale=0.0005)
RECORDINGS = {make(40).name: make(40) for make in streams.SPEED} | {
    "one big tool call": streams.big_tool_call(40),
    "one big event": streams.big_event(5_000),
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `--quick` quicker."""
    monkeypatch.setattr(command, "QUICK", TINY)


def say(_: str) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_decodes_to_what_it_was_made_from(name: str, size: int | None) -> None:
    recording = RECORDINGS[name]
    decoder = tokwire.StreamDecoder(recording.protocol, include_reasoning=True)
    found = tokwire.collect(each_event(decoder, recording.reads(size)))
    assert (found.text, found.reasoning) == (recording.text, recording.reasoning)
    assert [(call.id, call.name, call.input) for call in found.tool_calls] == parsed(recording.calls)
    assert decoder.summary.raw_finish_reason == recording.finish
    assert decoder.summary.end_marker
    assert not decoder.summary.dropped_tool_calls


@pytest.mark.parametrize("size", [None, 100, 1 << 10, 16 << 10, 1 << 24])
@pytest.mark.parametrize("name", RECORDINGS)
def test_the_floor_finds_the_same(name: str, size: int | None) -> None:
    check(FLOOR, RECORDINGS[name], size)


def test_recordings_are_the_same_every_time_and_of_the_asked_length() -> None:
    for make in streams.SPEED:
        assert make(50).events == make(50).events
        assert 50 <= len(make(50).events) <= 65
    assert len(streams.big_event(10_000).text) == 10_000
    assert len(streams.big_tool_call(400).events) == 400 + 5


def test_every_recording_holds_what_its_name_says() -> None:
    texts = {name: (len(one.text) > 0, len(one.reasoning) > 0, len(one.calls)) for name, one in RECORDINGS.items()}
    assert texts == {
        "OpenAI text": (True, False, 0),
        "OpenAI text, obfuscated": (True, False, 0),
        "OpenAI reasoning": (True, True, 0),
        "OpenAI tool calls": (False, False, 3),
        "Anthropic mix": (True, True, 1),
        "one big tool call": (False, False, 1),
        "one big event": (True, False, 0),
    }
    plain, padded = RECORDINGS["OpenAI text"], RECORDINGS["OpenAI text, obfuscated"]
    assert plain.text == padded.text
    assert all(b'"obfuscation":"' in event for event in padded.events[:-1])
    assert not any(b"obfuscation" in event for event in plain.events)


def test_reads_are_the_body() -> None:
    recording = RECORDINGS["Anthropic mix"]
    for size in SIZES:
        reads = recording.reads(size)
        assert b"".join(reads) == b"".join(recording.events)
        assert size is None or {len(read) for read in reads[:-1]} <= {size}


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "x"},
        {"reasoning": "x"},
        {"arguments": "x"},
        {"calls": [("x", "y", {})]},
        {"finish": "length"},
    ],
)
def test_a_wrong_answer_is_found(wrong: dict[str, object]) -> None:
    recording = RECORDINGS["OpenAI tool calls"]

    def answer(found: streams.Recording, size: int | None, reads: list[bytes]) -> Answer:
        right = TOKWIRE.answer(found, size, reads)
        return replace(right, **wrong)  # type: ignore[arg-type]  # the parameters are of the right types

    with pytest.raises(WrongAnswer, match="of OpenAI tool calls"):
        check(replace(TOKWIRE, name="liar", answer=answer), recording, None)


def test_a_peer_that_fails_has_no_time() -> None:
    def broken(recording: streams.Recording, size: int | None, reads: list[bytes]) -> Answer:
        raise RuntimeError("no idea")

    peer = Contestant("peer", TOKWIRE.protocols, TOKWIRE.prepare, broken)
    other = Contestant("other", frozenset({"anthropic"}), TOKWIRE.prepare, TOKWIRE.answer)
    row = speed.measure_row(RECORDINGS["OpenAI text"], "event", None, [TOKWIRE, FLOOR, peer, other], 1)
    assert set(row.microseconds) == {"tokwire", "floor"}
    assert row.failures == {"peer": "RuntimeError: no idea"}
    table = report.speed_table(report.Results({}, ["tokwire", "floor", "peer", "other"], speed=[row]))
    assert table.body[0][3:5] == ["failed", ""]
    assert table.notes == ["OpenAI text, event reads: peer failed: RuntimeError: no idea"]


def test_tokwire_must_not_fail() -> None:
    wrong = replace(RECORDINGS["OpenAI text"], text="another")
    with pytest.raises(WrongAnswer):
        speed.measure_row(wrong, "event", None, [TOKWIRE, FLOOR], 1)


def test_calls_run_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    order: list[str] = []

    def call(name: str, seconds: float) -> Callable[[], None]:
        def run() -> None:
            nonlocal clock
            order.append(name)
            clock += seconds

        return run

    monkeypatch.setattr("time.process_time", lambda: clock)
    found = timing.alternate({"a": call("a", 0.125), "b": call("b", 4.0)}, 5, settle=frozenset({"a"}))
    assert found == {"a": 0.125, "b": 4.0}
    assert "".join(order) == "ab" + "ababab" + "aa"


def test_reads_without_a_line_end_are_kept_until_one_comes() -> None:
    assert call_per_read([b"a", b"b", b"\n", b"c"]) == 0


def test_growth_covers_what_can_grow() -> None:
    found = growth.measure_growth(scale=0.0005, rounds=1, say=say)
    assert [row.unit for row in found] == ["event", "fragment", "body", "read"]
    assert all(row.bound > 1 for row in found)
    assert growth.Growth("", "", 2.0, 3.0, 4.0).ratio == 1.5


def test_memory_is_that_of_what_is_kept() -> None:
    kept = memory.traced(lambda: bytearray(100_000))
    assert 100_000 <= kept < 101_000


def test_an_idle_decoder_is_small_and_dropped_reasoning_leaves_nothing() -> None:
    found = memory.measure_memory(scale=0.001, say=say)
    assert found.held[0].what == "idle, openai-chat"
    assert all(row.bytes > 0 for row in found.held)
    assert all(row.bytes <= 1024 for row in found.held if row.what.startswith("idle"))
    assert set(found.peaks) == {"OpenAI text", "OpenAI reasoning", "Anthropic mix"}
    few, many = found.dropped_reasoning.values()
    assert many < few + 2_000


def test_what_an_installation_consists_of() -> None:
    parts = weight.closure("tokwire")
    assert {"tokwire", "msgspec", "h11"} <= parts
    assert "rich" not in parts
    if version_of("rich"):
        assert "rich" in weight.closure("tokwire", ("cli",))
    assert weight.closure("no-such-distribution") == set()
    assert weight.normalized("Some_Package.name") == "some-package-name"
    assert weight.size_of("tokwire") > 100_000
    assert weight.size_of("msgspec") > 100_000


def test_absent_peers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "version_of", lambda _: None)
    found, skipped = peers.installed_peers()
    assert not found
    assert skipped == [f"{peer.distribution}: not installed" for peer in peers.PEERS]


def test_a_peer_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[Contestant]:
        raise ImportError("its half is missing")

    monkeypatch.setattr(peers, "PEERS", (peers.Peer("msgspec", "msgspec", fail),))  # type: ignore[arg-type]  # never iterated over
    assert peers.installed_peers() == ([], ["msgspec: ImportError: its half is missing"])


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.distribution)
def test_installed_peers_get_the_text(peer: peers.Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    if version_of(peer.distribution) is None:
        pytest.skip(f"{peer.distribution} is not installed")
    monkeypatch.setattr(peers, "PEERS", (peer,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, skipped = peers.installed_peers()
        assert found
        assert not skipped
        for make in streams.SPEED:
            recording = make(20)
            for contestant in found:
                if recording.protocol in contestant.protocols:
                    check(contestant, recording, 1 << 10)


@pytest.mark.usefixtures("tiny")
def test_the_command_prints_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "results.json"
    assert command.main(["--quick", "--no-peers", "--json", str(target)]) == 0
    printed = capsys.readouterr().out
    for title in ("Speed", "Growth", "Adapters", "Open streams", "Memory", "Weight"):
        assert f"\n\n{title}\n\n" in printed
    results = msgspec.json.decode(target.read_bytes(), type=report.Results)
    assert len(results.speed) == (len(streams.SPEED) + len(TYPED)) * len(speed.READS)
    assert results.contestants == ["tokwire", "floor"]
    assert [row.package for row in results.weight] == ["msgspec", "tokwire"]
    assert report.as_text(results) == printed


@pytest.mark.usefixtures("tiny")
def test_markdown_is_printed_or_put_into_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["speed", "growth", "--quick", "--no-peers", "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert "### Speed\n\n| stream | reads | tokwire / floor |" in printed
    assert "### Memory" not in printed
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.START}\nold\n{report.END}\nafter\n", encoding="utf-8")
    assert command.main(["growth", "--quick", "--no-peers", "--markdown", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{report.START}\n\n- command: `python -m bench growth --quick --no-peers")
    assert text.endswith(f" |\n\n{report.END}\nafter\n")
    assert "old" not in text
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("tiny")
def test_a_page_can_hold_the_ratios_alone(tmp_path: Path) -> None:
    page, short = tmp_path / "page.md", tmp_path / "short.md"
    page.write_text(f"{report.START}\n{report.END}\n", encoding="utf-8")
    short.write_text(f"before\n{report.SHORT_START}\nold\n{report.END}\nafter\n", encoding="utf-8")
    assert command.main(["speed", "--quick", "--markdown", str(page), str(short)]) == 0
    text = short.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(streams.SPEED) * len(report.SHORT_READS)
    assert all(row.strip("| ") in page.read_text(encoding="utf-8") for row in rows[2:])
    assert "us/event" not in text
    assert "\nold\n" not in text
    assert "\nOne run. command: `python -m bench speed --quick" in text
    assert text.endswith(f".\n\n{report.END}\nafter\n")


def test_a_page_without_markers_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no markers\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks a line"):
        report.write_into(page, report.Results({}))
    assert page.read_text(encoding="utf-8") == "no markers\n"


def test_an_unknown_section_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        command.main(["sped"])
    assert refused.value.code == 2
    assert "there are memory, speed, growth, adapters, weight" in capsys.readouterr().err


@pytest.mark.parametrize(("value", "shown"), [(0.123, "0.12x"), (12.34, "12.3x"), (1234.5, "1,234x"), (None, "")])
def test_ratios_are_short(value: float | None, shown: str) -> None:
    assert report.times(value) == shown
