"""`--tool MODULE:FUNCTION`: which functions become tools, and what is said of all others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli_agent import MODEL, clean_cli, in_harbour, sent
from tests.test_cli_support import HELLO, Cli

from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return clean_cli(monkeypatch)


@pytest.fixture(autouse=True)
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with in_harbour(tmp_path, monkeypatch):
        yield tmp_path


def offered(cli: Cli, *names: str) -> dict[str, str]:
    """Names and descriptions of the tools that the model is offered."""
    server = serve(HELLO)
    with server as url:
        result = cli("ask", "Hi", *MODEL, "--base-url", url, *(word for name in names for word in ("--tool", name)))
    assert (result.code, result.err) == (0, "")
    tools = [tool["function"] for tool in sent(server)[0]["tools"]]
    return {tool["name"]: tool.get("description", "") for tool in tools}


def test_functions_tools_and_what_stands_in_a_class(cli: Cli) -> None:
    assert offered(cli, "harbour:tide", "harbour:wind", "harbour:light", "harbour:Pier.length") == {
        "tide": "Whether the tide is out at a port.",
        "wind": "How strong the wind is.",
        "lamp": "Light a lamp.",
        "length": "How long the pier is.",
    }


def test_modules_in_packages_and_installed_ones(cli: Cli, harbour: Path) -> None:
    (harbour / "coast").mkdir()
    (harbour / "coast" / "north.py").write_text("def cliff(height: int) -> int:\n    return height\n")
    assert [*offered(cli, "coast.north:cliff", "string:capwords")] == ["cliff", "capwords"]


def test_this_folder_can_be_imported_from_only_while_the_command_runs(cli: Cli, harbour: Path) -> None:
    before = [*sys.path]
    offered(cli, "harbour:tide")
    assert sys.path == before
    assert cli("ask", "Hi", *MODEL, "--tool", "harbour:nothing").code == 2
    assert sys.path == before
    assert str(harbour) not in sys.path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("harbour", "expected MODULE:FUNCTION, such as harbour:tide for tide in harbour.py"),
        (":tide", "expected MODULE:FUNCTION"),
        ("harbour:", "expected MODULE:FUNCTION"),
        ("marina:tide", "there is no module marina, here or among those installed"),
        ("harbour.pier:tide", "there is no module harbour.pier, here or among those installed"),
        ("harbour.py:tide", "here or among those installed; leave out the .py: harbour"),
        ("harbour:tied", "module 'harbour' has no attribute 'tied'"),
        ("harbour:tide.port", "'function' object has no attribute 'port'"),
        ("harbour:NUMBER", "this is an object of type int; expected a function"),
        ("harbour:Pier", "this is a class; expected a function"),
        ("harbour:unreachable", "Tool 'unreachable'"),
        ("needy:tide", "needy imports no_such_package, which is not installed"),
        ("wrong:tide", "wrong cannot be imported: SyntaxError"),
        ("rising:tide", "rising cannot be imported: RuntimeError: too high ("),
        ("leaving:tide", "leaving cannot be imported: SystemExit: 3 ("),
        (".harbour:tide", ".harbour cannot be imported: TypeError"),
    ],
)
def test_what_is_no_tool_is_2_and_says_why(cli: Cli, harbour: Path, name: str, said: str) -> None:
    (harbour / "needy.py").write_text("import no_such_package\n")
    (harbour / "wrong.py").write_text("def tide(:\n")
    (harbour / "rising.py").write_text("\nraise RuntimeError('too high')\n")
    (harbour / "leaving.py").write_text("raise SystemExit(3)\n")
    for command in ("ask", "chat"):
        result = cli(command, *(["Hi"] if command == "ask" else []), *MODEL, "--tool", name)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"error: --tool {name}: ")
        assert said in result.err


def test_an_error_in_a_module_says_where(cli: Cli, harbour: Path) -> None:
    (harbour / "rising.py").write_text("\nraise RuntimeError('too high')\n")
    result = cli("ask", "Hi", *MODEL, "--tool", "rising:tide")
    assert f"({harbour / 'rising.py'}, line 2)" in result.err


def test_two_tools_of_one_name(cli: Cli) -> None:
    result = cli("ask", "Hi", *MODEL, "--tool", "harbour:tide", "--tool", "harbour:tide")
    assert (result.code, "error: --tool: two tools are named 'tide'" in result.err) == (2, True)
