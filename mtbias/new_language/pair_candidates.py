"""Pairs of a masculine and a feminine noun that a lexicon suggests: candidates, for nothing in it says who is meant.

Two nouns are a candidate where the lexicon has them under one lemma (UD: *professora* of *professor*), or where they
share their beginning and their endings recur (*-or*, *-ora*); where there are pairs of one lemma, endings of such.
Things pair like people (pt *banho*, *banha*), so that somebody who knows the language must look at each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from mtbias.new_language.lexica import Lexicon

LEAST_STEM = 3
"""Letters that the two must share: with fewer, chance pairs any short words."""
LONGEST_ENDING = 5
"""Letters of the longest ending, as in French -teur, -trice (with their consonant)."""
LEAST_PAIRS = 3
"""Pairs in which two endings must meet: what occurs once or twice in a lexicon is no derivation."""


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """Two nouns that may be said of a man and of a woman."""

    masculine: str
    feminine: str
    endings: str
    """``-or -ora``: what differs."""
    pairs: int
    """How many pairs of the lexicon differ so; the more, the likelier it is a derivation."""
    one_lemma: bool
    """The lexicon has both as one word."""


def shared_beginning(*words: str) -> str:
    """The letters with which all `words` begin."""
    letters = takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    return "".join(column[0] for column in letters)


def find_pairs(lexica: Iterable[Lexicon]) -> tuple[PairCandidate, ...]:
    """The candidates of all `lexica`: those of one lemma first, then those with the most frequent endings.

    Where a lexicon marks what is alive, only such nouns are looked at.
    """
    together: set[tuple[str, str]] = set()
    alone: set[tuple[str, str]] = set()
    for lexicon in lexica:
        # Of which genders the lexicon says what is alive: Slavic ones say so of masculine nouns alone.
        marked = {gender for _, gender in lexicon.animate}
        citations = {
            lemma: genders
            for lemma, genders in lexicon.citations.items()
            if any(gender not in marked or (lemma, gender) in lexicon.animate for gender in genders)
        }
        both = [(g["m"], g["f"]) for g in citations.values() if "m" in g and "f" in g]
        together |= {pair for pair in both if pair[0] != pair[1]}
        alone |= set(_by_ending(citations))
    return _ranked(together, alone - together)


def _ranked(together: Iterable[tuple[str, str]], alone: Iterable[tuple[str, str]]) -> tuple[PairCandidate, ...]:
    pairs = [(*pair, _endings(*pair), True) for pair in together] + [(*pair, _endings(*pair), False) for pair in alone]
    times = Counter(endings for _, _, endings, _ in pairs)
    derivations = {endings for _, _, endings, one in pairs if one}
    found = [
        PairCandidate(man, woman, endings, times[endings], one)
        for man, woman, endings, one in pairs
        # A lexicon that has pairs under one lemma shows which endings derive: -or -ora, and not -lismo -lidade.
        if one or (times[endings] >= LEAST_PAIRS and (not derivations or endings in derivations))
    ]
    return tuple(sorted(found, key=lambda c: (not c.one_lemma, -c.pairs, c.endings, c.masculine, c.feminine)))


def _by_ending(citations: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, str]]:
    """Each feminine noun with the masculine ones that share the longest beginning with it."""
    men: dict[str, list[str]] = defaultdict(list)
    for man in {genders["m"] for genders in citations.values() if "m" in genders and "f" not in genders}:
        for stem in _stems(man):
            men[stem].append(man)
    for woman in {genders["f"] for genders in citations.values() if "f" in genders and "m" not in genders}:
        longest = next((stem for stem in _stems(woman) if stem in men), "")
        yield from ((man, woman) for man in men.get(longest, ()))


def _stems(noun: str) -> Sequence[str]:
    """What may be the stem of `noun`, the longest first."""
    return [noun[:size] for size in range(len(noun), max(LEAST_STEM, len(noun) - LONGEST_ENDING) - 1, -1)]


def _endings(man: str, woman: str) -> str:
    shared = len(shared_beginning(man, woman))
    start = max(shared - 2, 0)  # two letters of what both have tell -or -ora from whatever takes an -a
    return f"-{man[start:]} -{woman[start:]}"
