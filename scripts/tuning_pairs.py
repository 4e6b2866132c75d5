"""Sentence pairs of public data to tune an aligner's encoder on (``mtbias align tune``).

    python scripts/tuning_pairs.py --out pairs.jsonl [--most 2000] [--seed 0]

They are read from the folder that ``MTBIAS_SHARED`` names (default ``../shared``): the parallel
treebanks PUD, the translations of WinoMT of 2019, and translations of BUG. Each language gets as
many, drawn evenly from its files. **No text that is labelled in ``tests/natural`` or by the human
labels of ``scripts/labels.py agreement`` is among them**: the tuned encoder is measured on those.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import cyclopts
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.files.reading import read_table  # noqa: E402 - the paths above come first
from mtbias.files.writing import write_table  # noqa: E402
from mtbias.translate.bitext import normalised_text, read_bitext  # noqa: E402
from scripts.label_sets.natural import FILES, read_texts  # noqa: E402
from scripts.labelled import BY_APERTIUM, shared_data  # noqa: E402

SYSTEMS = (
    "winomt/translations/google",
    "winomt/translations/bing",
    "bug/translations/llama",
    "bug/translations/nllb",
)
"""Folders of translations, ``en-LANG.txt``."""

Text = tuple[str, str]


def labelled_targets(data: Path) -> set[str]:
    """The translations that have labels, as `normalised_text` has them."""
    labels = read_table(data / "human_agreement" / "dev.csv")
    found = {normalised_text(record.get("target")) for record in labels.records}
    for code, path in FILES.items():
        if code in BY_APERTIUM:  # their texts are MT-GenEval's, of which nothing is drawn
            continue
        texts = read_texts(code, data)
        names = {record.get("text") for record in read_table(path).records}
        found |= {normalised_text(texts[name][1]) for name in names}
    return found


def sources_of_pairs(data: Path) -> dict[str, list[list[Text]]]:
    """By language the pairs of each file that it has."""
    files: defaultdict[str, list[list[Text]]] = defaultdict(list)
    treebanks: defaultdict[str, list[Text]] = defaultdict(list)
    for source, target, lang in json.loads((data / "parallel" / "pud.json").read_text("utf-8")):
        treebanks[lang].append((source, target))
    for lang, pairs in treebanks.items():
        files[lang].append(pairs)
    for folder in SYSTEMS:
        for path in sorted((data / folder).glob("en-*.txt")):
            files[path.stem.removeprefix("en-")].append(read_bitext(path))
    return dict(files)


def drawn(files: Iterable[list[Text]], most: int, chance: np.random.Generator) -> list[Text]:
    """At most `most` pairs, as many of each file as of the others while it has some."""
    rest = [list(dict.fromkeys(pairs)) for pairs in files]
    for pairs in rest:
        chance.shuffle(pairs)
    found: list[Text] = []
    while len(found) < most and any(rest):
        found += [pairs.pop() for pairs in rest if pairs]
    return found[:most]


def main(*, out: Path, most: int = 2000, seed: int = 0) -> None:
    """Write the pairs and print how many there are of each language.

    Parameters
    ----------
    out
        The table to write (.jsonl, .tsv, .csv): source, target, lang.
    most
        Most pairs of a language.
    seed
        Seed of what is drawn.
    """
    data = shared_data()
    labelled = labelled_targets(data)
    chance = np.random.default_rng(seed)
    rows: list[dict[str, str]] = []
    for lang, files in sorted(sources_of_pairs(data).items()):
        allowed = [
            [pair for pair in pairs if normalised_text(pair[1]) not in labelled] for pairs in files
        ]
        left_out = sum(map(len, files)) - sum(map(len, allowed))
        pairs = drawn(allowed, most, chance)
        print(f"{lang}  {len(pairs):,} pairs; {left_out:,} with labels left out")
        rows += [{"source": source, "target": target, "lang": lang} for source, target in pairs]
    write_table(out, rows)


if __name__ == "__main__":
    cyclopts.run(main)
