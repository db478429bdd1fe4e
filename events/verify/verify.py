"""Receives Countersign webhooks. Needs Python 3.9 and nothing else; copy it into your service."""

import base64
import hashlib
import hmac
import json
import re
import time

TOLERANCE_S = 300


def verify(secret, headers, body, now=None):
    """Whether a delivery was signed with the secret, as it is displayed, within the last 5 minutes.

    `body` is the bytes as they were received: parsed and written again they would not fit."""
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp = headers.get("service-webhook-timestamp", "")
    first, *signatures = headers.get("service-webhook-signature", "").split(",")
    if first != f"t={timestamp}" or not is_fresh(timestamp, now):
        return False
    mac = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    # While a secret is being replaced there is a signature for each.
    return matches(f"v1={mac.hexdigest()}", signatures)


def verify_standard(secret, headers, body, now=None):
    """The same by the headers of Standard Webhooks, if you would rather use those."""
    headers = {name.lower(): value for name, value in headers.items()}
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not message_id or not is_fresh(timestamp, now):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = "v1," + base64.b64encode(mac.digest()).decode()
    return matches(expected, headers.get("webhook-signature", "").split(" "))


def is_fresh(timestamp, now=None):
    now = time.time() if now is None else now
    return bool(re.fullmatch("[0-9]{1,12}", timestamp)) and abs(now - int(timestamp)) <= TOLERANCE_S


def matches(expected, signatures):
    # In constant time: the list is built whole before `any` looks at it.
    return any([hmac.compare_digest(expected.encode(), one.encode()) for one in signatures])


def raw_body(event):
    """The bytes of a request as API Gateway hands it to a Lambda function."""
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def handle(event, secret, seen, act, now=None):
    """Handles a request from API Gateway and returns the status to answer.

    `seen` holds the ids of events that were handled. In production it is a table with a unique key, written in the
    transaction of whatever `act` does."""
    body = raw_body(event)
    if not verify(secret, event["headers"], body, now):
        return 401
    message = json.loads(body)
    # A repeat is normal; and types that are new to you are acknowledged too.
    if message["id"] not in seen:
        act(message)
        seen.add(message["id"])
    return 204
