"""Messages of the library in the words of the command line: `architecture='...'` in Python is `--architecture ...` there, and
`Base(epochs=...)` is `--set base.epochs=...`."""

import re

NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
PAIR = rf"""["'](\w+)["']:\s*({NUMBER})"""
UNKNOWNS = re.compile(rf"\bunknowns=\{{({PAIR}(?:,\s*{PAIR})*)\}}")
TEXTS = re.compile(r"""\b(architecture|features|method)=(?:"([^"]*)"|'([^']*)')""")

SETTINGS = re.compile(
    r"\b(Base|Points|(?:Epinet|Laplace|Ensemble|Conformal|Hmc|Nuts|Vi|Dropout)(?=Method))(?:Method)?\((\w+=[^()]*)\)"
)


def for_command_line(message: str) -> str:
    """A message that names arguments of Python functions, with the command line's options in their place.

    Only what has an option of the same meaning is replaced: arguments of a `Problem`, say, are Python on the command line too.
    """
    message = UNKNOWNS.sub(lambda found: " ".join(f"--unknowns {n}={v}" for n, v in re.findall(PAIR, found[1])), message)
    message = TEXTS.sub(lambda found: f"--{found[1]} {found[2] or found[3]}", message)
    message = re.sub(r"\b(architecture|features|unknowns)=(?!\S)", r"--\1", message)
    message = re.sub(r"\btrust_file(=True)?\b", "--trust-file", message)
    message = SETTINGS.sub(_assignments, message)
    message = re.sub(r"\bepinn\.limited_to\(([^()]*)\)", r"--set compute.memory=\1", message)
    message = re.sub(r"\bproblem\.holding_out\(([^(),]*), key=\w+\)", r"--set points.held_out=\1", message)
    message = message.replace("another key", "another --seed")
    return message.replace("pass rules=", "from Python, pass rules=")


def _assignments(found: re.Match[str]) -> str:
    """`HmcMethod(samples=..., adapt=False)` as assignments of settings."""
    pairs = [pair.split("=") for pair in found[2].split(", ")]
    return " ".join(f"--set {found[1].lower()}.{name}={_WORDS.get(value, value)}" for name, value in pairs)


_WORDS = {"True": "true", "False": "false", "None": "none"}
