"""From word links to the words that render the entity.

For every pair the entity's head word is compared with every target word by three things: how surely both directions
of the model link them (geometric mean of the two posteriors), how strongly their types are associated over the whole
corpus (the Dice coefficient of *expected links*, so that what a rival entity explains is already set aside), and
whether the plugin's nouns say that one translates the other. The best word is the anchor; neighbours that the model
explains by the entity's words belong to its phrase (``أمين المكتبة``, ``obrero de la construcción``). Which of them is
the head is decided where parts of speech are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mtbias.align.link_model import LAMBDA, FloatArray, Table, cells_of, chunks, posteriors, train
from mtbias.align.word_types import IntArray, Side, index_side, merge_types, target_keys
from mtbias.english.plurals import is_plural, singulars
from mtbias.english.words import EnglishWord, english_words
from mtbias.language.data_files import NounKind, NounReading
from mtbias.language.definition import Language, SurfaceToken
from mtbias.types import DERIVED, ELIMINATION, Alignment, Instance, Span

MIN_SCORE = 0.10
"""Least score (0 to 2) at which a target word counts as the entity's; below it the entity is unaligned."""
MAX_OTHERS = 3
MIN_STEM = 5
SURE_SCORE = 0.5
"""Below it a noun for people that no other source word explains is taken before a word that is not known as one."""
MIN_BELONGS = 0.5
"""Least P(entity | target word) at which a neighbour belongs to the entity's phrase."""
MAX_GAP = 2
"""Words that may stand inside a phrase without belonging to it (``obrero de la construcción``)."""
GLOSSARY_LINKS = 1.0
"""Links added a priori to a pair of types that the plugin's nouns know as translations."""
SAME_SPELLING_LINKS = 1.0
MAX_EXPLAINED = 0.3
"""A target word with a surer link than this to another source word is not left over."""
MAX_SHARE = 0.05


class Pair(NamedTuple):
    """A sentence with its translation, and the entity in it; a pair that only helps the statistics has no head."""

    id: str
    source: str
    text: str
    head: Span | None = None
    """Characters of `source` that are the entity's head word."""
    entity: str = ""
    """The entity, lower-cased ("construction worker")."""

    @classmethod
    def of(cls, instance: Instance, text: str) -> Self:
        """`instance` with its translation."""
        return cls(instance.id, instance.source, text, instance.head, instance.entity)


@dataclass(frozen=True)
class Scores:
    """What a link model says about one pair's entity: arrays over the target tokens."""

    link: FloatArray
    """Geometric mean of P(head | target) and P(target | head)."""
    belongs: FloatArray
    """P(any word of the entity | target)."""
    lexicon: FloatArray
    """Association of the types over the corpus, 0 to 1."""
    explained: FloatArray
    """The surest link of each target word to any word but the entity, 0 to 1."""
    rare: NDArray[np.bool_]
    """Target words whose type is in at most `MAX_SHARE` of the sentences: no function words."""


@dataclass(frozen=True)
class Tokenised:
    """The pairs as type ids; the tokens themselves are made again where they are wanted, to save memory."""

    heads: tuple[tuple[int, int], ...]
    """First and last source token of the entity; the last is the head; (-1, -1) where the span is not a token."""
    source: Side
    target: Side
    target_forms: dict[str, str]
    """Folded target form → its type."""


def tokenise(pairs: Sequence[Pair], language: Language) -> Tokenised:
    """Split both sides of `pairs` into words, find the entity among them, and number the types."""
    heads: list[tuple[int, int]] = []

    def source_forms() -> Iterator[list[str]]:
        for pair in pairs:
            tokens = english_words(pair.source)
            heads.append(_entity_tokens(pair, tokens))
            yield [t.form for t in tokens]

    source = index_side(source_forms())
    forms = index_side([t.form for t in language.tokens(pair.text)] for pair in pairs)
    counts = np.bincount(forms.ids, minlength=len(forms.types))
    keys = target_keys(language, {form: int(n) for form, n in zip(forms.types, counts, strict=True)})
    return Tokenised(tuple(heads), source, merge_types(forms, keys), keys)


def _entity_tokens(pair: Pair, tokens: Sequence[EnglishWord]) -> tuple[int, int]:
    if pair.head is None:
        return -1, -1
    at = pair.head.start
    head = next((n for n, t in enumerate(tokens) if t.span.start <= at < t.span.end), -1)
    if head < 0:
        return -1, -1
    words = pair.entity.lower().split()
    first = head
    for word in reversed(words[:-1]):
        if first == 0 or tokens[first - 1].form != word:
            break
        first -= 1
    return first, head


