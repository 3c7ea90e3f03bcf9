"""How the house is built: which module may import what. Everything here is read from the source, with `ast`."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "sansio" / "tokwire"
ADAPTERS = ROOT / "adapters"

ORDER = (
    *("_errors", "_limits", "_json", "_transitions", "_finish", "_image_rules", "_blocks", "_messages", "_events"),
    *("_summary", "_notes", "_arguments", "_budget", "_partial_call", "_calls", "_drain", "_buffers", "_options"),
    *("_server_errors", "framing", "_token_counts", "_state", "_cut_block", "_intake", "protocols._readers"),
    *("protocols._protocol", "protocols.openai_chat", "protocols.anthropic", "protocols.openai_responses"),
    *("protocols._gemini_arguments", "protocols.gemini", "protocols.ollama", "protocols.cohere", "protocols.bedrock"),
    "protocols",
    *("_detect", "_frame_reader", "_engine", "_decoder", "_http", "_retry_after", "_error_body", "_inflater"),
    *("_http11", "_response"),
    *("agent._schema", "agent._functions", "agent._parameters", "agent._tools", "agent._hooks", "agent._retry"),
    *("agent._context", "agent._presets", "agent._options", "agent._requests", "agent._history", "agent._actions"),
    *(
        "agent._results",
        "agent._prompt",
        "agent._batch",
        "agent._ledger",
        "agent._redaction",
        "agent._usage",
        "agent._exchange",
        "agent._attempts",
        "agent._phase",
    ),
    *("agent._turn", "agent._conversation"),
    *("agent", "", "__main__"),
)
"""The modules of the core, from the bottom up: each imports only what stands above it here. "" is `tokwire` itself.

A package stands for all that is in it, unless its modules have places of their own.
"""

SPLIT = ("", "protocols", "agent")
"""Packages whose modules have places of their own."""

PURE = {
    *("__future__", "abc", "base64", "binascii", "bisect", "collections", "collections.abc", "contextlib", "copy"),
    *("enum", "functools", "hashlib", "importlib", "inspect", "itertools", "json", "math", "operator", "re", "struct"),
    *("types", "typing", "zlib"),
}
"""What the core may use of the standard library: nothing that does I/O, waits, or asks for time, chance or settings."""

THIRD_PARTY = {
    "msgspec": ("tokwire", "tokwire_cli", "tokwire_http", "tokwire_replay"),
    "botocore": ("tokwire_bedrock._botocore",),
    "h11": ("tokwire._http11", "tokwire_replay"),
    "rich": ("tokwire_cli",),
}
"""The home of each foreign package: a module, or a package with all that is in it."""

IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint"}


class Import(NamedTuple):
    """One import statement's target, and where it stands."""

    target: str
    line: int
    typing_only: bool


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a file under a source root."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path) -> dict[str, Path]:
    """Every module under a source root, by dotted name."""
    return {module_name(path, root): path for path in sorted(root.rglob("*.py"))}


CORE_MODULES = modules(ROOT / "sansio")
ADAPTER_MODULES = modules(ADAPTERS)
ALL_MODULES = CORE_MODULES | ADAPTER_MODULES


