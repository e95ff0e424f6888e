from __future__ import annotations

import functools
import http.client
import io
import json
import random
import re
import socket
import threading
import time
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone
from email.message import Message as Headers
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, Optional
from urllib import error as url_error
from urllib import parse, request

from .errors import ConnectionFailed, RateLimitError, ServerError, SluiceError, class_of

_FIRST_BACKOFF = 0.5
_MAX_BACKOFF = 20.0
#: A limit can be raised and a ban be lifted: one request in so many seconds finds out.
_PROBE = 60.0
#: The bytes of a response, and those of its request: a page of a list has at most 25 MB, a batch is repeated.
_MAX_BODY = 30_000_000
_PIECE = 65_536

#: Replaced in tests.
_sleep = time.sleep


@dataclass(frozen=True)
class RateLimit:
    """How many requests remain in the tightest window, as the last response said."""

    limit: int
    remaining: int
    resets_at: datetime


class _NoRedirects(request.HTTPRedirectHandler):
    """A redirected POST would become a GET."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


class _TimedBytes(io.RawIOBase):
    """The bytes of a connection until a time: the timeout of a socket is one of silence, and responses may drip."""

    def __init__(self, connection: socket.socket, ends_at: float) -> None:
        super().__init__()
        self._connection = connection
        self._raw: Any = connection.makefile("rb", buffering=0)
        self._ends_at = ends_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the response took too long")
        self._connection.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, connection: socket.socket, *args: Any, ends_at: float, **options: Any) -> None:
        super().__init__(connection, *args, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_TimedBytes(connection, ends_at))

    def begin(self) -> None:
        super().begin()
        # `http.client` takes those for the response: all but 100.
        while 100 < self.status < 200 and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()


class _Timed:
    """A connection for one request, whose response ends in time."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        ends_at = time.monotonic() + self.timeout  # type: ignore[attr-defined]
        self.response_class = functools.partial(_Response, ends_at=ends_at)


class _Connection(_Timed, http.client.HTTPConnection):
    pass


class _SecureConnection(_Timed, http.client.HTTPSConnection):
    pass


class _Handler(request.HTTPHandler):
    def http_open(self, call: request.Request) -> Any:
        return self.do_open(_Connection, call)


class _SecureHandler(request.HTTPSHandler):
    def https_open(self, call: request.Request) -> Any:
        return self.do_open(_SecureConnection, call)


