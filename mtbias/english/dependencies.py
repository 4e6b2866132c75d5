"""An English sentence with its dependencies (Universal Dependencies, version 2): its tree, and the
graph with the edges that follow from the tree.

`extended_graph` adds these to a basic tree:

- relative clause: the noun has the role of *who*, *which*, *that* in it: "the **writer** who
  *came*";
- participle clause (``acl``): the noun is its subject, a passive one of a past participle: "the
  **writer** *paid*";
- verbs joined by *and*: the second has the subject of the first: "the **writer** came and *sat*";
- conjunct: it has the role of the first conjunct: "the nurse and the **writer** *came*";
- ``xcomp``: its subject is its head's object, else subject: "the **writer** tried to *come*";
- ``advcl`` without a subject: it has the subject of its head: "*Tired*, the **writer** sat";
- apposition: it has the role of what it explains: "Ann, the **writer**, *came*";
- title before a name: it has the role of the name: "the **writer** Ann Li *came*";
- passive subject: it is an object too: "the **writer** was *paid*";
- copula: it has the subject, and its predicate as ``xcomp``: "the **writer** *is* tired".

Source: Tiktinsky, Goldberg and Tsarfaty, *pyBART: Evidence-based Syntactic Transformations for IE*
(ACL 2020 demonstrations), for the idea; the edges here are our own reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mtbias.types import Span, frozen


@frozen
class Node:
    """A syntactic word with its place in the tree."""

    form: str
    upos: str
    deprel: str
    """With its subtype (``nmod:poss``)."""
    head: int
    """Index of the governing word in the sentence's `nodes`, -1 at the root."""
    span: Span
    """Characters of the sentence's text; the words of a multiword token share its span."""
    lemma: str | None = None
    xpos: str | None = None
    feats: tuple[tuple[str, str], ...] = ()

    def feat(self, name: str) -> str | None:
        """Value of the UD feature `name`, or None."""
        return next((value for key, value in self.feats if key == name), None)


@frozen
class ParsedSentence:
    """A sentence with its basic dependency tree (Universal Dependencies, version 2)."""

    text: str
    nodes: tuple[Node, ...]


Edge = tuple[int, str, int]
"""Head, label, dependent."""

MOST_WORDS = 500
"""Words of the longest sentence that gets further edges: of n conjuncts with subjects there may be
n² / 4."""

_SUBJECTS = ("nsubj", "nsubj:pass")
_ROLES = (*_SUBJECTS, "obj")
_RELATIVES = frozenset(("who", "whom", "which", "that"))


@frozen
class DependencyGraph:
    """The edges at each word of a sentence, each as a label and the word at its other end."""

    nodes: tuple[Node, ...]
    heads: list[list[tuple[str, int]]]
    dependents: list[list[tuple[str, int]]]

    def add(self, edge: Edge) -> None:
        """Add an edge."""
        head, label, dependent = edge
        self.heads[dependent].append((label, head))
        self.dependents[head].append((label, dependent))

    def below(self, word: int, *labels: str) -> list[tuple[str, int]]:
        """The edges of these labels down from a word: label and dependent."""
        return [(label, other) for label, other in self.dependents[word] if label in labels]

    def has(self, word: int, *labels: str) -> bool:
        """Whether in the tree a word has a dependent of these labels."""
        return any(node.head == word and node.deprel in labels for node in self.nodes)

    def roles(self, word: int, other: int) -> list[Edge]:
        """The edges to a word, as edges to `other`, which means the same person or thing."""
        return [
            (head, role, other)
            for role, head in self.heads[word]
            if role != "appos" and head != other
        ]


def basic_graph(sentence: ParsedSentence) -> DependencyGraph:
    """The basic tree of `sentence`."""
    nodes = sentence.nodes
    graph = DependencyGraph(nodes, [[] for _ in nodes], [[] for _ in nodes])
    for at, node in enumerate(nodes):
        if node.head >= 0:
            graph.add((node.head, node.deprel, at))
    return graph


