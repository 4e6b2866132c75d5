"""Phrases that differ in gender alone, made from a language's tables: both are called by it, or
neither is.

A rule that works for men alone is a bias of the instrument. The nouns are taken evenly from the
table; each stands alone and beside each kind of evidence that the tables have: determiners, titles,
words that mean a woman or a man, adjectives, predicates. No models are needed: the words have a
part of speech and no features. What the tables have for one gender alone makes no pair (the
masculine adjective of Arabic has no ending).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import TypeVar

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, NounReading, SurfaceToken, shared_beginning
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.agreement import GENDER_OF_LETTER
from mtbias.reading.decision import decide
from mtbias.reading.syntax import syntax_of
from mtbias.types import (
    Alignment,
    Analysis,
    Candidate,
    GenderCall,
    Reason,
    SourceFacts,
    Token,
    Word,
    frozen,
)

_NOUNS = 40
"""Nouns of each kind beside which each evidence is tried."""
_ALONE = 400
"""Pairs of nouns that are tried without any."""
_EVIDENCE = 6
"""Pairs of words of each kind of evidence."""
_DETERMINER = "a determiner"
_WEAK_TAGS = ("ADJ", "VERB")
"""Parts of speech that taggers give to some nouns."""
_BEFORE, _BEHIND = "{word} {{}}", "{{}} {word}"
_ADVERBIAL = "the article of an adverbial"
_PREPOSITION = "a preposition like an article"
_OF_ANOTHER = (_ADVERBIAL, _PREPOSITION)
"""Evidence that does not belong to the noun."""
_RELATIVE = "a relative pronoun"
_BEHIND_MARK = "an adjective behind a mark"
_BEHIND_INSERTION = "a verb behind an insertion"
_PLACES = (*_OF_ANOTHER, _RELATIVE, _BEHIND_MARK, _BEHIND_INSERTION)
"""Evidence that differs by its place, beside which fewer nouns are tried."""
_ONE_IN = 4
"""One in so many nouns is tried beside these, and with weak tags."""
_INSERTIONS = (
    "{{{{}}}}, {0} {0}, {{word}}",
    "{{{{}}}} ({0}), {{word}}",
    "{{{{}}}} – {0} – {{word}}",
)
"""Insertions between a noun and its verb; ``{word}`` is the verb."""
_FRAMES = ("{}", "«{}»", "— {}.", "({})")
"""Contexts without a word of their own."""

_T = TypeVar("_T")
Forms = Mapping[str, str]
"""Gender (m, f) → a form, or a phrase with ``{}`` for the noun."""


@frozen
class PairOutcome:
    """One pair of phrases with the calls on its nouns."""

    evidence: str
    texts: Forms
    calls: Mapping[str, GenderCall]

    @property
    def is_silent(self) -> bool:
        """Nothing in the phrases shows a gender: a noun of one form behind the article of another
        word.
        """
        return self.evidence in _OF_ANOTHER and self.texts["m"] == self.texts["f"]

    def right(self, gender: str) -> bool:
        """The phrase of `gender` (m or f) is called by it, and a silent one is not called."""
        expected = None if self.is_silent else GENDER_OF_LETTER[gender]
        return self.calls[gender].gender is expected

    @property
    def problem(self) -> str:
        """A line on the pair where one phrase is called rightly and the other is not; empty where
        both are, or neither is called at all.
        """
        genders = [call.gender for call in self.calls.values()]
        if genders == [None, None] or (self.right("m") and self.right("f")):
            return ""
        man, woman = (
            f"{self.texts[g]!r} is called {self.calls[g].gender or self.calls[g].reason}"
            for g in "mf"
        )
        return f"{self.evidence}: {man}, {woman}"


def count(outcomes: Sequence[PairOutcome]) -> dict[str, int]:
    """How many pairs there are, and in how many the phrase of a man and that of a woman is called
    by its gender, or not called where it is silent.
    """
    counts = {"pairs": len(outcomes)}
    for letter in "mf":
        counts[str(GENDER_OF_LETTER[letter])] = sum(pair.right(letter) for pair in outcomes)
    return counts


def pair_outcomes(language: Language) -> list[PairOutcome]:
    """The calls on all pairs that the tables of `language` give."""
    texts, stem = SplitTexts(language), _stem(language)
    outcomes = []
    for number in ("sg", "pl"):
        for evidence, phrases, nouns, tags in _pairs(language, number, stem):
            calls = {g: _call(phrases[g], nouns[g], number, g, tags, texts) for g in "mf"}
            outcomes.append(PairOutcome(evidence, phrases, calls))
    return outcomes


_Pair = tuple[str, Forms, Forms, Mapping[str, str]]
"""The evidence, the phrases, the nouns in them, and the parts of speech of the other words."""


def _pairs(language: Language, number: str, stem: str) -> Iterator[_Pair]:
    nouns, common = _noun_pairs(language, number)
    written_on = [f"{letters}{{}}" for letters in evenly(language.proclitics, _EVIDENCE)]
    contexts = [*_FRAMES, *written_on]
    for pair, frame in product(evenly(nouns, _ALONE // len(contexts)), contexts):
        yield "the noun's form", {g: frame.format(pair[g]) for g in "mf"}, pair, {}
    # Nouns of no table, by what they end in.
    for word in _matched({ending: str(kind) for ending, kind in language.noun_endings.items()}):
        unknown = {g: stem + ending for g, ending in word.items()}
        read = all(language.ending(unknown[g]) == (word[g], NounKind(g)) for g in "mf")
        if number == "sg" and read:
            yield "the ending of an unknown noun", unknown, unknown, {}
    # A form of men and women, and forms of men and of women, which agree.
    pairs = [*evenly(common, _NOUNS), *evenly(nouns, _NOUNS)]
    few = pairs[::_ONE_IN]
    for evidence, frames, tags in _evidence(language, number, stem):
        for pair in few if evidence in _PLACES else pairs:
            silent = any(pair[g] in language.silent_determiners for g in "mf")
            if silent or not _may_be_filled(frames, pair, language):
                continue
            phrases = _filled(frames, pair)
            yield evidence, phrases, pair, tags
            if evidence == _DETERMINER and pair in few:
                yield from _weakly_tagged(phrases, pair, tags)
    # What means a woman overrules a man's form, and the reverse.
    for evidence, frames, tags in _meaning(language, number):
        for pair in evenly(nouns, _NOUNS):
            other = {"m": pair["f"], "f": pair["m"]}
            if _may_be_filled(frames, other, language):
                yield f"{evidence}, against its form", _filled(frames, other), other, tags


def _filled(frames: Forms, nouns: Forms) -> Forms:
    """The phrases with the nouns in them."""
    return {g: frames[g].format(nouns[g]) for g in "mf"}


def _may_be_filled(frames: Forms, nouns: Forms, language: Language) -> bool:
    """In both phrases the word behind the noun has the noun's article, or neither has one."""
    for g in "mf":
        word = frames[g].removeprefix("{} ")
        if word != frames[g] and not language.same_definiteness(nouns[g], word.split()[-1]):
            return False
    return True


