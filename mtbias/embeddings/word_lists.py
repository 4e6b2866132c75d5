"""The word lists that the measures and the debiasing of word vectors rest on: a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mtbias.files.reading import parse_toml, read_text
from mtbias.files.strict_json import EXACT

EXAMPLE_LISTS = Path(str(resources.files("mtbias.embeddings"))) / "example_words.toml"
"""The lists that come with mtbias: of papers where they could be had, else an example."""

ALL_NEUTRAL: Literal["all neutral"] = "all neutral"
"""In place of a list of GIPE: all words of the vectors but those that tell a gender by their meaning."""
Word = Annotated[str, Field(min_length=1)]
Words = Annotated[tuple[Word, ...], Field(min_length=1)]
Pair = tuple[Word, Word]
Pairs = Annotated[tuple[Pair, ...], Field(min_length=1)]


@dataclass(frozen=True)
class PairList:
    """Pairs of words; none where the file has no such section, as in the classes below."""

    __pydantic_config__: ClassVar = EXACT
    pairs: Pairs


@dataclass(frozen=True)
class _Once:
    """Lists that have each word once."""

    __pydantic_config__: ClassVar = EXACT

    def __post_init__(self) -> None:
        for name, entries in vars(self).items():
            if entries == ALL_NEUTRAL:
                continue
            words = [word for entry in entries for word in ([entry] if isinstance(entry, str) else entry)]
            if twice := [word for n, word in enumerate(words) if word in words[:n]]:
                raise ValueError(f"{name}: expected each word once, got {twice[0]!r} twice; remove one")


@dataclass(frozen=True)
class WordList(_Once):
    """Words of a measure."""

    words: Words


@dataclass(frozen=True)
class ProximityWords(_Once):
    """Words of GIPE."""

    words: Words | Literal["all neutral"]


@dataclass(frozen=True)
class Association(_Once):
    """WEAT with one list of targets."""

    targets: Words
    attributes_1: Words
    attributes_2: Words


@dataclass(frozen=True)
class TwoTargets(_Once):
    """WEAT with two lists of targets."""

    targets_1: Words
    targets_2: Words
    attributes_1: Words
    attributes_2: Words


@dataclass(frozen=True)
class GenderedLists(_Once):
    """Words that tell a gender by their meaning; pairs are equalised, so that no word can be in two of them."""

    pairs: Pairs = ()
    words: Words = ()


@dataclass(frozen=True)
class Sections:
    """What a file may have. A section may be absent, except ``direction``."""

    __pydantic_config__: ClassVar = EXACT
    direction: PairList
    direct: WordList = WordList(())
    indirect: PairList = PairList(())
    weat: Mapping[str, Association] = field(default_factory=dict)
    """By the tests' names, as in the next two."""
    weat_two_targets: Mapping[str, TwoTargets] = field(default_factory=dict)
    gipe: Mapping[str, ProximityWords] = field(default_factory=dict)
    gendered: GenderedLists = GenderedLists()


@dataclass(frozen=True)
class WordLists(Sections):
    """The lists, by section, and the hash of their file."""

    sha256: str = ""

    def has(self, measure: str) -> bool:
        """Whether the section that a measure rests on is there; clustering and recoverability rest on none."""
        section = getattr(self, measure.replace("-", "_"), True)
        return any(vars(section).values()) if is_dataclass(section) else bool(section)

    @property
    def gendered_pairs(self) -> tuple[Pair, ...]:
        """The pairs of ``[gendered]``, each also with capitals (``Woman``, ``WOMAN``): vectors may have these too."""
        forms = (pair for f, m in self.gendered.pairs for pair in zip(_capitals(f), _capitals(m), strict=True))
        return tuple(dict.fromkeys(forms))

    @property
    def gendered_words(self) -> frozenset[str]:
        """All words that tell a gender by their meaning, with capitals too: ``[gendered]`` and ``[direction]``."""
        pairs = (*self.direction.pairs, *self.gendered.pairs)
        words = (*self.gendered.words, *(word for pair in pairs for word in pair))
        return frozenset(form for word in words for form in _capitals(word))


def _capitals(word: str) -> tuple[str, ...]:
    return word, word.lower(), word.capitalize(), word.upper()


def read_lists(path: Path) -> WordLists:
    """Read a TOML file of `Sections`.

    Raises:
        DataError: no TOML; an unknown section or list; a list that is no list of words (or of pairs of words) or is
            empty; an empty word; a word twice in a list of words, or in ``[gendered]``; no ``direction``.
    """
    file = read_text(path)
    content = {section.replace("-", "_"): lists for section, lists in parse_toml(file).items()}
    return WordLists(**vars(file.converted(Sections, content)), sha256=file.sha256)
