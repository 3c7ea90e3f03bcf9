"""The fuzz targets: their corpus passes, a bounded number of drawn inputs passes, and they see what they look for."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from fuzz import _hypothesis
from fuzz.__main__ import DICTIONARY, HERE, main, seeds_of
from fuzz._check import BrokenInvariantError
from fuzz._findings import Finding, Findings, file_name, keep, minimised, tried
from fuzz._mutate import mutated
from fuzz._mutate_frames import closed, opened
from fuzz._plan import LIMITS, PROTOCOLS, derived_cuts, plan_of
from fuzz._words import dictionary
from fuzz.targets import TARGETS

import tokwire
from tokwire._intake import Intake
from tokwire._state import DecodeState
from tokwire.framing._lines import LineSplitter

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = {"lines": 150, "sse": 100} | dict.fromkeys(TARGETS.keys() - {"lines", "sse"}, 60)
CORPUS = [(target, path.name) for target in TARGETS for path in sorted((HERE / "corpus" / target).iterdir())]
TEXT = (HERE / "corpus" / "openai_chat" / "text").read_bytes()


@pytest.mark.parametrize(("target", "name"), CORPUS)
def test_the_corpus_passes(target: str, name: str) -> None:
    TARGETS[target]((HERE / "corpus" / target / name).read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_drawn_inputs_pass(target: str) -> None:
    executions = _hypothesis.run_examples(TARGETS[target], seeds_of(target), EXAMPLES[target], same_each_time=True)
    assert executions >= EXAMPLES[target] // 2


def test_every_target_has_a_corpus_and_a_line_in_the_build_script() -> None:
    modules = {path.stem for path in (HERE / "targets").glob("[a-z]*.py")}
    built = re.findall(r"^    (\w+)(?: \\)?$", (HERE / "build.sh").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(TARGETS) == modules == set(built) == {path.name for path in (HERE / "corpus").iterdir()}
    assert all(len(seeds_of(target)) >= 10 for target in TARGETS)


def test_every_protocol_has_a_letter_and_a_target() -> None:
    names = {protocol.name for protocol in tokwire.protocols()}
    assert set(PROTOCOLS.values()) == names
    assert {name.replace("-", "_") for name in names} <= set(TARGETS)


def test_the_dictionary_file_is_up_to_date() -> None:
    assert DICTIONARY.read_text(encoding="ascii") == dictionary()


def test_a_header_says_how_to_decode() -> None:
    plan = plan_of(b"o@@0body")
    assert plan == plan_of(b"o@@0body", "openai-chat")
    assert (plan.protocol, plan.complete, plan.limits, plan.body) == ("openai-chat", True, tokwire.Limits(), b"body")
    assert not any(value for name, value in plan.options.items() if name != "limits")
    other = plan_of(b"a\xffb0")
    assert (other.protocol, other.complete, other.limits) == ("anthropic", False, LIMITS[2])
    assert all(other.options.values())
    assert plan_of(b"").body == b""


@pytest.mark.parametrize("target", TARGETS)
def test_cuts_lose_nothing(target: str) -> None:
    for seed in seeds_of(target):
        assert all(b"".join(reads) == seed for number in (0, 7) for reads in derived_cuts(seed, number))


@pytest.mark.parametrize("target", TARGETS)
def test_mutations_follow_from_the_seed_and_keep_the_length(target: str) -> None:
    for seed in seeds_of(target):
        found = [mutated(seed, Random(number), 500) for number in range(30)]
        assert found == [mutated(seed, Random(number), 500) for number in range(30)]
        assert len(set(found)) > 10
        assert max(map(len, found)) <= 500


def test_frames_keep_their_checksums() -> None:
    body = (HERE / "corpus" / "bedrock" / "text").read_bytes()[4:]
    assert len(opened(body)) > 2
    assert b"".join(map(closed, opened(body))) == body
    changed = [mutated(b"b@@0" + body, Random(number), 4000)[4:] for number in range(40)]
    assert sum(b"".join(map(closed, opened(found))) == found != body for found in changed) > 20


class Broken:
    """Ways to break the decoder; each is what one target must see."""

    @staticmethod
    def lines(patch: pytest.MonkeyPatch) -> None:
        feed = LineSplitter.feed
        patch.setattr(LineSplitter, "feed", lambda self, data: feed(self, data.replace(b"\r", b"\n")))

    @staticmethod
    def state(patch: pytest.MonkeyPatch, name: str, change: Any) -> None:
        patch.setattr(DecodeState, name, change(getattr(DecodeState, name)))


def broken_rule(target: str, data: bytes) -> str:
    """The rule that an input breaks."""
    with pytest.raises(BrokenInvariantError) as caught:
        TARGETS[target](data)
    return caught.value.rule


def test_a_splitter_that_takes_crlf_for_two_ends_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    Broken.lines(monkeypatch)
    assert "line" in broken_rule("lines", b"0@@0one\r\ntwo\r\n")
    assert "standard" in broken_rule("sse", b"0@@0data: a\r\ndata: b\r\n\r\n")


def test_a_text_that_cannot_be_encoded_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    Broken.state(monkeypatch, "text", lambda text: lambda self, found, choice=0: text(self, found + "\ud800x", choice))
    monkeypatch.setattr("tokwire._buffers.has_surrogate", lambda text: False)
    assert broken_rule("openai_chat", TEXT) == "every text that is handed out can be encoded"


def test_an_event_that_depends_on_the_reads_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_tail = Intake.extend_tail

    def lossy(self: Intake, data: bytes) -> None:
        keep_tail(self, data.replace(b"M", b"N"))

    monkeypatch.setattr(Intake, "extend_tail", lossy)
    assert broken_rule("openai_chat", TEXT).startswith("the same events, error and summary: one byte per read")


def test_a_second_finish_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(finalize: Any) -> Any:
        def change(self: DecodeState) -> Any:
            self.out.append(tokwire.Finish(tokwire.FinishReason.STOP))
            return finalize(self)

        return change

    Broken.state(monkeypatch, "finalize", twice)
    assert tried(TARGETS["openai_chat"], TEXT) is not None


def test_an_exception_that_is_not_ours_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: DecodeState, text: str, choice: int = 0) -> None:
        raise LookupError(text)

    monkeypatch.setattr(DecodeState, "text", fail)
    findings = Findings(TARGETS["openai_chat"])
    found = findings.try_input(TEXT)
    assert found is not None
    assert found.rule == "LookupError in test_fuzz.py:fail"
    assert findings.try_input(TEXT + b" ") is None
    smallest = findings.smallest()[0]
    assert len(smallest.data) < len(TEXT) // 2
    assert tried(TARGETS["openai_chat"], smallest.data) == smallest


def test_options_that_change_other_events_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def hiding(text: Any) -> Any:
        return lambda self, found, choice=0: None if self.options.include_usage else text(self, found, choice)

    Broken.state(monkeypatch, "text", hiding)
    assert broken_rule("openai_chat", b"oB" + TEXT[2:]) == "options add events and change none"


def test_findings_are_kept_under_the_words_of_their_rule(tmp_path: Path) -> None:
    found = Finding("The same events: one byte per read", b"data", "text")
    assert keep(found, tmp_path / "kept").read_bytes() == b"data"
    assert keep(found._replace(data=b"d"), tmp_path / "kept").read_bytes() == b"d"
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [file_name(found)]
    assert file_name(found).startswith("the-same-events-one-byte-per-read-")


def test_an_input_is_made_as_small_as_it_goes() -> None:
    def needs_both(data: bytes) -> None:
        if b"x" in data and b"y" in data:
            raise BrokenInvariantError("both", data)

    found = tried(needs_both, b"a" * 50 + b"x" + b"b" * 50 + b"y" + b"c" * 50)
    assert found is not None
    assert minimised(needs_both, found).data == b"xy"


def test_the_command_runs_a_target_and_reports(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["lines", "--seconds", "0", "--engine", "hypothesis", "--keep", str(tmp_path)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert re.search(r"lines: [1-9]\d* executions", shown)
    assert "0 findings" in shown


def test_the_command_keeps_what_it_finds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Broken.lines(monkeypatch)
    assert main(["lines", "--seconds", "0", "--engine", "hypothesis", "--keep", str(tmp_path / "kept")]) == 1
    shown = capsys.readouterr().out
    kept = list((tmp_path / "kept").iterdir())
    assert kept
    assert all(str(path) in shown for path in kept)


def test_numbers_of_any_size_come_back_from_json() -> None:
    event = tokwire.Block(tokwire.ToolUseBlock("c", "f", {"n": 10**4000}))
    assert tokwire.event_from_json(msgspec.json.encode(event)) == event
    assert json.loads(msgspec.json.encode(event))["block"]["input"]["n"] == 10**4000
