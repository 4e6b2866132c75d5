"""The dependencies of a sentence as a graph: the basic tree, and the edges that follow from it.

BUG's patterns were drawn on a graph with additional edges (the BART representation, UD version 1), in which the noun
of a relative clause is its verb's subject, for instance. `extended_graph` adds those that the patterns need to a basic
tree of UD version 2:

==================================  =================================================================================
relative clause                     the noun has the role of *who*, *which*, *that* in it: "the **writer** who *came*"
participle clause (``acl``)         the noun is its subject, a passive one of a past participle: "the **writer** *paid*"
verbs joined by *and*               the second has the subject of the first: "the **writer** came and *sat*"
conjunct                            it has the role of the first conjunct: "the nurse and the **writer** *came*"
``xcomp``                           its subject is its head's object, else subject: "the **writer** tried to *come*"
``advcl`` without a subject         it has the subject of its head: "*Tired*, the **writer** sat"
apposition                          it has the role of what it explains: "Ann, the **writer**, *came*"
title before a name                 it has the role of the name: "the **writer** Ann Li *came*"
passive subject                     it is an object too: "the **writer** was *paid*"
copula                              it has the subject, and its predicate as ``xcomp``: "the **writer** *is* tired"
==================================  =================================================================================

Source: Tiktinsky, Goldberg and Tsarfaty, *pyBART: Evidence-based Syntactic Transformations for IE* (ACL 2020
demonstrations), for the idea; the edges here are our own reading for these patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mtbias.mining.parsed_sentence import Node, ParsedSentence

Edge = tuple[int, str, int]
"""Head, label, dependent."""
Nodes = tuple[Node, ...]

MOST_WORDS = 500
"""Words of the longest sentence that gets further edges: of n conjuncts with subjects there may be n² / 4."""

_SUBJECTS = ("nsubj", "nsubj:pass")
_ROLES = (*_SUBJECTS, "obj")
_RELATIVES = frozenset(("who", "whom", "which", "that"))


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """The edges at each word of a sentence, each as a label and the word at its other end."""

    heads: Sequence[Sequence[tuple[str, int]]]
    dependents: Sequence[Sequence[tuple[str, int]]]


def basic_graph(sentence: ParsedSentence) -> DependencyGraph:
    """The basic tree of `sentence`."""
    return _growing(sentence.nodes)[0]


def extended_graph(sentence: ParsedSentence) -> DependencyGraph:
    """The basic tree of `sentence` with the edges of this module's table; without where it has over `MOST_WORDS`."""
    nodes = sentence.nodes
    if len(nodes) > MOST_WORDS:
        return basic_graph(sentence)
    graph, add = _growing(nodes)
    edges = {(node.head, node.deprel, at) for at, node in enumerate(nodes) if node.head >= 0}
    rules = [edge for edge in sorted(edges) if edge[1] in _RULES]
    more = True
    while more:  # an edge may rest on another that was added: a shared subject on a relative clause's
        more = False
        for head, label, dependent in tuple(rules):
            for edge in tuple(_RULES[label](nodes, graph, head, dependent)):
                if edge not in edges:
                    more = True
                    edges.add(edge)
                    add(edge)
                    if edge[1] in _RULES:
                        rules.append(edge)
    return graph


def _growing(nodes: Nodes) -> tuple[DependencyGraph, Callable[[Edge], None]]:
    """The basic tree, and a function that adds an edge to it."""
    heads: list[list[tuple[str, int]]] = [[] for _ in nodes]
    dependents: list[list[tuple[str, int]]] = [[] for _ in nodes]

    def add(edge: Edge) -> None:
        head, label, dependent = edge
        heads[dependent].append((label, head))
        dependents[head].append((label, dependent))

    for at, node in enumerate(nodes):
        if node.head >= 0:
            add((node.head, node.deprel, at))
    return DependencyGraph(heads, dependents), add


def _relative_clause(nodes: Nodes, graph: DependencyGraph, noun: int, clause: int) -> Iterator[Edge]:
    for role, word in _of(graph, clause, _ROLES):
        if nodes[word].form.lower() in _RELATIVES:
            yield clause, role, noun


