"""A small HTTP server on this machine that answers chat completions, and misbehaves as a test asks
it to."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server sends."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int | None = None
    """Bytes of the body that are sent before the connection is closed; None for all."""
    pause: float = 0.0
    """Seconds before each byte, of the head too."""


def said(text: str | None, *, model: str = "small", finish: str = "stop", **message: Any) -> Reply:
    """A chat completion that says `text`."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": finish,
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    content = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
    }
    return Reply(json.dumps({**content, "usage": usage}).encode())


def refused(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Reply:
    """An error as such servers send it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": code}}).encode()
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass
class Server:
    """A running server: what it was asked, and how it answers."""

    answer: Callable[[str, int], Reply]
    """Called with the sentence (the last line of the last message) and how often it was asked
    before."""
    url: str = ""
    asked: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    together: int = 0
    """Most requests that were open at the same time."""
    _open: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        """Note the request, and answer it."""
        assert path == "/v1/chat/completions"
        source = body["messages"][-1]["content"].splitlines()[-1]
        with self._lock:
            before = self.asked.count(source)
            self.asked.append(source)
            self.bodies.append(body)
            self.headers.append(headers)
            self._open += 1
            self.together = max(self.together, self._open)
        try:
            return self.answer(source, before)
        finally:
            with self._lock:
                self._open -= 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with the usual 5, bursts of connections wait a second each

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is what some tests are about."""


@contextmanager
def serving(answer: Callable[[str, int], Reply] | Server) -> Iterator[Server]:
    """A server within the block, which answers so, or is of a class of its own."""
    server = answer if isinstance(answer, Server) else Server(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = server.reply(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            head = {
                "Content-Type": "application/json",
                **reply.headers,
                "Content-Length": str(len(reply.body)),
            }
            lines = [
                f"HTTP/1.1 {reply.status} X",
                *(f"{name}: {value}" for name, value in head.items()),
                "",
                "",
            ]
            # In one piece: head and body apart would wait for each other's acknowledgement.
            whole = "\r\n".join(lines).encode() + reply.body[: reply.sent]
            for start in range(len(whole)) if reply.pause else ():
                time.sleep(reply.pause)
                self.wfile.write(whole[start : start + 1])
            self.wfile.write(b"" if reply.pause else whole)
            self.close_connection = reply.sent is not None

        def log_message(self, *args: object) -> None:
            """Silence."""

    with _Listener(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_port}/v1"
        thread = threading.Thread(
            target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


if (
    __name__ == "__main__"
):  # in a process of its own, so that a test can measure the client's time alone

    def after_50_ms(source: str, _: int) -> Reply:
        time.sleep(0.05)
        return said(f"Der Koch sah Person {source.rsplit(maxsplit=1)[-1]}")

    with serving(after_50_ms) as shown:
        print(shown.url, flush=True)
        sys.stdin.read()