def known_pairs(tokens: Tokenised, language: Language) -> tuple[IntArray, FloatArray]:
    """Keys of type pairs that the plugin's nouns or a common spelling know as translations, with their prior links."""
    numbers = {form: n for n, form in enumerate(tokens.target.types)}
    by_base: dict[str, set[int]] = {}
    for form, key in tokens.target_forms.items():
        for _, base in language.bases(form):
            by_base.setdefault(base, set()).add(numbers[key])
    links: dict[int, float] = {}
    sources = {form: n for n, form in enumerate(tokens.source.types)}
    heads: dict[str, set[str]] = {}
    for english, forms in language.glossary.items():
        heads.setdefault(english.split(" ")[-1], set()).update(forms)
    for word, source in sources.items():
        for target in {t for form in _translations(word, heads) for t in by_base.get(form, ())}:
            links[source * len(numbers) + target] = GLOSSARY_LINKS
        if len(word) > 2:
            for target in by_base.get(word, ()):
                cell = source * len(numbers) + target
                links[cell] = links.get(cell, 0.0) + SAME_SPELLING_LINKS
    keys = np.array(sorted(links), np.int64)
    return keys, np.array([links[int(k)] for k in keys])


def _translations(word: str, heads: Mapping[str, AbstractSet[str]]) -> set[str]:
    """Folded forms that the plugin knows as translations of an English word, or of a phrase with that head."""
    return set().union(*(heads.get(w, ()) for w in singulars(word)))


def model_scores(tokens: Tokenised, language: Language) -> Iterator[Scores | None]:
    """Scores of every pair in order by mtbias's own model; None where a side is empty or the entity is no token."""
    source, target = tokens.source, tokens.target
    table, null = train(source, target, known_pairs(tokens, language))
    for first, last in chunks(source, target):
        yield from _chunk_scores(tokens, table, null, first, last)


def _chunk_scores(
    tokens: Tokenised, table: Table, null: tuple[FloatArray, FloatArray], first: int, last: int
) -> Iterator[Scores | None]:
    source, target = tokens.source, tokens.target
    cells = cells_of(source, target, table.keys, first, last)
    if not len(cells.pair):
        yield from [None] * (last - first)
        return
    forward, backward = posteriors(cells, table, null, LAMBDA)
    link = np.sqrt(forward * backward)
    common = MAX_SHARE * len(target.lengths) / max(len(target.ids), 1)
    totals = table.source_totals[cells.source_type] + table.target_totals[cells.target_type]
    lexicon = 2 * table.counts[cells.pair] / np.maximum(totals, 1e-12)
    start = 0
    for k in range(first, last):
        rows, columns = int(source.lengths[k]), int(target.lengths[k])
        block = slice(start, start + rows * columns)
        start += rows * columns
        begin, head = tokens.heads[k]
        if head < 0 or not columns:
            yield None
            continue
        at = slice(block.start + head * columns, block.start + (head + 1) * columns)
        entity = forward[block].reshape(rows, columns)[begin : head + 1].sum(axis=0)
        others = link[block].reshape(rows, columns).copy()
        others[begin : head + 1] = 0.0
        words = target.ids[target.offsets[k] : target.offsets[k + 1]]
        yield Scores(link[at], entity, lexicon[at], others.max(axis=0), null[1][words] <= common)


def project(pair: Pair, tokens: Sequence[SurfaceToken], scores: Scores | None, language: Language) -> Alignment:
    """The target words that render the entity: the anchor first, then the rest of its phrase in text order."""
    number = english_number(pair)
    if scores is None:
        return Alignment(pair.id, (), None)
    words = _entity_translations(pair.entity, language)
    readings = [language.noun(t.text) for t in tokens]
    known = np.array([_translates(t, r, words, language) for t, r in zip(tokens, readings, strict=True)], bool)
    total = 0.5 * scores.link + 0.5 * scores.lexicon + 0.5 * known
    anchor = int(total.argmax())
    free = scores.explained < MAX_EXPLAINED
    people = np.array([any(r.kind is not NounKind.FIXED for r in rs) for rs in readings], bool) & free
    if total[anchor] < SURE_SCORE and people.any() and not (readings[anchor] or known[anchor]):
        anchor = int(np.where(people, total, -1.0).argmax())
    if total[anchor] < MIN_SCORE:
        derived = None if people.any() else _derived(tokens, words)
        if derived is not None:
            return Alignment(pair.id, (tokens[derived].span,), DERIVED, number)
        return _left_over(pair.id, tokens, scores, people, number)
    near = people.copy()
    kinds = {r.kind for r in readings[anchor]}
    if known[anchor] and not kinds <= {NounKind.FIXED}:
        # A person is found: whoever stands before it is somebody else, but in "médica forense".
        near[: anchor - 1 if kinds == {NounKind.COMMON} and anchor else len(near)] = False
    members = _phrase(anchor, scores, known & free, near)
    spans = [tokens[anchor].span, *(tokens[j].span for j in members if j != anchor)]
    copied = pair.head is not None and tokens[anchor].form == pair.source[pair.head.start : pair.head.end].lower()
    others = [tokens[j].span for j in np.argsort(-total, kind="stable") if people[j] and j not in members]
    basis = _basis(scores, anchor, known=bool(known[anchor]))
    return Alignment(pair.id, tuple(spans), basis, number, copied, tuple(others[:MAX_OTHERS]))