def _participle_clause(nodes: Nodes, graph: DependencyGraph, noun: int, clause: int) -> Iterator[Edge]:  # noqa: ARG001
    if (role := _role_of_participle(nodes[clause])) is not None:
        yield clause, role, noun


def _conjunct(nodes: Nodes, graph: DependencyGraph, first: int, second: int) -> Iterator[Edge]:
    yield from ((head, role, second) for role, head in _roles(graph, first) if role != "conj")
    if not _has_subject(nodes, second):
        for role, word in _of(graph, first, _SUBJECTS):
            yield second, _role_of_shared_subject(nodes, second, role), word


def _open_complement(nodes: Nodes, graph: DependencyGraph, verb: int, complement: int) -> Iterator[Edge]:  # noqa: ARG001
    owners = _of(graph, verb, ("obj", "iobj")) or _of(graph, verb, _SUBJECTS)
    yield from ((complement, "nsubj", word) for _, word in owners if word != complement)


def _adverbial_clause(nodes: Nodes, graph: DependencyGraph, verb: int, clause: int) -> Iterator[Edge]:
    if not _has_subject(nodes, clause):
        role = _role_of_participle(nodes[clause]) or "nsubj"
        yield from ((clause, role, word) for _, word in _of(graph, verb, _SUBJECTS))


def _title(nodes: Nodes, graph: DependencyGraph, name: int, title: int) -> Iterator[Edge]:
    if nodes[name].upos == "PROPN" and nodes[title].upos == "NOUN":
        yield from ((head, role, title) for role, head in _roles(graph, name) if head != title)


def _apposition(nodes: Nodes, graph: DependencyGraph, noun: int, second: int) -> Iterator[Edge]:  # noqa: ARG001
    yield from ((head, role, second) for role, head in _roles(graph, noun) if head != second)


def _passive_subject(nodes: Nodes, graph: DependencyGraph, verb: int, subject: int) -> Iterator[Edge]:  # noqa: ARG001
    yield verb, "obj", subject


def _copula(nodes: Nodes, graph: DependencyGraph, predicate: int, copula: int) -> Iterator[Edge]:  # noqa: ARG001
    yield copula, "xcomp", predicate
    yield from ((copula, "nsubj", word) for _, word in _of(graph, predicate, ("nsubj",)))


_RULES: Mapping[str, Callable[[Nodes, DependencyGraph, int, int], Iterator[Edge]]] = {
    "acl:relcl": _relative_clause,
    "acl": _participle_clause,
    "conj": _conjunct,
    "xcomp": _open_complement,
    "advcl": _adverbial_clause,
    "appos": _apposition,
    "compound": _title,
    "nmod:desc": _title,
    "nsubj:pass": _passive_subject,
    "cop": _copula,
}
"""What follows from an edge of a label: from its head and its dependent, and the edges around them."""


def _roles(graph: DependencyGraph, word: int) -> list[tuple[str, int]]:
    """The edges to a word that others share with it."""
    return [(label, head) for label, head in graph.heads[word] if label != "appos"]


def _of(graph: DependencyGraph, word: int, labels: tuple[str, ...]) -> list[tuple[str, int]]:
    return [(label, other) for label, other in graph.dependents[word] if label in labels]


def _has_subject(nodes: Nodes, word: int) -> bool:
    """Whether a word has a subject of its own in the tree, clausal and expletive ones among them."""
    return any(n.head == word and n.deprel.partition(":")[0] in {"nsubj", "csubj", "expl"} for n in nodes)


def _role_of_participle(node: Node) -> str | None:
    """The role in which a participle's noun belongs to it; None of other words."""
    past = node.xpos == "VBN" or (node.feat("VerbForm") == "Part" and node.feat("Tense") == "Past")
    present = node.xpos == "VBG" or node.feat("VerbForm") in {"Part", "Ger"}
    return "nsubj:pass" if past else "nsubj" if present else None


def _role_of_shared_subject(nodes: Nodes, verb: int, role: str) -> str:
    """The role of a subject that `verb` shares with another: *was hired and paid*, *was hired and came*."""
    if any(n.head == verb and n.deprel == "aux:pass" for n in nodes):
        return "nsubj:pass"
    alone = not any(n.head == verb and n.deprel in {"aux", "cop"} for n in nodes)
    return role if alone and _role_of_participle(nodes[verb]) == "nsubj:pass" else "nsubj"
