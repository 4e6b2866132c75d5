"""The persons of a parsed sentence: names, gendered nouns, listed occupations.

There is no list of names. A name is a run of proper nouns, and what it is of shows by its place in the sentence alone:
companies and states that do what persons do are taken for persons.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from mtbias.english.gender_swap import gendered_words, word_gender
from mtbias.mining.parsed_sentence import Node, ParsedSentence
from mtbias.types import Gender

PLACES = frozenset(("at", "in", "into", "near", "on", "onto", "throughout", "within"))
"""Before a proper noun these speak for a place, a time or a thing."""
_TIMES = ("obl:tmod", "nmod:tmod", "obl:unmarked", "obl:npmod", "nmod:unmarked")


@dataclass(frozen=True, slots=True)
class Person:
    """A mention of one person."""

    words: tuple[int, ...]
    """Its words: a noun, or a name of several proper nouns."""
    head: int
    """The one of `words` that hangs on none of the others."""
    gender: Gender | None
    """What the noun, or a title before the name, tells."""


def proper_names(sentence: ParsedSentence, listed: Container[str]) -> list[tuple[int, ...]]:
    """Runs of proper nouns, without the titles and listed occupations before them (*Mrs*, *President* Jones).

    Taggers err on names, so a noun with a capital inside the sentence is one too, and after a proper noun any word with
    a capital (*James Best*). A word in lower case within a name is part of it where the tree says so (*van* in
    *Vincent van Gogh*). Genitive endings and punctuation end a run.
    """
    nodes = sentence.nodes
    runs: list[tuple[int, ...]] = []
    run: list[int] = []
    for at, node in enumerate(nodes):
        continues = run and node.upos != "PUNCT" and (_is_capital(node) or (node.deprel == "flat" and node.head in run))
        if (continues and not _tells_gender(node)) or (_is_proper(node, at) and not _is_title(nodes, at, listed)):
            run.append(at)
        elif run:
            runs.append(tuple(run))
            run = []
    return [*runs, tuple(run)] if run else runs


def persons(sentence: ParsedSentence, listed: Container[str]) -> tuple[Person, ...]:
    """The mentions of single persons in the sentence's order, pronouns left out."""
    nodes = sentence.nodes
    found = [
        Person((at,), at, word_gender(node.form))
        for at, node in enumerate(nodes)
        if node.upos == "NOUN" and _is_singular(node) and _is_person_noun(node, listed)
    ]
    for run in proper_names(sentence, listed):
        head = next((at for at in run if nodes[at].head not in run), run[-1])
        if names_a_person(nodes, run, head):
            before = nodes[run[0] - 1].form if run[0] else ""
            found.append(Person(run, head, word_gender(before)))
    return tuple(sorted(found, key=lambda person: person.words))


def names_a_person(nodes: tuple[Node, ...], run: tuple[int, ...], head: int) -> bool:
    """Whether a run of proper nouns may be a person's name: not "the Senate", "in Paris", "Tuesday", "a Ford car"."""
    node = nodes[head]
    of_head = [each for each in nodes if each.head in run]
    has_article = any(each.deprel == "det" for each in of_head)
    is_place = any(each.deprel == "case" and each.form.lower() in PLACES for each in of_head)
    return not (has_article or is_place or modifies(nodes, head) or node.deprel in _TIMES or _is_plural(node))


def modifies(nodes: tuple[Node, ...], word: int) -> bool:
    """Whether `word` qualifies another noun that is no name: "the *child* actor", "a *Ford* car"."""
    node = nodes[word]
    return node.deprel in {"compound", "amod", "nmod:desc"} and nodes[node.head].upos != "PROPN"


def _is_proper(node: Node, at: int) -> bool:
    if not any(char.isalpha() for char in node.form):
        return False
    return (
        node.upos == "PROPN" or node.xpos in {"NNP", "NNPS"} or (at > 0 and node.upos == "NOUN" and _is_capital(node))
    )


def _is_title(nodes: tuple[Node, ...], at: int, listed: Container[str]) -> bool:
    """Whether a word is a title or an occupation, which stands before a name or has an article; else it is a name."""
    if not _tells_gender(nodes[at]) and nodes[at].form.removesuffix(".").lower() not in listed:
        return False
    before_name = at + 1 < len(nodes) and _is_proper(nodes[at + 1], at + 1)
    return before_name or any(node.head == at and node.deprel == "det" for node in nodes)


def _tells_gender(title: Node) -> bool:
    return title.form.removesuffix(".") in gendered_words().titles


def _is_capital(node: Node) -> bool:
    return node.form[:1].isupper() and node.upos in {"NOUN", "PROPN", "ADJ", "VERB", "X"}


def _is_person_noun(node: Node, listed: Container[str]) -> bool:
    return node.form.lower() in listed or word_gender(node.form) is not None


def _is_plural(node: Node) -> bool:
    return node.xpos == "NNPS" or node.feat("Number") == "Plur"


def _is_singular(node: Node) -> bool:
    return node.feat("Number") != "Plur" and node.xpos != "NNS"
