"""Parses on disk: mining again with other patterns, filters or marks takes seconds, since nothing is parsed again.

A file holds the parses of one chunk, by what they depend on: models, device, passages and the words of the filter. A
parse may change in its last bit with what else is in a batch, so chunks are kept whole: a run with the cache finds what
a run without it would. Losing the folder costs only time.
"""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from mtbias.files.strict_json import DecodingError, decoded
from mtbias.files.writing import explained, write_atomic
from mtbias.mining.english_parser import Parses

_log = logging.getLogger(__name__)


class ParseCache:
    """The parses of chunks in a folder; with None nothing is kept."""

    def __init__(self, folder: Path | None, signature: str) -> None:
        """Parses that are made with the models and the filter that `signature` names."""
        self._folder, self._signature = folder, signature

    def get(self, passages: Sequence[str]) -> Parses | None:
        """What was kept of a chunk; None where nothing was, or it is damaged."""
        path = self._path(passages)
        if path is None:
            return None
        try:
            return decoded(Parses, gzip.decompress(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, DecodingError):
            _log.warning("%s is damaged; it is made again", path)
            return None

    def put(self, passages: Sequence[str], parses: Parses) -> None:
        """Keep the parses of a chunk.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        path = self._path(passages)
        if path is not None:
            with explained(path.parent, "make the folder"):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, gzip.compress(json.dumps(asdict(parses), ensure_ascii=False).encode(), mtime=0))

    def _path(self, passages: Sequence[str]) -> Path | None:
        if self._folder is None:
            return None
        key = sha256(json.dumps([self._signature, *passages]).encode()).hexdigest()
        return self._folder / key[:2] / f"{key}.json.gz"