def _noun_pairs(language: Language, number: str) -> tuple[list[Forms], list[Forms]]:
    """A man's and a woman's noun for the same English one, which begin alike; and nouns of one form
    for both. In the singular by the form of the dictionary, in the plural by what the table says of
    the forms.
    """
    forms: dict[str, dict[str, str]] = {"m": {}, "f": {}, "common": {}}
    lemmas = {}
    for form, readings in language.nouns.items():
        kinds = {
            str(NounKind.MASCULINE if r.kind is NounKind.GENERIC else r.kind) for r in readings
        }
        kind = kinds.pop() if len(kinds) == 1 else ""
        if kind in forms and all(_is_nominative(number, form, r, language) for r in readings):
            forms[kind].setdefault(readings[0].lemma, form)
        lemmas[form] = readings[0].lemma
    pairs = {}
    for translations in language.glossary.values():
        known = {lemmas[form] for form in translations if form in lemmas}
        women = known & forms["f"].keys()
        for man in sorted(known & forms["m"].keys()):
            likeness = [(len(shared_beginning(man, woman)), woman) for woman in women]
            shared, woman = max(likeness, default=(0, ""))
            if 2 * shared > len(man):
                pairs[man, woman] = {"m": forms["m"][man], "f": forms["f"][woman]}
    return list(pairs.values()), [{"m": form, "f": form} for form in forms["common"].values()]


def _is_nominative(number: str, form: str, reading: NounReading, language: Language) -> bool:
    """The form is a nominative in the number, and shows no gender where the noun has none."""
    if number == "sg":
        numbers = {a.number for a in reading.agreements}
        return language.fold(reading.lemma) == form and numbers <= {"sg", "*"}
    genders = {a.gender for a in reading.agreements}
    if reading.kind is NounKind.COMMON and genders != {"*"}:
        return False
    return any(a.number == "pl" and a.case in ("nom", "*") for a in reading.agreements)


def _weakly_tagged(phrases: Forms, nouns: Forms, tags: Mapping[str, str]) -> Iterator[_Pair]:
    """The pair behind a determiner, where the tagger reads no noun (it *le vostre suore*)."""
    for tag in _WEAK_TAGS:
        evidence = f"{_DETERMINER} before what is tagged {tag}"
        yield evidence, phrases, nouns, {**tags, **dict.fromkeys(nouns.values(), tag)}


_Frames = tuple[str, Forms, Mapping[str, str]]
"""A kind of evidence, its phrases with ``{}`` for the noun, and the parts of speech of its
words."""


