"""The types that users see, judged by mypy: the files in `tests/typing` are right, and the code below is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRONG = """
from typing import assert_never

import tokwire


def forgets_tools(event: tokwire.Block) -> str:
    match event.block:
        case tokwire.TextBlock(text):
            return text
        case rest:
            assert_never(rest)  # wrong: a tool call is left


def forgets_the_end(answer: tokwire.Need) -> int:
    match answer:
        case tokwire.Need.NEED_DATA:
            return 1
        case rest:
            assert_never(rest)  # wrong: FINISHED is left


def changes_an_event(event: tokwire.Reasoning) -> None:
    event.text = ""  # wrong: events are frozen


tokwire.StreamDecoder("openai-chat").receive_data("text")  # wrong: text is not bytes
tokwire.StreamDecoder("openai-chat", include_everything=True)  # wrong: no such option
tokwire.StreamDecoders  # wrong: no such name
"""
WRONG_AGENT = """
@tokwire.tool
def tide(port: str) -> float:
    return 2.1


@tokwire.tool(name="next-ferry")
async def ferry(port: str) -> str:
    return "noon"


def says_a_word(event: tokwire.PreToolUse) -> str:
    return "block"


async def says_a_word_later(event: tokwire.PreToolUse) -> str:
    return "block"


def wants_more(event: tokwire.PreToolUse, history: list[tokwire.Message]) -> None:
    pass


def forgets_a_pause(action: tokwire.Action) -> bool:
    match action:
        case tokwire.SendRequest() | tokwire.ReadResponse() | tokwire.CloseResponse():
            return True
        case tokwire.CallTools() | tokwire.AskHook() | tokwire.Done():
            return False
        case rest:
            assert_never(rest)  # wrong: Wait is left


def answers_wrongly(conversation: tokwire.Conversation, action: tokwire.Action) -> None:
    action.calls  # wrong: not every action has calls
    match action:
        case tokwire.CallTools(calls):
            conversation.tool_finished(calls, "2.1 m")  # wrong: one call at a time
            conversation.tool_finished(calls[0])  # wrong: no outcome
        case tokwire.AskHook(event, handler):
            conversation.hook_decided(handler(event))  # wrong: it may have to be awaited
            event.prompt  # wrong: not every event has a prompt
        case tokwire.ReadResponse():
            conversation.receive_data("text")  # wrong: text is not bytes
            conversation.receive_eof(False)  # wrong: by name only


def talks_wrongly(options: tokwire.AgentOptions, conversation: tokwire.Conversation) -> None:
    tokwire.Conversation(options)  # wrong: no random numbers
    conversation.send(["Hello"])  # wrong: a text is no block
    conversation.history.append(tokwire.Message.user("Hello"))  # wrong: a history is a tuple
    tokwire.build_request(options, "Hello")  # wrong: a text is no history
    tokwire.Message("robot", ())  # wrong: no such role
    options.model = "m2"  # wrong: options are frozen


tide(5)  # wrong: a port is a text
tide("Ayr").upper()  # wrong: the tide is a number
tide(harbour="Ayr")  # wrong: no such parameter
ferry("Ayr").upper()  # wrong: it must be awaited
tokwire.Hooks(pre_tool_use=says_a_word_later)  # wrong: not in a tuple or list
tokwire.Hooks(pre_tool_use=[says_a_word])  # wrong: a text is no decision
tokwire.Hooks(pre_tool_use=[says_a_word_later])  # wrong: nor is it one later
tokwire.Hooks(post_tool_use=[wants_more])  # wrong: a hook gets its event alone
tokwire.Hooks(pre_tools=[])  # wrong: no such hook
tokwire.Decision("refuse")  # wrong: no such kind
tokwire.AgentOptions("m", "http://x")  # wrong: by name only
tokwire.AgentOptions(model="m")  # wrong: no URL
tokwire.AgentOptions(model="m", base_url="http://x", temprature=1)  # wrong: no such option
tokwire.AgentOptions(model="m", base_url="http://x", temperature="1")  # wrong: a number
tokwire.AgentOptions(model="m", base_url="http://x", tools=[print])  # wrong: a function is no tool
tokwire.AgentOptions(model="m", base_url="http://x", tools=tide)  # wrong: not in a tuple or list
tokwire.AgentOptions(model="m", base_url="http://x", headers={"x-count": 1})  # wrong: a text
tokwire.AgentOptions(model="m", base_url="http://x", extra_body=[("n", 1)])  # wrong: a dict
"""


def test_mypy_accepts_typical_code_and_refuses_mistakes(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_code.py"
    code = WRONG + WRONG_AGENT
    wrong.write_text(code)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        "--hide-error-context",
        "tests/typing/api.py",
        "tests/typing/agent.py",
        str(wrong),
    ]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    problems = [line for line in answer.stdout.splitlines() if ": error: " in line]
    assert [line for line in problems if "wrong_code.py" not in line] == []
    refused = {int(line.split("wrong_code.py:")[1].split(":")[0]) for line in problems}
    expected = {number for number, line in enumerate(code.splitlines(), 1) if "# wrong" in line}
    assert refused == expected, answer.stdout
