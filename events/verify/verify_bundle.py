"""Verifies evidence bundles that Countersign made, without asking Countersign:

    pip install cryptography
    python3 verify_bundle.py bundle.zip --keys evidence-keys.json

It needs Python 3.9 and the package `cryptography`, for Ed25519 alone; it shares no code with the service. Exit status 0
means that each file of every bundle is, byte by byte, what the service signed; 1 that one is not; 2 that a file can't be
read. The verdict says whether another program packed the zip again.

The order in which to read this: `verify` has the five steps, and below it stands a function for each.
"""

import argparse
import hashlib
import json
import re
import struct
import sys
import zlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

BUNDLE_BYTES_MAX = 300 * 1024 * 1024
FILES_MAX = 10_000
# What is signed is this, then the bytes of manifest.json. So no signature for another purpose fits a manifest.
SIGNATURE_PREFIX = b"countersign-evidence-bundle-v1\n"
# How each manifest of this format begins.
OPENING = b'{\n  "format_version": 1,\n'
MEMBERS = ["format_version", "service", "organization_id", "agreement_id", "created_at", "signing_key", "files"]
# Characters that no path may have: controls, those that Windows refuses, and those that are invisible or turn the
# direction of writing.
FORBIDDEN = re.compile(
    r'[\x00-\x1f\x7f-\x9f"*:<>?\\|\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def verify(bundle, keys):
    """Verifies the bytes of a bundle. Returns the manifest if it is proven, the paths of the files that are as it says, all
    problems, each as its kind, the path (None for the whole bundle) and a detail, and whether another program packed it.

    `keys` are those of the key document by their ids, as `read_keys` reads them: what the bundle says about its key is not
    relied on."""
    if len(bundle) > BUNDLE_BYTES_MAX:
        return None, [], [("not a bundle", None, "it is larger than any bundle")], False
    # 1. The zip has nothing but its files, each once and in its place. Or it is one that another program packed.
    entries, end = read_entries(bundle)
    problems = check_zip(bundle, entries, end)
    has_manifest = any(entry["name"] == "manifest.json" for entry in entries)
    repacked = read_repacked(bundle) if problems or not has_manifest else None
    if repacked is not None:
        entries, problems = repacked, check_names(repacked)
    elif not has_manifest:
        return None, [], [("not a bundle", None, "it is no zip file, or has no manifest.json")], False
    by_name = {entry["name"]: entry for entry in reversed(entries)}
    # 2. The manifest is what the service signed, with a key that we know.
    manifest, manifest_problems = check_manifest(by_name["manifest.json"], by_name.get("manifest.sig"), keys)
    problems += manifest_problems
    # 3. Each file has the SHA-256 that the manifest says, none is missing, and there is no other.
    matching = []
    if manifest:
        matching, file_problems = check_files(manifest["files"], by_name)
        problems += file_problems
    # 4. What the service signed says the same of payments everywhere.
    if manifest and not problems:
        problems = check_payments(manifest["files"], by_name)
    # 5. The manifest counts only if it is proven.
    return (None if manifest_problems else manifest), matching, problems, repacked is not None


# The zip. Its bytes follow from the names and contents of its files: stored, not compressed, under fixed dates, nothing
# between them. So this reads names and contents, makes anew what stands around them, and compares.

LOCAL_HEADER = struct.Struct("<4s5H3L2H")
CENTRAL_HEADER = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
# Needs version 2.0 to extract; names in UTF-8; stored; 00:00 on January 1, 1980.
FIXED = (20, 0x0800, 0, 0, 0x21)
# On Unix, by version 2.0; an ordinary file with the rights 0644, no folder and no link.
MADE_BY = 3 << 8 | 20
ATTRIBUTES = 0o100644 << 16


def read_entries(bundle):
    """The entries from the first byte on, and where they end."""
    entries, start = [], 0
    while len(entries) < FILES_MAX + 2 and bundle[start:start + 4] == b"PK\x03\x04":
        if start + LOCAL_HEADER.size > len(bundle):
            break
        fields = LOCAL_HEADER.unpack_from(bundle, start)
        crc, size, name_size, extra_size = fields[6], fields[7], fields[9], fields[10]
        name_start = start + LOCAL_HEADER.size
        content_start = name_start + name_size + extra_size
        if content_start + size > len(bundle):
            break
        try:
            name = bundle[name_start:name_start + name_size].decode("utf-8")
        except UnicodeDecodeError:
            break
        # A view, not a copy: a bundle may be large.
        content = memoryview(bundle)[content_start:content_start + size]
        entries.append({"name": name, "header": bundle[start:content_start], "crc": crc, "content": content})
        start = content_start + size
    return entries, start


def check_zip(bundle, entries, end):
    problems = []
    for entry in entries:
        if entry["header"] != local_header(entry):
            problems.append(("not a bundle", entry["name"], "its header in the zip is not a bundle's"))
    for one, following in zip(entries, entries[1:]):
        if place(one) >= place(following):
            problems.append(("not a bundle", following["name"], "it is in the zip twice or in the wrong place"))
    if bundle[end:] != directory(entries):
        problems.append(("not a bundle", None, "the zip is not complete, or has more in it than its files"))
    return problems


def place(entry):
    """Manifest, signature, then by path. Python orders text by code point, which is the order of its bytes in UTF-8."""
    name = entry["name"]
    return (name != "manifest.json", name != "manifest.sig", name)


def local_header(entry):
    name, size = entry["name"].encode("utf-8"), len(entry["content"])
    return LOCAL_HEADER.pack(b"PK\x03\x04", *FIXED, entry["crc"], size, size, len(name), 0) + name


def directory(entries):
    """All that follows the entries."""
    headers, offset = [], 0
    for entry in entries:
        name, size = entry["name"].encode("utf-8"), len(entry["content"])
        headers.append(CENTRAL_HEADER.pack(b"PK\x01\x02", MADE_BY, *FIXED, entry["crc"], size, size, len(name),
                                           0, 0, 0, 0, ATTRIBUTES, offset) + name)
        offset += len(local_header(entry)) + size
    made = b"".join(headers)
    return made + END.pack(b"PK\x05\x06", 0, 0, len(entries), len(entries), len(made), offset, 0)


def has_its_crc(entry):
    return entry["content"] is not None and zlib.crc32(entry["content"]) == entry["crc"]


# A zip that another program packed: stored or deflated, in any order, perhaps in one folder. Only what programs agree on
# is read: the directory and the local headers say the same, and nothing stands between or around the entries.

MANIFEST_BYTES_MAX, SIGNATURE_BYTES_MAX = 8 * 1024 * 1024, 1024
DEFLATED = 8
# CRC-32 and sizes follow the content, and the local header has none.
FOLLOWED = 1 << 3
# Flags that change nothing: the compressor's level, names in UTF-8.
HARMLESS = FOLLOWED | 1 << 1 | 1 << 2 | 1 << 11


def read_repacked(bundle):
    """The files, without folders; None if it is no such zip or has no manifest. Nothing is unpacked beyond the sizes that
    the manifest says; a file that has another size, or does not unpack, has the content None."""
    packed = without_folder(read_directory(bundle) or [])
    by_name = {entry["name"]: entry for entry in reversed(packed)}
    entry = by_name.get("manifest.json")
    content = unpacked(entry, MANIFEST_BYTES_MAX) if entry else None
    if content is None:
        return None
    manifest = read_manifest(bytes(content))
    sizes = {file["path"]: file["size_bytes"] for file in manifest["files"]} if manifest else {}
    if sum(sizes.values()) > BUNDLE_BYTES_MAX:
        return None
    sizes["manifest.json"] = len(content)
    if "manifest.sig" in by_name:
        sizes["manifest.sig"] = min(by_name["manifest.sig"]["size"], SIGNATURE_BYTES_MAX)
    files = []
    for entry in packed:
        # The first of two with one name counts: no file is unpacked twice.
        size = sizes.pop(entry["name"], None)
        content = unpacked(entry, size) if size == entry["size"] else None
        files.append({"name": entry["name"], "crc": entry["crc"], "content": content})
    return files


def read_directory(bundle):
    """The entries that the directory names, if all of the zip agrees with it; else None."""
    if len(bundle) < END.size:
        return None
    end = len(bundle) - END.size
    signature, disk, of_directory, here, count, size, start, comment = END.unpack_from(bundle, end)
    if signature != b"PK\x05\x06" or disk or of_directory or here != count or comment or start + size != end:
        return None
    entries, at, offset = [], start, 0
    for _ in range(count):
        if at + CENTRAL_HEADER.size > end:
            return None
        fields = CENTRAL_HEADER.unpack_from(bundle, at)
        (signature, _, _, flags, method, _, _, crc, packed, size,
         name_size, extra_size, comment_size, _, _, _, local) = fields
        name_at = at + CENTRAL_HEADER.size
        at = name_at + name_size + extra_size + comment_size
        if signature != b"PK\x01\x02" or at > end or local != offset:
            return None
        name = bundle[name_at:name_at + name_size]
        found = read_local(memoryview(bundle)[:start], offset, name, (flags, method, crc, packed, size))
        if found is None:
            return None
        entry, offset = found
        entries.append(entry)
    return entries if at == end and offset == start else None


def read_local(before, at, name, said):
    """The entry at an offset, if its local header says what the directory says, and where what follows it begins."""
    flags, method, crc, packed, size = said
    if at + LOCAL_HEADER.size > len(before):
        return None
    (signature, _, own_flags, own_method, _, _, own_crc, own_packed, own_size,
     name_size, extra_size) = LOCAL_HEADER.unpack_from(before, at)
    name_at = at + LOCAL_HEADER.size
    content_at = name_at + name_size + extra_size
    end = content_at + packed
    is_followed = flags & FOLLOWED != 0
    is_same = (signature == b"PK\x03\x04" and own_flags == flags and own_method == method
               and (is_followed or (own_crc, own_packed, own_size) == (crc, packed, size))
               and before[name_at:name_at + name_size] == name)
    is_read = not flags & ~HARMLESS and (method == DEFLATED or method == 0 and packed == size)
    if not is_same or not is_read or end > len(before):
        return None
    try:
        name = name.decode("utf-8")
    except UnicodeDecodeError:
        return None
    entry = {"name": name, "is_deflated": method == DEFLATED, "packed": before[content_at:end], "size": size, "crc": crc}
    if not is_followed:
        return entry, end
    sums = struct.pack("<3L", crc, packed, size)
    for descriptor in (b"PK\x07\x08" + sums, sums):
        if before[end:end + len(descriptor)] == descriptor:
            return entry, end + len(descriptor)
    return None


def without_folder(entries):
    """The files; if another program packed the folder of a bundle, with the names that they have in the bundle."""
    files = [entry for entry in entries if not (entry["name"].endswith("/") and entry["size"] == 0)]
    names = [entry["name"] for entry in files]
    folder = next((name[:-len("manifest.json")] for name in names if re.fullmatch(r"[^/]*/manifest\.json", name)), None)
    if "manifest.json" in names or folder is None:
        return files
    return [{**entry, "name": re.sub("^" + re.escape(folder), "", entry["name"])} for entry in files]


def unpacked(entry, bytes_max):
    """The content; None if it is larger than this, or is not what the directory says."""
    if entry["size"] > bytes_max:
        return None
    if not entry["is_deflated"]:
        return entry["packed"]
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(entry["packed"], entry["size"] + 1)
    except zlib.error:
        return None
    is_all = inflater.eof and not inflater.unused_data and len(content) == entry["size"]
    return content if is_all else None


def check_names(entries):
    names, seen = [entry["name"] for entry in entries], set()
    twice = [name for name in names if name in seen or seen.add(name)]
    return [("not a bundle", name, "it is in the zip twice") for name in twice]


# The manifest.


def check_manifest(entry, signature, keys):
    """The manifest, if it can be read, and what is wrong with it: without a problem, it is proven."""
    path, content = "manifest.json", bytes(entry["content"] or b"")
    if not content.startswith(OPENING):
        return None, [("not a bundle", path, "it is no manifest of format version 1")]
    manifest = read_manifest(content)
    if not manifest:
        return None, [("manifest changed", path, "it is not as the service writes it")]
    problems = []
    key = manifest["signing_key"]
    known = keys.get(key["id"])
    is_known = known is not None and known["public_key"] == key["public_key"]
    if not is_known:
        problems.append(("unknown key", path, "the key document does not have the key that it names"))
    elif known["since"]:
        problems.append(("compromised key", path, f"others may have had the key that it names since {known['since']},"
                                                  " and could have made this bundle"))
    if signature is None:
        return manifest, problems + [("missing", "manifest.sig", "")]
    is_whole = has_its_crc(entry) and has_its_crc(signature)
    # With a key that we do not know there is nothing to verify.
    if not is_whole or is_known and not is_signed(content, bytes(signature["content"]), key["public_key"]):
        problems.append(("manifest changed", path, "manifest.sig is not its signature"))
    return manifest, problems


def is_signed(manifest, signature, key):
    """Whether the text of manifest.sig, 128 hexadecimal digits, is the signature of a manifest."""
    if not re.fullmatch(rb"[0-9a-f]{128}", signature):
        return False
    try:
        public_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public_key.verify(bytes.fromhex(signature.decode()), SIGNATURE_PREFIX + manifest)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_manifest(content):
    """The manifest, if it is one, spelled as the service spells it."""
    try:
        text = content.decode("utf-8")
        manifest = json.loads(text)
        is_valid = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n" == text and is_manifest(manifest)
    except (ValueError, RecursionError):
        return None
    return manifest if is_valid else None


def is_manifest(manifest):
    return (
        has_members(manifest, MEMBERS)
        and all(isinstance(manifest[name], str) for name in MEMBERS[1:5])
        and is_key(manifest["signing_key"])
        and isinstance(manifest["files"], list)
        and len(manifest["files"]) <= FILES_MAX
        and all(is_file(file) for file in manifest["files"])
        and are_apart([file["path"] for file in manifest["files"]])
    )


def has_members(value, names):
    return isinstance(value, dict) and list(value) == names


def is_key(key):
    return (
        has_members(key, ["id", "public_key"])
        and all(isinstance(text, str) for text in key.values())
        and re.fullmatch("[0-9A-Za-z._-]{1,64}", key["id"]) is not None
        and re.fullmatch("[0-9a-f]{64}", key["public_key"]) is not None
    )


def is_file(file):
    return (
        has_members(file, ["path", "sha256", "size_bytes"])
        and isinstance(file["path"], str) and is_safe_path(file["path"])
        and isinstance(file["sha256"], str) and re.fullmatch("[0-9a-f]{64}", file["sha256"]) is not None
        and type(file["size_bytes"]) is int and 0 <= file["size_bytes"] <= BUNDLE_BYTES_MAX
    )


def is_safe_path(path):
    """Whether a path stays in the folder into which it is extracted, on every system, and shows all that is in it."""
    names = path.split("/")
    return (
        len(path.encode("utf-8")) <= 255
        and not FORBIDDEN.search(path)
        and not any(name == "" or name.startswith(" ") or name.endswith((" ", ".")) for name in names)
    )


def are_apart(paths):
    """Whether paths are in order, and none is that of another file or its folder, whatever the case of ASCII letters."""
    lower = [path.encode("utf-8").lower() for path in paths]
    files = {b"manifest.json", b"manifest.sig", *lower}
    folders = {path[:at] for path in lower for at in range(len(path)) if path[at:at + 1] == b"/"}
    return paths == sorted(paths) and len(files) == len(paths) + 2 and not files & folders


# The files.


def check_files(files, by_name):
    """The paths of the files that are as the manifest says, and what is wrong with the others."""
    matching, problems = [], []
    named = {file["path"]: file for file in files}
    for path in sorted((named.keys() | by_name.keys()) - {"manifest.json", "manifest.sig"}):
        if path not in by_name:
            problems.append(("missing", path, ""))
        elif path not in named:
            problems.append(("added", path, ""))
        elif not is_unchanged(by_name[path], named[path]):
            problems.append(("changed", path, ""))
        else:
            matching.append(path)
    return matching, problems


def is_unchanged(entry, file):
    if entry["content"] is None:
        return False
    sha256 = hashlib.sha256(entry["content"]).hexdigest()
    return sha256 == file["sha256"] and len(entry["content"]) == file["size_bytes"] and has_its_crc(entry)


# The payments. A bundle from before payments were in bundles has no `movements.jsonl`.

PROOFS = ["recipient_confirmed", "bank_documented", "bank_verified"]


def check_payments(files, by_name):
    """What does not agree in the records of payments, with each other and with the files."""
    if "movements.jsonl" not in by_name:
        return []
    payments, line = read_records(by_name["movements.jsonl"]["content"], is_payment)
    if payments is None:
        return [("inconsistent", "movements.jsonl", f"line {line} is no record")]
    known = {payment["movement_id"] for payment in payments}
    problems, accepted = [], []
    for side in ("sender", "receiver"):
        path = f"{side}_evidence.jsonl"
        content = by_name[path]["content"] if path in by_name else b""
        evidence, line = read_records(content, is_evidence)
        if evidence is None:
            problems.append(("inconsistent", path, f"line {line} is no record"))
            continue
        named = set()
        for number, record in enumerate(evidence, 1):
            wrong = wrong_with_evidence(record, side, known, files, named)
            if wrong:
                problems.append(("inconsistent", path, f"line {number} {wrong}"))
        for file in files:
            if file["path"].startswith(f"{side}_evidence/") and file["path"] not in named:
                problems.append(("inconsistent", file["path"], f"no line of {path} names it"))
        accepted += [record for record in evidence if record["state"] == "accepted"]
    for number, payment in enumerate(payments, 1):
        own = [record for record in accepted if record["movement_id"] == payment["movement_id"]]
        wrong = wrong_with_payment(payment, own)
        if wrong:
            problems.append(("inconsistent", "movements.jsonl", f"line {number} {wrong}"))
    return problems


def wrong_with_evidence(record, side, known, files, named):
    """What is wrong with evidence of a side. Adds the document that it names to `named`."""
    path = record.get("path")
    is_good = path is None
    if not is_good and path.startswith(f"{side}_evidence/") and path not in named:
        is_good = any(file["path"] == path and file["sha256"] == record.get("file_sha256") for file in files)
        if is_good:
            named.add(path)
    if record["side"] != side:
        return "is of the other side"
    if record["movement_id"] not in known:
        return "is of no payment in movements.jsonl"
    if side == "sender" and record["state"] == "accepted":
        return "is accepted, and evidence of this side never is"
    account = record.get("account")
    if record["assurance"] == "bank_verified" and account is not None and account["standing"] not in ("instructed", "own"):
        return "is of an account that is not known to be the payee's, and never more than a document of the bank"
    return None if is_good else "names no document that is as it says"


def wrong_with_payment(payment, accepted):
    """What is wrong with a payment: it is reconciled if accepted evidence of the receiving side makes its amount."""
    parts = [payment.get(name) is not None for name in ("confirmed_at", "confirmed_by", "confirmation_basis")]
    if payment["reconciled"] != (payment["state"] == "reconciled"):
        return "says reconciled and another state"
    if not payment["reconciled"]:
        return "has a confirmation and is not reconciled" if any(parts) else None
    if not all(parts):
        return "is reconciled and has no confirmation"
    amount, settled = payment.get("amount"), payment.get("surplus")
    surplus = sum(record["amount"]["amount_minor"] for record in accepted) - (amount["amount_minor"] if amount else 0)
    is_proven = (
        amount is not None
        and all(record["side"] == "receiver" and record["assurance"] in PROOFS
                and record["amount"]["currency"] == amount["currency"] for record in accepted)
        and (surplus == 0 or surplus > 0 and settled is not None and settled["amount_minor"] == surplus)
    )
    return None if is_proven else (
        "is reconciled, and the accepted evidence of the receiving side does not make its amount")


def read_records(content, is_record):
    """The records of a file with one in each line; else None, and the number of the line that is none."""
    records, content = [], bytes(content)
    lines = (content[:-1] if content.endswith(b"\n") else content).split(b"\n")
    for number, line in enumerate(lines if lines != [b""] else [], 1):
        try:
            record = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not is_record(record):
            return None, number
        records.append(record)
    return records, 0


def is_payment(record):
    return (
        isinstance(record.get("movement_id"), str) and isinstance(record.get("state"), str)
        and isinstance(record.get("reconciled"), bool)
        and (record.get("amount") is None or is_amount(record["amount"]))
        and (record.get("surplus") is None or is_minor(record["surplus"]))
    )


def is_evidence(record):
    return (
        all(isinstance(record.get(name), str) for name in ("movement_id", "side", "assurance", "state"))
        and all(record.get(name) is None or isinstance(record[name], str) for name in ("file_sha256", "path"))
        and is_amount(record.get("amount")) and is_account(record.get("account"))
    )


def is_account(account):
    return account is None or (isinstance(account, dict) and isinstance(account.get("standing"), str))


def is_amount(amount):
    return is_minor(amount) and isinstance(amount.get("currency"), str)


def is_minor(amount):
    return (
        isinstance(amount, dict) and type(amount.get("amount_minor")) is int and -2**63 <= amount["amount_minor"] < 2**63
    )


# The command.


def read_keys(path):
    """The service's public keys by their ids, each with `public_key` in hexadecimal and, if others may have had it, the
    time `since` when; else None."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    trusted, compromised = document["keys"], document.get("compromised_keys", [])
    if not isinstance(trusted, list) or not isinstance(compromised, list):
        raise ValueError("its keys are no list")
    keys = {}
    for entry, is_trusted in [(entry, True) for entry in trusted] + [(entry, False) for entry in compromised]:
        key = {"id": entry["id"], "public_key": entry["public_key"]}
        if not is_key(key) or key["id"] in keys or not is_trusted and not is_time(entry["since"]):
            raise ValueError(f"not a key, or a second one of this id: {entry}")
        keys[key["id"]] = {"public_key": key["public_key"], "since": None if is_trusted else entry["since"]}
    return keys


def is_time(text):
    return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", text) is not None


def report(manifest, matching, problems, is_repacked):
    """A line for each file, then the verdict."""
    lines = [f"{'ok' if manifest else 'not proven':<16}  {path}" for path in matching]
    for kind, path, detail in problems:
        # Whoever changed the bundle chose the path: nothing in it may act on the terminal.
        path = "(the whole file)" if path is None else FORBIDDEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", path)
        lines.append(f"{kind:<16}  {path}{': ' if detail else ''}{detail}")
    if manifest and not problems:
        verdict = "CONTENTS WHOLE, CONTAINER REPACKED" if is_repacked else "VERIFIED"
        lines.append(f"{verdict}: {counted(len(manifest['files']), 'file')}, signed by {manifest['service']}"
                     f" with the key {manifest['signing_key']['id']}")
        lines.append(f"Organization {manifest['organization_id']}, agreement {manifest['agreement_id']},"
                     f" as of {manifest['created_at']}")
    else:
        lines.append(f"NOT VERIFIED: {counted(len(problems), 'problem')}")
    return "\n".join(lines)


def counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def main():
    parser = argparse.ArgumentParser(description="Verifies evidence bundles of Countersign.")
    parser.add_argument("bundles", nargs="+", metavar="BUNDLE", help="bundle, a zip file; there may be several")
    parser.add_argument("--keys", required=True, help="key document, from the service's /app/evidence-keys.json")
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        keys = read_keys(options.keys)
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{options.keys} is no key document: {error!r}")
    are_verified = True
    for path in options.bundles:
        try:
            with open(path, "rb") as file:
                bundle = file.read(BUNDLE_BYTES_MAX + 1)
        except OSError as error:
            parser.error(f"{path} can't be read: {error}")
        manifest, matching, problems, is_repacked = verify(bundle, keys)
        if len(options.bundles) > 1:
            print(f"{path}:")
        print(report(manifest, matching, problems, is_repacked))
        are_verified = are_verified and manifest is not None and not problems
    sys.exit(0 if are_verified else 1)


if __name__ == "__main__":
    main()
