"""``mtbias eval --model glossary:FILE``: word by word; a line of FILE is a word, a tab and its
translation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from mtbias.errors import UsageError
from mtbias.translate.system import SystemKind, SystemRequest
from mtbias.translate.text_system import TextSystem


class GlossaryKind(SystemKind):
    """Systems ``glossary:FILE``."""

    def open(self, request: SystemRequest) -> TextSystem:
        """The system that looks words up in the file that is its name."""
        path = Path(request.name)
        if not path.is_file():
            raise UsageError(
                f"glossary: expected a file with a word and its translation a line, got {request.name!r}"
            )
        content = path.read_text(encoding="utf-8")
        words = dict(line.split("\t") for line in content.splitlines())

        def translate(texts: Sequence[str]) -> list[str]:
            return [
                " ".join(words.get(word.lower(), word) for word in text.split()) for text in texts
            ]

        digest = hashlib.sha256(content.encode()).hexdigest()
        return TextSystem(
            {"model": f"glossary:{path.stem}", "revision": f"sha256:{digest[:16]}"},
            translate,
            part_size=2,
        )


GLOSSARY = GlossaryKind()
