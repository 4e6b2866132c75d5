"""Asking one server that speaks OpenAI's protocol: one request, sent again where that may help, never twice at once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import email.utils
import json
import logging
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mtbias.errors import DependencyError, ModelError
from mtbias.files.strict_json import load_json
from mtbias.machine.installation import install_command
from mtbias.machine.network import is_local
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import Answer
from mtbias.translate.remote_server import key_from, server_address, server_line, without_key

# When the next request may be sent: limits a minute, the server's wish to be left alone, and a total budget.

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


TRIES = 9
"""Times that a request is sent at most: with the waits between them over a minute, the window of most rate limits."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second try, doubled for each further one; up to half of it is taken off by chance."""
_MOST_RETRY_AFTER = 900.0
"""A server that wants more seconds of rest than this has closed for today: waiting would only look like working."""
_AGAIN = {408, 409, 425, 429}
"""Status codes beside 500 and above after which the same request may be answered."""
_MOST_TOKENS = 10_000_000
"""A server that counts more for one request, more than any model reads, has told nothing."""
_HEADERS = ("content-encoding", "retry-after")
_KEY = "OPENAI_API_KEY"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a request has no answer, where another try may have one."""

    kind: str
    """For the count in the manifest: ``429``, ``timeout``, …"""
    text: str
    wait: float | None = None
    """Seconds that the server asks for."""


@dataclass
class EndpointClient:
    """Puts messages to one model of one server; any number of threads may ask at once."""

    model: str
    settings: LanguageModelSettings
    pacing: Pacing
    faults: Counter[str] = field(default_factory=Counter)
    """Requests that had no answer, by what was wrong."""
    _reached: bool = False
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def host(self) -> str:
        """The server's host."""
        return server_address(self.settings.base_url).hostname or ""

    @cached_property
    def key(self) -> str:
        """The key, from the environment; empty where there is none and none is needed.

        Raises:
            ModelError: there is none.
        """
        named = self.settings.api_key_env
        if named is None and is_local(self.host):
            return ""  # a program that listens on this machine need not be the user's own
        advice = "; name another with --api-key-env (any text will do where the server asks for none)"
        return key_from(named or _KEY, self.host, advice)

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """Where requests run, each in a task: a task can be ended whatever it waits for, a thread that reads cannot."""
        loop = asyncio.new_event_loop()

        def run() -> None:
            loop.run_forever()
            loop.close()

        threading.Thread(target=run, name="mtbias-requests", daemon=True).start()
        return loop

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - openai.AsyncOpenAI, which is imported late
        try:
            import openai
        except ImportError:
            raise DependencyError(f"endpoints need the package openai: {install_command('api')}") from None
        # No redirect is followed: it would carry the key to another host. On this machine no proxy is asked.
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False, trust_env=not is_local(self.host), event_hooks={"response": [self._received]}
        )
        return openai.AsyncOpenAI(
            api_key=self.key or "none",
            base_url=self.settings.base_url,
            timeout=None,  # its own is of each read, ours of the whole request
            max_retries=0,  # ours count against the budget, rest for as long as the server asks, and can be stopped
            http_client=http,
        )

    async def _received(self, response: Any) -> None:  # noqa: ANN401 - httpx2.Response
        """Leave of the head of a response what is used, without the key: the library logs it where that is wanted."""
        used = {name: without_key(response.headers[name], self.key) for name in _HEADERS if name in response.headers}
        response.headers = type(response.headers)(used)
        response.extensions.pop("reason_phrase", None)
        response.encoding = "utf-8"  # as JSON is; some encodings that a server may name break the library

    def prepare(self) -> None:
        """Load the library and read the key, before threads begin.

        Raises:
            DependencyError: the library is not installed.
            ModelError: there is no key.
        """
        _ = self._client

    def close(self) -> None:
        """End what is still under way, and close the connections; nothing can be asked afterwards."""
        self.pacing.stopped.set()
        with self._lock:
            self._closed = True
            ended = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        ended.result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _end(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        if "_client" in self.__dict__:
            await self._client.close()

    def ask(self, messages: Sequence[Mapping[str, str]]) -> Answer:
        """The model's answer.

        Raises:
            ModelError: the server refuses the request, or does not answer it even after some tries.
            BudgetError: the budget is used up.
            Stopping: the run was ended meanwhile.
        """
        expected = estimated_tokens(messages)
        for tried in range(1, TRIES + 1):
            self.pacing.wait(expected)
            found = self._send(messages)
            if isinstance(found, Answer):
                said = [n for n in (found.prompt_tokens, found.answer_tokens) if n is not None]
                self.pacing.used(sum(said) if len(said) == 2 else expected + len(found.text) // 4, expected)
                return found
            if found.kind == "connection" and not self._reached:
                raise ModelError(f"{self.host}: {found.text}; check --base-url, and that the server runs")
            if (found.wait or 0) > _MOST_RETRY_AFTER:
                raise ModelError(
                    f"{self.host}: {found.text}, and wants no request for {found.wait:.0f} s; run the same command "
                    "later, it resumes"
                )
            self._noticed(found, again=tried < TRIES and not self.pacing.stopped.is_set())
            if tried < TRIES:
                self._rest(found, tried)
        raise ModelError(
            f"{self.host}: {found.text}, {TRIES} times; what was answered is kept in the folder of the run (--out), "
            "the same command resumes"
        )

    def _rest(self, fault: _Fault, tried: int) -> None:
        """Wait before the next try; where the server has too many requests, all threads do."""
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (tried - 1))
        jittered = backoff * random.uniform(0.5, 1)  # noqa: S311 - so that threads do not return at once
        seconds = jittered if fault.wait is None else fault.wait + jittered * 0.1
        if fault.kind == "429":
            self.pacing.pause(seconds)
        else:
            self.pacing.stopped.wait(seconds)  # `Pacing.wait` then says that it is over

    def _noticed(self, fault: _Fault, *, again: bool) -> None:
        with self._lock:
            self.faults[fault.kind] += 1
            if again and self.faults[fault.kind] == 1:
                _log.warning("%s: %s; the request is sent again", self.host, fault.text)

    def _send(self, messages: Sequence[Mapping[str, str]]) -> Answer | _Fault:
        """Send one request.

        Raises:
            ModelError: it would not be answered the next time either.
        """
        import openai

        most = "max_completion_tokens" if self.host == "api.openai.com" else "max_tokens"  # each knows but one
        extra = {} if self.settings.temperature == "server" else {"temperature": self.settings.temperature}
        request = self._client.chat.completions.with_raw_response.create(
            model=self.model, messages=list(messages), **{most: self.settings.answer_tokens}, **extra
        )
        try:
            raw = self._whole(request)
            self._reached = True
            return self._read(raw.content)
        except (TimeoutError, openai.APITimeoutError):
            return _Fault("timeout", f"no whole answer after {self.settings.timeout:g} s (--timeout)")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error  # without the libraries' layers around it
            return _Fault("connection", f"the connection failed ({self._line(str(cause)) or type(cause).__name__})")
        except ValueError as error:
            return _Fault("malformed", f"the answer is no chat completion ({self._line(str(error))})")
        except openai.APIStatusError as error:
            self._reached = True
            return self._judge(error)

    def _whole(self, request: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - openai.LegacyAPIResponse
        """The response, from the connection to its last byte within `--timeout`; `TimeoutError` where it takes longer.

        Raises:
            Stopping: nobody waits for it any more.
        """
        with self._lock:  # so that `close` ends what it does not prevent
            if self._closed:
                request.close()
                raise Stopping
            limited = asyncio.wait_for(request, self.settings.timeout)
            response = asyncio.run_coroutine_threadsafe(limited, self._loop)
        try:
            return response.result()
        except concurrent.futures.CancelledError:
            raise Stopping from None

    def _read(self, body: bytes) -> Answer:
        """The answer in the body of a response, of which nothing else is kept.

        Raises:
            ValueError: there is none.
        """
        found = load_json(body, whole=_count)
        try:
            choice, usage = found["choices"][0], found.get("usage")
            said = choice["message"].get("content") or choice["message"].get("refusal") or ""
            names = [choice.get("finish_reason"), found.get("model")]
        except (LookupError, TypeError, AttributeError):
            raise ValueError("expected choices with a message") from None
        if not all(text is None or isinstance(text, str) for text in (said, *names)):
            raise ValueError("expected a message of text")
        finish, model = (name and self._line(name) for name in names)
        counts = [usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None for kind in ("prompt", "completion")]
        tokens = [count if type(count) is int and 0 <= count <= _MOST_TOKENS else None for count in counts]
        # Half of a surrogate pair, which JSON can say and no file can hold, becomes the sign for what is unreadable.
        text = said.encode(errors="surrogatepass").decode(errors="replace")
        return Answer(without_key(text, self.key), finish, model, *tokens)

    def _judge(self, error: Any) -> Answer | _Fault:  # noqa: ANN401 - openai.APIStatusError
        """What a response that is an error means."""
        status, said = error.status_code, self._line(_said(error))
        if status in _AGAIN or status >= 500:
            return _Fault(str(status), f"HTTP {status}: {said}", _retry_after(error.response.headers))
        if status in {401, 403}:  # what the server says of a key may hold the key
            variable = self.settings.api_key_env or _KEY
            raise ModelError(
                f"{self.host} refuses the key (HTTP {status}); set {variable} to one that may use {self.model}"
                + ("" if self.key else "; none was sent: --api-key-env names the variable that holds it")
            ) from None
        if error.code == "content_filter":  # of one sentence alone: there is nothing to correct
            return Answer("", "content_filter")
        advice = "; check --base-url (most end in /v1) and the model's name" if status in {404, 405} else ""
        raise ModelError(f"{self.host} refuses the request (HTTP {status}): {said}{advice}") from None

    def _line(self, text: str) -> str:
        return server_line(text, self.key)


def estimated_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """About how many tokens messages have: one for four bytes of UTF-8, and four for the frame of each."""
    return sum(4 + -(-len(message["content"].encode(errors="replace")) // 4) for message in messages)


def _count(digits: str) -> int | None:
    return int(digits) if len(digits) <= len(str(_MOST_TOKENS)) else None  # Python refuses more than 4,300


def _said(error: Any) -> str:  # noqa: ANN401 - openai.APIStatusError
    """The server's own words."""
    body = error.body
    if isinstance(body, dict):
        return str(body.get("message") or body.get("detail") or json.dumps(body, ensure_ascii=False))
    return str(body or error.response.reason_phrase or "no reason")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After, which may be a date; None where there is none that can be read."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):  # no date, or one of no year, hour or zone that there can be
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
