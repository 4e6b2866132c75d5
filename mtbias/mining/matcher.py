"""What the patterns find in a sentence: pairs of a listed noun and a gendered pronoun."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import product

from mtbias.mining.dependency_graph import basic_graph, extended_graph
from mtbias.mining.parsed_sentence import Find, Node, ParsedSentence
from mtbias.mining.patterns import EDGES, Pattern

PENN_NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
"""The Penn Treebank's tags of nouns; treebanks with other tags are read by UPOS and features."""


def find(sentence: ParsedSentence, patterns: Sequence[Pattern], listed: Container[str]) -> tuple[Find, ...]:
    """The finds of `patterns` in `sentence`, by the place of the noun, then of the pronoun, then the patterns' order.

    The noun is a singular common noun whose form, in lower case, is in `listed`. Where patterns of one number tie the
    same noun and pronoun, the first of them names the find: they stand for one query. A pattern with `extra_edges`
    names a find ``NAME+edges`` where the basic tree does not hold it.
    """
    nodes = sentence.nodes
    nouns = [at for at, node in enumerate(nodes) if node.form.lower() in listed and is_singular_noun(node)]
    if not nouns:
        return ()
    wanted = frozenset().union(*(pattern.pronouns for pattern in patterns))
    pronouns = [(at, form) for at, node in enumerate(nodes) if (form := node.form.lower()) in wanted]
    if not pronouns:
        return ()
    basic = basic_graph(sentence)
    extended = extended_graph(sentence) if any(pattern.extra_edges for pattern in patterns) else basic
    found = []
    for noun, (pronoun, form) in product(nouns, pronouns):
        queries = set()
        for pattern in patterns:
            query = pattern.name if pattern.number is None else pattern.number
            if form not in pattern.pronouns or query in queries:
                continue
            if pattern.ties(basic, noun, pronoun):
                name = pattern.name
            elif pattern.extra_edges and pattern.ties(extended, noun, pronoun):
                name = pattern.name + EDGES
            else:
                continue
            queries.add(query)
            found.append(Find(name, pattern.number, noun, pronoun))
    return tuple(found)


def is_singular_noun(node: Node) -> bool:
    """Whether a word is a singular common noun: tagged NN, or, by a treebank with other tags, NOUN and Number=Sing."""
    if node.xpos in PENN_NOUNS:
        return node.xpos == "NN"
    return node.upos == "NOUN" and node.feat("Number") == "Sing"
