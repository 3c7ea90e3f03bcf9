"""Facts of `pyproject.toml` that can be seen without building: `run_tests.py` builds and installs the wheel."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    """The names in a list of requirements."""
    return {re.split(r"[\[<>=!~; ]", requirement)[0] for requirement in requirements}


def test_dependencies_are_two() -> None:
    assert names(PROJECT["project"]["dependencies"]) == {"msgspec", "h11"}


def test_colour_is_an_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert names(extras["cli"]) == {"rich"}
    assert {"coverage", "hatchling", "hypothesis", "mypy", "pytest", "rich", "ruff"} <= names(extras["dev"])


def test_python_versions_agree() -> None:
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert PROJECT["tool"]["ruff"]["target-version"] == "py311"
    classifiers = PROJECT["project"]["classifiers"]
    assert "Programming Language :: Python :: 3.11" in classifiers
    assert "Typing :: Typed" in classifiers


def test_files_that_the_metadata_names_are_there() -> None:
    assert (ROOT / PROJECT["project"]["readme"]).is_file()
    assert PROJECT["project"]["license"] == "MIT"
    for name in PROJECT["project"]["license-files"]:
        assert "MIT License" in (ROOT / name).read_text(encoding="utf-8")


def test_the_sdist_takes_what_is_there() -> None:
    for entry in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / entry.lstrip("/")).exists(), entry


def test_the_command_exists() -> None:
    module, _, function = PROJECT["project"]["scripts"]["tokwire"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_both_source_roots_are_installed() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["dev-mode-dirs"] == ["sansio", "adapters"]
    assert PROJECT["tool"]["mypy"]["mypy_path"] == ["sansio", "adapters"]


def test_warnings_and_types_are_strict() -> None:
    assert PROJECT["tool"]["pytest"]["ini_options"]["filterwarnings"] == ["error"]
    assert PROJECT["tool"]["pytest"]["ini_options"]["xfail_strict"] is True
    assert PROJECT["tool"]["mypy"]["strict"] is True
    assert PROJECT["tool"]["coverage"]["run"]["branch"] is True


def test_the_changelog_begins_with_what_is_not_released() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", heading) for heading in headings[1:])
