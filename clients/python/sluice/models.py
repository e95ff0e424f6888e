"""Generated from the OpenAPI document by `npm run client:types`."""

from __future__ import annotations

from datetime import datetime
from typing import Dict, List, Literal, Optional, TypedDict, Union


class FieldError(TypedDict):
    pointer: str
    detail: str


class _Problem(TypedDict, total=False):
    errors: List[FieldError]


class Problem(_Problem):
    type: str
    title: str
    status: int
    detail: str
    code: str
    requestId: str


class _NewMessage(TypedDict, total=False):
    deliverAt: Union[datetime, str]
    type: str
    metadata: Dict[str, str]
    orderingKey: str


class NewMessage(_NewMessage):
    message: str


class _AcceptedMessage(TypedDict, total=False):
    deliverAt: str
    type: str
    metadata: Dict[str, str]
    orderingKey: str


class AcceptedMessage(_AcceptedMessage):
    id: str
    message: str
    status: Literal["queued"]
    createdAt: str


class _Message(TypedDict, total=False):
    deliverAt: str
    type: str
    metadata: Dict[str, str]
    orderingKey: str
    truncated: bool


class Message(_Message):
    id: str
    message: str
    status: Literal["queued", "processing", "delivered", "failed", "cancelled", "skipped"]
    createdAt: str
    delivery: Literal["handler", "webhooks", "pull"]
    updatedAt: str
    attempts: int
    failureReason: Optional[str]
    nextAttemptAt: Optional[str]


class Attempt(TypedDict):
    number: int
    target: str
    startedAt: str
    durationMs: Optional[float]
    outcome: Literal["running", "delivered", "retried", "failed", "lost"]
    error: Optional[str]
    responseStatus: Optional[int]
    responseBody: Optional[str]


class _LeasedMessage(TypedDict, total=False):
    deliverAt: str
    type: str
    metadata: Dict[str, str]
    orderingKey: str


class LeasedMessage(_LeasedMessage):
    id: str
    message: str
    createdAt: str
    attempt: int
    leaseToken: str
    leaseExpiresAt: str


class Acknowledgement(TypedDict):
    id: str
    result: Literal["acknowledged", "lease_lost"]


class _WebhookData(TypedDict, total=False):
    deliverAt: str
    type: str
    metadata: Dict[str, str]
    orderingKey: str


class WebhookData(_WebhookData):
    id: str
    message: str
    createdAt: str


class WebhookPayload(TypedDict):
    type: str
    timestamp: str
    data: WebhookData
