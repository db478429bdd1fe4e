"""The agent endpoint under programs that are not ours: MCP's conformance suite in both revisions, and MCP's client in
Python, mcp_client.py beside this."""

import http.client
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from common import HERE, SECONDS_MAX, javascript, run, tools

# The scenarios that apply to each revision: those of a server whose one capability is its tools.
APPLICABLE = {
    "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
    "2026-07-28": ["server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"],
}

# Why the others do not apply, by the beginning of their names.
INAPPLICABLE = {
    "server-session-lifecycle": "this server has no sessions, which 2025-11-25 leaves to it",
    "server-sse-": "each answer is one JSON document: there are no streams",
    "logging-": "the capability `logging` is not declared",
    "completion-": "the capability `completions` is not declared",
    "resources-": "the capability `resources` is not declared",
    "sep-2164-": "the capability `resources` is not declared",
    "sep-2640-": "an extension that is not declared",
    "prompts-": "the capability `prompts` is not declared",
    "tasks-": "an extension that is not declared",
    "tools-call-": "it calls a tool that only servers for tests have",
    "json-schema-2020-12": "it looks for a tool that only servers for tests have",
    "http-custom-header-server-validation": "it calls a tool that only servers for tests have",
    "elicitation-": "this server asks clients nothing",
    "input-required-": "this server asks clients nothing",
}


# Checks within applicable scenarios that fail and do not apply, and why. Whatever else fails is a failure of this server,
# and so is one of these that fails no more: then it has to go from here.
NOT_CHECKED = {
    "sep-2549-prompts-list-caching-hints": "the capability `prompts` is not declared",
    "sep-2549-resources-list-caching-hints": "the capability `resources` is not declared",
    "sep-2549-resources-templates-list-caching-hints": "the capability `resources` is not declared",
    "sep-2575-server-rejects-undeclared-capability": "it calls `test_missing_capability`, which only servers for tests have",
    "sep-2575-missing-capability-http-400": "it calls `test_missing_capability`, which only servers for tests have",
    "sep-2575-http-server-no-independent-requests-on-stream":
        "it calls `test_streaming_elicitation`, which only servers for tests have",
    "sep-2575-server-no-log-without-loglevel": "it calls `test_logging_tool`, which only servers for tests have",
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
    """Every scenario applies, or there is a reason; and every one that applies is there."""
    found = list(scenarios(suite))
    listed = {(name, revision) for name, revisions in found for revision in revisions}
    absent = {(name, revision) for revision, names in APPLICABLE.items() for name in names} - listed
    for name, revision in sorted(absent):
        print(f"{name} in {revision}: the suite has no such scenario")
    wrong = len(absent)
    for name, revisions in found:
        for revision in set(revisions) & set(APPLICABLE):
            reason = next((why for begin, why in INAPPLICABLE.items() if name.startswith(begin)), None)
            if (name in APPLICABLE[revision]) == (reason is not None):
                print(f"{name} in {revision}: {'both run and left out' if reason else 'neither run nor left out'}")
                wrong += 1
    return wrong


def run_suite(suite, url):
    failed, forgiven = 0, set()
    for revision, names in APPLICABLE.items():
        for name in names:
            with tempfile.TemporaryDirectory() as results:
                command = [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision, "-o", results]
                done = subprocess.run(command, text=True, capture_output=True, timeout=SECONDS_MAX)
                found = [json.loads(file.read_text()) for file in pathlib.Path(results).rglob("checks.json")]
            checks = [check for file in found for check in file]
            failures = [check for check in checks if check["status"] == "FAILURE"]
            wrong = [check for check in failures if check["id"] not in NOT_CHECKED]
            forgiven |= {check["id"] for check in failures} & NOT_CHECKED.keys()
            done_well = sum(check["status"] == "SUCCESS" for check in checks)
            is_well = bool(done_well) and not wrong
            print(f"{revision} {name}: {'passed' if is_well else 'FAILED'}, {done_well} checks of {len(checks)}")
            if not is_well:
                print(json.dumps(wrong, indent=2) if checks else done.stdout + done.stderr)
                failed += 1
    for stale in sorted(NOT_CHECKED.keys() - forgiven):
        print(f"{stale}: left out, but it did not fail")
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
    client = [python, HERE / "mcp_client.py", f"{stack.base_url}/mcp", stack.token]
    is_well, output = run("MCP's client in Python", client)
    print(output if is_well else "", end="", flush=True)
    return is_well and not failed