def _entity_translations(entity: str, language: Language) -> frozenset[str]:
    """Folded forms that the plugin knows as translations of the entity, as a phrase or by its head."""
    modifiers, _, head = entity.rpartition(" ")
    known = language.glossary
    whole = (known.get(f"{modifiers} {w}".strip(), frozenset()) for w in singulars(head))
    return frozenset().union(*whole, *(known.get(w, frozenset()) for w in singulars(head)))


def english_number(pair: Pair) -> str | None:
    """``sg`` or ``pl`` by the form of the entity's head word; None without a head."""
    if pair.head is None:
        return None
    return "pl" if is_plural(pair.source[pair.head.start : pair.head.end]) else "sg"


def _translates(
    token: SurfaceToken, readings: Sequence[NounReading], words: AbstractSet[str], language: Language
) -> bool:
    """Whether `token`, or the noun that it is a compound or derivation of, is among the known translations."""
    known = any(base in words for _, base in language.bases(token.form))
    return known or any(language.fold(r.lemma) in words for r in readings)


def _derived(tokens: Sequence[SurfaceToken], words: AbstractSet[str]) -> int | None:
    """The word that shares the longest beginning, of `MIN_STEM` letters or more, with a known translation."""
    shared = [max((_common(t.form, word) for word in words), default=0) for t in tokens]
    best = max(range(len(shared)), key=lambda n: (shared[n], -n), default=None)
    return best if best is not None and shared[best] >= MIN_STEM else None


def _common(form: str, word: str) -> int:
    """Length of the common beginning of two words, 0 where it is under three fifths of either."""
    length = next((n for n, (a, b) in enumerate(zip(form, word, strict=False)) if a != b), min(len(form), len(word)))
    return length if 5 * length >= 3 * max(len(form), len(word)) else 0


def _left_over(
    ident: str, tokens: Sequence[SurfaceToken], scores: Scores, people: NDArray[np.bool_], number: str | None
) -> Alignment:
    """The noun for people that no other source word explains, else such a content word, at the likeliest place.

    What only stands there because nothing else wants it is decided only if it is a noun for people.
    """
    free = people if people.any() else scores.rare & (scores.explained < MAX_EXPLAINED)
    if not free.any():
        return Alignment(ident, (), None)
    best = int(np.where(free, scores.link, -1.0).argmax())
    return Alignment(ident, (tokens[best].span,), ELIMINATION, number)


def _basis(scores: Scores, anchor: int, *, known: bool) -> str:
    linked = scores.link[anchor] >= MIN_BELONGS
    if linked:
        return "links+lexicon" if known or scores.lexicon[anchor] >= MIN_SCORE else "links"
    return "lexicon"


def _phrase(anchor: int, scores: Scores, known: NDArray[np.bool_], people: NDArray[np.bool_]) -> list[int]:
    """Indices of the words around the anchor that belong to the entity.

    So does a noun for people before it, parted from it by function words at most, that no other source word explains
    (``empleado de la empresa``).
    """
    members = [anchor]
    for step in (-1, 1):
        j, gap, functional = anchor + step, 0, True
        while 0 <= j < len(known) and gap <= MAX_GAP:
            before = step < 0 and functional and people[j]
            if scores.belongs[j] >= MIN_BELONGS or (gap == 0 and known[j]) or before:
                members.append(j)
                gap = 0
            else:
                gap += 1
                functional = functional and not scores.rare[j]
            j += step
    return sorted(members)
