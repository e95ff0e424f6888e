from __future__ import annotations

import os
import re
import secrets
from datetime import datetime
from threading import Event
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union
from urllib.parse import quote

from .consume import HeldMessage, consume
from .errors import ServerError
from .models import AcceptedMessage, Acknowledgement, Attempt, LeasedMessage, Message, NewMessage
from .transport import RateLimit, Transport, time_text

#: A time: a `datetime`, or a string such as `2030-01-31T12:00:00Z`.
Time = Union[datetime, str]


class Sluice:
    """A client of Sluice, for one API key. Share it, also among threads: what is known about limits is kept in it."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        max_tries: int = 6,
        timeout: float = 30,
        deadline: float = 120,
    ) -> None:
        """
        :param max_tries: how often one call may be tried
        :param timeout: how many seconds one try may take
        :param deadline: how many seconds a call may take with all its tries and waits
        """
        self._transport = Transport(api_key, base_url, max_tries, timeout, deadline)

    @classmethod
    def from_env(cls, **options: Any) -> Sluice:
        """A client with `SLUICE_API_KEY` and `SLUICE_BASE_URL` of the environment."""
        for name in ("SLUICE_API_KEY", "SLUICE_BASE_URL"):
            if not os.environ.get(name):
                raise ValueError(f"{name} is not set.")
        return cls(os.environ["SLUICE_API_KEY"], os.environ["SLUICE_BASE_URL"], **options)

    @property
    def rate_limit(self) -> Optional[RateLimit]:
        """How many requests remain, as the last response said; None before the first one."""
        return self._transport.rate_limit

    def send(
        self,
        message: str,
        *,
        type: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        ordering_key: Optional[str] = None,
        deliver_at: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> AcceptedMessage:
        """
        Sends a message. When this returns, it is stored and queued.

        :param idempotency_key: kept for 24 hours: another call with the same key and message creates no second message.
            By default each call has its own key, which its retries share
        """
        fields = {"type": type, "metadata": metadata, "orderingKey": ordering_key, "deliverAt": deliver_at}
        return self._post("/messages", _body({"message": message, **fields}), idempotency_key)

    def send_batch(
        self, messages: Iterable[NewMessage], *, idempotency_key: Optional[str] = None
    ) -> List[AcceptedMessage]:
        """Sends up to 1,000 messages: all of them are stored, or none. Each counts as one request."""
        body = {"messages": [_body(dict(message)) for message in messages]}
        return self._post("/messages/batch", body, idempotency_key, "data")["data"]

    def get(self, id: str) -> Message:
        return self._transport.call("GET", _path(id))

    def attempts(self, id: str) -> List[Attempt]:
        """The attempts to deliver a message, the newest last."""
        return self._transport.call("GET", _path(id, "attempts"), field="data")["data"]

    def list(
        self,
        *,
        status: Optional[str] = None,
        type: Optional[str] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        endpoint_id: Optional[str] = None,
        preview: Optional[int] = None,
        page_size: int = 100,
    ) -> Iterator[Message]:
        """
        The messages of the account, newest first, which are fetched page by page.

        :param preview: cuts texts to so many characters, up to 1,000; a message whose text was cut has `truncated`
        """
        query = {"status": status, "type": type, "since": since, "until": until, "endpointId": endpoint_id, "preview": preview}
        cursor = None
        while True:
            page = self._transport.call("GET", "/messages", query={**query, "limit": page_size, "cursor": cursor}, field="data")
            yield from page["data"]
            previous, cursor = cursor, page.get("nextCursor")
            if cursor is None or cursor == "":
                return
            # A cache may ignore the query.
            if cursor == previous or not isinstance(cursor, str):
                raise ServerError("The response has a nextCursor that leads to no other page: check caches and proxies.", "unexpected_response", 200)

    def cancel(self, id: str) -> Message:
        """Cancels a message that is `queued`. Not repeated when its outcome is unknown."""
        return self._transport.call("POST", _path(id, "cancel"))

    def retry(self, id: str) -> Message:
        """Queues a `failed` message again. Not repeated when its outcome is unknown."""
        return self._transport.call("POST", _path(id, "retry"))

    def lease(self, max: int = 10, seconds: int = 30, wait: int = 0) -> List[LeasedMessage]:
        """
        Leases messages: nobody else gets them until the leases end.

        :param max: how many at most, up to 100
        :param seconds: how long nobody else gets them, up to 3,600
        :param wait: how many seconds to wait while there are none, up to 20
        """
        body = {"max": max, "seconds": seconds, "wait": wait}
        return self._transport.call("POST", "/messages/lease", body, repeatable=True, patience=wait, field="data")["data"]

    def ack(self, id: str, lease_token: str, *, until: Optional[float] = None) -> None:
        """The message is delivered. Fails with the code `lease_lost` when the lease has expired."""
        self._end(id, "ack", {"leaseToken": lease_token}, until)

    def ack_batch(self, leases: Iterable[LeasedMessage]) -> List[Acknowledgement]:
        """Up to 1,000 messages are delivered, each by itself: the result says of which the lease was lost."""
        named = [{"id": lease["id"], "leaseToken": lease["leaseToken"]} for lease in leases]
        return self._transport.call("POST", "/messages/ack", {"leases": named}, repeatable=True, field="data")["data"]

    def nack(
        self,
        id: str,
        lease_token: str,
        *,
        delay_seconds: Optional[int] = None,
        reason: Optional[str] = None,
        until: Optional[float] = None,
    ) -> None:
        """The attempt has failed: the message is available again, or `failed` if it was the last one."""
        body = {"leaseToken": lease_token, "delaySeconds": delay_seconds, "reason": _storable(reason)}
        self._end(id, "nack", _body(body), until)

    def extend(self, id: str, lease_token: str, seconds: int, *, until: Optional[float] = None) -> None:
        """The lease expires this many seconds from now."""
        self._end(id, "extend", {"leaseToken": lease_token, "seconds": seconds}, until)

    def consume(
        self, *, lease_seconds: int = 60, limit: Optional[int] = None, stop: Optional[Event] = None
    ) -> Iterator[HeldMessage]:
        """
        The messages of the account, if its `delivery` is `pull`, one after another as they become available. The lease of
        each is extended until `ack` or `nack`; one that has neither when the loop goes on is rejected. For several at a
        time, run a loop in each of several threads.

        :param limit: ends the loop after so many messages
        :param stop: ends the loop when it is set, within 20 seconds
        """
        return consume(self, lease_seconds, limit, stop or Event())

    def _post(self, path: str, body: Any, idempotency_key: Optional[str], field: str = "id") -> Any:
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters without spaces.")
        return self._transport.call("POST", path, body, headers={"Idempotency-Key": key}, repeatable=True, field=field)

    def _end(self, id: str, verb: str, body: Any, until: Optional[float]) -> Any:
        return self._transport.call("POST", _path(id, verb), body, repeatable=True, until=until, field=None)


def _storable(reason: Optional[str]) -> Optional[str]:
    """
    The server refuses other reasons, and often they are texts of errors: 1 to 1,000 units of UTF-16, without NUL and halves
    of characters.
    """
    units = (reason or "").replace("\0", "").encode("utf-16-le", "surrogatepass")[:2_000]
    return units.decode("utf-16-le", "ignore") or None


def _path(id: str, *more: str) -> str:
    return "/".join(["/messages", quote(id, safe=""), *more])


def _body(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what was not given."""
    return {
        name: time_text(value) if isinstance(value, datetime) else dict(value) if isinstance(value, Mapping) else value
        for name, value in fields.items()
        if value is not None
    }
