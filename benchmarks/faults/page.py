"""What was found, as a table."""

from pathlib import Path
from typing import Any

HEAD = """# Faults on purpose

Processes are killed (SIGKILL) at random moments and gone on with by `epinn resume`; the result is compared with that of the
same command undisturbed, bit by bit. One random bit of a file is changed, and the file read. The disk is full after a random
number of files, or really full (a small tmpfs); then there is room again, and the run is gone on with.

    {command}

{machine}; epinn {epinn}, jax {jax}. It took {minutes:.0f} minutes.
"""


def write(found: dict[str, Any], folder: Path) -> None:
    head = HEAD.format(**found["about"], minutes=found["seconds"] / 60)
    (folder / "README.md").write_text(
        "\n".join([head, *_kills(found["kills"]), *_damage(found), *_full(found["full"]), *_others(found["others"])])
    )


def _kills(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| killed in | seconds undisturbed | kills | same bits after `epinn resume` | otherwise |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        otherwise = "; ".join(row["otherwise"]) or "none"
        lines.append(f"| {row['work']} | {row['seconds']:.0f} | {row['kills']} | {row['same']} | {otherwise} |")
    return [*lines, ""]


def _damage(found: dict[str, Any]) -> list[str]:
    lines = ["| one bit changed in | places | noticed |", "|---|---|---|"]
    lines += [f"| {row['file']} | {row['places']} | {row['noticed']} |" for row in found["damage"]]
    told = sum(row["told"] for row in found["commands"])
    lines += [
        "",
        f"`epinn resume` with a damaged file: {told} of {len(found['commands'])} times exit code 2 and one line with its name.",
    ]
    return [*lines, ""]


def _full(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| full disk | exit code | one line | half-written files | same bits after `epinn resume` |",
        "|---|---|---|---|---|",
    ]
    yes = {True: "yes", False: "no"}
    for row in rows:
        lines.append(f"| {row['when']} | {row['code']} | {yes[row['one_line']]} | {row['half']} | {yes[row['same']]} |")
    return [*lines, ""]


def _others(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["| fault | exit code | one line | nothing lost or changed |", "|---|---|---|---|"]
    yes = {True: "yes", False: "no"}
    lines += [f"| {row['when']} | {row['code']} | {yes[row['one_line']]} | {yes[row['same']]} |" for row in rows]
    return [*lines, ""]
