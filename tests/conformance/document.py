"""The API document under rules that are not ours. Both programs fail for the least that they find."""

import os
import tempfile

from common import DOCUMENT, javascript, run

# Redocly's own copy of its recommended rules in which each warning is an error.
REDOCLY_RULES = "recommended-strict"
SPECTRAL_RULES = '{"extends": ["spectral:oas"]}'
# It reports to nobody that it ran, and asks nobody whether there is a newer one.
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


def run_redocly(programs, node):
    command = [node, programs / "redocly", "lint", f"--extends={REDOCLY_RULES}", DOCUMENT]
    return run("Redocly, recommended rules", command, env={**os.environ, **QUIET})[0]


def run_spectral(programs, node):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as rules:
        rules.write(SPECTRAL_RULES)
        rules.flush()
        command = [node, programs / "spectral", "lint", "--ruleset", rules.name, "--fail-severity=hint", DOCUMENT]
        return run("Spectral, rules for OpenAPI", command)[0]


def check(_stack):
    programs, node = javascript()
    return all([run_redocly(programs, node), run_spectral(programs, node)])
