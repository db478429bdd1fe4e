"""Schemathesis against the stack: all its phases, all its checks, and what schemathesis.toml tells it."""

import collections
import json
import os
import shutil
import urllib.request

from common import DOCUMENT, HERE, OUT, run, tools

PHASES = ["Examples", "Coverage", "Fuzzing", "Stateful"]
# Each of them is through by then, on two cores.
SECONDS = 90
# How long it may take to end by itself once its time is over, such as to make a failure small.
SECONDS_TO_END = 120
# The same each time, which makes runs similar, though not equal: ids and times differ. A run whose time is given looks
# elsewhere each time. A failure is repeated by the `curl` command that is printed with it.
SEED = 1
# Few items can be papered, each once, and what else is drawn changes them before. An item is sorted by the facts of its
# own kind, and only while it is open; no schema says either.
MAY_FAIL = ["paper_funding_items", "update_funding_item"]


def get(stack, path):
    request = urllib.request.Request(stack.base_url + path, headers={"Authorization": f"Bearer {stack.token}"})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)


def successes(calls):
    """How often each operation of the document has succeeded."""
    paths = json.loads(DOCUMENT.read_text())["paths"].values()
    counts = collections.Counter(call["operation"] for call in calls if call["status"] < 300)
    return {operation["operationId"]: counts[operation["operationId"]] for path in paths for operation in path.values()}


def check(stack):
    st = tools("conformance-python") / "st"
    folder = OUT / "fuzz"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    earlier = len(stack.calls())
    items = get(stack, "/api/v1/funding-items?phase=ready&limit=200")["data"]
    (folder / "items.dict").write_text("".join(f'"{item["id"]}"\n' for item in items))
    asked = os.environ.get("FUZZ_SECONDS")
    seconds = int(asked or SECONDS)
    command = [st, "--config-file", HERE / "schemathesis.toml", "run", f"{stack.base_url}/openapi.json",
               f"--max-time={seconds}", "--generation-database=none", *([] if asked else [f"--seed={SEED}"])]
    environment = {**os.environ, "COUNTERSIGN_TOKEN": stack.token}
    is_well, output = run(
        f"Schemathesis for {seconds} s", command, seconds_max=seconds + SECONDS_TO_END, cwd=folder, env=environment)
    counts = successes(stack.calls()[earlier:])
    fewest_first = sorted(counts.items(), key=lambda pair: pair[1])
    print("Successes:", ", ".join(f"{name} {count}" for name, count in fewest_first))
    if is_well:
        # What it ran, not only that it ran.
        print(output[output.rindex(" SUMMARY "):], flush=True)
    # A phase that the time did not suffice for is reported as skipped, and fails nothing by itself.
    without = [phase for phase in PHASES if f"✅ {phase}" not in output]
    if without:
        print("Not run to its end:", *without)
    never = [name for name, count in counts.items() if not count and name not in MAY_FAIL]
    if never:
        print("Without a success:", *never)
    return is_well and not without and not never
