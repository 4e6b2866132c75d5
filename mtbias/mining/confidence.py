"""The probability that a find's pronoun means its profession: a logistic model with few terms.

A pattern finds a structure, not coreference: *his friend asked him whether he would come* has the
structure of *the friend said he would come*. Most terms are signs of other persons whom the pronoun
may mean.

``confidence = 1 / (1 + exp(-(intercept + Σ weight of each term that holds + w · ln distance)))``

Range: above 0, below 1. The weights (``confidence.toml``) were fitted on finds that were read by
hand, by ``scripts/mining_precision.py --fit``. The pattern is not a term: a weight for each made
the model no better where it was not fitted. So a user's own pattern gets the confidence that ours
have with these terms, whether or not it is a good one.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.english.gender_swap import gendered_words, word_gender
from mtbias.english.words import GENDER_OF_PRONOUN, PRONOUN_ROLES
from mtbias.mining.parsed_sentence import Find
from mtbias.types import Gender, frozen

TERMS = (
    "quotation",
    "owned",
    "between",
    "above",
    "pronoun-first",
    "reflexive",
    "subject",
    "distance",
)
"""The terms of the model beside the intercept:

* ``quotation``: one of the two is within quotation marks, the other is not.
* ``owned``: the profession is somebody's whom the pronoun may mean (*his doctor*, *Ann's doctor*).
* ``between``: another person comes between the two.
* ``above``: another person, or a pronoun of the same gender, comes before both and depends on a
  word that governs one of them (*Ann told the doctor that she*).
* ``pronoun-first``: the pronoun comes before the profession (*in her speech the author said*).
* ``reflexive``, ``subject``: the pronoun is one.
* ``distance``: the natural logarithm of the distance in tokens.

