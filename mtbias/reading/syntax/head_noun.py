"""The head of the entity's noun phrase among the aligned words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtbias.language.grammar import NounKind
from mtbias.reading.rules import rule
from mtbias.reading.words import NOMINAL, VERBAL, SentenceWord
from mtbias.types import Span

if TYPE_CHECKING:
    from mtbias.reading.syntax.base import Syntax


def find_head(
    syntax: Syntax,
    words: Sequence[SentenceWord],
    target: Sequence[Span],
    *,
    sure: bool,
    qualified: bool = False,
    translations: Sequence[Span] = (),
) -> int | None:
    """Index of the head among the aligned words, or None where the spans meet no word.

    The first noun of the phrase is its head in all families that ship with mtbias (genitives,
    complements and second parts of construct compounds follow it, adjectives are not nouns): first
    a noun for people that the plugin knows, then what the tagger calls a noun, then, where the
    alignment is `sure`, a noun that follows the aligned article, numeral or preposition, then the
    anchor itself. A form of address, an adjective or a determiner that could stand alone gives way
    to its noun behind it.

    Args:
        syntax: that of the language.
        words: those of the translation.
        target: the aligned words, the surest (the anchor) first.
        sure: the alignment is believed even where the tagger sees no noun.
        qualified: something qualifies the entity in the source.
        translations: the words that are known to translate the entity.
    """
    aligned = sorted({n - words[n].compound for n in overlapping(words, target)})
    if not aligned:
        return None
    anchor = overlapping(words, target[:1])[0]
    anchor -= words[anchor].compound
    translates = syntax.trusts_translations and words[anchor].span in translations
    aligned = _in_clause_of(words, aligned, anchor)
    known = _known(words, aligned, anchor, syntax, translates=translates)
    if not known:
        # it "i primitivi haitiani", where the tagger takes the second word for the noun.
        head = anchor if translates else _tagged_head(words, aligned, anchor, sure=sure)
        return head if head == anchor else syntax.starts_construct(words, head)
    head = _first_known(words, known, anchor, translations, translates=translates)
    # What translates the entity's qualifier alone is one all the same (es "títulos nacionales
    # australianos" for *Australian women's titles*).
    qualifier = qualified and words[head].span in translations
    if not qualifier and syntax.only_qualifies(words, head, sure=sure):
        return None
    if syntax.is_attribute_of_fixed(words, head):
        return head - 1
    alone = _is_noun_by_itself(words[head], syntax, translations)
    if not alone and syntax.belongs_to_next(words, head, aligned):
        return head + 1
    return head + 1 if syntax.qualifies_next(words, head, translations) else head


def overlapping(words: Sequence[SentenceWord], spans: Sequence[Span]) -> list[int]:
    """Indices of the words that share a character with one of `spans`."""
    return [n for n, word in enumerate(words) if any(map(word.span.overlaps, spans))]


def _in_clause_of(words: Sequence[SentenceWord], aligned: list[int], anchor: int) -> list[int]:
    """Where the table knows the anchor, the aligned words without those that a verb parts from it
    before it.
    """
    if not words[anchor].readings:
        return aligned
    return [n for n in aligned if n >= anchor or not _verb_between(words, n, anchor)]


def _verb_between(words: Sequence[SentenceWord], n: int, anchor: int) -> bool:
    return any(word.tags & VERBAL for word in words[n + 1 : anchor])


def _known(
    words: Sequence[SentenceWord],
    aligned: Sequence[int],
    anchor: int,
    syntax: Syntax,
    *,
    translates: bool,
) -> list[int]:
    """The aligned nouns for people that the table knows."""
    in_table = [n for n in aligned if words[n].readings]
    known = [n for n in in_table if n == anchor or not reads_as_verb(words[n])]
    # What agrees with a noun is none: es "varias personas resultaron heridas".
    either = syntax.attributes_either_side
    nominal = [n for n in known if words[n].tags & NOMINAL] if either else []
    telling = [n for n in nominal or known if words[n].is_personal]
    translation = [anchor] if translates and words[anchor].is_personal else []
    personal = telling + translation
    return [n for n in known if n in personal or not yields_to_telling(n, telling)]


@rule()
def reads_as_verb(word: SentenceWord) -> bool:
    """A form of the table that the tagger reads as a verb is no noun here: ar *طبخ الطباخ* "the
    cook cooked", ru *обслуживающий* in *обслуживающий персонал*.

    The anchor may be one all the same: taggers read he *לעד* of *לעד הראייה* as a verb.
    """
    return bool(word.tags & {"VERB", "ADP", "AUX"})


@rule()
def yields_to_telling(n: int, telling: Sequence[int]) -> bool:
    """A noun of fixed gender yields to one that tells (ar *حلاقة الشعر … مصفف الشعر* "the haircut
    … the hairdresser"), except right before it: there it is the head and the other its attribute
    (it *guardia giurata*).
    """
    return bool(telling) and n + 1 not in telling


def _first_known(
    words: Sequence[SentenceWord],
    known: Sequence[int],
    anchor: int,
    translations: Sequence[Span],
    *,
    translates: bool,
) -> int:
    """The first of the known nouns (es *médica forense*, where the links are surest at the second);
    but none that may be the adjective of the word that alone is known to translate the entity.
    """
    if anchor not in known:
        return known[0]
    if translates:
        others = [n for n in known if words[n].span not in translations]
        adjectives = [n for n in others if may_be_adjective_of_next(words[n])]
        known = [n for n in known if n not in adjectives]
    return _first_of(words, known, anchor)


@rule()
def may_be_adjective_of_next(word: SentenceWord) -> bool:
    """A form of common gender (it *giovane ufficiale*), or a man's noun that is a thing, too (pt
    *minha cara cientista*, where the tagger reads a noun and an adjective), is the adjective of the
    noun behind it that translates the entity.
    """
    kinds = {reading.kind for reading in word.readings}
    return kinds == {NounKind.COMMON} or (word.may_be_thing and NounKind.FEMININE not in kinds)


def _is_noun_by_itself(word: SentenceWord, syntax: Syntax, translations: Sequence[Span]) -> bool:
    """A form of address that translates the entity (it *la prima donna eletta* for *woman*)."""
    language = syntax.language
    title = word.form in language.names or word.form in language.sex_adjectives
    return title and word.span in translations


def _tagged_head(
    words: Sequence[SentenceWord], aligned: Sequence[int], anchor: int, *, sure: bool
) -> int:
    """The head among words that the plugin does not know: the tagger's noun, else the anchor."""
    nouns = [n for n in aligned if words[n].tags & NOMINAL]
    # he מנהל המערכת "the system's administrator": the links are surest at המערכת, a thing.
    if anchor in nouns:
        return _first_of(words, nouns, anchor)
    # The anchor belongs to a noun before it, or to one behind it in the same case.
    for n in nouns:
        if n < anchor or words[anchor].has_case_of(words[n]):
            return n
    following = _noun_behind_function_word(words, anchor) if sure else None
    return anchor if following is None else following


