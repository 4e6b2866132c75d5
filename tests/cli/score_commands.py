"""The command `mtbias score` for German, and the calls of its runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILES = ("calls.jsonl", "metrics.json")
"""What has the same bytes whenever a run is repeated."""


def score_command(*arguments: str | Path) -> list[str]:
    """Its words, to which `arguments` are added."""
    return ["score", "--lang", "de", *map(str, arguments)]


def calls_in(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's calls.jsonl."""
    return [
        json.loads(line)
        for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    ]