def _evidence(language: Language, number: str, stem: str) -> Iterator[_Frames]:
    """Words beside a noun that show its gender."""
    verbs, syntax = language.verbs, syntax_of(language)
    # es "alguno" stands alone as well, and so names somebody; l' is written onto the noun.
    alone = {*language.nouns, *language.elisions}
    determiners = {form: a for form, a in language.determiners.items() if form not in alone}
    for word in _agreeing(determiners, number):
        yield _frames(_DETERMINER, _BEFORE, word, "DET")
        if syntax.determiners_follow:
            yield _frames("a determiner behind it", _BEHIND, word, "DET")
    if syntax.attributes_precede:
        yield from (_frames("a title", _BEFORE, word, "NOUN") for word in _matched(language.names))
    yield from _meaning(language, number)
    endings = _agreeing(language.adjective_endings, number)
    whole = (_whole_adjective(language, pair, stem) for pair in endings)
    adjectives = [pair for pair in whole if pair is not None]
    # A copula that tells itself would be asked first (ru была, he אינה).
    telling = (*verbs.words, *verbs.short, *(ending for ending, _ in verbs.endings))
    copulas = sorted(form for form in verbs.copulas if not form.endswith(telling))
    for word in adjectives:
        if syntax.attributes_precede:
            yield _frames("an adjective", _BEFORE, word, "ADJ")
        if syntax.attributes_follow:
            yield _frames("an adjective behind it", _BEHIND, word, "ADJ")
        if copulas and _tells_in_every_case(language, word):
            frame = f"{{{{}}}} {copulas[0]} {{word}}"
            evidence, texts, tags = _frames("a predicate", frame, word, "ADJ")
            yield evidence, texts, {**tags, copulas[0]: "AUX"}
    for word in _agreeing({ending: (agreement,) for ending, agreement in verbs.endings}, number):
        yield from _verb(language, {g: stem + ending for g, ending in word.items()}, stem)
    for word in _agreeing({form: (agreement,) for form, agreement in verbs.words.items()}, number):
        yield from _verb(language, word, stem)
    yield from _behind_mark(language, adjectives, number, stem)
    yield from _other_articles(language, stem)
    for word in _agreeing({form: (agreement,) for form, agreement in verbs.short.items()}, number):
        yield _frames("a predicate", _BEHIND, word, "ADJ")


def _tells_in_every_case(language: Language, adjective: Forms) -> bool:
    """Each form agrees with its gender alone: a predicate may be in another case (ru "он будет
    большой", but "она будет большой", too).
    """
    men = {a.gender for a in language.adjective(adjective["m"])}
    women = {a.gender for a in language.adjective(adjective["f"])}
    return (men, women) == ({"m"}, {"f"})


def _behind_mark(
    language: Language, adjectives: Sequence[Forms], number: str, adverb: str
) -> Iterator[_Frames]:
    """A relative pronoun behind a comma, and an adjective there."""
    for word in _agreeing(language.relatives, number):
        for frame in ("{{}}, {word} " + adverb, "{{}} {word} " + adverb):
            evidence, texts, tags = _frames(_RELATIVE, frame, word, "PRON")
            yield evidence, texts, {**tags, adverb: "ADV"}
    for word in adjectives:
        frame = f"{{{{}}}}, {{word}} {adverb}, {adverb}"
        evidence, texts, tags = _frames(_BEHIND_MARK, frame, word, "ADJ")
        yield evidence, texts, {**tags, adverb: "ADV"}


def _other_articles(language: Language, subject: str) -> Iterator[_Frames]:
    """Articles that do not belong to the noun behind them: where it has one form, neither a man nor
    a woman is called.
    """
    for adverbial in language.adverbials:
        text = f"{adverbial} {{}}"
        yield _ADVERBIAL, {"m": text, "f": text}, {}
    for form, beginnings in language.prepositions_like_articles.items():
        for beginning in sorted(beginnings):
            text = f"{subject} {beginning}{form} {form} {{}}"
            tags = {subject: "PRON", f"{beginning}{form}": "VERB", form: "DET"}
            yield _PREPOSITION, {"m": text, "f": text}, tags


def _verb(language: Language, word: Forms, adverb: str) -> Iterator[_Frames]:
    yield _frames("a verb", _BEHIND, word, "VERB")
    for frame in _INSERTIONS:
        evidence, texts, tags = _frames(_BEHIND_INSERTION, frame.format(adverb), word, "VERB")
        yield evidence, texts, {**tags, adverb: "ADV"}
    if language.verbs.order == "both":
        yield _frames("a verb before it", _BEFORE, word, "VERB")


