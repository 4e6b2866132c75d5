"""The word lists that the measures and the debiasing of word vectors rest on: a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from mtbias.errors import choices
from mtbias.files.reading import TextFile, parse_toml, read_text

EXAMPLE_LISTS = Path(str(resources.files("mtbias.embeddings"))) / "example_words.toml"
"""The lists that come with mtbias: of papers where they could be had, else an example."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "direction": ("pairs",),
    "direct": ("words",),
    "indirect": ("pairs",),
    "weat": ("targets", "attributes_1", "attributes_2"),
    "weat-two-targets.NAME": ("targets_1", "targets_2", "attributes_1", "attributes_2"),
    "gipe": ("words",),
    "gendered": ("pairs", "words"),
}
"""The sections of the file and their lists; a test with two lists of targets has a name."""
TWO_TARGETS = "weat-two-targets"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists by section and name: words, or pairs of words. A section may be absent, except ``direction``."""

    words: Mapping[str, Mapping[str, tuple[str, ...]]]
    """A test with two lists of targets under ``weat-two-targets.NAME``."""
    pairs: Mapping[str, tuple[Pair, ...]]
    sha256: str

    @property
    def two_targets(self) -> tuple[str, ...]:
        """The names of the tests with two lists of targets."""
        return tuple(name.removeprefix(f"{TWO_TARGETS}.") for name in self.words if name.startswith(f"{TWO_TARGETS}."))

    def has(self, section: str) -> bool:
        """Whether a section is there."""
        return bool(self.two_targets) if section == TWO_TARGETS else section in self.words or section in self.pairs

    @property
    def gendered_pairs(self) -> tuple[Pair, ...]:
        """The pairs of ``[gendered]``, each also with capitals (``Woman``, ``WOMAN``): vectors may have these too."""
        pairs = self.pairs.get("gendered", ())
        forms = (pair for f, m in pairs for pair in zip(_capitals(f), _capitals(m), strict=True))
        return tuple(dict.fromkeys(forms))

    @property
    def gendered(self) -> frozenset[str]:
        """All words that tell a gender by their meaning, with capitals too: ``[gendered]`` and ``[direction]``."""
        words = {*self.words.get("gendered", {}).get("words", ())}
        words.update(
            word for section in ("direction", "gendered") for pair in self.pairs.get(section, ()) for word in pair
        )
        return frozenset(form for word in words for form in _capitals(word))


def _capitals(word: str) -> tuple[str, ...]:
    return word, word.lower(), word.capitalize(), word.upper()


def read_lists(path: Path) -> WordLists:
    """Read a TOML file of `SECTIONS`.

    Raises:
        DataError: no TOML; an unknown section or list; a list that is no list of words (or of pairs of words); a word
            twice in a list, or in the pairs of ``gendered``; no ``direction``.
    """
    file = read_text(path)
    words: dict[str, dict[str, tuple[str, ...]]] = {}
    pairs: dict[str, tuple[Pair, ...]] = {}
    for section, content in _sections(parse_toml(file), file):
        for name, items in content.items():
            where = f"[{section}] {name}"
            if name == "pairs":
                pairs[section] = _pairs(items, where, file)
            else:
                words.setdefault(section, {})[name] = _words(items, where, file)
    if "direction" not in pairs:
        raise file.error("expected [direction] pairs, got none; every measure rests on the gender direction")
    # A word of two pairs would have to be at two places after equalising.
    _once([word for pair in pairs.get("gendered", ()) for word in pair], "[gendered] pairs", file)
    return WordLists(words, pairs, file.sha256)


def _sections(table: Mapping[str, Any], file: TextFile) -> list[tuple[str, Mapping[str, Any]]]:
    """The sections of the file, their lists' names checked."""
    sections = []
    for section, content in table.items():
        has_names = section == TWO_TARGETS and isinstance(content, dict) and content
        named = content.items() if has_names else [("", content)]
        for name, lists in named:
            kind = f"{section}.NAME" if name else section
            wanted = SECTIONS.get(kind, ())
            given = sorted(lists) if isinstance(lists, dict) else []
            # Words that tell a gender may be pairs, words, or both; every other section needs all its lists.
            if not given or not (set(given) <= set(wanted) if kind == "gendered" else given == sorted(wanted)):
                where = f"[{section}{'.' * bool(name)}{name}]"
                if not wanted:
                    raise file.error(f"{where}: unknown section; {choices(section, SECTIONS)}")
                got = ", ".join(given) or f"{lists!r:.60}"
                raise file.error(f"{where}: expected the lists {', '.join(wanted)}, got {got}")
            sections.append((f"{section}.{name}" if name else section, lists))
    return sections


def _words(items: object, where: str, file: TextFile) -> tuple[str, ...]:
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise file.error(f"{where}: expected a list of words, got {items!r:.60}")
    _once(items, where, file)
    return tuple(items)


def _once(items: list[str], where: str, file: TextFile) -> None:
    if len(set(items)) != len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise file.error(f"{where}: expected each word once, got {twice!r} twice; remove one")


def _pairs(items: object, where: str, file: TextFile) -> tuple[Pair, ...]:
    if not isinstance(items, list) or not items:
        raise file.error(f"{where}: expected a list of pairs of words, got {items!r:.60}")
    for item in items:
        if not (isinstance(item, list) and len(item) == 2 and all(isinstance(word, str) and word for word in item)):
            raise file.error(f"{where}: expected a pair of words, got {item!r}")
    return tuple((first, second) for first, second in items)
