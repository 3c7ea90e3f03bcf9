"""`tokwire chat`: turn after turn with a model, a line of standard input at a time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import tokwire
from tokwire_threads import Client

from ._agent import options_for
from ._display import open_display
from ._exits import ExitCode
from ._lines import LineReader
from ._problems import note, report
from ._tools import loaded_tools
from ._turns import show_turn
from ._usage import UsageError

if TYPE_CHECKING:
    from ._arguments import Arguments

__all__ = ["run"]

COMMANDS = """\
/history shows what was said, as JSON
/clear   forgets it
/exit    ends the chat, as Ctrl-D does
//       begins a prompt with a slash"""
NOT_RUN = "the user did not run the tool"


def run(arguments: Arguments) -> ExitCode:
    """Take lines until there are no more.

    Raises:
        OSError: Something that the arguments name cannot be read.
        UsageError: The arguments describe no client.
    """
    with loaded_tools(arguments.tools) as tools:
        options = options_for(arguments, tools)
        with Client(options) as client:
            return Chat(client, LineReader(), arguments).run()


class Chat:
    """What a person says, turn after turn.

    Args:
        client: Holds the history.
        lines: What the person says.
        arguments: How it is shown.
    """

    def __init__(self, client: Client, lines: LineReader, arguments: Arguments) -> None:
        self._client = client
        self._lines = lines
        self._json = arguments.json
        self._with_summary = arguments.summary
        self._exit_code = ExitCode.COMPLETE

    def run(self) -> ExitCode:
        """Take lines until there are no more, or Ctrl-C is pressed twice; the code of the last turn that failed."""
        if self._lines.is_terminal:
            options = self._client.options
            note(f"{options.model} at {options.base_url.partition('?')[0]}; /help lists the commands")
        pressed = False
        while True:
            try:
                line = self._lines.next_line()
                if line is None:
                    break
                pressed = pressed and not line.strip()
                if not self._take(line):
                    return self._exit_code
            except UnicodeDecodeError:
                report("this line is no text in UTF-8; it was not sent")
                self._exit_code = ExitCode.USAGE
            except KeyboardInterrupt:
                self._end_line()
                if pressed or not self._lines.is_terminal:
                    return ExitCode.INTERRUPTED
                pressed = True
                note("Ctrl-C once more, or Ctrl-D, ends the chat")
        self._end_line()
        return self._exit_code

    def _end_line(self) -> None:
        """Move below the prompt, where there is one."""
        if self._lines.is_terminal and sys.stderr is not None:
            sys.stderr.write("\n")

    def _take(self, line: str) -> bool:
        """Do what a line says; False where it ends the chat."""
        said = line.strip()
        if said.startswith("/") and not said.startswith("//"):
            return self._obey(said)
        if said:
            self._say(said[1:] if said.startswith("//") else line)
        return True

    def _obey(self, command: str) -> bool:
        """Do what a command says; False where it ends the chat."""
        match command:
            case "/exit" | "/quit":
                return False
            case "/clear":
                self._client.clear_history()
                note("the history is empty")
            case "/history":
                open_display(json=self._json).history(self._client.history)
            case "/help":
                note(COMMANDS)
            case _:
                note(f"there is no command {command}; /help lists them, and // begins a prompt with a slash")
        return True

    def _say(self, prompt: str) -> None:
        self._answer_open_calls()
        before = len(self._client.history)
        display = open_display(json=self._json)
        try:
            exit_code = show_turn(self._client, prompt, display, with_summary=self._with_summary)
        except UsageError as error:
            report(str(error))
            exit_code = ExitCode.USAGE
        if exit_code is ExitCode.COMPLETE:
            return
        if exit_code is ExitCode.INTERRUPTED:
            display.interrupted()
        else:
            self._exit_code = exit_code
        kept = len(self._client.history) - before
        what = f"{kept} messages" if kept else "nothing"
        note(f"the history keeps {what} of this turn")

    def _answer_open_calls(self) -> None:
        """Tell the model of the calls that were shown and not run: no server takes a prompt in place of a result."""
        history = self._client.history
        for block in history[-1].content if history else ():
            if isinstance(block, tokwire.ToolUseBlock):
                told = {"error": NOT_RUN, "tool": block.name, "id": block.id}
                self._client.add_tool_result(block.id, told, is_error=True)