class Transport:
    """Sends requests, and repeats them where that is safe."""

    def __init__(
        self, api_key: str, base_url: str, max_tries: int = 6, timeout: float = 30, deadline: float = 120
    ) -> None:
        # `http.client` would repeat an invalid header value in its error.
        if not re.fullmatch(r"[\x21-\x7e]+", api_key or ""):
            raise ValueError("api_key must be an API key: slc_….")
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._url = _address_of(base_url)
        self._max_tries = max_tries
        self._timeout = timeout
        self._deadline = deadline
        # By the proxy of the environment, as other programs.
        self._opener = request.build_opener(_NoRedirects, _Handler, _SecureHandler)
        self._pause = _Pause()
        self.rate_limit: Optional[RateLimit] = None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        repeatable: Optional[bool] = None,
        patience: float = 0,
        until: Optional[float] = None,
        field: Optional[str] = "id",
    ) -> Any:
        """
        Sends a request until it succeeds or is refused for good.

        :param repeatable: whether it can be repeated although its outcome is unknown; by default all but POST can
        :param patience: how many seconds the server may take longer than usual
        :param field: one that the result has; None if there is no result
        :param until: the time of `time.monotonic` at which its tries end, however many there are
        """
        can_repeat = method != "POST" if repeatable is None else repeatable
        deadline = time.monotonic() + self._deadline + patience if until is None else until
        search = parse.urlencode({name: _text(value) for name, value in (query or {}).items() if value is not None})
        url = f"{self._url}{path}{'?' + search if search else ''}"
        data = None if body is None else json.dumps(body).encode()
        sent = {**self._headers, **({} if data is None else {"Content-Type": "application/json"}), **(headers or {})}
        is_unknown = False
        failure: Optional[SluiceError] = None
        tries = 0
        while True:
            tries += 1
            self._pause.end(deadline)
            seconds = min(self._timeout + patience, deadline - time.monotonic())
            if seconds <= 0 and failure is not None:
                raise failure
            try:
                return self._try(request.Request(url, data, sent, method=method), max(seconds, 0.001), field)
            except SluiceError as error:
                failure = error
            # An earlier try may have deleted it.
            if is_unknown and method == "DELETE" and failure.status == 404 and failure.problem is not None:
                return None
            is_refused = isinstance(failure, RateLimitError)
            is_nothing_done = is_refused or failure.status == 408 or getattr(failure, "was_not_sent", False)
            is_unknown = is_unknown or not is_nothing_done
            backoff = random.random() * min(_MAX_BACKOFF, _FIRST_BACKOFF * 2 ** min(tries - 1, 10))
            wait = max(self._pause.left, backoff) if is_refused else (failure.retry_after or 0) + backoff
            is_last = (until is None and tries >= self._max_tries) or time.monotonic() + wait > deadline
            if is_last or not failure.is_retryable or not (can_repeat or is_nothing_done):
                raise failure
            # All calls wait for the end of a pause together.
            if not is_refused or not failure.retry_after:
                _sleep(wait)

    def _try(self, call: request.Request, seconds: float, field: Optional[str]) -> Any:
        started_at = time.monotonic()
        what = f"{call.get_method()} {parse.urlsplit(call.full_url).path}"
        try:
            try:
                response: Any = self._opener.open(call, timeout=seconds)
            except url_error.HTTPError as refusal:
                response = refusal
            with response:
                status, headers = response.status, response.headers
                content = _read(response, _MAX_BODY + len(call.data or b""))
        except (OSError, http.client.HTTPException, zlib.error) as cause:
            reason = getattr(cause, "reason", cause)
            is_late = isinstance(reason, (TimeoutError, socket.timeout))
            # Some of it may be what a server or a proxy said.
            text = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", str(reason)).strip()
            failed = ConnectionFailed(f"{what} failed: {text}", "timed_out" if is_late else "connection_failed")
            failed.was_not_sent = isinstance(reason, (ConnectionRefusedError, socket.gaierror))  # type: ignore[attr-defined]
            raise failed from cause
        self.rate_limit = _rate_limit_of(headers) or self.rate_limit
        if 200 <= status < 300:
            result = _result_of(call.get_method(), status, content, field)
            self._pause.succeeded(started_at)
            return result
        error = _error_of(status, headers, content or b"", call.get_method())
        if isinstance(error, RateLimitError):
            self._pause.begin(error)
        raise error


