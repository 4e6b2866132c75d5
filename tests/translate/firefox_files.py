"""Files of the form of Firefox's models, small ones; and a server of Mozilla's kind that has
them."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mtbias.demo import model_folder_of_demo

VOCABULARY = (model_folder_of_demo() / "sentencepiece.bpe.model").read_bytes()
"""A vocabulary as Firefox's models have them, of the demo's model."""
COLLECTION = "/v1/buckets/main/collections/translations-models-v2/records"


def pieces() -> int:
    """Of `VOCABULARY`."""
    import sentencepiece

    return int(sentencepiece.SentencePieceProcessor(model_proto=VOCABULARY).get_piece_size())


def marian_model(source: int, target: int) -> bytes:
    """A model without weights: version 1, one tensor, whose head has the lengths of its name, type,
    shape and data; then its name, its shape, what fills up to the data, and its data.
    """
    config = f"dim-emb: 256\ndim-vocabs:\n  - {source}\n  - {target}\nenc-cell: gru\n\0".encode()
    name = b"special:model.yml\0"
    head = struct.pack("<2Q", 1, 1) + struct.pack("<4Q", len(name), 257, 1, len(config))
    return head + name + struct.pack("<i", len(config)) + struct.pack("<Q", 3) + b"\0\0\0" + config


def shortlist(size: int) -> bytes:
    """A shortlist with an empty list for each of so many pieces: where each begins, and where the
    last one ends.
    """
    return struct.pack("<6Q", 0xF11A48D5013417F5, 0, 50, 50, size + 1, 0) + bytes(8 * (size + 1))


def small_model(pair: str = "enpt") -> dict[str, bytes]:
    """The files of a model by name, which are whole and translate nothing."""
    size = pieces()
    return {
        f"model.{pair}.intgemm.alphas.bin": marian_model(size, size),
        f"vocab.{pair}.spm": VOCABULARY,
        f"lex.50.50.{pair}.s2t.bin": shortlist(size),
    }


def written(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The folder, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def zstd_frame(content: bytes) -> bytes:
    """`content` as a frame of Zstandard (RFC 8878) of blocks that are not compressed: mark, a head
    with the length in four bytes, and blocks of at most 128 KiB, each with its length times eight,
    and one where it is the last, in three bytes.
    """
    blocks = [content[start : start + 2**17] for start in range(0, len(content), 2**17)] or [b""]
    frame = struct.pack("<IBI", 0xFD2FB528, 0b10100000, len(content))
    for number, block in enumerate(blocks, 1):
        frame += (len(block) << 3 | (number == len(blocks))).to_bytes(3, "little") + block
    return frame


class MozillaServer:
    """Records, and the files that they name; what was asked for."""

    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.address = ""

    def add(
        self,
        files: Mapping[str, bytes],
        pair: str,
        version: str,
        architecture: str = "tiny",
    ) -> None:
        """A model; pair as ``en-pt``."""
        kinds = {"model": "model", "lex": "lex", "vocab": "vocab"}
        source, target = pair.split("-")
        for name, content in files.items():
            place = f"attachments/{version}-{architecture}/{name}.zst"
            self.files[f"/{place}"] = zstd_frame(content)
            self.records.append(
                {
                    "id": place,
                    "name": name,
                    "fileType": kinds[name.partition(".")[0]],
                    "sourceLanguage": source,
                    "targetLanguage": target,
                    "version": version,
                    "architecture": architecture,
                    "decompressedHash": sha256(content).hexdigest(),
                    "attachment": {"location": place, "filename": f"{name}.zst"},
                }
            )

    def answer(self, path: str) -> bytes | None:
        """What is at a path."""
        self.asked.append(path)
        if path == COLLECTION:
            return json.dumps({"data": self.records}).encode()
        if path == "/v1/":
            return json.dumps(
                {"capabilities": {"attachments": {"base_url": self.address}}}
            ).encode()
        return self.files.get(path)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, server: MozillaServer, *args: object) -> None:
        self.content = server
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """A file, or 404."""
        found = self.content.answer(self.path)
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@contextmanager
def serving() -> Iterator[MozillaServer]:
    """A server on this machine."""
    content = MozillaServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, content))
    content.address = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield content
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
