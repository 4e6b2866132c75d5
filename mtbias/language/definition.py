"""A language: its data, and the look-ups on which alignment and decision rest.

A language is data: `Language.from_package` reads ``data/XX.toml`` (rules) and ``data/XX_nouns.tsv``
(nouns for people) from a plugin's package; ``languages/README.md`` describes both files. A plugin
that needs more than data subclasses `Language` and overrides a method.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal, Self

from mtbias.language.alphabet import Alphabet, alphabet
from mtbias.language.data_files import APOSTROPHES, Folder, read_language
from mtbias.language.grammar import (
    ANY,
    Agreement,
    NounKind,
    NounReading,
    SpeakerRules,
    SurfaceToken,
    VerbRules,
    WordFacts,
)
from mtbias.types import Gender, Span, Strategy

_MARKS = "\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u200d\u200c"
_WORD = re.compile(
    rf"[\w{_MARKS}]+"
    rf"(?:(?:\'\'|[{APOSTROPHES}\"״׳‑-])[\w{_MARKS}]+|[*:](?:in|innen|r|e)\b)*[{APOSTROPHES}׳]?"
)
# he מנכ "ל, as systems detokenise it; without the quotation mark עו "ד "lawyer" would be עוד
# "more".
_SPLIT_ABBREVIATION = re.compile(rf"(?:\s[\"״”“]|[\"״”“]\s)[\w{_MARKS}]{{1,4}}(?!\w)")
_AT_END = f"{APOSTROPHES}׳"
_INCLUSIVE_ENDING = re.compile(r"[*:_/](?:in|innen|r|e)$")
_MIN_PART = 3
"""Letters of each part of a compound at least."""
_FORMS_KEPT = 1 << 17
"""Words whose folded form is remembered, for a corpus asks for the same ones over and over: at most
some 40 MB."""

Direction = Literal["ltr", "rtl"]
"""How a script is written: left to right or right to left."""


@dataclass(frozen=True)
class Language:
    """The data of one language. All look-ups take any surface form and fold it themselves."""

    code: str
    name: str
    direction: Direction = "ltr"
    family: str = ""
    """Whose syntax it has: *romance*, *slavic*, *germanic*, *semitic*, or a plug-in's own."""
    case: bool = False
    """Nouns show case, and so does what agrees with them."""
    attributes_follow: bool = False
    """In a family whose adjectives precede their noun: they may also follow it (Czech)."""
    elisions: tuple[str, ...] = ()
    proclitics: tuple[str, ...] = ()
    vowels: str = ""
    """Letters before which a determiner is not that of `determiners_before_consonant` (fr: mute *h*
    too)."""
    letters: str = ""
    """All letters of the language, in lower case where it has cases; empty where they are not
    listed."""
    delete: str = ""
    fold_letters: Mapping[str, str] = field(default_factory=dict)
    careless: Mapping[str, str] = field(default_factory=dict)
    """Letter at a word's end that some write for another (ar ه for ة) → that other one."""
    align_endings: tuple[str, ...] = ()
    min_stem: int = 4
    determiners: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    determiners_before_consonant: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    """The agreements of a determiner where the next word begins with a consonant (fr *son
    collègue*)."""
    relatives: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    """Relative pronouns, with what the noun that they take up agrees with (ru *которая*); nothing
    where they do not agree with it (ru *чья*). The tagger knows others."""
    adjective_endings: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    """Ending of an adjective → what it agrees with; empty: it shows nothing, whatever a shorter
    ending or the tagger says."""
    adjectives: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    """Whole adjectives → their agreements; they are looked up first."""
    noun_endings: Mapping[str, NounKind | None] = field(default_factory=dict)
    """Ending → kind of noun; None: none, whatever a shorter ending says."""
    noun_endings_except: Mapping[str, NounKind | None] = field(default_factory=dict)
    agent_endings: tuple[str, ...] = ()
    """Endings of masculine nouns that mostly name persons, and things as well (de *-er*)."""
    derivations: tuple[str, ...] = ()
    """Endings that make another noun of a noun, and are not second parts of a compound (de
    *-schaft*)."""
    prepositions_like_articles: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Determiners that are prepositions as well → beginnings of the words that take these (pt *a*:
    *promov-*)."""
    adverbials: tuple[str, ...] = ()
    """Fixed adverbials with an article (fr *à la longue*)."""
    silent_determiners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Noun → determiners that say nothing right before it (es *el ama*)."""
    first_parts: Mapping[str, NounKind | None] = field(default_factory=dict)
    """Beginnings that decide for the whole word (ru *женщина-врач*)."""
    prefixes: tuple[str, ...] = ()
    """Prefixes that may be cut, with a hyphen behind and one after another, before a noun is looked
    up (cs *exministryně*, it *ex-sposo*, ru *прапрадед*)."""
    names: Mapping[str, str] = field(default_factory=dict)
    sex_adjectives: Mapping[str, str] = field(default_factory=dict)
    """Forms of the words that mean male or female: adjectives, whatever they agree with (de
    *weiblich*), and nouns beside another one (it *medici donne*, ru *врач-женщина*)."""
    possessors: Mapping[str, str] = field(default_factory=dict)
    """Possessives that show the gender of the owner (de *sein*, *ihr*)."""
    pronouns: Mapping[str, str] = field(default_factory=dict)
    """Pronouns of the third person singular that tell a person's gender (de *er*, *ihr*)."""
    prepositions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    verbs: VerbRules = field(default_factory=VerbRules)
    speaker: SpeakerRules = field(default_factory=SpeakerRules)
    nouns: Mapping[str, tuple[NounReading, ...]] = field(default_factory=dict)
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], NounReading], ...]] = field(
        default_factory=dict
    )
    """First word of a compound of several words → (its other words, reading), longest first (he
    *רואה חשבון*)."""
    glossary: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """English noun → folded forms that may translate it."""
    definite: str = ""
    """Regular expression for forms with a written-on article, which an adjective shares with its
    noun (ar, he)."""
    perhaps_definite: str = ""
    """Regular expression for forms that do not show whether they have one (he *למורה*)."""
    inclusive: str = ""
    """Regular expression for words written so as to mean both genders (de *Lehrer*in*,
    *LehrerInnen*): neutral."""
    weak: Sequence[Agreement] = ()
    """What a noun for people agrees with only behind a determiner: without one its ending is
    strong, and a form that allows more allows this no longer (de *sie wurde Vorsitzende*: a man
    would be *Vorsitzender*)."""
    neutral_endings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Ending written to mean both genders → the masculine and feminine ones that it stands for (es
    *-@*: o, a)."""
    neutral_nouns: Mapping[str, Strategy] = field(default_factory=dict)
    """Ending of nouns that name a person and no gender → how they do so (de *-kraft*: a
    compound)."""
    compounds: bool = False
    """Nouns are compounded without a space (German): an unknown noun is looked up by its longest
    known last part."""
    version: str = ""
    """Short hash of the data, part of a run's identity."""

    @classmethod
    def from_package(cls, package: str, code: str) -> Self:
        """Read ``data/CODE.toml`` and ``data/CODE_nouns.tsv`` inside `package`.

        Raises:
            PluginError: a file is missing or says something that the format does not allow.
        """
        return cls(**read_language(package, code))

    @cached_property
    def _folder(self) -> Callable[[str], str]:
        return lru_cache(_FORMS_KEPT)(Folder(self.delete, self.fold_letters))

    def fold(self, text: str) -> str:
        """`text` as look-ups see it: lower case, ignorable marks deleted, variant letters
        unified.
        """
        return self._folder(text)

    def tokens(self, text: str) -> list[SurfaceToken]:
        """Words of `text` in order, elided articles and prepositions (``l'``, ``dell'``) split off,
        punctuation dropped.
        """
        tokens: list[SurfaceToken] = []
        for match in self._word.finditer(text):
            start, word = match.start(), match.group()
            if tokens and start < tokens[-1].span.end:  # the second part of an abbreviation
                continue
            form = self.fold(word)
            for elision in self.elisions:
                if form.startswith(elision) and len(form) > len(elision):
                    cut = start + len(elision)
                    tokens.append(SurfaceToken(Span(start, cut), text[start:cut], elision))
                    start, word = cut, text[cut : match.end()]
                    form = self.fold(word)
                    break
            split = _SPLIT_ABBREVIATION.match(text, match.end()) if self._abbreviations else None
            if split:
                whole = text[start : split.end()]
                joined = self.fold(_without_blanks(whole))
                if any(base in self._abbreviations for _, base in self.bases(joined)):
                    word, form = whole, joined
            if word[-1] in _AT_END and not self._apostrophe_belongs(form):
                word = word[:-1]
                form = self.fold(word)
            if word:
                tokens.append(SurfaceToken(Span(start, start + len(word)), word, form))
        return tokens

    @cached_property
    def _word(self) -> re.Pattern[str]:
        """A word; an abbreviated title with its full stop (it *sig.ra*, es *sra.*) is one."""
        names = sorted((name for name in self.names if "." in name), key=len, reverse=True)
        dotted = "|".join(re.escape(name) for name in names)
        return re.compile(rf"(?<!\w)(?i:{dotted})|{_WORD.pattern}") if dotted else _WORD

    @cached_property
    def adverbial_forms(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """Last word of the adverbials → the words of each, in order."""
        adverbials: dict[str, list[Sequence[str]]] = {}
        for adverbial in self.adverbials:
            forms = [token.form for token in self.tokens(adverbial)]
            adverbials.setdefault(forms[-1], []).append(forms)
        return adverbials

    @cached_property
    def _articles(self) -> frozenset[str]:
        """Proclitics that may be on a later word of a compound: none, and the articles without
        anything before them; all proclitics where the plugin does not say what an article is.
        """
        if not self.definite:
            return frozenset(("", *self.proclitics))
        # The shortest first: one that ends in an article has something before it.
        articles: list[str] = []
        for proclitic in sorted(filter(self.is_definite, self.proclitics), key=len):
            if not proclitic.endswith(tuple(articles)):
                articles.append(proclitic)
        return frozenset(("", *articles))

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        """Forms of nouns with a quotation mark before their last letters (he *מנכ"ל*)."""
        return frozenset(form for form in self.nouns if '"' in form)

    def _apostrophe_belongs(self, form: str) -> bool:
        """The apostrophe at a word's end is not a quotation mark (it *l'*, he *גב'*)."""
        known = form in self.elisions or form in self.names
        return known or any(base in self.nouns for _, base in self.bases(form))

    def bases(self, form: str) -> list[tuple[str, str]]:
        """(proclitic, rest) splits of a folded form, the unsplit one first: ``("", "למנהל"), ("ל",
        "מנהל")``.
        """
        cuts = [cut for cut in self.proclitics if form.startswith(cut)]
        parts = [part for part in self.first_parts if form.startswith(part) and form != part]
        splits = [("", form)]
        splits += [(cut, form[len(cut) :]) for cut in cuts if len(form) - len(cut) >= 2]
        splits += [("", form[len(part) :]) for part in parts]
        if self.inclusive:
            stem = _INCLUSIVE_ENDING.sub("", form)
            if stem != form:  # de "Anwält*innen": Anwältinnen
                splits += [("", stem), ("", stem + form[len(stem) + 1 :])]
        return splits

    def facts(self, text: str) -> WordFacts:
        """The results of every look-up for one surface form; `SplitTexts` needs them once for each
        distinct form of a corpus.
        """
        written = _without_blanks(text)
        form, readings = self.fold(written), self.noun(written)
        bases = frozenset(base for _, base in self.bases(form))
        ending = self.ending(form)
        return WordFacts(
            text=text,
            form=form,
            bases=bases,
            readings=readings,
            dictionary_forms=bases.union(self.fold(r.lemma) for r in readings),
            # es "algunas preguntas": an indefinite cannot be the noun that renders a person.
            names_person=any(r.kind.is_personal for r in readings) and form not in self.determiners,
            ending=ending,
            ends_like_person=ending is not None and ending[1].is_personal and not readings,
            adjective=self.adjective(form),
        )

    def noun(self, form: str) -> tuple[NounReading, ...]:
        """Readings of a surface form in the table of nouns for people, the unsplit form first;
        empty if unknown.
        """
        folded = self.fold(form)
        if self.inclusive and re.search(self.inclusive, form):
            return (NounReading(form, NounKind.INCLUSIVE, ()),)
        for part, kind in self.first_parts.items():
            if kind and folded.startswith(part) and len(folded) > len(part):
                return (NounReading(folded, kind, ()),)
        for _, base in self.bases(folded):
            readings = self.nouns.get(base)
            if readings:
                return readings
        return self.derived(form)

    def derived(self, form: str) -> tuple[NounReading, ...]:
        """Readings of a form that is in no table, from the nouns that it is made of: those of what
        follows `prefixes`, of two nouns for one person, or of a compound's last part.
        ``scripts/derived.py`` measures how many rows of the tables each of these rules would have
        right.
        """
        folded = self.fold(form)
        readings = self._behind_prefixes(folded)
        if readings:
            return readings
        if not self.compounds:
            return self._apposition(folded) or self.with_neutral_ending(folded)
        # A number may come first: de "100-Meter-Läufer".
        return self._compound(folded) if form[:1].isupper() or form[:1].isdigit() else ()

    def _behind_prefixes(self, folded: str) -> tuple[NounReading, ...]:
        """Readings of what follows one of `prefixes`, or several of them (fr
        *arrière-arrière-grand-mère*, ru *прапрадед*, it *ex-vicesindaco*).
        """
        for prefix in self.prefixes:
            if folded.startswith(prefix):
                rest = folded.removeprefix(prefix).removeprefix("-")
                readings = self.nouns.get(rest) or self._behind_prefixes(rest)
                if readings:
                    return readings
        return ()

    def phrase(self, forms: Sequence[str]) -> tuple[int, NounReading] | None:
        """(number of words, reading) of the longest compound that `forms` begin with, or None.

        Written-on articles and prepositions are allowed on the first word, on the others an article
        (he *לרואה החשבון*), in languages that say what their article is: ar قام العامل ببناء "the
        worker set about building" is not a عامل بناء.
        """
        for _, first in self.bases(forms[0]):
            for others, reading in self.phrases.get(first, ()):
                if len(others) < len(forms) and all(map(self._may_continue, forms[1:], others)):
                    return 1 + len(others), reading
        return None

    def _may_continue(self, form: str, word: str) -> bool:
        """A later word of a compound is `form`, as it is or with an article."""
        return any(base == word and cut in self._articles for cut, base in self.bases(form))

    def _apposition(self, folded: str) -> tuple[NounReading, ...]:
        """Readings of two nouns for one person with a hyphen between (ru *инженер-программист*,
        *мать-одиночка*, es *actriz-cantante*): those of the first, or of the second where only that
        shows a gender (ru *судья-мужчина*), or is a woman's, or means a man or a woman
        (*врач-женщина*, *медсестра-мужчина*).
        """
        first, hyphen, second = folded.rpartition("-")
        one, other = self.nouns.get(first, ()), self.nouns.get(second, ())
        if not hyphen or not (one and other):
            return ()
        kinds, other_kinds = {r.kind for r in one}, {r.kind for r in other}
        # ru "дети-сироты": the first is the head.
        if kinds == {NounKind.FIXED} and second not in self.sex_adjectives:
            return one
        # it "caporedattore-capo": what is known as a thing or of fixed gender says nothing of the
        # other.
        if not all(r.kind.is_personal for r in (*one, *other)):
            return ()
        silent = kinds == {NounKind.COMMON} and other_kinds == {NounKind.MASCULINE}
        woman = other_kinds == {NounKind.FEMININE} and NounKind.FEMININE not in kinds
        # ru "мальчика-пастушка": a nominative, "shepherdess", is beside no genitive.
        if silent or (woman and _in_one_case(one, other)) or second in self.sex_adjectives:
            # Under the lemma of the first, which the glossary knows.
            return tuple(reading._replace(lemma=one[0].lemma) for reading in other)
        return one

    def with_neutral_ending(self, form: str) -> tuple[NounReading, ...]:
        r"""The reading of a form with an ending for both genders, if the table has the noun with
        those of a man and a woman (es *niñes*, it ``ragazz*``); none of a form that it has.
        """
        folded = self.fold(form)
        for ending, others in self.neutral_endings.items() if folded not in self.nouns else ():
            stem = folded.removesuffix(ending)
            # es "rey": -o and -a behind two letters make other words. A star behind a whole noun
            # opens a footnote.
            if stem == folded or len(stem) < _MIN_PART or ("*" in ending and stem in self.nouns):
                continue
            readings = chain.from_iterable(self.nouns.get(stem + other, ()) for other in others)
            personal = [reading for reading in readings if reading.kind.is_personal]
            genders = {reading.kind.gender for reading in personal}
            # es "profesor@": without an ending it is a man.
            if any(reading.kind.gender is Gender.MALE for reading in self.nouns.get(stem, ())):
                genders.add(Gender.MALE)
            # Letters may spell another word; a sign is written for nothing else: it "studentə",
            # whose feminine has another ending (studentessa), "insegnant*", one form for both.
            is_sign = not re.fullmatch("[a-z]+", ending)
            if personal and (is_sign or genders >= {Gender.MALE, Gender.FEMALE}):
                return (NounReading(min(personal).lemma, NounKind.INCLUSIVE, ()),)
        return ()

    def _compound(self, folded: str) -> tuple[NounReading, ...]:
        # de "Werkzeuge" is not a Zeuge, nor "Oktober" an Ober: an ending that says nothing goes
        # before its being a noun.
        if self._says_nothing(folded):
            return ()
        for start in range(3, len(folded) - 3):
            readings = self.nouns.get(folded[start:])
            if readings and folded[:start].lstrip("0123456789").replace("-", "").isalpha():
                return readings
        return ()

    def first_part(self, form: str) -> tuple[str, tuple[NounReading, ...]] | None:
        """The longest noun for people with which a compound begins, and its readings (de *Frauen*
        of *Frauenrechte*); None where the language has no compounds, or the whole word is in the
        table.
        """
        folded = self.fold(form)
        if not self.compounds or folded in self.nouns:
            return None
        if not form[:1].isupper() or len(folded) != len(form):
            return None
        for size in range(len(folded) - _MIN_PART, _MIN_PART, -1):
            readings = self.nouns.get(folded[:size])
            if readings and not folded[size:].startswith(self.derivations):
                return form[:size], readings
        return None

    def _says_nothing(self, folded: str) -> bool:
        endings = (folded[start:] for start in range(1, len(folded) - 3))
        return folded in self.noun_endings_except or any(
            self.noun_endings.get(e, NounKind.FIXED) is None for e in endings
        )

    def may_be_agent(self, form: str) -> bool:
        """Whether a form ends like a man's noun that may be a thing's as well (de *Entwickler*,
        *Bagger*).
        """
        folded = self.fold(form)
        return folded.endswith(self.agent_endings) and not self._says_nothing(folded)

    def ending(self, form: str) -> tuple[str, NounKind] | None:
        """(ending, kind) by the longest ending that tells, or None; the exceptions are looked up
        first.
        """
        folded = self.fold(form)
        for _, base in self.bases(folded):
            if base in self.noun_endings_except:
                kind = self.noun_endings_except[base]
                return None if kind is None else (base, kind)
        for size in range(len(folded), 0, -1):
            ending = folded[-size:]
            if ending in self.noun_endings:
                kind = self.noun_endings[ending]
                # Of a person two letters of a stem are left; what says nothing may be the whole
                # word (de "Generator").
                if kind is None or size <= len(folded) - 2:
                    return (ending, kind) if kind else None
        return None

    def neutral_noun(self, form: str) -> tuple[str, Strategy]:
        """(ending, strategy) of a form without a gender, by the longest known ending; a form
        without one is epicene.
        """
        folded = self.fold(form)
        for start in range(len(folded)):
            ending = folded[start:]
            if ending in self.neutral_nouns:
                return ending, self.neutral_nouns[ending]
        return "", Strategy.EPICENE

    def adjective(self, form: str) -> tuple[Agreement, ...]:
        """The agreements of an adjective of this form: as a whole word, else by its longest known
        ending. Empty where neither is known; `ANY` where they show nothing.
        """
        folded = self.fold(form)
        if folded in self.adjectives:
            return self.adjectives[folded] or (ANY,)
        for start in range(len(folded)):
            agreements = self.adjective_endings.get(folded[start:])
            if agreements is not None:
                return agreements or (ANY,)
        return ()

    @cached_property
    def with_feminine(self) -> frozenset[str]:
        """Lemmas of masculine nouns that are used of women, beside which the glossary has a
        feminine that begins like half of them (es *médico*, *médica*).
        """
        lemmas: set[str] = set()
        for forms in self.glossary.values():
            readings = set(chain.from_iterable(self.nouns.get(form, ()) for form in forms))
            women = [self.fold(r.lemma) for r in readings if r.kind is NounKind.FEMININE]
            generic = {r.lemma for r in readings if r.kind is NounKind.GENERIC}
            for lemma in generic:
                half = self.fold(lemma)[: -(-len(lemma) // 2)]
                if any(woman.startswith(half) for woman in women):
                    lemmas.add(lemma)
        return frozenset(lemmas)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The characters of good texts in the language."""
        return alphabet(self.nouns, self.letters, self.delete)

    @cached_property
    def latin(self) -> bool:
        """The language is written in Latin letters."""
        form = next(iter(self.nouns), "a")
        return unicodedata.name(form[0], "").startswith("LATIN")

    def is_definite(self, form: str) -> bool:
        """Whether a folded form surely has the written-on article."""
        return bool(self.definite and re.search(self.definite, form))

    def same_definiteness(self, noun: str, adjective: str) -> bool:
        """Whether an adjective may belong to a noun: both have the written-on article or neither,
        as forms show.
        """
        if not self.definite:
            return True
        perhaps = self.perhaps_definite
        if perhaps and (re.search(perhaps, noun) or re.search(perhaps, adjective)):
            return True
        return self.is_definite(noun) == self.is_definite(adjective)

    def stem(self, form: str) -> str:
        """A folded form with its longest inflectional ending cut, as the aligner counts it."""
        for ending in self.align_endings:
            if form.endswith(ending) and len(form) - len(ending) >= self.min_stem:
                return form[: len(form) - len(ending)]
        return form


def _in_one_case(one: Sequence[NounReading], other: Sequence[NounReading]) -> bool:
    """The nouns may be in one case and number."""
    allowed = [_cases_and_numbers(one), _cases_and_numbers(other)]
    if not allowed[0].isdisjoint(allowed[1]):
        return True
    return any("*" in case for case, _ in allowed[0] | allowed[1])


def _cases_and_numbers(readings: Sequence[NounReading]) -> set[tuple[str, str]]:
    agreements = chain.from_iterable(reading.agreements or (ANY,) for reading in readings)
    return {(agreement.case, agreement.number) for agreement in agreements}


def _without_blanks(text: str) -> str:
    """A word of `Language.tokens` as it should be written: an abbreviation that was cut in two is
    whole again.
    """
    return "".join(text.split())
