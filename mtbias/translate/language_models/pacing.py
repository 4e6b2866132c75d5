"""When the next request may be sent: limits a minute, the server's wish to be left alone, and a total budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mtbias.errors import ModelError

_MINUTE = 60.0


class Stopping(Exception):  # noqa: N818 - a signal from one thread to the others
    """Nobody waits for further answers: an error or a signal ended the run."""


class BudgetError(ModelError):
    """The requests or tokens that a command may use are used up."""


@dataclass
class Pacing:
    """Shared by all threads that ask one server."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    clock: Callable[[], float] = time.monotonic
    requests: int = 0
    """Requests that were sent."""
    tokens: int = 0
    """Tokens of prompts and answers, as the server counts them; estimated where it does not."""
    stopped: threading.Event = field(default_factory=threading.Event)
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, tokens: int) -> None:
        """Wait for the turn of a request of about `tokens` tokens, and count it.

        Requests are spread evenly over a minute: a server that counts in shorter windows than a minute, as most do,
        refuses bursts that the minute's limit would allow.

        Raises:
            Stopping: the run was ended meanwhile.
            BudgetError: a further request would be over the budget.
        """
        with self._lock:
            if self.stopped.is_set():
                raise Stopping
            if self.max_requests is not None and self.requests >= self.max_requests:
                raise self._spent(f"--max-requests {self.max_requests}", f"{self.requests:,} requests were sent")
            if self.max_tokens is not None and self.tokens >= self.max_tokens:
                raise self._spent(f"--max-tokens {self.max_tokens}", f"{self.tokens:,} tokens were used")
            self.requests += 1
            now = self.clock()
            at = max(now, self._next)
            self._next = at + self._interval(tokens, requests=1)
        if self.stopped.wait(at - now):
            raise Stopping

    def used(self, tokens: int, expected: int) -> None:
        """Count what a request took; `expected` is what `wait` was told."""
        with self._lock:
            self.tokens += tokens
            self._next += self._interval(tokens - expected, requests=0)

    def pause(self, seconds: float) -> None:
        """Let no request begin for so long."""
        with self._lock:
            self._next = max(self._next, self.clock() + seconds)

    def _interval(self, tokens: int, *, requests: int) -> float:
        """Seconds to the next request after one of `tokens` tokens."""
        by_requests = 0.0 if self.requests_per_minute is None else requests * _MINUTE / self.requests_per_minute
        by_tokens = 0.0 if self.tokens_per_minute is None else tokens * _MINUTE / self.tokens_per_minute
        return max(by_requests, by_tokens) if requests else by_tokens

    def _spent(self, option: str, what: str) -> BudgetError:
        return BudgetError(
            f"{option} is reached: {what}; what was answered is kept in the folder of the run (--out): the same "
            "command continues"
        )