A person of the pronoun's other gender (*the doctor's wife*, where the pronoun is *he*) does not
count, nor does another name of the profession's own bearer (*Ann is a doctor*, *Ann, the doctor*).
"""

WEIGHTS = Path(__file__).with_name("confidence.toml")
"""The weights that ship, which the rows of a corpus depend on."""
_QUOTES = frozenset(('"', "“", "”", "``", "''", "«", "»"))
_SAME = ("appos", "flat", "nmod:desc")
_PLACES = frozenset(("at", "in", "into", "near", "on", "onto", "throughout", "within"))
"""Before a proper noun these speak for a place, a time or a thing."""
_TIMES = ("obl:tmod", "nmod:tmod", "obl:unmarked", "obl:npmod", "nmod:unmarked")

Nodes = tuple[Node, ...]


@frozen
class ConfidenceModel:
    """The weights of the model."""

    intercept: float
    weights: Mapping[str, float]
    """Weight of each of `TERMS`."""

    def confidence(self, values: Sequence[float]) -> float:
        """The probability for the `term_values` of a find."""
        weighted = (self.weights[term] * x for term, x in zip(TERMS, values, strict=True))
        total = self.intercept + sum(weighted)
        return 1 / (1 + math.exp(-total))


@cache
def shipped_model() -> ConfidenceModel:
    """The model that ships with mtbias."""
    data = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    return ConfidenceModel(data["intercept"], {term: data["weights"][term] for term in TERMS})


def term_values(
    sentence: ParsedSentence, find: Find, listed: Container[str], gender: Gender, distance: int
) -> tuple[float, ...]:
    """The values of `TERMS` for a find: 1 where a term holds, else 0; the logarithm of its
    `distance`.

    Args:
        sentence: with the find.
        find: a profession and a pronoun.
        listed: the professions, in lower case.
        gender: the pronoun's.
        distance: in tokens, from 1 upwards (0, of words that share a token, counts as 1).
    """
    held = set(_terms(sentence, find, listed, gender))
    return (*(float(term in held) for term in TERMS[:-1]), math.log(max(distance, 1)))


def _terms(
    sentence: ParsedSentence, find: Find, listed: Container[str], gender: Gender
) -> Iterator[str]:
    """The terms that hold."""
    nodes, own = sentence.nodes, bearer(sentence.nodes, find.profession)
    pronoun = nodes[find.pronoun]
    # *Her sister* is not the one whom *her* means.
    possessed = pronoun.head if pronoun.deprel == "nmod:poss" else -1
    others = [
        words[-1]
        for words, word_gender in persons(nodes, listed)
        if word_gender in {None, gender} and own.isdisjoint(words) and words[-1] != possessed
    ]
    genders = [GENDER_OF_PRONOUN.get(node.form.lower()) for node in nodes]
    pronouns = [n for n, pronoun_gender in enumerate(genders) if pronoun_gender is gender]
    start, end = sorted((find.profession, find.pronoun))
    if sum(node.form in _QUOTES for node in nodes[start:end]) % 2:
        yield "quotation"
    owned = {nodes[n].head for n in (*others, *pronouns) if nodes[n].deprel == "nmod:poss"}
    if find.profession in owned:
        yield "owned"
    objects = [n for n in pronouns if _is_object_of(nodes, n, own)]
    if any(start < n < end for n in (*others, *objects)):
        yield "between"
    before = {nodes[n].head for n in (*others, *(set(pronouns) - own)) if n < start}
    if not before.isdisjoint(ancestors(nodes, find.profession) | ancestors(nodes, find.pronoun)):
        yield "above"
    if find.pronoun < find.profession:
        yield "pronoun-first"
    for role in ("reflexive", "subject"):
        if pronoun.form.lower() in PRONOUN_ROLES[role]:
            yield role


def persons(nodes: Nodes, listed: Container[str]) -> Iterator[tuple[Sequence[int], Gender | None]]:
    """The mentions of persons but for pronouns: their words, the head last, and the gender that
    they show.

    Persons are gendered nouns, listed occupations, and names. There is no list of names: only its
    place in the sentence tells a person's name from another, so companies and states that act like
    persons are taken for persons.
    """
    run: list[int] = []
    for n, node in enumerate(nodes):
        gender = word_gender(node.form) if node.upos == "NOUN" else None
        if node.upos == "NOUN" and (node.form.lower() in listed or gender is not None):
            yield [n], gender
        if _is_proper(node, n):
            run.append(n)
        if run and (run[-1] != n or n + 1 == len(nodes)):
            head = next((word for word in run if nodes[word].head not in run), run[-1])
            if _names_a_person(nodes, run, head):
                yield [*run, head], word_gender(nodes[run[0] - 1].form if run[0] else "")
            run = []


def _is_proper(node: Node, place: int) -> bool:
    """Whether a word is one of a name; a noun with a capital inside the sentence is, since taggers
    err on names.
    """
    if not any(map(str.isalpha, node.form)):
        return False
    if node.form.removesuffix(".") in gendered_words().titles:
        return False
    noun = place > 0 and node.upos == "NOUN" and node.form[0].isupper()
    return noun or node.upos == "PROPN" or node.xpos in {"NNP", "NNPS"}


def _names_a_person(nodes: Nodes, run: Sequence[int], head: int) -> bool:
    """Whether a run of proper nouns may be a person's name: not "the Senate", "in Paris",
    "Tuesday", "a Ford car".
    """
    node = nodes[head]
    for other in nodes:
        if other.head not in run:
            continue
        in_place = other.deprel == "case" and other.form.lower() in _PLACES
        if other.deprel == "det" or in_place:
            return False
    if node.deprel in {"compound", "amod", "nmod:desc"} and nodes[node.head].upos != "PROPN":
        return False
    return node.deprel not in _TIMES and node.xpos != "NNPS" and node.feat("Number") != "Plur"


def bearer(nodes: Nodes, word: int) -> frozenset[int]:
    """The words that name the same person as `word` by the tree: apposition, name after a trade,
    copula.
    """
    same = {word}
    todo = [word]
    while todo:
        more = set(_same(nodes, todo.pop())) - same
        same |= more
        todo += more
    return frozenset(same)


def _same(nodes: Nodes, word: int) -> Iterator[int]:
    node = nodes[word]
    if _names(nodes, word):
        yield node.head
    for n, other in enumerate(nodes):
        if other.head != word:
            continue
        if _names(nodes, n) or (other.deprel == "nsubj" and _has_copula(nodes, word)):
            yield n
    if node.deprel == "nsubj" and _has_copula(nodes, node.head):
        yield node.head
    if node.upos == "NOUN" and word + 1 < len(nodes) and nodes[word + 1].upos == "PROPN":
        yield word + 1  # "the manager Walter Smith", however it was parsed


def _names(nodes: Nodes, word: int) -> bool:
    """Whether `word` names the same person as its head."""
    node = nodes[word]
    if node.head < 0:
        return False
    if node.deprel == "conj":
        # "the writer and director"; "the producer, Barry White, left", which parsers take for a
        # list.
        own = {other.deprel for other in nodes if other.head == word}
        return own.isdisjoint({"det", "nmod:poss"} if node.upos == "NOUN" else {"cc"})
    title = node.deprel == "compound" and nodes[node.head].upos == "PROPN"
    return title or node.deprel.startswith(_SAME)


def _has_copula(nodes: Nodes, word: int) -> bool:
    if nodes[word].upos not in {"NOUN", "PROPN"}:
        return False
    return any(node.head == word and node.deprel == "cop" for node in nodes)


def _is_object_of(nodes: Nodes, pronoun: int, own: frozenset[int]) -> bool:
    """Whether a pronoun cannot mean `own`, the subject of its own verb: *her* in "the judge asked
    her".
    """
    node = nodes[pronoun]
    is_object = node.deprel in {"obj", "iobj", "obl"} and not node.form.lower().endswith("self")
    return is_object and not own.isdisjoint(_subjects(nodes, node.head))


def _subjects(nodes: Nodes, verb: int) -> set[int]:
    """The subjects of a verb, for a conjunct without one those of the first verb; in a relative
    clause its noun too.
    """
    dependents = [(n, node) for n, node in enumerate(nodes) if node.head == verb]
    subjects = {n for n, node in dependents if node.deprel.startswith("nsubj")}
    node = nodes[verb]
    if node.deprel == "acl:relcl" or (node.deprel == "acl" and not subjects):
        subjects.add(node.head)
    elif node.deprel == "conj" and not subjects and node.head < verb:
        return _subjects(nodes, node.head)
    return subjects


def ancestors(nodes: Nodes, word: int) -> set[int]:
    """The word, its head, the head's head and so on."""
    above: set[int] = set()
    while word >= 0 and word not in above:
        above.add(word)
        word = nodes[word].head
    return above
