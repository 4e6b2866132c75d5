"""Reasons to doubt that a find's pronoun means its profession; a filter for each, and the terms of the confidence.

A pattern finds a structure, not coreference: *his friend asked him whether he would come* has the structure of *the
friend said he would come*. The doubts are signs of other persons whom the pronoun may mean. None is the paper's.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Literal, get_args

from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.mining.parsed_sentence import Find, Node, ParsedSentence
from mtbias.mining.persons import Person, modifies, persons
from mtbias.types import Gender

Doubt = Literal["quotation", "owned", "modifier", "between", "above", "before", "pronoun-first", "shared", "joined"]
"""In the order in which they are looked for:

* ``quotation``: the one stands within quotation marks, the other does not.
* ``owned``: the profession is somebody's whom the pronoun may mean (*his doctor*, *Ann's doctor*).
* ``modifier``: the profession qualifies another noun (*the child actor*, *the chief reason*).
* ``between``: another person stands between the two.
* ``above``: another person, or a pronoun of the same gender, stands before both and depends on a word that governs
  one of them (*Ann told the doctor that she*).
* ``before``: such a one stands before both, elsewhere in the tree (*after Ann had left, the doctor*).
* ``pronoun-first``: the pronoun stands before the profession (*in her speech the author said*).
* ``shared``: another profession is found with the same pronoun.
* ``joined``: the profession is joined with another person by *and* or *or* (*Ann and the doctor*).

A person of the pronoun's other gender (*the doctor's wife*, where the pronoun is *he*) raises none of them, nor does
another name of the profession's own bearer (*Ann is a doctor*, *Ann, the doctor*).
"""
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)

_QUOTES = frozenset(('"', "“", "”", "``", "''", "«", "»"))
_SAME = ("appos", "flat", "nmod:desc")


def doubts_of(
    sentence: ParsedSentence, find: Find, finds: Sequence[Find], listed: Container[str], gender: Gender
) -> tuple[Doubt, ...]:
    """The doubts about `find`, one of the sentence's `finds`, whose pronoun has `gender`; in the order of `DOUBTS`."""
    nodes = sentence.nodes
    own = bearer(nodes, find.profession)
    others = [person for person in persons(sentence, listed) if person.gender in {None, gender}]
    rivals = [each for each in others if own.isdisjoint(each.words) and not _has(nodes, each.head, find.pronoun)]
    found = set(_by_place(nodes, find, rivals, own, gender))
    if any(node.deprel == "nmod:poss" and node.head == find.profession for node in _rivals(nodes, rivals, gender)):
        found.add("owned")
    if modifies(nodes, find.profession):
        found.add("modifier")
    if any(other.pronoun == find.pronoun and other.profession not in own for other in finds):
        found.add("shared")
    heads = {person.head for person in rivals}
    if any(_joined(nodes, find.profession, head) for head in heads):
        found.add("joined")
    return tuple(doubt for doubt in DOUBTS if doubt in found)


def bearer(nodes: tuple[Node, ...], word: int) -> frozenset[int]:
    """The words that name the same person as `word` by the tree: apposition, name after a trade, copula."""
    same = {word}
    todo = [word]
    while todo:
        for other in _same(nodes, todo.pop()):
            if other not in same:
                same.add(other)
                todo.append(other)
    return frozenset(same)


def _same(nodes: tuple[Node, ...], word: int) -> Iterator[int]:
    node = nodes[word]
    if _names(nodes, word):
        yield node.head
    for at, each in enumerate(nodes):
        if each.head == word and (_names(nodes, at) or (each.deprel == "nsubj" and _has_copula(nodes, word))):
            yield at
    if node.deprel == "nsubj" and _has_copula(nodes, node.head):
        yield node.head
    if node.upos == "NOUN" and word + 1 < len(nodes) and nodes[word + 1].upos == "PROPN":
        yield word + 1  # "the manager Walter Smith", however it was parsed


