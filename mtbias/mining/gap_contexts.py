"""Contexts of GAP's kind: a pronoun that may be either of two people of its gender, by three patterns of their places.

FINALPRO: both people stand before the pronoun in one sentence, its own or the one before. INITIALPRO: both stand behind
it in its sentence. MEDIALPRO: the first stands in the sentence before, the second behind the pronoun. In the last two
the pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase. A context is the
longest, of at most five sentences and ending with the pronoun's, that names exactly two people of its gender.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 2.1, after Webster et al. (2018).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from mtbias.coref.gap_data import GapInstance, write_instances
from mtbias.english.people import Person, people, proper_names
from mtbias.english.words import GENDER_OF_PRONOUN, PRONOUN_ROLES, count_pronouns
from mtbias.mining.confidence import ancestors
from mtbias.mining.parsed_sentence import Node, ParsedSentence, PassageSentence
from mtbias.types import Gender, Span, frozen

SENTENCES = 5
"""The most of a context."""
PRONOUNS = frozenset(GENDER_OF_PRONOUN) - set(PRONOUN_ROLES["reflexive"])
"""Those that are asked about."""
_CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-z]")


@frozen
class MinedContext:
    """A context; offsets are in characters of it."""

    sentence_text: str
    """All of its sentences."""
    pronoun: str
    pronoun_offset: int
    a: str
    a_offset: int
    b: str
    b_offset: int
    pattern: str
    corpus: str
    file: str
    offset: int
    """Where it begins in the file."""
    confidence: None = None

    @property
    def described(self) -> Mapping[str, str]:
        """By what the card counts."""
        return {"pattern": self.pattern, "pronoun": self.pronoun.lower(), "domain": self.corpus}


def may_hold(text: str) -> bool:
    """The cheap filter: whether a passage has a pronoun and two words with a capital."""
    return count_pronouns(text) > 0 and len(_CAPITAL.findall(text)) > 1


def context_lines(contexts: Iterable[MinedContext]) -> Iterator[str]:
    """The lines of GAP's file with the column ``Pattern``; the labels are empty, for people to fill in."""
    instances = (
        GapInstance(
            f"{one.corpus}-{n}", one.sentence_text, one.pronoun, one.pronoun_offset, one.a, one.a_offset, None, one.b,
            one.b_offset, None, {"URL": one.file, "Pattern": one.pattern},
        )
        for n, one in enumerate(contexts, start=1)
    )  # fmt: skip
    yield from write_instances(instances, ("URL", "Pattern")).removesuffix("\r\n").split("\r\n")


def contexts_of(
    passage: str,
    sentences: Sequence[PassageSentence],
    names: Mapping[str, Gender],
    *,
    corpus: str,
    file: str,
    offset: int,
) -> Iterator[MinedContext]:
    """The contexts of a passage, one a pronoun at most, in its order.

    Args:
        passage: the text.
        sentences: its sentences with their dependencies.
        names: the genders of first names.
        corpus: what the text is called.
        file: where the passage is.
        offset: characters before it there.
    """
    for last, sentence in enumerate(sentences):
        firsts = range(max(0, last + 1 - SENTENCES), last + 1)
        windows = [Window(passage, sentences[first : last + 1], names) for first in firsts]
        for at, node in enumerate(sentence.parsed.nodes):
            if node.form.lower() in PRONOUNS and node.upos == "PRON":
                gender = GENDER_OF_PRONOUN[node.form.lower()]
                window = next((window for window in windows if len(window.mentions(gender)) == 2), None)
                found = None if window is None else window.candidates(at)
                if window is not None and found is not None:
                    text, (pattern, a, b), pronoun = window.text, found, _own(sentence.parsed, node, window.last)
                    yield MinedContext(
                        text, text[slice(*pronoun)], pronoun.start, text[slice(*a)], a.start, text[slice(*b)], b.start,
                        pattern, corpus, file, offset + window.start,
                    )  # fmt: skip


class Window:
    """Some sentences of a passage; the pronoun is in the last of them."""

    def __init__(self, passage: str, sentences: Sequence[PassageSentence], names: Mapping[str, Gender]) -> None:
        self.sentences, self.names = sentences, names
        self.start = sentences[0].offset
        self.last = sentences[-1].offset - self.start
        """Where its last sentence begins."""
        self.text = passage[self.start : sentences[-1].offset + len(sentences[-1].parsed.text)]

    @cached_property
    def people(self) -> list[Person]:
        """Whom it names."""
        words = (
            (_own(one.parsed, node, one.offset - self.start), node.upos == "PROPN")
            for one in self.sentences
            for node in one.parsed.nodes
        )
        return people(self.text, proper_names(self.text, words), self.names)

    def mentions(self, gender: Gender) -> list[tuple[Span, ...]]:
        """Those of each of its people of a gender."""
        return [person.mentions for person in self.people if person.gender is gender]

    def candidates(self, at: int) -> tuple[str, Span, Span] | None:
        """The pattern in which the pronoun, a node of the last sentence, may mean two people, and where they stand."""
        parsed = self.sentences[-1].parsed
        pronoun = _own(parsed, parsed.nodes[at], self.last)
        two = self.mentions(GENDER_OF_PRONOUN[parsed.nodes[at].form.lower()])
        before = self.sentences[-2].offset - self.start if len(self.sentences) > 1 else self.last
        own, previous, behind = (
            [[span for span in mentions if start <= span.start and span.end <= end] for mentions in two]
            for start, end in ((self.last, pronoun.start), (before, self.last), (pronoun.end, len(self.text)))
        )
        for places in (own, previous):
            if all(places):
                a, b = sorted(spans[-1] for spans in places)
                return "FINALPRO", a, b
        if is_initial(parsed, at):
            if all(behind):
                a, b = sorted(spans[0] for spans in behind)
                return "INITIALPRO", a, b
            for first, second in ((0, 1), (1, 0)):
                if previous[first] and behind[second]:
                    return "MEDIALPRO", previous[first][-1], behind[second][0]
        return None


def _own(sentence: ParsedSentence, node: Node, offset: int) -> Span:
    """Where a word itself stands in a text in which its sentence begins at `offset`: the "he" of "he's"."""
    start, end = node.span
    end = start + len(node.form) if sentence.text.startswith(node.form, start) else end
    return Span(offset + start, offset + end)


def is_initial(sentence: ParsedSentence, pronoun: int) -> bool:
    """Whether a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase.

    That is: a clause (``advcl``) or a phrase (``obl``) that begins the sentence, but for marks and conjunctions, and
    ends before what it depends on.
    """
    nodes = sentence.nodes
    begin = next((n for n, node in enumerate(nodes) if node.upos not in {"PUNCT", "CCONJ", "SYM"}), 0)
    relations = {"advcl", "obl"} if nodes[pronoun].deprel == "nmod:poss" else {"advcl"}
    for top in ancestors(nodes, pronoun):
        if nodes[top].deprel.partition(":")[0] in relations:
            below = [n for n in range(len(nodes)) if top in ancestors(nodes, n)]
            if below[0] <= begin and below[-1] < nodes[top].head:
                return True
    return False
