from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING, Iterator, Optional

from .errors import SluiceError
from .models import LeasedMessage

if TYPE_CHECKING:
    from .client import Sluice

#: How many seconds the server waits for a message.
_WAIT = 20
_MAX_BACKOFF = 20.0


class HeldMessage:
    """A message that this consumer holds: its lease is extended until it is acknowledged or rejected."""

    def __init__(self, sluice: Sluice, leased: LeasedMessage, seconds: int) -> None:
        self.id = leased["id"]
        self.message = leased["message"]
        self.type = leased.get("type")
        self.metadata = leased.get("metadata")
        self.ordering_key = leased.get("orderingKey")
        self.created_at = leased["createdAt"]
        #: Counts from 1.
        self.attempt = leased["attempt"]
        #: Is set when the lease was lost: somebody else may have the message by now.
        self.lost = threading.Event()
        self._sluice = sluice
        self._token = leased["leaseToken"]
        self._seconds = seconds
        self._expires_at = time.monotonic() + seconds
        self._settled = threading.Event()
        threading.Thread(target=self._keep, daemon=True).start()

    def ack(self) -> None:
        """The message is delivered. Tries until the lease ends; raises if the server has not confirmed it by then."""
        try:
            self._sluice.ack(self.id, self._token, until=self._expires_at)
        finally:
            self._settled.set()

    def nack(self, *, delay_seconds: Optional[int] = None, reason: Optional[str] = None) -> None:
        """
        The attempt has failed: the message is available again later, or `failed` if it was the last one. Does nothing if
        the lease is over, or ends before the server has confirmed it: the message is then available again by itself.
        """
        try:
            self._sluice.nack(
                self.id, self._token, delay_seconds=delay_seconds, reason=reason, until=self._expires_at
            )
        except SluiceError as error:
            if error.code != "lease_lost" and not error.is_retryable:
                raise
        finally:
            self._settled.set()

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    def _keep(self) -> None:
        """Extends the lease in good time, until the end of the message."""
        while not self._settled.wait(self._seconds / 2):
            sent_at = time.monotonic()
            try:
                self._sluice.extend(self.id, self._token, self._seconds, until=self._expires_at)
                self._expires_at = sent_at + self._seconds
            except SluiceError:
                # A refusal says that it is lost; without an answer it is when it expires.
                if not self._settled.is_set():
                    self.lost.set()
                return


def consume(
    sluice: Sluice, lease_seconds: int, limit: Optional[int], stop: threading.Event
) -> Iterator[HeldMessage]:
    left = float("inf") if limit is None else limit
    has_leased = False
    failures = 0
    while left > 0 and not stop.is_set():
        try:
            leased = sluice.lease(1, lease_seconds, _WAIT)
            has_leased, failures = True, 0
        except SluiceError as error:
            # The first one shows whether the loop can work at all.
            if not has_leased or not error.is_retryable:
                raise
            failures += 1
            stop.wait(random.random() * min(_MAX_BACKOFF, 0.5 * 2 ** min(failures, 10)))
            continue
        for one in leased:
            held = HeldMessage(sluice, one, lease_seconds)
            if stop.is_set():
                held.nack(delay_seconds=0, reason="The consumer was stopped.")
                return
            left -= 1
            try:
                yield held
            finally:
                if not held.is_settled and not held.lost.is_set():
                    held.nack(reason="The consumer has not acknowledged it.")
