"""Holds the interface against programs that are not ours, each part against one local stack with the demo's data.

  document  the API document: Redocly's recommended rules and Spectral's for OpenAPI, no warning in either
  clients   a client that openapi-python-client generates without a warning, and one on the types of openapi-typescript,
            both used; and those that OpenAPI Generator makes for Python, TypeScript and Rust, compiled
  agents    the agent endpoint: MCP's conformance suite in the revisions that it knows, MCP's client in Python, which
            calls every tool, and an older one in the revisions before
  fuzz      Schemathesis with all its checks, as schemathesis.toml says

Environment:
  LOCAL         the program of the stack; without it, it is built
  FUZZ_SECONDS  how long `fuzz` runs, with a new seed each time; without it, 90 s with the same seed
"""

import sys
import time

import agents
import clients
import document
import fuzz
from common import Stack

PARTS = {"document": document.check, "clients": clients.check, "agents": agents.check, "fuzz": fuzz.check}


def main():
    names = sys.argv[1:] or list(PARTS)
    if not set(names) <= set(PARTS):
        sys.exit(__doc__)
    failed = []
    with Stack() as stack:
        for name in names:
            print(f"\n{name}", flush=True)
            start = time.monotonic()
            if not PARTS[name](stack):
                failed.append(name)
            seconds = time.monotonic() - start
            print(f"{name}: {'FAILED' if name in failed else 'passed'} after {seconds:.0f} s", flush=True)
        faults = stack.faults()
        print("".join(faults[:20]), end="")
        if faults:
            failed.append(f"{len(faults)} faults of the service")
        if not stack.is_alive():
            failed.append("the stack has ended")
    if failed:
        sys.exit(f"\nNot conformant: {', '.join(failed)}")


main()
