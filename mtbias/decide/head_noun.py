"""The head of the entity's noun phrase among the words that the aligner found."""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.decide.sentence_words import (
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    word_before,
    word_behind,
)
from mtbias.language.definition import Language
from mtbias.language.grammar import NounKind
from mtbias.types import Span


def find_head(
    words: Sequence[SentenceWord],
    target: Sequence[Span],
    language: Language,
    *,
    sure: bool = True,
    qualified: bool = False,
    translations: Sequence[Span] = (),
) -> int | None:
    """Index of the head among the aligned words, or None where the spans meet no word.

    The first noun of the phrase is its head in all languages that ship with mtbias (genitives,
    complements and second parts of construct compounds follow it, adjectives are no nouns): first a
    noun for people that the plugin knows, then what the tagger calls a noun, then, where the
    alignment is `sure`, a noun that follows the aligned article, numeral or preposition, then the
    anchor itself. A form of address, an adjective or a determiner that could stand alone gives way
    to its noun behind it; `translations` are the words that are known to translate the entity.
    """
    aligned = sorted({n - words[n].compound for n in _overlapping(words, target)})
    if not aligned:
        return None
    anchor = _overlapping(words, target[:1])[0]
    anchor -= words[anchor].compound
    if words[anchor].readings:
        aligned = [
            n
            for n in aligned
            if n >= anchor or not any(w.tags & VERBAL for w in words[n + 1 : anchor])
        ]
    # A form of the table that the tagger reads as a verb is no noun here (ar طبخ الطباخ "the cook
    # cooked", ru обслуживающий in обслуживающий персонал). The anchor may be one all the same:
    # taggers read he לעד of לעד הראייה "to the eyewitness" as a verb.
    known = [
        n
        for n in aligned
        if words[n].readings and (n == anchor or not words[n].tags & {"VERB", "ADP", "AUX"})
    ]
    # A noun of fixed gender yields to one that tells (ar حلاقة الشعر … مصفف الشعر "the haircut …
    # the hairdresser"), except right before it: there it is the head and the other its attribute
    # (it *guardia giurata*). What agrees with it is none either: es "varias personas resultaron
    # heridas", though heridas may be women.
    nominal = (
        [n for n in known if words[n].tags & NOMINAL]
        if language.preposed and language.postposed
        else []
    )
    # In the Romance languages the links' surest word is kept where it is known to translate the
    # entity.
    translates = language.either_side and words[anchor].span in translations
    telling = [n for n in nominal or known if words[n].is_personal]
    # it "la nuova ufficiale sanitaria capo", where the tagger takes the first two for adjectives.
    kept = telling + [anchor] * (translates and words[anchor].is_personal)
    known = [n for n in known if n in kept or n + 1 in telling or not telling]
    if not known:
        # it "i primitivi haitiani" for *the Haitian primitives*, where the tagger takes the second
        # word for the noun.
        head = anchor if translates else _tagged_head(words, aligned, anchor, sure=sure)
        return head if head == anchor else _construct_start(words, head, language)
    # es "médica forense", "técnicas auxiliares": the links are surest at the second word, the head
    # is the first. Not where the second alone is known to translate the entity, and the first shows
    # no gender: it "giovane ufficiale".
    silent = [n for n in known if {r.kind for r in words[n].readings} == {NounKind.COMMON}]
    first = [n for n in known if words[n].span in translations or n not in silent or not translates]
    head = _first_of(words, first, anchor) if anchor in known else known[0]
    # es "un bello chico", "los futuros maridos": taggers read the adjective before its noun as the
    # noun. Without the rule ten calls of WinoMT are called a woman at "economía mecánica"; without
    # its exception three of 764 persons of MT-GenEval are not found.
    # What translates the entity's qualifier alone is one all the same (es "títulos nacionales
    # australianos" for
    # *Australian women's titles*).
    noun = qualified and words[head].span in translations
    if not noun and _only_qualifies(words, head, language, sure=sure):
        return None
    if _attribute_of_fixed(words, head, language):
        return head - 1
    # it "la prima donna eletta": for *woman* the form of address is the noun.
    named = (
        words[head].form in {*language.names, *language.sex_adjectives}
        and words[head].span in translations
    )
    if not named and _belongs_to_next(words, head, aligned, language):
        return head + 1
    return head + 1 if _qualifies_next(words, head, language, translations) else head