class _Pause:
    """Keeps all calls of a client back once one of them was refused, so that they don't each earn a refusal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._error: Optional[RateLimitError] = None
        self._began_at = self._ends_at = self._probe_at = 0.0

    @property
    def left(self) -> float:
        return self._ends_at - time.monotonic()

    def begin(self, error: RateLimitError) -> None:
        with self._lock:
            now = time.monotonic()
            self._error, self._began_at, self._probe_at = error, now, now + _PROBE
            self._ends_at = max(self._ends_at, now + (error.retry_after or 0))

    def succeeded(self, sent_at: float) -> None:
        """A request that was sent during the pause, at this time, was admitted."""
        if sent_at > self._began_at:
            self._ends_at = 0

    def end(self, deadline: float) -> None:
        """Returns when a request may be sent. Raises what remains of the refusal if that is too late."""
        while (left := self.left) > 0:
            with self._lock:
                now = time.monotonic()
                if now >= self._probe_at:
                    self._probe_at = now + _PROBE
                    return
            if now + left > deadline:
                raise RateLimitError(
                    str(self._error), self._error.code if self._error else "rate_limit_exceeded", 429, retry_after=left
                )
            # The waiting requests continue one after another: the first ones may use up the window again.
            _sleep(min(left + random.random() * min(1.0, (deadline - now - left) / 2), _PROBE))


def _read(response: Any, max_bytes: int) -> Optional[bytes]:
    """
    The body of a response. A cut one is an error. What is not from Sluice may have no end, or become long only when it is
    decompressed: None if it is too long, and the rest is not read.
    """
    # Nobody asked for it, but proxies compress all the same.
    is_plain = response.headers.get("Content-Encoding", "identity") == "identity"
    unpacker = None if is_plain else zlib.decompressobj(47)
    content = bytearray()
    while piece := response.read(_PIECE):
        content += unpacker.decompress(piece, max_bytes + 1 - len(content)) if unpacker else piece
        if len(content) > max_bytes:
            return None
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    if unpacker and content and not unpacker.eof:
        raise zlib.error("the compressed response is cut")
    return bytes(content)


def _result_of(method: str, status: int, content: Optional[bytes], field: Optional[str]) -> Any:
    """Other responses of success are of proxies, and say nothing about the outcome."""
    if status == 204 and field is None:
        return None
    try:
        result = json.loads(content or b"")
        if isinstance(result, dict) and (field is None or result.get(field) is not None):
            return result
        cause = None
    except (ValueError, RecursionError) as error:
        cause = error
    fault = "is longer than any" if content is None else "not the JSON"
    message = f"The response has the status {status}, but {fault} of Sluice: check base_url and proxies.{_doubt(method)}"
    raise ServerError(message, "unexpected_response", status) from cause


def _doubt(method: str) -> str:
    """What is said of a request that may have been processed, although no response of Sluice says so."""
    return "" if method == "GET" else " The outcome is unknown."


def _error_of(status: int, headers: Headers, content: bytes, method: str) -> SluiceError:
    try:
        problem = json.loads(content)
    except (ValueError, RecursionError):
        problem = None
    # Proxies answer with pages of their own.
    if not (
        isinstance(problem, dict) and isinstance(problem.get("code"), str) and isinstance(problem.get("detail"), str)
    ):
        problem = None
    return class_of(status)(
        problem["detail"]
        if problem
        else f"The response has the status {status} and is not from Sluice: check base_url and proxies."
        + (_doubt(method) if status >= 500 else ""),
        problem["code"] if problem else "unexpected_response",
        status,
        (problem or {}).get("requestId") or headers.get("X-Request-Id"),
        _seconds_until(headers.get("Retry-After")),
        problem,
    )


def _seconds_until(retry_after: Optional[str]) -> Optional[float]:
    """`Retry-After` has seconds or a date; anything else counts as none."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]+", retry_after):
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
        # All dates of HTTP are in UTC; one of its old forms does not say so.
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _rate_limit_of(headers: Headers) -> Optional[RateLimit]:
    try:
        limit, remaining, reset = (int(headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))
        return RateLimit(limit, remaining, datetime.fromtimestamp(reset, timezone.utc))
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _address_of(base_url: str) -> str:
    """Without credentials, which errors would show."""
    if not base_url:
        raise ValueError("base_url is missing: the address of the server, such as https://sluice.example.com.")
    try:
        url = parse.urlsplit(base_url)
        # Asking for an invalid port is an error.
        is_address = url.scheme in ("http", "https") and url.hostname and url.port != 0 and "@" not in url.netloc
    except ValueError:
        is_address = False
    if not is_address or re.search(r"[?#\s\x00-\x1f\x7f]", base_url):
        raise ValueError("base_url must be an http: or https: URL without user, password, query and fragment.")
    return base_url.rstrip("/")


def _text(value: Any) -> str:
    return time_text(value) if isinstance(value, datetime) else str(value)


def time_text(at: datetime) -> str:
    """A time as the API reads it. One without a zone is in local time, as everywhere in Python."""
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