def is_typing_guard(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(path: Path, name: str) -> list[Import]:
    """What a module imports, with relative names made absolute, and names of submodules spelled out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {id(child) for node in ast.walk(tree) if is_typing_guard(node) for child in ast.walk(node)}
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = []
    for node in ast.walk(tree):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            below = [f"{base}.{alias.name}" for alias in node.names]
            targets = [full if full in ALL_MODULES or full in PURE else base for full in below]
        found += [Import(target, node.lineno, id(node) in guarded) for target in targets]  # type: ignore[attr-defined]  # imports have lines
    return found


def top(target: str) -> str:
    """The top-level package of a dotted name."""
    return target.partition(".")[0]


def belongs(name: str, home: str) -> bool:
    """Whether a module is `home` or lies in it."""
    return name == home or name.startswith(home + ".")


def short(name: str) -> str:
    """The name of a module of the core as `ORDER` writes it."""
    return name.removeprefix("tokwire").removeprefix(".")


def place(name: str) -> tuple[int, bool] | None:
    """Where a module of the core stands in `ORDER`: its own or its package's place, and whether it has that place."""
    own, package = short(name), short(name).rpartition(".")[0]
    if own in ORDER:
        return ORDER.index(own), True
    return (ORDER.index(package), False) if package in ORDER and package not in SPLIT else None


def points_back(name: str, target: str) -> bool:
    """Whether an import leads up. Inside one place a package may use its modules, and they each other."""
    here, there = place(name), place(target)
    if here is None or there is None:
        return True
    return there[0] > here[0] or (there[0] == here[0] and there[1])


@cache
def arrows() -> dict[str, set[str]]:
    """Which module of the core imports which, annotations left out."""
    return {
        name: {found.target for found in imports(path, name) if found.target in CORE_MODULES and not found.typing_only}
        for name, path in CORE_MODULES.items()
    }


def test_every_module_of_the_core_has_a_place() -> None:
    assert [name for name in CORE_MODULES if place(name) is None] == []
    assert {short(name) for name in CORE_MODULES} >= set(ORDER)


@pytest.mark.parametrize("name", CORE_MODULES)
def test_imports_point_one_way(name: str) -> None:
    assert [target for target in arrows()[name] if points_back(name, target)] == []


def test_no_imports_run_in_a_circle() -> None:
    order = list(TopologicalSorter(arrows()).static_order())
    assert len(order) == len(CORE_MODULES)
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


@pytest.mark.parametrize("name", [name for name in CORE_MODULES if name != "tokwire.__main__"])
def test_the_core_is_pure(name: str) -> None:
    path = CORE_MODULES[name]
    foreign = [found for found in imports(path, name) if top(found.target) not in {"tokwire", *THIRD_PARTY}]
    assert {found.target for found in foreign} <= PURE
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert not IMPURE_CALLS & {call.id for call in calls if isinstance(call, ast.Name)}


@pytest.mark.parametrize("name", ALL_MODULES)
def test_third_party_packages_stay_at_home(name: str) -> None:
    known = {*sys.stdlib_module_names, *map(top, ALL_MODULES)}
    for found in imports(ALL_MODULES[name], name):
        package = top(found.target)
        if package not in known:
            assert any(belongs(name, home) for home in THIRD_PARTY[package]), f"{name}:{found.line} {package}"


@pytest.mark.parametrize("name", ALL_MODULES)
def test_only_main_knows_the_command(name: str) -> None:
    adapters = {top(found.target) for found in imports(ALL_MODULES[name], name)} & {*map(top, ADAPTER_MODULES)}
    # What a stream and a transport are stands in tokwire_http, for all adapters.
    allowed = {"tokwire_cli"} if name == "tokwire.__main__" else {top(name), "tokwire_http"}
    if top(name) == "tokwire_cli":  # the command shows what the others do
        allowed |= {"tokwire_threads", "tokwire_replay"}
    assert adapters <= allowed


@pytest.mark.parametrize("name", ADAPTER_MODULES)
def test_adapters_use_the_public_core(name: str) -> None:
    private = [found for found in imports(ADAPTER_MODULES[name], name) if found.target.startswith("tokwire.")]
    assert not private


def test_the_source_roots_are_no_packages() -> None:
    assert not (ROOT / "sansio" / "__init__.py").exists()
    assert not (ADAPTERS / "__init__.py").exists()
    files = [path for folder in ("sansio", "adapters", "tests", "examples", "fuzz", "bench") for path in tree(folder)]
    assert len(files) > len(ALL_MODULES)
    for path in files:
        assert not {top(found.target) for found in imports(path, path.stem)} & {"sansio", "adapters"}, path


def tree(folder: str) -> list[Path]:
    """The Python files of a top-level folder."""
    return sorted((ROOT / folder).rglob("*.py"))


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after one statement."""
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(answer.stdout.split())


def test_importing_tokwire_loads_no_machinery_of_io() -> None:
    alone, core = loaded_by("import msgspec"), loaded_by("import tokwire")
    assert "tokwire" in core - alone
    unwanted = {
        "asyncio",
        "concurrent",
        "h11",
        "http",
        "logging",
        "selectors",
        "socket",
        "ssl",
        "subprocess",
        "threading",
    }
    assert not unwanted & {top(name) for name in core - alone}
    assert "h11" not in core


def test_the_arrows_of_a_wrong_module_are_seen(tmp_path: Path) -> None:
    package = tmp_path / "tokwire"
    package.mkdir()
    wrong = package / "_errors.py"
    wrong.write_text(
        "import socket\nfrom . import _decoder\nfrom ._events import Block\nfrom .framing.sse import SSEDecoder\n"
    )
    found = imports(wrong, "tokwire._errors")
    assert [item.target for item in found] == ["socket", "tokwire._decoder", "tokwire._events", "tokwire.framing.sse"]
    assert all(points_back("tokwire._errors", item.target) for item in found[1:])
    assert points_back("tokwire._decoder", "tokwire.protocols.unheard_of")
    assert not points_back("tokwire.protocols.anthropic", "tokwire.protocols.anthropic._read")
    assert points_back("tokwire.protocols.anthropic._read", "tokwire.protocols.anthropic")
    assert "socket" not in PURE


def test_the_wheel_lists_every_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {ROOT / path for path in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    on_disk = {path.parent for root in ("sansio", "adapters") for path in (ROOT / root).glob("*/__init__.py")}
    assert listed == on_disk
    assert all((package / "py.typed").is_file() for package in listed)
