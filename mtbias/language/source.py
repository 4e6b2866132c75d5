"""The language of the sources: its words, and the English nouns by which the tables of all
languages have them.

Two tables join on these: de *Geschäftsführerin* → *director* → es *directora*. What alignment may
know of English sentences beside that, it is not asked of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from unicodedata import category

from mtbias.english.gender_swap import gendered_words, word_gender
from mtbias.english.words import (
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    QUANTIFIERS,
    SourceWord,
    count_pronouns,
    english_words,
    is_plural,
    singulars,
)
from mtbias.entry_points import installed
from mtbias.errors import SettingError
from mtbias.language.definition import Language
from mtbias.language.grammar import ANY, Agreement, NounKind, NounReading, meet
from mtbias.language.installed import GROUP, get_language, is_language_code
from mtbias.types import Gender, Span

ENGLISH_CODE = "en"

_ADJECTIVES_BEFORE = ("slavic", "germanic")
"""Families whose attributive adjectives come before their noun."""
_ADJECTIVES_ON_BOTH_SIDES = ("romance",)
_WORD = re.compile(r"\S+")
_IN_LIST = re.compile(
    r"\s*(?:,\s*(?:and|or)?|and|or)\s+(?:(?:the|an?)\s+)?(?:[\w-]+\s+)?", re.IGNORECASE
)
"""Text between two nouns of a list: a comma, *and*, *or*, an article, one word that qualifies the
second."""


class SourceLanguage:
    """A language of sources; by itself, only how its words are separated is known."""

    quantifiers: frozenset[str] = frozenset()
    """Words that may stand for people without a noun."""

    def __init__(self, code: str) -> None:
        """`code` is that of ISO 639."""
        self.code = code

    @property
    def signature(self) -> str:
        """``de/1a2b3c4d``, code and version of the plugin; ``sw/none`` without one."""
        return f"{self.code}/none"

    def words(self, text: str) -> tuple[SourceWord, ...]:
        """The stretches between blanks in `text`, in order, without punctuation around them."""
        spans = (_without_edges(text, Span(*match.span())) for match in _WORD.finditer(text))
        return tuple(
            SourceWord(s, text[slice(*s)], text[slice(*s)].lower())
            for s in spans
            if s.start < s.end
        )

    def nouns(self, entity: str) -> Sequence[str]:
        """The English nouns by which the tables may have a word, or the first known word of a
        phrase.
        """
        del entity
        return ()

    def wider_nouns(self, entity: str) -> Sequence[str]:
        """The English nouns of what the word is made of (de *Umzugshelfer*: *helper*)."""
        del entity
        return ()

    def may_be_noun(self, word: SourceWord) -> bool:
        """Whether `word` is written as a noun may be."""
        del word
        return True

    def may_be_name(self, word: SourceWord) -> bool:
        """Whether `word`, right behind the entity, is written as a name is."""
        return word.text[:1].isupper()

    def bases(self, form: str) -> frozenset[str]:
        """Forms of the noun that a word may be a form of: words of one noun share one."""
        return frozenset((form,))

    def stem(self, form: str) -> str:
        """A folded form as the aligner counts it."""
        return form

    def head(self, phrase: Sequence[str]) -> int:
        """Which word of an entity's `phrase` is its head."""
        return len(phrase) - 1

    def pronouns(self, text: str) -> int | None:
        """How many gendered pronouns of the third person a sentence has; None where they are not
        counted.
        """
        del text
        return None

    def bare(self, text: str, span: Span) -> Span:
        """The word at `span` without what is written on before it."""
        del text
        return span

    def number(self, noun: str, before: str) -> str | None:
        """``sg`` or ``pl`` where the form of the `noun` tells, or the folded form `before` the
        entity.
        """
        del noun, before
        return None

    def may_qualify(self, word: SourceWord) -> bool:
        """Whether `word` may qualify the noun right behind it."""
        del word
        return False

    def is_attribute(self, word: SourceWord) -> bool:
        """Whether `word`, right before the entity, is taken for a part of its phrase, beside
        determiners.
        """
        return self.may_qualify(word)

    def gender(self, word: str) -> Gender | None:
        """The gender that a word means by itself (*female*, de *weibliche*)."""
        del word
        return None

    def is_adverb(self, word: SourceWord) -> bool:
        """Whether `word`, right behind the entity, is surely an adverb."""
        del word
        return False

    def lists(self, gap: str) -> bool:
        """Whether what comes between two nouns makes them neighbours in a list."""
        return gap.strip() == ","


