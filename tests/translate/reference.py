"""What tests of checkpoints share: sentences, their translation by the reference engine, and a
changed JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

from .checkpoints import sentences

SOURCES = list(sentences()[0][:8])
DECODING = Decoding(beams=3)


def translate(folder: Path, lang: str) -> list[str]:
    """`SOURCES` by the reference engine, three beams."""
    codec = Codec(folder, lang)
    batch = [one.ids for one in codec.encode(SOURCES)]
    decoding = Decoding(beams=3, early_stopping=codec.family.early_stopping)
    made = TransformersEngine(folder).generate(batch, Bounds(decoding, 40, codec.forced))
    return codec.decode([one.ids for one in made])


def change(path: Path, **values: Any) -> None:
    """Set keys of a JSON file."""
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8"
    )
