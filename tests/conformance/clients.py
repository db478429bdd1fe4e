"""Clients that are generated from the API document, and used against the stack by client.py and client.ts, beside this."""

import os
import shutil

from common import DOCUMENT, HERE, OUT, javascript, run, tools

TSCONFIG = """{
  "compilerOptions": {
    "target": "es2022",
    "module": "nodenext",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "outDir": "built"
  },
  "files": ["api.d.ts", "client.ts"]
}
"""


def emptied(name):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def check_python(stack):
    programs = tools("conformance-python")
    folder = emptied("python")
    # It formats what it generates with a program that it looks for in PATH, and warns if there is none.
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(folder)}
    command = [programs / "openapi-python-client", "generate", "--path", DOCUMENT, "--output-path", folder / "countersign",
               "--meta", "none", "--fail-on-warning"]
    is_well, output = run("openapi-python-client generates", command, env=environment)
    if "warning" in output.lower():
        print(output)
        is_well = False
    client = [programs / "python", HERE / "client.py", stack.base_url, stack.token, DOCUMENT]
    return is_well and run("client.py", client, env=environment)[0]


def check_typescript(stack):
    programs, node = javascript()
    folder = emptied("typescript")
    (folder / "package.json").write_text('{"type": "module"}\n')
    (folder / "tsconfig.json").write_text(TSCONFIG)
    (folder / "node_modules").symlink_to(programs.parent / "node_modules")
    shutil.copy(HERE / "client.ts", folder)
    return (
        run("openapi-typescript", [node, programs / "openapi-typescript", DOCUMENT, "--output", folder / "api.d.ts"])[0]
        and run("tsc", [node, programs / "tsc", "--project", folder])[0]
        and run("client.ts", [node, folder / "built/client.js", stack.base_url, stack.token])[0]
    )


def check(stack):
    return all([check_python(stack), check_typescript(stack)])
