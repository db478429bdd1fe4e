"""The agent endpoint under programs that are not ours: MCP's conformance suite in the revisions that it knows, and MCP's
clients in Python: the newest, mcp_client.py beside this, and one of the older revisions, mcp_older_client.py."""

import http.client
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from common import DOCUMENT, HERE, SECONDS_MAX, javascript, run, tools

# The scenarios that apply to each revision: those of a server whose one capability is its tools.
APPLICABLE = {
    "2025-06-18": ["server-initialize", "ping", "tools-list"],
    "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
    "2026-07-28": ["server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"],
}

# The others of the pinned suite, by why they do not apply.
INAPPLICABLE = {
    "this server has no sessions, which the revisions leave to it": ["server-session-lifecycle"],
    "each answer is one JSON document: there are no streams": ["server-sse-polling", "server-sse-multiple-streams"],
    "the capability `logging` is not declared": ["logging-set-level"],
    "the capability `completions` is not declared": ["completion-complete"],
    "the capability `resources` is not declared": [
        "resources-list",
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
        "resources-subscribe",
        "resources-unsubscribe",
        "sep-2164-resource-not-found",
    ],
    "the capability `prompts` is not declared": [
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ],
    "it calls or looks for a tool that only servers for tests have": [
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-with-logging",
        "tools-call-error",
        "tools-call-with-progress",
        "tools-call-sampling",
        "tools-call-elicitation",
        "json-schema-2020-12",
        "http-custom-header-server-validation",
    ],
    "this server asks clients nothing": [
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-missing-input-response",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-unsupported-methods",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    ],
    "an extension that is not declared": [
        "sep-2640-skills-directory",
        "sep-2640-skills-enumeration",
        "sep-2640-skills-manifest",
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-status-notifications",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    ],
}


# Checks within applicable scenarios that do not apply: the scenario, the check, what the suite says of it, and why it does
# not apply. Whatever else is no success fails, and so does one of these of which the suite says something else: then it
# has to go from here.
NOT_CHECKED = {
    ("caching", "sep-2549-prompts-list-caching-hints"): ("FAILURE", "the capability `prompts` is not declared"),
    ("caching", "sep-2549-resources-list-caching-hints"): ("FAILURE", "the capability `resources` is not declared"),
    ("caching", "sep-2549-resources-templates-list-caching-hints"):
        ("FAILURE", "the capability `resources` is not declared"),
    ("caching", "sep-2549-resources-read-caching-hints"): ("SKIPPED", "the capability `resources` is not declared"),
    ("server-stateless", "sep-2575-server-rejects-undeclared-capability"):
        ("FAILURE", "it calls `test_missing_capability`, which only servers for tests have"),
    ("server-stateless", "sep-2575-missing-capability-http-400"):
        ("FAILURE", "it calls `test_missing_capability`, which only servers for tests have"),
    ("server-stateless", "sep-2575-http-server-no-independent-requests-on-stream"):
        ("FAILURE", "it calls `test_streaming_elicitation`, which only servers for tests have"),
    ("server-stateless", "sep-2575-server-no-log-without-loglevel"):
        ("FAILURE", "it calls `test_logging_tool`, which only servers for tests have"),
    ("server-stateless", "sep-2575-server-sends-subscription-ack"): ("SKIPPED", "nothing can be subscribed to"),
    ("server-stateless", "sep-2575-server-tags-subscription-id"): ("SKIPPED", "nothing can be subscribed to"),
    ("server-stateless", "sep-2575-server-honors-notification-filter"): ("SKIPPED", "nothing can be subscribed to"),
    ("server-stateless", "sep-2575-server-sends-prompts-list-changed-on-subscription"):
        ("SKIPPED", "`prompts.listChanged` is not declared"),
    ("server-stateless", "sep-2575-server-sends-tools-list-changed-on-subscription"):
        ("SKIPPED", "`tools.listChanged` is not declared: the list changes with a deployment only"),
}


class Proxy(http.server.BaseHTTPRequestHandler):
    """Adds the token, which the suite has no option for."""

    protocol_version = "HTTP/1.1"
    target = None
    token = None

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        own = f"127.0.0.1:{self.server.server_port}"
        headers = [(name, value.replace(own, self.target).replace(own.replace("127.0.0.1", "localhost"), self.target))
                   for name, value in self.headers.items()]
        upstream = http.client.HTTPConnection(self.target, timeout=30)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in [*headers, ("Authorization", f"Bearer {self.token}")]:
            upstream.putheader(name, value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "connection", "date", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        upstream.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = forward

    def log_message(self, *_):
        pass


class ProxyServer(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """The suite breaks connections off that it needs no more."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def scenarios(suite):
    """The scenarios of the suite, each with its revisions."""
    for line in subprocess.check_output([*suite, "list", "--server"], text=True).splitlines():
        if line.startswith("  - "):
            name, revisions = line[4:].split(" [")
            yield name, revisions.rstrip("]").split(",")


def check_list(suite):
    """Every scenario applies, or there is a reason; and every one that is named here is there."""
    found = list(scenarios(suite))
    reasons = {name: why for why, names in INAPPLICABLE.items() for name in names}
    listed = {(name, revision) for name, revisions in found for revision in revisions}
    absent = {(name, revision) for revision, names in APPLICABLE.items() for name in names} - listed
    absent |= {(name, "any revision") for name in reasons.keys() - {name for name, _ in found}}
    for name, revision in sorted(absent):
        print(f"{name} in {revision}: the suite has no such scenario")
    wrong = len(absent)
    for name, revisions in found:
        # An extension is in no revision.
        for revision in set(revisions) & {*APPLICABLE, "extension"}:
            is_run, is_left_out = name in APPLICABLE.get(revision, []), name in reasons
            if is_run == is_left_out:
                print(f"{name} in {revision}: {'both run and left out' if is_run else 'neither run nor left out'}")
                wrong += 1
    return wrong


def run_scenario(suite, url, name, revision):
    """The checks of a scenario; and what is wrong with the run itself, such as an end halfway."""
    with tempfile.TemporaryDirectory() as results:
        command = [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision, "-o", results]
        done = subprocess.run(command, text=True, capture_output=True, timeout=SECONDS_MAX)
        found = [json.loads(file.read_text()) for file in pathlib.Path(results).rglob("checks.json")]
    checks = [check for file in found for check in file]
    # It says by its exit code whether a check failed. Any other code, or one that does not go with its results, is a crash.
    expected = int(any(check["status"] == "FAILURE" for check in checks))
    if len(found) != 1 or done.returncode != expected:
        return checks, f"{len(found)} files of results, exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return checks, ""


def run_suite(suite, url):
    failed, left_out = 0, set()
    for revision, names in APPLICABLE.items():
        for name in names:
            checks, broken = run_scenario(suite, url, name, revision)
            wrong = []
            # `INFO` tells what the server chose where the revision leaves it a choice.
            for check in (check for check in checks if check["status"] not in ("SUCCESS", "INFO")):
                key = (name, check["id"])
                if NOT_CHECKED.get(key, ("", ""))[0] == check["status"]:
                    left_out.add(key)
                else:
                    wrong.append(check)
            done_well = sum(check["status"] == "SUCCESS" for check in checks)
            is_well = bool(done_well) and not wrong and not broken
            print(f"{revision} {name}: {'passed' if is_well else 'FAILED'}, {done_well} checks of {len(checks)}")
            if not is_well:
                print(broken, json.dumps(wrong, indent=2))
                failed += 1
    for name, check in sorted(NOT_CHECKED.keys() - left_out):
        print(f"{check} of {name}: left out as {NOT_CHECKED[name, check][0]}, which the suite does not say of it")
        failed += 1
    return failed


def check(stack):
    programs, node = javascript()
    suite = [node, programs / "conformance"]
    Proxy.target = urllib.parse.urlsplit(stack.base_url).netloc
    Proxy.token = stack.token
    failed = check_list(suite)
    with ProxyServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        failed += run_suite(suite, f"http://127.0.0.1:{proxy.server_port}/mcp")
        proxy.shutdown()
    python = tools("conformance-python") / "python"
    client = [python, HERE / "mcp_client.py", f"{stack.base_url}/mcp", stack.token, DOCUMENT]
    is_well, output = run("MCP's client in Python", client)
    print(output if is_well else "", end="", flush=True)
    older = tools("conformance-python-older") / "python"
    client = [older, HERE / "mcp_older_client.py", f"{stack.base_url}/mcp", stack.token]
    is_older_well, output = run("MCP's older client in Python", client)
    print(output if is_older_well else "", end="", flush=True)
    return is_well and is_older_well and not failed