def _noun_behind_function_word(words: Sequence[SentenceWord], anchor: int) -> int | None:
    """The noun of the phrase that an aligned article, preposition or adjective opens (uk
    *обслуговуюча особа*); three words are room for a numeral, an adjective and the noun.

    A verb is followed by its object (es *Pidió al gerente*, where the cleaner is left out). Behind
    a content word a preposition opens another phrase (it *luogotenente dell'Hertfordshire*).
    """
    if words[anchor].tags & VERBAL:
        return None
    functional = words[anchor].tags <= {"ADP", "DET", "NUM", "PRON"}
    for n in range(anchor + 1, min(anchor + 4, len(words))):
        if not words[n].joined or ("ADP" in words[n].tags and not functional):
            return None
        if words[n].is_noun:
            return n
        if not words[n].tags & {"DET", "ADJ", "NUM", "ADP"}:
            return None
    return None


def _first_of(words: Sequence[SentenceWord], candidates: Sequence[int], anchor: int) -> int:
    """The first of the nouns that come before the anchor with nothing but function words and
    adjectives between; beyond a comma is another phrase (ar *تحت حماية عاهل المنطقة، أسس…*).
    """
    first = anchor
    for n in sorted((n for n in candidates if n < anchor), reverse=True):
        joined = all(word.joined for word in words[n + 1 : first + 1])
        if not (joined and all(map(_is_filler, words[n + 1 : first]))):
            break
        first = n
    return first


def _is_filler(word: SentenceWord) -> bool:
    return bool(word.compound or word.tags & {"ADP", "DET", "ADJ", "NUM", "PART"})