def _qualifies_next(
    words: Sequence[SentenceWord], n: int, language: Language, translations: Sequence[Span]
) -> bool:
    """An adjective that would translate the entity with its qualifier (it *vecchia* "old woman"),
    before the noun that translates it alone.
    """
    noun = word_behind(words, n)
    if noun is None or not language.preposed:
        return False
    # Where nouns show no case the second word may be the adjective (es *estudiante universitario*).
    known = "NOUN" in noun.tags or (noun.is_noun and bool(language.prepositions))
    cases, others = (feature_values(word.tagged, "Case") for word in (words[n], noun))
    # ru "Военный солдатке приказал": in another case it is somebody else. "Other" names nobody (cs
    # *ostatní lidé*).
    together = not cases or not cases.isdisjoint(others) or not words[n].is_personal
    attribute = bool(words[n].tags) and words[n].tags <= {"ADJ", "DET"} and together
    return known and noun.span in translations and attribute


def _attribute_of_fixed(words: Sequence[SentenceWord], n: int, language: Language) -> bool:
    """A noun for people right behind one whose gender is nobody's: its adjective (es *las personas
    refugiadas*, *la parte demandante*, it *l'impresa costruttrice*). Only where adjectives stand on
    either side and nouns show no case.
    """
    noun = word_before(words, n)
    return (
        noun is not None and language.either_side and bool(noun.readings) and not noun.is_personal
    )


def _overlapping(words: Sequence[SentenceWord], spans: Sequence[Span]) -> list[int]:
    """Indices of the words that share a character with one of `spans`."""
    return [n for n, word in enumerate(words) if any(map(word.span.overlaps, spans))]


def _tagged_head(
    words: Sequence[SentenceWord], aligned: Sequence[int], anchor: int, *, sure: bool
) -> int:
    """The head among words of which the plugin knows none: the tagger's noun, else the anchor."""
    nouns = [n for n in aligned if words[n].tags & NOMINAL]
    # he מנהל המערכת "the system's administrator": the links are surest at המערכת, a thing and
    # feminine.
    if anchor in nouns:
        return _first_of(words, nouns, anchor)
    # The anchor is no noun but belongs to one: to one before it, or to one behind it in the same
    # case.
    for n in nouns:
        if n < anchor or words[anchor].has_case_of(words[n]):
            return n
    # Links may stop at the article or preposition, or at an adjective (uk обслуговуюча особа
    # "attending person"). But behind a verb stands its object (es "Pidió al gerente", where the
    # cleaner is left out), and an unsure word may stand before anything. Three words are room for a
    # numeral, an adjective and the noun. Behind a content word a preposition opens another phrase
    # (it "luogotenente dell'Hertfordshire", where the tagger reads an adjective).
    if sure and not words[anchor].tags & VERBAL:
        functional = words[anchor].tags <= {"ADP", "DET", "NUM", "PRON"}
        for n in range(anchor + 1, min(anchor + 4, len(words))):
            if not words[n].joined or ("ADP" in words[n].tags and not functional):
                break
            if words[n].is_noun:
                return n
            if not words[n].tags & {"DET", "ADJ", "NUM", "ADP"}:
                break
    return anchor


