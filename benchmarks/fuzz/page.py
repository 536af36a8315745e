"""What was found, as a table."""

from pathlib import Path
from typing import Any

HEAD = """# Wrong input on purpose

Examples of everything that epinn reads, changed at random: letters, numbers, bits, names, types, shapes, checksums made
right again, links, archives that unpack to gigabytes. An answer is fine if the input is accepted, or refused by an error of
epinn's own with one line. A traceback, a crash of the process, no answer after {limit:g} seconds, a message of several lines
or of more than {longest} characters, and {megabytes} MB more memory for one input are findings.

    {command}

{machine}; epinn {epinn}, jax {jax}; {with_}. It took {minutes:.0f} minutes.

"""


def write(found: dict[str, Any], folder: Path) -> None:
    lines = ["| kind | inputs | refused with one line | accepted | findings | different ones |", "|---|---|---|---|---|---|"]
    rows = found["kinds"]
    for name, row in rows.items():
        lines.append(_row(name, row, len(row["causes"])))
    if len(rows) > 1:
        whole = {part: sum(row[part] for row in rows.values()) for part in ("inputs", "refused", "accepted", "found")}
        lines.append(_row("all", whole, sum(len(row["causes"]) for row in rows.values())))
    causes = [f"- {name}: {note} ({cause['times']} times; input {cause['input']})"
              for name, row in rows.items() for note, cause in row["causes"].items()]  # fmt: skip
    head = HEAD.format(**found["about"], minutes=found["seconds"] / 60)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(head + "\n".join([*lines, "", *causes, *([""] if causes else [])]))


def _row(name: str, row: dict[str, Any], causes: int) -> str:
    return f"| {name} | {row['inputs']:,} | {row['refused']:,} | {row['accepted']:,} | {row['found']:,} | {causes} |"
