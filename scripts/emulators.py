"""Emulators of AWS on this machine, for `scripts/test-aws` and `scripts/test-stack`."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / "target" / "tools"
START_SECONDS = 60
STOP_SECONDS = 10


def ministack(services, settings=()):
    """Some services of AWS in memory."""
    tools = subprocess.run([ROOT / "scripts" / "tools", "aws"], stdout=subprocess.PIPE, text=True)
    if tools.returncode != 0:
        fail("the emulator of AWS could not be installed")
    port = free_port()
    return Emulator("ministack", port, [pathlib.Path(tools.stdout.strip()) / "ministack"], {
        "GATEWAY_PORT": str(port),
        # It would listen to everybody.
        "BIND_HOST": "127.0.0.1",
        "SERVICES": services,
        "LOG_LEVEL": "WARNING",
        # For the functions that it runs.
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        **dict(settings),
    }, urllib.request.Request(f"http://127.0.0.1:{port}/_ministack/health"), "services")


def environment_of(endpoint):
    """The environment of a program that calls ministack: with nothing of a real account, and no proxy on the way."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **own, "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
    }


def built():
    """Builds the functions, tools and tests, in the same selection as `scripts/test`, and gives the folder of the programs."""
    if (status := subprocess.run(["cargo", "build", "--workspace", "--bins", "--tests"], cwd=ROOT).returncode) != 0:
        sys.exit(status)
    # Cargo's own settings name the folder of what is built.
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return pathlib.Path(json.loads(metadata.stdout)["target_directory"]) / "debug"


class Emulator:
    """A server on a free port of this machine; it ends with this script, whatever happens."""

    def __init__(self, name, port, command, settings, asked, member):
        """It is there once it answers `asked` with JSON that has `member`."""
        self.name, self.command, self.asked = name, command[0], (asked, member)
        self.endpoint = f"http://127.0.0.1:{port}"
        self.log = TOOLS / f"{name.lower().replace(' ', '-')}.log"
        self.started = time.monotonic()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, cwd=TOOLS, env={**os.environ, **settings},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def __enter__(self):
        return self

    def wait(self):
        while True:
            if self.process.poll() is not None:
                fail(f"{self.name} ended at once:\n{self.log.read_text(errors='replace')}")
            if answers(*self.asked):
                break
            if time.monotonic() - self.started > START_SECONDS:
                fail(f"{self.name} does not answer; see {self.log}")
            time.sleep(0.1)
        print(f"{self.name} answers at {self.endpoint} "
              f"after {time.monotonic() - self.started:.1f} s", flush=True)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def answers(request, member):
    try:
        # No proxy of the environment between two processes of one machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=5) as response:
            return member in json.load(response)
    except (OSError, ValueError):
        return False


def fail(message):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")