def _names(nodes: tuple[Node, ...], word: int) -> bool:
    """Whether `word` names the same person as its head."""
    node = nodes[word]
    if node.head < 0:
        return False
    if node.deprel == "conj":
        # "the writer and director"; "the producer, Barry White, left", which parsers take for a list.
        own = {each.deprel for each in nodes if each.head == word}
        return own.isdisjoint({"det", "nmod:poss"}) if node.upos == "NOUN" else own.isdisjoint({"cc"})
    return node.deprel.startswith(_SAME) or (node.deprel == "compound" and nodes[node.head].upos == "PROPN")


def _has_copula(nodes: tuple[Node, ...], word: int) -> bool:
    return nodes[word].upos in {"NOUN", "PROPN"} and any(n.head == word and n.deprel == "cop" for n in nodes)


def _by_place(
    nodes: tuple[Node, ...], find: Find, rivals: list[Person], own: frozenset[int], gender: Gender
) -> Iterator[Doubt]:
    start, end = sorted((find.profession, find.pronoun))
    if sum(node.form in _QUOTES for node in nodes[start:end]) % 2:
        yield "quotation"
    if any(start < person.head < end for person in rivals) or any(_excluded(nodes, start, end, own, gender)):
        yield "between"
    pronouns = {at for at in range(start) if at not in own and GENDER_OF_PRONOUN.get(nodes[at].form.lower()) is gender}
    before = pronouns | {person.head for person in rivals if person.head < start}
    governing = _ancestors(nodes, find.profession) | _ancestors(nodes, find.pronoun)
    if before:
        yield "before" if governing.isdisjoint(nodes[at].head for at in before) else "above"
    if find.pronoun < find.profession:
        yield "pronoun-first"


def _excluded(nodes: tuple[Node, ...], start: int, end: int, own: frozenset[int], gender: Gender) -> Iterator[Node]:
    """Pronouns that cannot mean the subject of their own verb: *her* in "the judge asked her"."""
    for node in nodes[start + 1 : end]:
        word = node.form.lower()
        is_object = node.deprel in {"obj", "iobj", "obl"} and not word.endswith("self")
        if is_object and GENDER_OF_PRONOUN.get(word) is gender and not own.isdisjoint(_subjects(nodes, node.head)):
            yield node


def _subjects(nodes: tuple[Node, ...], verb: int) -> set[int]:
    """The subjects of a verb, for a conjunct without one those of the first verb; in a relative clause its noun too."""
    found = {at for at, each in enumerate(nodes) if each.head == verb and each.deprel.startswith("nsubj")}
    above = nodes[verb]
    if above.deprel == "acl:relcl" or (above.deprel == "acl" and not found):
        found.add(above.head)
    elif above.deprel == "conj" and not found and above.head < verb:
        return _subjects(nodes, above.head)
    return found


def _ancestors(nodes: tuple[Node, ...], word: int) -> set[int]:
    """The word, its head, the head's head and so on."""
    found: set[int] = set()
    while word >= 0 and word not in found:
        found.add(word)
        word = nodes[word].head
    return found


def _has(nodes: tuple[Node, ...], word: int, pronoun: int) -> bool:
    """Whether the pronoun is the possessor of `word`: *her sister* is not the one whom *her* means."""
    return nodes[pronoun].deprel == "nmod:poss" and nodes[pronoun].head == word


def _rivals(nodes: tuple[Node, ...], rivals: list[Person], gender: Gender) -> Iterator[Node]:
    yield from (nodes[person.head] for person in rivals)
    yield from (node for node in nodes if GENDER_OF_PRONOUN.get(node.form.lower()) is gender)


def _joined(nodes: tuple[Node, ...], word: int, other: int) -> bool:
    return any(
        nodes[a].deprel == "conj" and nodes[a].head in {b, nodes[b].head if nodes[b].deprel == "conj" else b}
        for a, b in ((word, other), (other, word))
    )
