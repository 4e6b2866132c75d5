"""The whole person as a measure: parse the source, find the person's mentions, align and read each,
and say whether all words that show a gender show the right one.

Nouns are read as the entity of a sentence is (`mtbias.evaluation.gender_calls`); of names and
pronouns what agrees with them (`mtbias.reading.person_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from mtbias.corpora import Corpus, cache_folder
from mtbias.corpora.corpus import GENDER
from mtbias.corpora.mt_geneval import MT_GENEVAL_CONTEXT, ContextualSentence
from mtbias.demo import STANZA_NAME, stanza_folder_of_demo
from mtbias.english.mentions import (
    Mention,
    MentionKind,
    PlacedSentence,
    mentions_of,
    person_named,
)
from mtbias.english.words import english_words
from mtbias.errors import MissingResourceError, SettingError
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure, ReadPair
from mtbias.files.strict_json import decoded
from mtbias.language.source import ENGLISH_CODE
from mtbias.language.split_texts import SplitTexts
from mtbias.morphology.english_parser import EnglishParser
from mtbias.morphology.stanza_models import PARSER, download, find_package, stanza_folder
from mtbias.reading.person_words import words_of_name, words_of_noun, words_of_pronouns
from mtbias.reading.sentence_pair import Pair
from mtbias.reading.syntax import syntax_of
from mtbias.reading.words import sentence_words
from mtbias.scoring.measure import Measure, MeasureKind, MeasureOptions
from mtbias.scoring.mt_geneval_context import cut_given, cut_joined, refuse_both
from mtbias.scoring.whole_person import (
    COUNTING,
    PersonRecord,
    ReadMention,
    Unjudged,
    outcome_of,
    person_word,
)
from mtbias.types import (
    Evidence,
    Gender,
    Instance,
    Json,
    Progress,
    Reason,
    Span,
    Translation,
    frozen,
    quiet,
)

WHOLE_PERSON_NAME = "whole-person"
PERSONS = (Gender.MALE, Gender.FEMALE)
_RIVALS = frozenset(
    ("it", "its", "itself", "they", "them", "their", "theirs", "themselves", "there")
)
"""Words of the source that a pronoun of the translation may render as well as *he* or *she*."""
_POSSESSIVE = re.compile(r"\s?['’]s?\b", re.IGNORECASE)
"""After a name, which is then not a subject."""
_CONTEXT_DOMAIN = "wikipedia"
_PARSED_AT_ONCE = 1000
"""The number of sources after which progress is reported."""

SourcePerson = Instance | ContextualSentence
"""An instance in which a person is looked for."""


@frozen
class Person:
    """A person of a corpus, with the translation in which the words are looked for."""

    id: str
    row: int
    source: str
    entity: str
    head: Span | None
    """Characters of `source`; None where it was not found."""
    gold: Gender | None
    domain: str
    translation: str | None
    """All that the system gave."""
    text: str | None
    """What of it renders `source`."""
    mentions: tuple[Mention, ...] = ()
    reason: Unjudged | None = None
    """Why nothing can be read."""


@dataclass(frozen=True)
class PersonMeasure(Measure):
    """What judges persons in one language (`mtbias.scoring.measure.Measure`)."""

    gender: GenderMeasure
    """Aligns, and reads nouns."""
    parser: EnglishParser
    joined: bool = False
    """Whether a system was given both sentences of a context with a blank between them."""
    _parses: dict[str, tuple[PlacedSentence, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The sources that were parsed, for further systems."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """What the reading of nouns depends on, and the parser of the sources."""
        return {**self.gender.identity, "parser": self.parser.signature}

    @property
    def execution(self) -> Mapping[str, Json]:
        """See `GenderMeasure`."""
        return self.gender.execution

    def hint(self, texts: Iterable[str]) -> None:
        """See `GenderMeasure`."""
        if not self.joined:  # else the texts to be read are parts of these
            self.gender.hint(texts)

    def expect(self, texts: Iterable[str]) -> None:
        """See `GenderMeasure`."""
        if not self.joined:
            self.gender.expect(texts)

    def abandon(self) -> None:
        """See `GenderMeasure`."""
        self.gender.abandon()

    def check(self, instances: Sequence[SourcePerson], translations: Sequence[Translation]) -> None:
        """Refuse given translations that hold both sentences of a context without a separator.

        Raises:
            DataError: see `mtbias.scoring.mt_geneval_context.refuse_both`.
        """
        contextual = [each for each in instances if isinstance(each, ContextualSentence)]
        if contextual:
            refuse_both(contextual, translations)

    def judge(
        self,
        instances: Sequence[SourcePerson],
        translations: Sequence[Translation],
        progress: Progress = quiet,
    ) -> list[PersonRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        by_id = {translation.id: translation.text for translation in translations}
        texts = [by_id[instance.id] for instance in instances]
        return self.judge_texts(instances, texts, progress=progress)

    def judge_texts(
        self,
        instances: Sequence[SourcePerson],
        texts: Sequence[str | None],
        bitext: Sequence[tuple[str, str]] = (),
        progress: Progress = quiet,
    ) -> list[PersonRecord]:
        """One record for each instance, whose translations are `texts`; `bitext` are further pairs
        of sentences for the aligner to learn from.
        """
        parts = self._second_sentences(instances, texts)
        self._parse((_judged_source(instance) for instance in instances), progress)
        rows = zip(instances, texts, parts, strict=True)
        persons = [self._person(*row) for row in rows]
        read = self._read(persons, bitext, progress)
        return [self._record(person, read.get(n, ())) for n, person in enumerate(persons)]

    def _second_sentences(
        self, instances: Sequence[SourcePerson], texts: Sequence[str | None]
    ) -> list[str | None]:
        """The part of each translation that renders the sentence to be judged; None if it is not
        certain, or there is none.
        """
        contextual = [each for each in instances if isinstance(each, ContextualSentence)]
        if len(contextual) < len(instances):
            return list(texts)
        if not self.joined:
            return cut_given(contextual, texts)
        lang = self.gender.language.code
        return [cut_joined(*each, lang) for each in zip(contextual, texts, strict=True)]

    def _parse(self, sources: Iterable[str], progress: Progress) -> None:
        new = [source for source in dict.fromkeys(sources) if source not in self._parses]
        for start in range(0, len(new), _PARSED_AT_ONCE):
            progress("parse", start, len(new))
            part = new[start : start + _PARSED_AT_ONCE]
            sentences: dict[int, list[PlacedSentence]] = {}
            for each in self.parser.parse(part, lambda _: True).parsed:
                sentences.setdefault(each.passage, []).append(
                    PlacedSentence(each.offset, each.parsed)
                )
            self._parses.update(
                {source: tuple(sentences.get(n, ())) for n, source in enumerate(part)}
            )
        progress("parse", len(new), len(new))

    def _person(self, instance: SourcePerson, text: str | None, part: str | None) -> Person:
        """The person of an instance, with its mentions."""
        source = _judged_source(instance)
        sentences = self._parses[source]
        if isinstance(instance, Instance):
            head: Span | None = instance.head
            gold, entity, domain = instance.gold, instance.entity, instance.domain
        else:
            head = person_named(sentences, instance.context)
            gold, domain = _gold(instance), _CONTEXT_DOMAIN
            entity = "" if head is None else source[slice(*head)].lower()
        mentions: tuple[Mention, ...] = ()
        reason = None
        if gold not in PERSONS:
            reason = Unjudged.NO_GENDER
        elif head is None:
            reason = Unjudged.NO_PERSON
        elif part is None:
            reason = Unjudged.UNTRANSLATED if text is None else Unjudged.NOT_CUT
        else:
            mentions = mentions_of(source, sentences, head, gold)
        return Person(
            id=instance.id,
            row=instance.row,
            source=source,
            entity=entity,
            head=head,
            gold=gold,
            domain=domain,
            translation=text,
            text=part,
            mentions=mentions,
            reason=reason,
        )

    def _read(
        self, persons: Sequence[Person], bitext: Sequence[tuple[str, str]], progress: Progress
    ) -> dict[int, list[tuple[Mention, ReadPair]]]:
        """Each mention with what was found in the translation, by the person's place."""
        mentions_of_pairs: list[tuple[int, Mention]] = []
        pairs: list[Pair] = []
        for n, person in enumerate(persons):
            for mention in person.mentions:
                entity = mention.phrase
                if mention.kind is MentionKind.ENTITY:
                    entity = person.entity or entity
                mentions_of_pairs.append((n, mention))
                pairs.append(Pair("", person.source, person.text or "", mention.span, entity))
        pairs += [Pair("", source, target) for source, target in bitext]
        texts = SplitTexts(self.gender.language)
        read = self.gender.read_pairs(pairs, texts, progress)
        of_source: dict[int, list[tuple[Mention, ReadPair]]] = {}
        for (n, mention), each in zip(mentions_of_pairs, read, strict=True):
            of_source.setdefault(n, []).append((mention, each))
        return of_source

    def _record(self, person: Person, read: Sequence[tuple[Mention, ReadPair]]) -> PersonRecord:
        shift = _place(person.text, person.translation)
        mentions = tuple(self._chain(person, read, shift)) if person.gold in PERSONS else ()
        outcome = outcome_of(chain.from_iterable(mention.words for mention in mentions))
        reason = person.reason
        if outcome is None and reason is None:
            is_rendered = any(mention.target for mention in mentions)
            reason = Unjudged.NOTHING_SHOWN if is_rendered else Unjudged.UNALIGNED
        return PersonRecord(
            id=person.id,
            row=person.row,
            source=person.source,
            translation=person.translation,
            entity=person.entity,
            gold=person.gold,
            domain=person.domain,
            outcome=outcome,
            reason=None if outcome else reason,
            mentions=mentions,
        )

    def _chain(
        self, person: Person, read: Sequence[tuple[Mention, ReadPair]], shift: int
    ) -> Iterator[ReadMention]:
        """Each mention with the words that show a gender, every word once."""
        texts = SplitTexts(self.gender.language)
        seen: set[Span] = set()
        for mention, pair in read:
            target, evidence, reason = read_mention(mention, pair, texts)
            words = []
            for piece in evidence:
                gender = piece.gender
                if gender in PERSONS and piece.span not in seen and person.gold is not None:
                    seen.add(piece.span)
                    words.append(person_word(_moved(piece, shift), gender, person.gold))
            yield ReadMention(
                kind=mention.kind,
                mention=person.source[slice(*mention.span)],
                source_span=mention.span,
                target=tuple(_shifted(span, shift) for span in target),
                words=tuple(words),
                reason=None if evidence else reason,
            )


