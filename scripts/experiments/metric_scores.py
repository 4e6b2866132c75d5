"""Scores of the contrasts of `mtbias metric contrasts` by an encoder: how alike source and
translation are.

The score is the cosine of the means of both texts' last states, as multilingual encoders are used
for quality estimation without references. `python scripts/experiments/metric_scores.py --encoder
FOLDER --contrasts contrasts.tsv --out scores.tsv`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mtbias.files.reading import read_table

BATCH = 64


def embed(model: Any, tokenizer: Any, texts: Sequence[str], prefix: str) -> Any:  # noqa: ANN401 - transformers' and torch's
    """A row for each text, of length 1."""
    import torch

    rows = []
    with torch.inference_mode():
        for first in range(0, len(texts), BATCH):
            some = [prefix + text for text in texts[first : first + BATCH]]
            batch = tokenizer(some, padding=True, truncation=True, return_tensors="pt")
            states = model(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None]
            rows.append((states * mask).sum(dim=1) / mask.sum(dim=1))
    return torch.nn.functional.normalize(torch.cat(rows), dim=1)


def main() -> None:
    """Score every translation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of an encoder")
    parser.add_argument("--contrasts", type=Path, required=True)
    parser.add_argument("--prefix", default="", help="what the encoder expects before a text")
    parser.add_argument("--name", default="cosine", help="of the metric")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    import torch
    from transformers import AutoModel, AutoTokenizer

    records = read_table(args.contrasts, "id", "source", "translation").records
    tokenizer = AutoTokenizer.from_pretrained(args.encoder)
    model = AutoModel.from_pretrained(args.encoder, dtype=torch.float32).eval()
    sources = embed(model, tokenizer, [row.get("source") for row in records], args.prefix)
    targets = embed(model, tokenizer, [row.get("translation") for row in records], args.prefix)
    scores = (sources * targets).sum(dim=1).tolist()
    lines = [f"id\t{args.name}"]
    for row, score in zip(records, scores, strict=True):
        lines.append(f"{row.get('id')}\t{score:.6f}")
    args.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
