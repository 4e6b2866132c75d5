"""The words of an English text that name one person: the entity, names, pronouns, and the nouns
that say who or what the person is.

Every link is one step long: a noun counts where it is the predicate, the apposition or the role of
the entity, of a name of the person or of a pronoun, and not where it is that of another such noun.
A name is the person's where it is beside the entity in one of these ways, and wherever it
occurs again. Pronouns count where all of the text have the person's gender.

Links rest on the dependencies of the text (`mtbias.english.dependencies`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from mtbias.english.dependencies import DependencyGraph, Node, ParsedSentence, extended_graph
from mtbias.english.person_nouns import person_nouns
from mtbias.english.words import (
    GENDER_OF_PRONOUN,
    english_words,
    pronouns_gender,
    singulars,
)
from mtbias.types import Gender, Span, frozen


class MentionKind(StrEnum):
    """How words of the source name the person."""

    ENTITY = "entity"
    """The word that the corpus marks."""
    NAME = "name"
    """A name of the person (*Marie Curie*)."""
    PRONOUN = "pronoun"
    """*he*, *her*."""
    PREDICATE = "predicate"
    """A noun for what the person is, becomes or is named (*she was a chemist*)."""
    APPOSITION = "apposition"
    """A noun beside the entity or a name (*Curie, a chemist*)."""
    ROLE = "role"
    """A noun behind *as* (*she worked as a chemist*)."""

    @property
    def is_noun(self) -> bool:
        """Its rendering is a noun for a person, read as that of an entity is."""
        return self not in (MentionKind.NAME, MentionKind.PRONOUN)


@frozen
class Mention:
    """One place at which the source names the person."""

    kind: MentionKind
    span: Span
    """Characters of the source that are its head word: of a name the last one."""
    phrase: str
    """The words in lower case, with the nouns before the head (*film director*) or the whole
    name."""
    may_be_noun: bool = True
    """Its rendering may be a noun for a person, read as that of an entity is."""
    may_be_name: bool = False
    """The word is a name, or has a capital and may be one (*Cook*)."""


class PlacedSentence(NamedTuple):
    """A sentence of a text."""

    offset: int
    """Characters before it."""
    parsed: ParsedSentence


_BECOMING = frozenset(("become", "remain", "stay", "turn"))
_NAMING_VERBS = """
    appoint call choose consider create crown declare designate dub elect make name nominate
    ordain proclaim vote
    """
_NAMING = frozenset(_NAMING_VERBS.split())
_AS = "as"
_ROLES_OF_AS = frozenset(("obl", "nmod", "advcl", "xcomp"))
_SUBJECTS = ("nsubj", "nsubj:pass")
_TITLES = frozenset(("compound", "flat", "nmod:desc", "appos"))
_PARTS_OF_NAME = frozenset(("compound", "flat", "flat:name", "nmod:desc"))


class _Link(NamedTuple):
    """A noun that says who or what another word of its sentence is."""

    kind: MentionKind
    word: int
    noun: int


def mentions_of(
    source: str, sentences: Sequence[PlacedSentence], head: Span, gender: Gender | None
) -> tuple[Mention, ...]:
    """The mentions of the person whose head word is at `head`, in the order of the text.

    Args:
        source: the text.
        sentences: its sentences.
        head: characters of `source`: a noun, a name or a pronoun.
        gender: the person's; pronouns count where all of the text have it.
    """
    texts = [_Text(sentence) for sentence in sentences]
    pronouns = gender is not None and pronouns_gender(source) is gender
    entities = [text.at(head) for text in texts]
    names = frozenset[str]()
    for text, entity in zip(texts, entities, strict=True):
        names |= text.names_of(entity) if entity is not None else frozenset()
    mentions: dict[Span, Mention] = {}
    for text, entity in zip(texts, entities, strict=True):
        for mention in text.mentions(entity, names, pronouns=pronouns):
            mentions.setdefault(mention.span, mention)
    if not any(mention.kind is MentionKind.ENTITY for mention in mentions.values()):
        entity_phrase = source[slice(*head)].lower()
        mentions[head] = Mention(MentionKind.ENTITY, head, entity_phrase)
    return tuple(mentions[span] for span in sorted(mentions))


def person_named(sentences: Sequence[PlacedSentence], context: str) -> Span | None:
    """The head word of the noun that says who or what the person of a text is: the first one that
    is linked with a name or a pronoun, else the only noun for a person that is in the `context`
    before the text, too; None if there is none.
    """
    known = {word.form for word in english_words(context)}
    again: list[Span] = []
    for text in map(_Text, sentences):
        for link in sorted(text.links, key=lambda link: link.noun):
            if text.nodes[link.word].upos in ("PROPN", "PRON") and text.is_person(link.noun):
                return text.span(link.noun)
        for n, node in enumerate(text.nodes):
            if text.is_person(n) and node.form.lower() in known:
                again.append(text.span(n))
    return again[0] if len(again) == 1 else None


class _Text:
    """A sentence with its graph; words are given by index."""

    def __init__(self, sentence: PlacedSentence) -> None:
        self.offset = sentence.offset
        self.text = sentence.parsed.text
        self.nodes: tuple[Node, ...] = sentence.parsed.nodes
        self.graph: DependencyGraph = extended_graph(sentence.parsed)
        self.links = list(self._links())

    def span(self, n: int) -> Span:
        """Where the word is in the text; of words written as one (*Ann's*) its part."""
        node = self.nodes[n]
        start, end = node.span
        written = self.text[start:end]
        if written.startswith(node.form):
            end = start + len(node.form)
        elif written.endswith(node.form):
            start = end - len(node.form)
        return Span(start + self.offset, end + self.offset)

    def at(self, head: Span) -> int | None:
        """The word at `head`."""
        return next((n for n in range(len(self.nodes)) if self.span(n).overlaps(head)), None)

    def is_person(self, n: int) -> bool:
        """A singular common noun that names a person."""
        return self.nodes[n].upos == "NOUN" and self._is_word_for_person(n)

    def _is_word_for_person(self, n: int) -> bool:
        node = self.nodes[n]
        if node.feat("Number") == "Plur" or node.xpos in ("NNS", "NNPS"):
            return False
        last = node.form.lower().rpartition("-")[2]
        return not person_nouns().isdisjoint(singulars(last))

    def is_title(self, n: int) -> bool:
        """A word for a person that is written like a name (*President*, *the Auditor*)."""
        return self.nodes[n].upos == "PROPN" and self._is_word_for_person(n)

    # Names

    def name_at(self, n: int) -> list[int]:
        """The words of the name that the proper noun at `n` is part of, in order; empty for other
        words.
        """
        if self.nodes[n].upos != "PROPN":
            return []
        top = n
        while self._is_part_of_name(top):
            top = self.nodes[top].head
        members = [top]
        for place in range(len(self.nodes)):
            if self._is_part_of_name(place) and self.nodes[place].head in members:
                members.append(place)
        return sorted(members)

    def _is_part_of_name(self, n: int) -> bool:
        node = self.nodes[n]
        governor = self.nodes[node.head] if node.head >= 0 else None
        proper = governor is not None and governor.upos == node.upos == "PROPN"
        return proper and node.deprel in _PARTS_OF_NAME

    def _words_of_name(self, n: int) -> frozenset[str]:
        return frozenset(self.nodes[k].form for k in self.name_at(n))

    def names_of(self, entity: int) -> frozenset[str]:
        """The words of the names that are beside the entity, or of the entity where it is one."""
        if self.nodes[entity].upos == "PROPN" and not self.is_title(entity):
            return self._words_of_name(entity)
        names = frozenset[str]()
        if len(self.name_at(entity)) > 1:
            names |= self._words_of_name(entity)
        for link in self.links:
            if link.noun == entity:
                names |= self._words_of_name(link.word)
            elif link.word == entity:
                names |= self._words_of_name(link.noun)
        return names

    # Mentions

    def mentions(
        self, entity: int | None, names: frozenset[str], *, pronouns: bool
    ) -> Iterator[Mention]:
        """The mentions in the sentence."""
        persons = set() if entity is None else {entity}
        if entity is not None:
            yield self._mention(MentionKind.ENTITY, entity)
        for n, node in enumerate(self.nodes):
            if pronouns and node.form.lower() in GENDER_OF_PRONOUN:
                persons.add(n)
                yield self._mention(MentionKind.PRONOUN, n)
            elif n not in persons and self._is_name_of(n, names):
                members = self.name_at(n)
                persons.update(members)
                yield self._mention(MentionKind.NAME, members[-1])
                if len(members) > 1 and self.is_title(n) and n != entity:
                    yield self._mention(MentionKind.APPOSITION, n)
        for link in self.links:
            noun = self.is_person(link.noun) or self.is_title(link.noun)
            if link.word in persons and link.noun not in persons and noun:
                yield self._mention(link.kind, link.noun)
            # "The best doctor was a woman": the subject of the entity.
            elif link.noun == entity and link.word not in persons and self.is_person(link.word):
                yield self._mention(link.kind, link.word)

    def _is_name_of(self, n: int, names: frozenset[str]) -> bool:
        """The first word of a name whose words are all among those of the person, or the other way
        round.
        """
        words = self.name_at(n)
        if not words or words[0] != n or not names:
            return False
        own = frozenset(self.nodes[k].form for k in words)
        return own <= names or own >= names

    def _mention(self, kind: MentionKind, n: int) -> Mention:
        title = kind.is_noun and self.is_title(n)
        words = [n] if title else self.name_at(n) or [n]
        while self._qualifies(words[0] - 1, n):
            words = [words[0] - 1, *words]
        phrase = " ".join(self.nodes[k].form for k in words if k <= n)
        node = self.nodes[n]
        is_noun = node.upos != "PROPN" or self._is_word_for_person(n)
        return Mention(
            kind=kind,
            span=self.span(n),
            phrase=phrase.lower(),
            may_be_noun=kind.is_noun and is_noun,
            may_be_name=kind is not MentionKind.PRONOUN and node.form[:1].isupper(),
        )

    def _qualifies(self, n: int, head: int) -> bool:
        """A noun right before the head that makes a compound with it."""
        if n < 0:
            return False
        node = self.nodes[n]
        return node.head == head and node.deprel == "compound" and node.upos == "NOUN"

    # Links

    def _links(self) -> Iterator[_Link]:
        for n, node in enumerate(self.nodes):
            if node.upos not in ("NOUN", "PROPN"):
                continue
            links = {*self._predicate_links(n), *self._role_links(n), *self._apposition_links(n)}
            for link in sorted(links):
                yield link
                for other in self._joined(n):
                    yield link._replace(noun=other)

    def _joined(self, n: int) -> Iterator[int]:
        """Nouns that "and" joins to a noun, which say the same of its subject."""
        for _, other in self.graph.below(n, "conj"):
            own = self.graph.has(other, *_SUBJECTS, "nmod:poss", "cop")
            if self.nodes[other].upos == "NOUN" and self.nodes[other].head == n and not own:
                yield other

    def _predicate_links(self, n: int) -> Iterator[_Link]:
        node = self.nodes[n]
        if node.deprel in _SUBJECTS or self._has_as(n):
            return
        kind = MentionKind.PREDICATE
        predicative = self.graph.has(n, "cop") or node.deprel == "xcomp"
        for _, subject in self.graph.below(n, *_SUBJECTS) if predicative else ():
            yield _Link(kind, subject, n)
        governor = self.nodes[node.head] if node.head >= 0 else None
        if governor is None or node.deprel != "obj":
            return
        passive = self.graph.below(node.head, "nsubj:pass")
        named = governor.lemma in _NAMING and bool(passive)
        for _, subject in passive if named else ():
            yield _Link(kind, subject, n)
        for _, subject in self._subjects(node.head) if governor.lemma in _BECOMING else ():
            yield _Link(kind, subject, n)

    def _subjects(self, verb: int) -> list[tuple[str, int]]:
        return self.graph.below(verb, *_SUBJECTS)

    def _has_as(self, n: int) -> bool:
        return any(
            node.head == n and node.deprel in ("case", "mark") and node.form.lower() == _AS
            for node in self.nodes
        )

    def _role_links(self, n: int) -> Iterator[_Link]:
        node = self.nodes[n]
        if node.head < 0 or node.deprel.partition(":")[0] not in _ROLES_OF_AS:
            return
        if not self._has_as(n):
            return
        for other in self._bearers(node.head):
            if other != n:
                yield _Link(MentionKind.ROLE, other, n)

    def _bearers(self, governor: int) -> Iterable[int]:
        """The words for the person who has the role behind "as" below a word: below a verb the
        object, if it may be a person, else the subject; below a noun (*her career as …*) its owner.
        """
        node = self.nodes[governor]
        if node.upos in ("NOUN", "PROPN"):
            owners = [k for _, k in self.graph.below(governor, "nmod:poss")]
            owners += [k for _, k in self._subjects(governor)]
            # "She had a career as …": of the verb that has such a noun for its object.
            below_verb = node.deprel in ("obj", "obl") and not self._may_be_person(governor)
            return owners or ([k for _, k in self._subjects(node.head)] if below_verb else [])
        objects = [k for _, k in self.graph.below(governor, "obj") if self._may_be_person(k)]
        own = [k for k in objects if self.nodes[k].deprel == "obj"]
        return own or [k for _, k in self._subjects(governor)]

    def _may_be_person(self, n: int) -> bool:
        return self.nodes[n].upos in ("PROPN", "PRON") or self.is_person(n)

    def _apposition_links(self, n: int) -> Iterator[_Link]:
        """A noun beside a name, either of which may come first, or beside the entity."""
        node = self.nodes[n]
        governor = self.nodes[node.head] if node.head >= 0 else None
        if governor is None or governor.upos not in ("NOUN", "PROPN"):
            return
        if node.deprel == "appos":
            yield _Link(MentionKind.APPOSITION, node.head, n)
        elif node.deprel in _TITLES and node.upos != governor.upos:
            noun, name = (n, node.head) if node.upos == "NOUN" else (node.head, n)
            yield _Link(MentionKind.APPOSITION, name, noun)
