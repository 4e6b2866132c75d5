"""A small sweep of coreference systems, for tests."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.toy_coref import sentences, write_bug
from tests.coref.small_corpora import write_winogender

# Links the word of a place and the pronoun of the toy's sentences and of Winogender's.
SYSTEM = """
import json, sys
pronouns = {"he", "she", "his", "her", "they", "their"}
with open(sys.argv[1]) as given, open(sys.argv[2], "w") as made:
    for one in map(json.loads, given):
        at = next(n for n, word in enumerate(one["tokens"]) if word in pronouns)
        print(json.dumps({"id": one["id"], "clusters": [[[int(sys.argv[3])] * 2, [at] * 2]]}), file=made)
"""


def coref_sweep(folder: Path, data: Path) -> Path:
    """The file of a sweep in `folder`: two systems on the two data sets that are written to `data`."""
    (data / "winogender").mkdir(exist_ok=True)
    write_winogender(data / "winogender")
    write_bug(data / "bug.csv", sentences(30, 1) + sentences(20, 2, stereotypical=False))
    (data / "system.py").write_text(SYSTEM, encoding="utf-8")
    systems = "".join(
        f"[coref.systems.{name}]\ncommand = '{sys.executable} {data}/system.py {{in}} {{out}} {place}'\n"
        for name, place in (("first", 1), ("fourth", 4))
    )
    path = folder / "paper.toml"
    text = "out = 'runs'\nresamples = 20\nseed = 3\n[coref]\ndatasets = ['bug', 'winogender']\n[coref.data]\n"
    path.write_text(f"{text}bug = '{data}/bug.csv'\nwinogender = '{data}/winogender'\n{systems}", encoding="utf-8")
    return path