def _meaning(language: Language, number: str) -> Iterator[_Frames]:
    """Words that mean a woman or a man, where they may be beside a noun in that number."""
    syntax = syntax_of(language)
    for word in _matched(language.sex_adjectives):
        noun = word["m"] in language.nouns and word["f"] in language.nouns
        readings = chain.from_iterable(language.nouns.get(form, ()) for form in word.values())
        agreements = chain.from_iterable(reading.agreements for reading in readings)
        numbers = {agreement.number for agreement in agreements}
        if noun and numbers - {"*"} and number not in numbers:
            continue
        if noun and syntax.attributes_follow and syntax.case and number == "sg":
            continue  # cs *lékař ženy* is the woman's doctor
        if noun and not syntax.attributes_follow:
            yield _frames("a word for a man or a woman", "{{}}-{word}", word, "NOUN")
            continue
        if syntax.attributes_precede and (syntax.trusts_translations or not noun):
            yield _frames("a word for a man or a woman", _BEFORE, word, "NOUN" if noun else "ADJ")
        if syntax.attributes_follow:
            yield _frames("a word for a man or a woman", _BEHIND, word, "NOUN" if noun else "ADJ")


def _frames(evidence: str, frame: str, word: Forms, tag: str) -> _Frames:
    texts = {g: frame.format(word=form) for g, form in word.items()}
    return evidence, texts, dict.fromkeys(word.values(), tag)


def _matched(table: Mapping[str, str]) -> Sequence[Forms]:
    """The m and the f forms of a table, in its order."""
    men = [form for form, gender in table.items() if gender == "m"]
    women = [form for form, gender in table.items() if gender == "f"]
    pairs = [{"m": man, "f": woman} for man, woman in zip(men, women, strict=False)]
    return evenly(pairs, _EVIDENCE)


def _agreeing(table: Mapping[str, Sequence[Agreement]], number: str) -> Sequence[Forms]:
    """Forms of a man and of a woman in the nominative of that number, paired with the one that
    begins alike.
    """
    forms: dict[str, list[str]] = {"m": [], "f": []}
    for form, agreements in table.items():
        nominatives = [a for a in agreements if a.case in ("nom", "*")]
        genders = {a.gender for a in nominatives if a.number in (number, "*")}
        if len(genders) == 1 and (gender := genders.pop()) in forms:
            forms[gender].append(form)
    pairs: list[Forms] = []
    for man in forms["m"]:
        if forms["f"]:
            woman = max(forms["f"], key=lambda form: len(shared_beginning(man, form)))
            forms["f"].remove(woman)
            pairs.append({"m": man, "f": woman})
    return evenly(pairs, _EVIDENCE)


def _whole_adjective(language: Language, endings: Forms, stem: str) -> Forms | None:
    """Adjectives with the endings, a long one of which is a word by itself; None where they are not
    read by these endings, or as another word.
    """
    adjectives = {}
    for gender, ending in endings.items():
        form = ending if len(ending) > len(stem) else stem + ending
        if language.adjective(form) != language.adjective_endings[ending]:
            return None
        if language.noun(form) or form in language.determiners:
            return None
        adjectives[gender] = form
    return adjectives


def _stem(language: Language) -> str:
    """The beginning of a made-up word: a syllable of letters of the language, twice."""
    text = "".join(evenly(list(language.nouns), 200))
    letters = dict.fromkeys(letter for letter in text if letter.isalpha())
    words = ("".join(pair) * 2 for pair in product(letters, repeat=2))
    return next((w for w in words if not language.noun(w) and w not in language.determiners), "xx")


def _call(
    text: str, noun: str, number: str, letter: str, tags: Mapping[str, str], texts: SplitTexts
) -> GenderCall:
    """The call on `noun` in `text`, whose words have the part of speech of `tags`; the source has
    the number, and shows the gender of the letter.
    """
    surface = texts.language.tokens(text)
    holding = [token for token in surface if noun in token.form]
    if not holding:
        return GenderCall("x", None, Reason.UNALIGNED)
    span = min(holding, key=lambda token: len(token.form)).span
    # As a word beside the noun is believed most: where the source says so, too.
    aligned = Candidate((span,), "links+lexicon")
    source = SourceFacts(number, says_sex=GENDER_OF_LETTER[letter])
    alignment = Alignment("x", (aligned,), (span,), source)
    return decide(alignment, analysed(text, surface, tags), texts)


def analysed(text: str, surface: Iterable[SurfaceToken], tags: Mapping[str, str]) -> Analysis:
    """The morphology of a text whose words have the parts of speech of `tags`, or are nouns; none
    has features.
    """
    tokens = []
    for token in surface:
        word = Word(token.text, None, tags.get(token.form, "NOUN"))
        tokens.append(Token(token.span, token.text, (word,)))
    return Analysis(text, tuple(tokens))


def evenly(items: Sequence[_T], size: int) -> Sequence[_T]:
    """At most `size` of the items, evenly over all of them."""
    return items[:: max(-(-len(items) // size), 1)]