def _without_edges(text: str, span: Span) -> Span:
    """`span` from its first letter, mark or digit to its last: hi *डॉक्टर* ends in a vowel sign."""
    inner = [n for n in range(*span) if category(text[n])[0] in "LMN"]
    return Span(inner[0], inner[-1] + 1) if inner else Span(span.start, span.start)


class TableSource(SourceLanguage):
    """A language with a table of nouns for people."""

    def __init__(self, language: Language) -> None:
        """The language of a plugin."""
        super().__init__(language.code)
        self._language = language
        self._english: dict[str, dict[str, None]] = {}
        """Folded form → the English nouns that it may translate."""
        for english, forms in language.glossary.items():
            for form in forms:
                self._english.setdefault(form, {})[english] = None
        self._tokens = lru_cache(maxsize=1)(language.tokens)  # as `english_words`

    @property
    def signature(self) -> str:
        """See `SourceLanguage`."""
        return f"{self.code}/{self._language.version or 'none'}"

    def words(self, text: str) -> tuple[SourceWord, ...]:
        """See `SourceLanguage`."""
        return tuple(SourceWord(*token) for token in self._tokens(text))

    def nouns(self, entity: str) -> Sequence[str]:
        """See `SourceLanguage`; a form has those of all its nouns, of men and of women."""
        words = entity.split()
        return self._word_nouns(words[self.head(words)]) if words else ()

    def wider_nouns(self, entity: str) -> Sequence[str]:
        """See `SourceLanguage`."""
        parts = (self._language.derived(self._cased(word)) for word in entity.split())
        readings = chain.from_iterable(parts)
        return self._english_nouns(self._language.fold(reading.lemma) for reading in readings)

    def _word_nouns(self, word: str) -> Sequence[str]:
        language = self._language
        readings = language.noun(self._cased(word))
        if all(reading.kind is NounKind.THING for reading in readings):
            return ()
        by_form = self._english_nouns(base for _, base in language.bases(language.fold(word)))
        return by_form or self._english_nouns(language.fold(r.lemma) for r in readings)

    def _english_nouns(self, forms: Iterable[str]) -> Sequence[str]:
        """The English nouns of all these folded forms, each once."""
        nouns = chain.from_iterable(self._english.get(form, ()) for form in forms)
        return tuple(dict.fromkeys(nouns))

    def _cased(self, word: str) -> str:
        """A noun as it is written: an entity is named in lower case."""
        return word[:1].upper() + word[1:] if self._language.compounds else word

    def may_be_noun(self, word: SourceWord) -> bool:
        """A capital, where nouns have one: de *alte* is an adjective, *Alte* somebody."""
        return not (self._language.compounds and word.text[:1].islower())

    def may_be_name(self, word: SourceWord) -> bool:
        """Not where every noun has a capital."""
        return not self._language.compounds and super().may_be_name(word)

    def bases(self, form: str) -> frozenset[str]:
        """The form, and its lemmas."""
        readings = self._language.noun(self._cased(form))
        return frozenset((form, *(self._language.fold(reading.lemma) for reading in readings)))

    def stem(self, form: str) -> str:
        """See `SourceLanguage`."""
        return self._language.stem(form)

    def head(self, phrase: Sequence[str]) -> int:
        """The first word that is known (es *obrero de la construcción*) and no adjective of the
        known one behind it (de *junge Ärztin*, though *Junge* is a boy), else the last.
        """
        known = [n for n, word in enumerate(phrase) if self._word_nouns(word)]
        for n in known:
            if n + 1 not in known or not self._agrees(phrase[n], phrase[n + 1]):
                return n
        return super().head(phrase)

    def _agrees(self, word: str, noun: str) -> bool:
        """Whether `word` may be an adjective of the noun behind it; in Romance the second of two is
        the adjective.
        """
        language = self._language
        if language.family not in _ADJECTIVES_BEFORE:
            return False
        return bool(meet(language.adjective(word), self._agreements(self._cased(noun))))

    def _agreements(self, noun: str) -> list[Agreement]:
        """What the readings of a noun agree with; an unknown noun agrees with anything."""
        genders = {NounKind.MASCULINE: "m", NounKind.FEMININE: "f"}
        agreements = []
        for reading in self._language.noun(noun) or (NounReading(noun, NounKind.COMMON, ()),):
            for allowed in reading.agreements or (ANY,):
                gender = genders.get(reading.kind, allowed.gender)
                agreements.append(allowed._replace(gender=gender))
        return agreements

    def bare(self, text: str, span: Span) -> Span:
        """Without an elided article (fr *l'avocate*)."""
        tokens = self._language.tokens(text[slice(*span)])
        elided = len(tokens) == 2 and tokens[0].form in self._language.elisions
        return Span(span.start + tokens[1].span.start, span.end) if elided else span

    def number(self, noun: str, before: str) -> str | None:
        """By the readings of the noun that fit the determiner before it."""
        determiner = self._language.determiners.get(before, (ANY,))
        numbers = {a.number for a in meet(self._agreements(noun), determiner)}
        return numbers.pop() if numbers in ({"sg"}, {"pl"}) else None

    def may_qualify(self, word: SourceWord) -> bool:
        """A word that ends like an adjective, where adjectives come before their noun."""
        language = self._language
        functional = word.form in language.determiners or word.form in language.prepositions
        before = language.family in (*_ADJECTIVES_BEFORE, *_ADJECTIVES_ON_BOTH_SIDES)
        return before and not functional and bool(language.adjective(word.text))

    def gender(self, word: str) -> Gender | None:
        """See `SourceLanguage`."""
        letter = self._language.sex_adjectives.get(self._language.fold(word))
        return {"m": Gender.MALE, "f": Gender.FEMALE}.get(letter or "")


