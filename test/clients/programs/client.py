import json
import os

from generated import AuthenticatedClient
from generated.api.messages import list_messages, send_message
from generated.models import (
    IdempotencyKeyReusedProblem,
    MessageStatus,
    SendMessageBody,
    TooManyRequestsProblem,
    UnauthorizedProblem,
)


def client(key):
    return AuthenticatedClient(base_url=os.environ["SLUICE_URL"], token=key)


def send(key, message):
    return send_message.sync(client=client(key), body=SendMessageBody(message=message), idempotency_key="generated")


key = os.environ["API_KEY"]
sent = send(key, "Hello")
listed = list_messages.sync(client=client(key), status=MessageStatus.QUEUED, limit=10)
unknown = send("slc_unknown", "Hello")
reused = send(key, "Another")
refused = send(os.environ["LIMITED_KEY"], "Hello")

assert isinstance(unknown, UnauthorizedProblem)
assert isinstance(reused, IdempotencyKeyReusedProblem)
assert isinstance(refused, TooManyRequestsProblem)
messages = [message.message for message in listed.data]
print(json.dumps([sent.status, messages, unknown.code, reused.code, refused.code]))