def extended_graph(sentence: ParsedSentence) -> DependencyGraph:
    """The basic tree of `sentence` with the edges of this module's table; without where it has over
    `MOST_WORDS`.
    """
    graph, nodes = basic_graph(sentence), sentence.nodes
    if len(nodes) > MOST_WORDS:
        return graph
    edges = {(node.head, node.deprel, at) for at, node in enumerate(nodes) if node.head >= 0}
    rules = [edge for edge in sorted(edges) if edge[1] in _RULES]
    # An edge may rest on another that was added: a shared subject on a relative clause's.
    more = True
    while more:
        more = False
        for head, label, dependent in tuple(rules):
            for edge in tuple(_RULES[label](graph, head, dependent)):
                if edge not in edges:
                    more = True
                    edges.add(edge)
                    graph.add(edge)
                    if edge[1] in _RULES:
                        rules.append(edge)
    return graph


def _conjunct(graph: DependencyGraph, first: int, second: int) -> Iterable[Edge]:
    yield from ((head, role, second) for head, role, _ in graph.roles(first, -1) if role != "conj")
    if not _has_subject(graph, second):
        for role, word in graph.below(first, *_SUBJECTS):
            yield second, _role_of_shared_subject(graph, second, role), word


def _adverbial_clause(graph: DependencyGraph, verb: int, clause: int) -> Iterable[Edge]:
    role = _role_of_participle(graph.nodes[clause]) or "nsubj"
    subjects = () if _has_subject(graph, clause) else graph.below(verb, *_SUBJECTS)
    return [(clause, role, word) for _, word in subjects]


def _title(graph: DependencyGraph, name: int, title: int) -> Iterable[Edge]:
    is_title = graph.nodes[name].upos == "PROPN" and graph.nodes[title].upos == "NOUN"
    return graph.roles(name, title) if is_title else ()


_RULES: Mapping[str, Callable[[DependencyGraph, int, int], Iterable[Edge]]] = {
    "acl:relcl": lambda graph, noun, clause: [
        (clause, role, noun)
        for role, word in graph.below(clause, *_ROLES)
        if graph.nodes[word].form.lower() in _RELATIVES
    ],
    "acl": lambda graph, noun, clause: [
        (clause, role, noun)
        for role in [_role_of_participle(graph.nodes[clause])]
        if role is not None
    ],
    "conj": _conjunct,
    "xcomp": lambda graph, verb, complement: [
        (complement, "nsubj", word)
        for _, word in graph.below(verb, "obj", "iobj") or graph.below(verb, *_SUBJECTS)
        if word != complement
    ],
    "advcl": _adverbial_clause,
    "appos": lambda graph, noun, second: graph.roles(noun, second),
    "compound": _title,
    "nmod:desc": _title,
    "nsubj:pass": lambda _, verb, subject: [(verb, "obj", subject)],
    "cop": lambda graph, predicate, copula: [
        (copula, "xcomp", predicate),
        *((copula, "nsubj", word) for _, word in graph.below(predicate, "nsubj")),
    ],
}
"""Label of an edge → the edges that follow from one with that label, given its head and its
dependent."""


def _has_subject(graph: DependencyGraph, word: int) -> bool:
    """Whether a word has a subject of its own in the tree, clausal and expletive ones among
    them.
    """
    return any(
        n.head == word and n.deprel.partition(":")[0] in {"nsubj", "csubj", "expl"}
        for n in graph.nodes
    )


def _role_of_participle(node: Node) -> str | None:
    """The role in which a participle's noun belongs to it; None of other words."""
    past = node.xpos == "VBN" or (node.feat("VerbForm") == "Part" and node.feat("Tense") == "Past")
    present = node.xpos == "VBG" or node.feat("VerbForm") in {"Part", "Ger"}
    if past:
        return "nsubj:pass"
    return "nsubj" if present else None


def _role_of_shared_subject(graph: DependencyGraph, verb: int, role: str) -> str:
    """The role of a subject that `verb` shares with another: *was hired and paid*, *was hired and
    came*.
    """
    if graph.has(verb, "aux:pass"):
        return "nsubj:pass"
    alone = not graph.has(verb, "aux", "cop")
    return role if alone and _role_of_participle(graph.nodes[verb]) == "nsubj:pass" else "nsubj"