class English(SourceLanguage):
    """English, by whose nouns the tables are sorted."""

    quantifiers = QUANTIFIERS

    def words(self, text: str) -> tuple[SourceWord, ...]:
        """See `SourceLanguage`; clitics are split off."""
        return english_words(text)

    def bases(self, form: str) -> frozenset[str]:
        """The word, and what it may be the plural of."""
        return frozenset(singulars(form))

    def number(self, noun: str, before: str) -> str | None:
        """By the form of the noun."""
        del before
        return "pl" if is_plural(noun) else "sg"

    def may_qualify(self, word: SourceWord) -> bool:
        """No determiner, preposition or conjunction. A verb is taken for a qualifier, for nothing
        says what is one.
        """
        return word.form not in DETERMINERS | PREPOSITIONS | CONJUNCTIONS

    def is_attribute(self, word: SourceWord) -> bool:
        """What is not a determiner."""
        return word.form not in DETERMINERS

    def gender(self, word: str) -> Gender | None:
        """See `mtbias.english.gender_swap.word_gender`."""
        return word_gender(word)

    def is_adverb(self, word: SourceWord) -> bool:
        """A word in *-ly*: no name (*July*), and no noun, verb or adjective of the tables for *her*
        (*family*, *rely*,
        *friendly*).
        """
        her = gendered_words().her
        adverbial = word.text.islower() and word.text.endswith("ly")
        return adverbial and word.text not in her["noun_before"] | her["bare_verbs"]

    def pronouns(self, text: str) -> int | None:
        """See `mtbias.english.words.count_pronouns`."""
        return count_pronouns(text)

    def lists(self, gap: str) -> bool:
        """See `_IN_LIST`."""
        return bool(_IN_LIST.fullmatch(gap))


ENGLISH = English(ENGLISH_CODE)


def source_language(code: str) -> SourceLanguage:
    """The language of sources `code`; it need not be installed.

    Raises:
        SettingError: it is not a code of a language.
        PluginError: a plugin registers it, and fails to load.
    """
    if code == ENGLISH_CODE:
        return ENGLISH
    if code in installed(GROUP):
        return TableSource(get_language(code))
    if not is_language_code(code):
        raise SettingError(
            "source_lang", f"expected the code of a language, such as de, got {code!r}"
        )
    return SourceLanguage(code)


@cache
def english_name(code: str) -> str:
    """The English name of a language: of its plugin, else Stanza's, else its code.

    It is kept, since looking up a plugin takes 3 ms.

    Raises:
        UsageError: it is not a code of a language.
    """
    if code == ENGLISH_CODE:
        return "English"
    if code in installed(GROUP) or not is_language_code(code):
        return get_language(code).name
    from stanza.models.common.constant import lcode2lang

    return str(lcode2lang.get(code, code)).replace("_", " ")


def refuse_same(code: str, langs: Collection[str]) -> None:
    """Refuse translations into the language of the sources.

    Raises:
        SettingError: `code`, that of the sources, is among those of the translations.
    """
    if code in langs:
        raise SettingError(
            "source_lang",
            f"expected another language than that of the translations, got {code} for both",
        )