def read_mention(
    mention: Mention, pair: ReadPair, texts: SplitTexts
) -> tuple[tuple[Span, ...], Sequence[Evidence], str]:
    """What renders a mention, the words that show a gender there, and why there are none."""
    syntax = syntax_of(texts.language)
    words = sentence_words(pair.analysis, texts)
    target = pair.alignment.target
    evidence: Sequence[Evidence] = ()
    if mention.kind is MentionKind.PRONOUN:
        rivals = any(word.form in _RIVALS for word in english_words(pair.pair.source))
        evidence = words_of_pronouns(words, syntax, target[:1], rivals=rivals)
        target = tuple(piece.span for piece in evidence if piece.kind == "pronoun")
        return target, evidence, str(Reason.NO_MORPHOLOGY if target else Reason.UNALIGNED)
    reason = Reason.NO_MORPHOLOGY
    if mention.may_be_noun:
        evidence = words_of_noun(pair.call, pair.alignment, words, syntax)
        target, reason = pair.call.target, pair.call.reason or reason
    possessive = _POSSESSIVE.match(pair.pair.source, mention.span.end)
    if not evidence and mention.may_be_name and not possessive:
        name = pair.pair.source[slice(*mention.span)]
        at, evidence = words_of_name(name, pair.alignment.target, words, syntax)
        if at:
            target, reason = tuple(at), Reason.NO_MORPHOLOGY
        elif not mention.may_be_noun:
            target, reason = (), Reason.UNALIGNED
    return target, evidence, str(reason)


