"""Runs verify.py over the vectors in a file: `python3 check.py vectors.json`. Prints what became of each."""

import json
import sys

from verify import handle, raw_body, verify, verify_standard

with open(sys.argv[1], encoding="utf-8") as file:
    vectors = json.load(file)
for vector in vectors:
    check = {"service": verify, "standard": verify_standard}[vector["scheme"]]
    event = vector["event"]
    valid = check(vector["secret"], event["headers"], raw_body(event), vector["now"])
    print("valid" if valid else "refused", vector["scheme"], vector["name"])

first, acted, seen = vectors[0], [], set()
for secret in [first["secret"], first["secret"], "whsec_another"]:
    print("handled", handle(first["event"], secret, seen, acted.append, first["now"]), len(acted))
