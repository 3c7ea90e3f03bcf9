"""`docs/state-machine.md` shows the table of the code: both are made from `TRANSITIONS` here, and compared."""

from __future__ import annotations

from pathlib import Path

from tokwire import LocalProtocolError
from tokwire._transitions import STATES, TRANSITIONS, Input, Phase

PAGE = Path(__file__).resolve().parent.parent / "docs" / "state-machine.md"
BEGIN, END = "<!-- made from tokwire._transitions -->\n", "<!-- end -->"


def drawing() -> str:
    """The moves from one phase to another, as a Mermaid diagram; what stays in its phase is left to the table."""
    moves = [
        f"    {before.name} --> {after.name}: {happened.value}"
        for (before, happened), after in TRANSITIONS.items()
        if isinstance(after, Phase) and after is not before
    ]
    ends = [f"    {phase.name} --> [*]" for phase in (Phase.DONE, Phase.FAILED)]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {next(iter(Phase)).name}", *moves, *ends, "```"])


def cell(phase: Phase, happened: Input) -> str:
    """What one input does in one phase."""
    after = TRANSITIONS.get((phase, happened))
    if after is None:
        return "does not happen"
    if isinstance(after, Phase):
        return "stays" if after is phase else f"`{after.name}`"
    return f"raises `{after.__name__}`"


def table() -> str:
    """The whole product of phases and inputs."""
    lines = [
        "| phase | `state` | " + " | ".join(happened.value for happened in Input) + " |",
        "|---" * (len(Input) + 2) + "|",
    ]
    for phase in Phase:
        cells = " | ".join(cell(phase, happened) for happened in Input)
        lines.append(f"| `{phase.name}` | `{STATES[phase].name}` | {cells} |")
    return "\n".join(lines)


def page_with(generated: str) -> str:
    """The page with its generated part replaced."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{generated}\n\n{END}{rest.split(END)[1]}"


def test_the_page_shows_the_table_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(f"{drawing()}\n\n{table()}")


def test_a_changed_table_changes_the_page() -> None:
    assert page_with("another table") != PAGE.read_text(encoding="utf-8")
    assert cell(Phase.CLOSING, Input.DATA) == f"raises `{LocalProtocolError.__name__}`"
    assert cell(Phase.RECEIVING, Input.EOF) == "`CLOSING`"
    assert cell(Phase.DONE, Input.ERROR) == "does not happen"
