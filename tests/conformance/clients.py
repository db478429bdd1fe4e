"""Clients that are generated from the API document: two are used against the stack by client.py and client.ts, beside this,
and those that OpenAPI Generator makes have to compile."""

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


# What a client in Python is made of. Importing all of it also checks its types' own declarations.
IMPORT_ALL = """
import importlib, pkgutil, openapi_client
for module in pkgutil.walk_packages(openapi_client.__path__, "openapi_client."):
    importlib.import_module(module.name)
"""
# Without TLS, which takes a system's library and changes nothing of what is generated.
CARGO_CHECK = ["cargo", "check", "--quiet", "--locked", "--no-default-features"]
# It compiles what the client depends on the first time, beside builds of others.
CARGO_SECONDS_MAX = 400


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


def check_generated():
    """What OpenAPI Generator makes for Python, TypeScript and Rust. It is the generator that most people use."""
    programs, (javascript_programs, node) = tools("clients"), javascript()
    folders = {kind: emptied(f"generated/{kind}") for kind in ["python", "typescript-fetch", "rust"]}
    for kind, folder in folders.items():
        command = [programs / "openapi-generator-cli", "generate", "--generator-name", kind, "--input-spec", DOCUMENT,
                   "--output", folder]
        if not run(f"openapi-generator for {kind}", command)[0]:
            return False
    # The versions that it names have ranges: the lock file beside this pins them.
    shutil.copy(HERE / "client.Cargo.lock", folders["rust"] / "Cargo.lock")
    # A workspace of its own, in the folder of this one's output. What it depends on stays compiled.
    with open(folders["rust"] / "Cargo.toml", "a") as manifest:
        manifest.write("\n[workspace]\n")
    cargo = {**os.environ, "CARGO_TARGET_DIR": str(OUT / "rust-target")}
    tsc = [node, javascript_programs / "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
           "--lib", "es2022,dom", folders["typescript-fetch"] / "index.ts"]
    return all([
        run("its client in Python", [programs / "python", "-c", IMPORT_ALL], cwd=folders["python"])[0],
        run("its client in TypeScript", tsc)[0],
        run("its client in Rust", CARGO_CHECK, cwd=folders["rust"], env=cargo, seconds_max=CARGO_SECONDS_MAX)[0],
    ])


def check(stack):
    return all([check_python(stack), check_typescript(stack), check_generated()])
