"""The commands that the operators' handbook shows, for `scripts/check-aws-calls` and `scripts/test-stack`."""

import pathlib
import re

HANDBOOK = pathlib.Path(__file__).resolve().parent.parent / "infra" / "OPERATIONS.md"


def commands():
    """Each in one line, in the handbook's order; also those in lists."""
    for block in re.findall(r"```console\n(.*?)```", HANDBOOK.read_text(encoding="utf-8"), re.DOTALL):
        lines = re.sub(r"(?:\\|(?<=\|))\n\s*", " ", block)
        for command in re.findall(r"^\s*\$ (.*)$", lines, re.MULTILINE):
            yield re.sub(r" {2,}", " ", command)
