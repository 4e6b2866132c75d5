"""Sentences as long as BUG's with their translations, made of WinoMT's."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mtbias.types import Instance
from scripts.bench.work import MEDIAN_WORDS, MOST_WORDS, P95_WORDS, Z95

SYSTEMS = ("google", "bing")
NAMES = 12
"""Of so many words that fill up one is a name: the vocabulary grows with the corpus, as a real
one's does."""
_SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "po", "ra", "si", "tu")


@dataclass(frozen=True, slots=True)
class Sentence:
    """An instance of WinoMT with a translation."""

    instance: Instance
    source: tuple[str, ...]
    target: tuple[str, ...]


def read_sentences(folder: Path, language: str) -> tuple[Sentence, ...]:
    """WinoMT with the translations of `SYSTEMS`, those with an empty translation left out."""
    from mtbias.corpora import load_corpus
    from mtbias.translate.given_translations import read_translations

    corpus = load_corpus("winomt", folder)
    found = []
    for system in SYSTEMS:
        given = read_translations(
            folder / "translations" / system / f"en-{language}.txt", corpus.instances
        )
        for instance, translation in zip(corpus.instances, given.translations, strict=True):
            if translation.text:
                found.append(
                    Sentence(
                        instance, tuple(instance.source.split()), tuple(translation.text.split())
                    )
                )
    return tuple(found)


def draw_words(rng: random.Random) -> int:
    """Words of a sentence: log-normal with the median and the 95th percentile of BUG's gold
    file.
    """
    sigma = math.log(P95_WORDS / MEDIAN_WORDS) / Z95
    return round(min(MOST_WORDS, max(5.0, MEDIAN_WORDS * math.exp(rng.gauss(0, sigma)))))


def make_pairs(
    sentences: Sequence[Sentence], count: int, seed: int = 0
) -> Iterator[tuple[Instance, str]]:
    """`count` instances of BUG's lengths with translations; the first of more are the same.

    Each begins with a whole sentence of WinoMT, whose entity it has, that is no longer than the
    drawn number of words (the shortest where none is); others follow, the last one cut, its
    translation in the same proportion.
    """
    rng = random.Random(seed)
    ordered = sorted(sentences, key=lambda s: len(s.source))
    lengths = [len(s.source) for s in ordered]
    fitting = {words: sum(n <= words for n in lengths) for words in range(MOST_WORDS + 1)}
    for row in range(count):
        words = draw_words(rng)
        first = ordered[rng.randrange(max(1, fitting[words]))]
        source, target = list(first.source), list(first.target)
        while (room := words - len(source)) > 0:
            other = ordered[rng.randrange(len(ordered))]
            taken = min(room, len(other.source))
            more = list(other.source[:taken])
            meant = list(
                other.target[: max(1, round(len(other.target) * taken / len(other.source)))]
            )
            if rng.randrange(NAMES) < taken:
                name = _name(rng)
                more[rng.randrange(len(more))] = meant[rng.randrange(len(meant))] = name
            source += more
            target += meant
        text = " ".join(source)
        yield replace(first.instance, id=f"scale-{row}", row=row, source=text), " ".join(target)


def _name(rng: random.Random) -> str:
    """Few names are frequent, most are rare."""
    number = int(10 * rng.paretovariate(0.8)) % 10**7
    return "".join(_SYLLABLES[int(digit)] for digit in str(number)).capitalize()
