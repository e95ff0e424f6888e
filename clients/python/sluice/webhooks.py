from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Mapping, Union

from .models import WebhookPayload


class WebhookVerificationError(Exception):
    """Why a request must not be trusted: answer it with the status 401."""


def verify_webhook(
    headers: Mapping[str, str], body: Union[bytes, str], secret: str, tolerance_seconds: float = 300
) -> WebhookPayload:
    """
    Verifies a request of a webhook as Standard Webhooks 1.0.0 describes, and returns its payload.

    :param headers: of the request, in upper or lower case
    :param body: as it arrived, before it is parsed
    :param secret: of the endpoint: `whsec_…`
    :param tolerance_seconds: how old the signature may be, and how far in the future
    """
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    # Anybody can send any number of digits.
    if not id or not signatures or not re.fullmatch("[0-9]{1,15}", timestamp):
        raise WebhookVerificationError("The headers of the signature are missing.")
    # The other way round, NaN would accept all.
    if not abs(time.time() - int(timestamp)) <= tolerance_seconds:
        raise WebhookVerificationError("The signature is too old or too new.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{id}.{timestamp}.".encode(errors="surrogateescape") + content
    expected = hmac.new(_key_of(secret), signed, hashlib.sha256).digest()
    for signature in signatures.split(" "):
        version, _, encoded = signature.partition(",")
        if version == "v1" and hmac.compare_digest(_bytes_of(encoded), expected):
            payload: WebhookPayload = json.loads(content)
            return payload
    raise WebhookVerificationError("No signature is right.")


def _key_of(secret: str) -> bytes:
    # Of a variable that is not set, it is None.
    key = _bytes_of(secret[6:] if secret.startswith("whsec_") else secret) if secret else b""
    if not key:
        # Without the secret in its message.
        raise ValueError("secret must be the secret of an endpoint: whsec_….")
    return key


def _bytes_of(encoded: str) -> bytes:
    """Empty if it is not Base64."""
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return b""
