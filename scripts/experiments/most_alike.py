"""How often the word of the translation that an encoder finds most alike to the person is the head.

    python scripts/experiments/most_alike.py --aligner-model MODEL [--aligner-layer 8] [--part dev]

The persons are those of ``tests/natural`` that have a head (``scripts/label_sets/natural.py``). No
table and no statistics help: this tells encoders and layers apart where the aligner that asks them
errs too seldom. Prints right and all rows by language.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align.neural_aligner import (  # noqa: E402 - the paths above come first
    Compared,
    NeuralAligner,
    locate_encoder,
)
from mtbias.corpora import cache_folder  # noqa: E402
from mtbias.language.installed import get_language  # noqa: E402
from mtbias.language.split_texts import SplitTexts  # noqa: E402
from mtbias.reading.sentence_pair import entity_place  # noqa: E402
from mtbias.types import quiet  # noqa: E402
from scripts.label_sets.natural import FILES, Part, Person, read_persons  # noqa: E402
from scripts.labelled import BY_APERTIUM, shared_data  # noqa: E402


def is_right(person: Person, compared: Compared, texts: SplitTexts) -> bool:
    """The word that is most alike to the person overlaps the labelled head."""
    place = entity_place(person.pair, texts.source.words(person.pair.source))[1]
    alike = compared.alike(place)
    if not alike or person.head is None:
        return False
    word = texts.words(person.pair.text)[max(alike, key=lambda n: alike[n])]
    return word.span.overlaps(person.head)


def main(*, aligner_model: str, aligner_layer: int | None = None, part: Part = "dev") -> None:
    """Print one line per language, and one for all.

    Parameters
    ----------
    aligner_model
        The encoder.
    aligner_layer
        Its layer.
    part
        Of the labels.
    """
    right_of_all = rows_of_all = 0
    for code in FILES:
        if code in BY_APERTIUM:
            continue
        persons = [
            person
            for person in read_persons(code, shared_data())
            if person.head is not None and part in (person.part, "all")
        ]
        found = locate_encoder(aligner_model, code, cache=cache_folder(None))
        aligner = NeuralAligner(found, layer=aligner_layer)
        texts = SplitTexts(get_language(code))
        pairs = [person.pair for person in persons]
        compared = dict(aligner.compared(pairs, texts, quiet)) if pairs else {}
        right = sum(
            is_right(person, compared[person.pair.source, person.pair.text], texts)
            for person in persons
        )
        print(f"{code}  {right}/{len(persons)}", flush=True)
        right_of_all, rows_of_all = right_of_all + right, rows_of_all + len(persons)
    print(f"all  {right_of_all}/{rows_of_all}")


if __name__ == "__main__":
    cyclopts.run(main)
