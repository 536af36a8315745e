"""Messages of the library in the words of the command line: `architecture='...'` in Python is `--architecture ...` there."""

import re

NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
PAIR = rf"""["'](\w+)["']:\s*({NUMBER})"""
UNKNOWNS = re.compile(rf"\bunknowns=\{{({PAIR}(?:,\s*{PAIR})*)\}}")
TEXTS = re.compile(r"""\b(architecture|features|method)=(?:"([^"]*)"|'([^']*)')""")


def for_command_line(message: str) -> str:
    """A message that names arguments of Python functions, with the command line's options in their place.

    Only what has an option of the same meaning is replaced: arguments of a `Problem`, say, are Python on the command line too.
    """
    message = UNKNOWNS.sub(lambda found: " ".join(f"--unknowns {n}={v}" for n, v in re.findall(PAIR, found[1])), message)
    message = TEXTS.sub(lambda found: f"--{found[1]} {found[2] or found[3]}", message)
    message = re.sub(r"\b(architecture|features|unknowns)=(?!\S)", r"--\1", message)
    message = re.sub(r"\btrust_file(=True)?\b", "--trust-file", message)
    return message.replace("pass rules=", "from Python, pass rules=")