def _first_of(words: Sequence[SentenceWord], candidates: Sequence[int], anchor: int) -> int:
    """The first of the nouns that stand before the anchor with nothing but function words and
    adjectives between.
    """
    first = anchor
    for n in sorted((n for n in candidates if n < anchor), reverse=True):
        between = all(
            w.compound or w.tags & {"ADP", "DET", "ADJ", "NUM", "PART"}
            for w in words[n + 1 : first]
        )
        # ar تحت حماية عاهل المنطقة، أسس…: beyond a comma is another phrase.
        if not between or not all(w.joined for w in words[n + 1 : first + 1]):
            break
        first = n
    return first


def _construct_start(words: Sequence[SentenceWord], n: int, language: Language) -> int:
    """The noun of which the one at `n` is the genitive (ar *عاهل* in *عاهل المنطقة* "lord of the
    region"), else `n`.
    """
    before = word_before(words, n)
    if before is None or not language.construct:
        return n
    bare = "NOUN" in before.tags and not before.readings and not language.is_definite(before.form)
    return n - 1 if bare and "PRON" not in before.tags else n


def _only_qualifies(
    words: Sequence[SentenceWord], n: int, language: Language, *, sure: bool
) -> bool:
    """An adjective of a noun for no person before it (it *economia meccanica*, ar *شيء ميكانيكي*):
    it renders nobody. Other adjectives may stand between them.
    """
    # Only in languages without case whose adjectives follow. In Arabic and Hebrew an adjective has
    # its noun's article, and the tagger takes many a noun for one: there only where the alignment
    # is not `sure`.
    if n == 0 or not words[n].joined or not language.postposed or language.prepositions:
        return False
    word, first = words[n], n - 1
    while (
        first > 0
        and words[first].joined
        and words[first].is_adjective
        and not words[first].readings
    ):
        # it "chiese un favore all’impiegato", where the tagger reads an adjective.
        if words[first].form in language.determiners:
            break
        first -= 1
    noun = words[first]
    if not language.preposed and (sure or not language.same_definiteness(noun.form, word.form)):
        return False
    if not word.is_adjective or noun.readings or "NOUN" not in noun.tags:
        return False
    return all(
        {w.feat(f) for w in word.content} == {w.feat(f) for w in noun.content}
        for f in ("Gender", "Number")
    )


def _belongs_to_next(
    words: Sequence[SentenceWord], n: int, aligned: Sequence[int], language: Language
) -> bool:
    """A determiner or adjective that could also stand alone (es *algunas*, ru *обслуживающий*),
    with its noun behind it.
    """
    following = word_behind(words, n)
    if following is None or not following.is_noun:
        return False
    # The table has some of them as nouns too: ar أحد in أحد الأشخاص "one of the persons", cs paní
    # in paní účetní.
    if words[n].form in language.determiners or words[n].form in language.names:
        return True
    # es "mujeres policía", it "uomini medici".
    if language.either_side and words[n].form in language.sex_adjectives and following.is_personal:
        return True
    # de "die General Managerin": a compound that is written apart.
    if language.compounds and n + 1 in aligned and words[n].tags & following.tags & NOMINAL:
        return following.is_personal
    # "Attending personnel", "suspected person" (ru обслуживающий персонал, uk підозрювана особа):
    # the participle alone would be a man or a woman, the noun behind it is of fixed gender. Where
    # that noun tells, it must be aligned too: otherwise it is somebody else (cs Strojvedoucí
    # inspektorce přísahal "the engine driver swore to the inspector"), unless an adjective agrees
    # with it in all.
    agreeing = (
        bool(language.prepositions) and words[n].tags == {"ADJ"} and words[n].agrees_with(following)
    )
    nobody_else = n + 1 in aligned or not following.is_personal or agreeing
    cased = bool(words[n].cases) and words[n].has_case_of(following)
    # uk "як доросла людина", where the tagger reads a verb ("has grown up to").
    attribute = (words[n].is_adjective and cased) or (
        words[n].tags == {"VERB"} and not following.is_personal
    )
    return (
        language.preposed
        and bool(following.readings)
        and nobody_else
        and attribute
        and "NOUN" in following.tags
    )
