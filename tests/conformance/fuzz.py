"""Schemathesis against the stack: all its phases, all its checks, what schemathesis.toml tells it, and the check of hooks.py."""

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
# Items are papered once, and what else is drawn closes, parks and unsorts them. Of so many, enough are left.
READY_ITEMS = 120


def ask(stack, path, body=None, method=None):
    """Calls the API, and returns what it answers to a success. Anything else ends the run."""
    headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(stack.base_url + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)


def known_ids(stack):
    """Ids for the dictionaries of schemathesis.toml: items of one trust that can be papered together, and sorted until then,
    which this makes; their trust and owner; and what the demo has."""
    workspace = ask(stack, "/api/v1/workspaces", {"name": "Fuzzing"})["id"]
    person = ask(stack, "/api/v1/contacts", {"display_name": "Ada Okafor", "kind": "person"})["id"]
    trust = ask(stack, "/api/v1/trusts", {
        "workspace_id": workspace, "formal_name": "The Okafor Family Trust",
        "settlor_contact_ids": [person], "trustee_contact_ids": [person]})["id"]
    facts = {"verb": "assign", "trust_id": trust, "owner_contact_ids": [person], "detail": {"description": "A painting"}}
    ids = []
    for number in range(READY_ITEMS):
        new = {"workspace_id": workspace, "label": f"Painting {number}"}
        path = f"/api/v1/funding-items/{ask(stack, '/api/v1/funding-items', new)['id']}"
        item = ask(stack, path, facts, "PATCH")
        assert item["phase"] == "ready", item
        ids.append(item["id"])
    of_demo = {kind: [row["id"] for row in ask(stack, f"/api/v1/{kind}")["data"]] for kind in ("movements", "obligations")}
    return {"items": ids, "trusts": [trust], "owners": [person], **of_demo}


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
    for kind, ids in known_ids(stack).items():
        (folder / f"{kind}.dict").write_text("".join(f'"{id}"\n' for id in ids))
    earlier = len(stack.calls())
    asked = os.environ.get("FUZZ_SECONDS")
    seconds = int(asked or SECONDS)
    command = [st, "--config-file", HERE / "schemathesis.toml", "run", f"{stack.base_url}/openapi.json",
               f"--max-time={seconds}", "--generation-database=none", *([] if asked else [f"--seed={SEED}"])]
    environment = {**os.environ, "COUNTERSIGN_TOKEN": stack.token, "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py")}
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
    never = [name for name, count in counts.items() if not count]
    if never:
        print("Without a success:", *never)
    return is_well and not without and not never