def _gold(instance: SourcePerson) -> Gender | None:
    return instance.gold if isinstance(instance, Instance) else instance.told


def _judged_source(instance: SourcePerson) -> str:
    return instance.source if isinstance(instance, Instance) else instance.second


def _place(part: str | None, text: str | None) -> int:
    """Where the part of a translation that is judged begins."""
    return max((text or "").find(part or ""), 0)


def _shifted(span: Span, shift: int) -> Span:
    return Span(span.start + shift, span.end + shift)


def _moved(piece: Evidence, shift: int) -> Evidence:
    return replace(piece, span=_shifted(piece.span, shift))


class PersonKind(MeasureKind):
    """The measure, as far as it does not depend on a language
    (`mtbias.scoring.measure.MeasureKind`).
    """

    counting = COUNTING
    uses = frozenset({"aligner"})
    needs_stanza = True
    parses_sources = True
    reads_persons = True
    judges = frozenset({GENDER, MT_GENEVAL_CONTEXT})

    def check_asked(self, corpus: Corpus[SourcePerson]) -> None:
        """See `mtbias.scoring.measure.MeasureKind`: some person must be a man or a woman.

        Raises:
            SettingError: none is.
        """
        if not any(_gold(instance) in PERSONS for instance in corpus.instances):
            message = f"expected a data set that tells men and women with {WHOLE_PERSON_NAME}"
            raise SettingError("measure", f"{message}, got {corpus.name}, where none is told")

    def open(self, options: MeasureOptions) -> PersonMeasure:
        """See `mtbias.scoring.measure.MeasureKind`.

        Raises:
            SettingError: the sources are not English.
            MtbiasError: as `mtbias.evaluation.gender_calls.GenderKind.open`; the English models are
                missing and may not be downloaded.
        """
        if options.source_lang != ENGLISH_CODE:
            message = (
                f"expected English sources with {WHOLE_PERSON_NAME}, got {options.source_lang}"
            )
            raise SettingError("measure", message)
        return PersonMeasure(
            GENDER_MEASURE.open(options), make_parser(options), joined=options.made
        )

    def read(self, line: bytes) -> PersonRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return decoded(PersonRecord, line)


def make_parser(options: MeasureOptions) -> EnglishParser:
    """The parser of English, by Stanza.

    Raises:
        MissingResourceError: the models are not there and may not be downloaded.
    """
    stanza_dir, cache = options.settings.stanza_dir, cache_folder(options.settings.cache_dir)
    demo = str(stanza_dir) == STANZA_NAME  # which has no English
    folder = stanza_folder_of_demo() if demo else stanza_folder(stanza_dir, cache)
    try:
        package = find_package(ENGLISH_CODE, folder, PARSER)
    except MissingResourceError:
        if options.fetch is None:
            raise
        options.fetch("downloading Stanza's models of English")
        package = download(ENGLISH_CODE, folder, PARSER)
    return EnglishParser(package, options.device)


WHOLE_PERSON = PersonKind()
