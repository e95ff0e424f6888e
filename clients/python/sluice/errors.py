from __future__ import annotations

from typing import Optional

from .models import Problem


class SluiceError(Exception):
    """A request failed. `code` is stable and made for programs; the text is for people."""

    def __init__(
        self,
        message: str,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        problem: Optional[Problem] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: The HTTP status; None if there was no response.
        self.status = status
        #: Names the request in the server's log.
        self.request_id = request_id
        #: The seconds after which a repeated request can succeed, if the server said so.
        self.retry_after = retry_after
        #: The body of the response; None if it was not a problem document.
        self.problem = problem

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later."""
        if self.status is None or self.status in (408, 429) or self.code == "idempotency_key_in_use":
            return True
        # A success that could not be read is an unknown outcome like a broken connection, and so is a change of protocol.
        return self.status < 300 or (self.status >= 500 and self.status != 507)


class ConnectionFailed(SluiceError):
    """There was no complete response: whether the server has processed the request is unknown."""


class InvalidRequestError(SluiceError):
    """400 and other 4xx."""


class AuthenticationError(SluiceError):
    """401"""


class PermissionDenied(SluiceError):
    """403"""


class NotFoundError(SluiceError):
    """404"""


class ConflictError(SluiceError):
    """409, 412 and 422"""


class RateLimitError(SluiceError):
    """A limit of the plan is used up, or the key is banned. `retry_after` says for how long."""


class ServerError(SluiceError):
    """The server failed, or a proxy before it."""


_CLASSES = {
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    422: ConflictError,
    429: RateLimitError,
}


def class_of(status: int) -> type[SluiceError]:
    return _CLASSES.get(status, InvalidRequestError if 400 <= status < 500 else ServerError)
