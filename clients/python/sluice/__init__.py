"""The Python client of Sluice, an HTTP front door of a message queue."""

from .client import Sluice
from .consume import HeldMessage
from .errors import (
    AuthenticationError,
    ConflictError,
    ConnectionFailed,
    InvalidRequestError,
    NotFoundError,
    PermissionDenied,
    RateLimitError,
    ServerError,
    SluiceError,
)
from .models import (
    AcceptedMessage,
    Acknowledgement,
    Attempt,
    LeasedMessage,
    Message,
    NewMessage,
    Problem,
    WebhookPayload,
)
from .transport import RateLimit
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "AcceptedMessage",
    "Acknowledgement",
    "Attempt",
    "AuthenticationError",
    "ConflictError",
    "ConnectionFailed",
    "HeldMessage",
    "InvalidRequestError",
    "LeasedMessage",
    "Message",
    "NewMessage",
    "NotFoundError",
    "PermissionDenied",
    "Problem",
    "RateLimit",
    "RateLimitError",
    "ServerError",
    "Sluice",
    "SluiceError",
    "WebhookPayload",
    "WebhookVerificationError",
    "verify_webhook",
]
