"""Patterns as data, a path through the dependencies of a sentence from a noun to a pronoun; and
what they find.

A pattern file is TOML, a table ``[[pattern]]`` for each pattern (``patterns.toml``, which ships
with mtbias, has those of BUG's paper and ours)::

    [[pattern]]
    name = "owns-object"
    up = ["nsubj"]
    down = ["obl|obl:unmarked?", "obj", "nmod:poss"]
    pronouns = ["determiner"]

The path climbs from the noun by the labels of `up`, each the label of a word at its head, and then
descends by those of `down` to the pronoun. A step may name several labels (``obl|nmod``), and may
be left out where it ends in ``?``. Labels are compared whole, with their subtypes; ``*`` is any.
With ``adjacent = true`` the pronoun is the word behind the noun.

BUG's patterns were drawn on a graph with additional edges (the BART representation, UD version 1),
in which the noun of a relative clause is its verb's subject, for instance. `extended_graph` adds
those that the patterns need to a basic tree of UD version 2:

==================================
================================================================================= relative clause
the noun has the role of *who*, *which*, *that* in it: "the **writer** who *came*" participle clause
(``acl``)         the noun is its subject, a passive one of a past participle: "the **writer**
*paid*" verbs joined by *and*               the second has the subject of the first: "the **writer**
came and *sat*" conjunct                            it has the role of the first conjunct: "the
nurse and the **writer** *came*" ``xcomp``                           its subject is its head's
object, else subject: "the **writer** tried to *come*" ``advcl`` without a subject         it has
the subject of its head: "*Tired*, the **writer** sat" apposition                          it has
the role of what it explains: "Ann, the **writer**, *came*" title before a name                 it
has the role of the name: "the **writer** Ann Li *came*" passive subject                     it is
an object too: "the **writer** was *paid*" copula                              it has the subject,
and its predicate as ``xcomp``: "the **writer** *is* tired" ==================================
=================================================================================

Source: Tiktinsky, Goldberg and Tsarfaty, *pyBART: Evidence-based Syntactic Transformations for IE*
(ACL 2020 demonstrations), for the idea; the edges here are our own reading for these patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

from mtbias.english.words import PRONOUN_ROLES
from mtbias.files.reading import parse_toml, read_text
from mtbias.files.strict_json import EXACT
from mtbias.mining.parsed_sentence import Find, Node, ParsedSentence
from mtbias.types import frozen

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

    def of(self, word: int, *labels: str) -> list[tuple[str, int]]:
        """The edges of these labels down from a word."""
        return [(label, other) for label, other in self.dependents[word] if label in labels]

    def has(self, word: int, *labels: str) -> bool:
        """Whether in the tree a word has a dependent of these labels."""
        return any(node.head == word and node.deprel in labels for node in self.nodes)

    def roles(self, word: int, other: int) -> list[Edge]:
        """The edges to a word that `other`, which stands for the same, shares with it."""
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
    more = True
    while (
        more
    ):  # an edge may rest on another that was added: a shared subject on a relative clause's
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
        for role, word in graph.of(first, *_SUBJECTS):
            yield second, _role_of_shared_subject(graph, second, role), word


def _adverbial_clause(graph: DependencyGraph, verb: int, clause: int) -> Iterable[Edge]:
    role = _role_of_participle(graph.nodes[clause]) or "nsubj"
    subjects = () if _has_subject(graph, clause) else graph.of(verb, *_SUBJECTS)
    return [(clause, role, word) for _, word in subjects]


def _title(graph: DependencyGraph, name: int, title: int) -> Iterable[Edge]:
    is_title = graph.nodes[name].upos == "PROPN" and graph.nodes[title].upos == "NOUN"
    return graph.roles(name, title) if is_title else ()


_RULES: Mapping[str, Callable[[DependencyGraph, int, int], Iterable[Edge]]] = {
    "acl:relcl": lambda graph, noun, clause: [
        (clause, role, noun)
        for role, word in graph.of(clause, *_ROLES)
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
        for _, word in graph.of(verb, "obj", "iobj") or graph.of(verb, *_SUBJECTS)
        if word != complement
    ],
    "advcl": _adverbial_clause,
    "appos": lambda graph, noun, second: graph.roles(noun, second),
    "compound": _title,
    "nmod:desc": _title,
    "nsubj:pass": lambda _, verb, subject: [(verb, "obj", subject)],
    "cop": lambda graph, predicate, copula: [
        (copula, "xcomp", predicate),
        *((copula, "nsubj", word) for _, word in graph.of(predicate, "nsubj")),
    ],
}
"""What follows from an edge of a label: from its head and its dependent, and the edges around
them."""


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
    return "nsubj:pass" if past else "nsubj" if present else None


def _role_of_shared_subject(graph: DependencyGraph, verb: int, role: str) -> str:
    """The role of a subject that `verb` shares with another: *was hired and paid*, *was hired and
    came*.
    """
    if graph.has(verb, "aux:pass"):
        return "nsubj:pass"
    alone = not graph.has(verb, "aux", "cop")
    return role if alone and _role_of_participle(graph.nodes[verb]) == "nsubj:pass" else "nsubj"


SHIPPED = Path(__file__).with_name("patterns.toml")
"""The patterns of the paper, and our further structures."""

EDGES = "+edges"
"""Ends a pattern's name in a find that the basic tree alone does not hold."""

BUG_QUERIES = {
    1: 1,
    2: 2,
    3: 3,
    4: 4,
    5: 5,
    6: 9,
    7: 10,
    8: 11,
    9: 14,
    10: 15,
    11: 17,
    12: 18,
    13: 20,
    14: 21,
}
"""The paper's numbers of its patterns → BUG's ``data_index``, which counts the 21 queries before
seven were dropped; the kept ones are in the appendix's order."""

MOST_STEPS = 10
"""Of a path; the paper's longest has six. Every step that may be left out doubles the paths."""

_RELATIONS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed
    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
    """
RELATIONS = frozenset(_RELATIONS.split())
"""The relations of Universal Dependencies, version 2, without their subtypes."""

PENN_NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
"""The Penn Treebank's tags of nouns; treebanks with other tags are read by UPOS and features."""

Role = Literal["subject", "object", "determiner", "possessive", "reflexive"]
Step = frozenset[str]
"""The labels that an edge may have."""
ANY: Step = frozenset("*")
"""The step that takes an edge of any label."""
Trail = tuple[tuple[Step, ...], tuple[Step, ...]]


@dataclass(frozen=True)
class Pattern:
    """A path from a noun to a pronoun, as the file has it."""

    __pydantic_config__: ClassVar = EXACT
    name: str
    down: tuple[str, ...]
    pronouns: tuple[Role, ...]
    up: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    """Numbers of the paper's patterns that it stands for (two where the paper draws it twice); none
    of one's own."""
    extra_edges: bool = False
    """Whether the path may also go by edges that follow from the tree (`extended_graph`)."""
    adjacent: bool = False
    """Whether the pronoun must be the word behind the noun."""
    example: tuple[dict[str, str], ...] = field(default=(), hash=False)
    """Sentences with their trees in which the pattern finds a noun and a pronoun; tests read
    them."""

    def __post_init__(self) -> None:
        steps = len(self.up) + len(self.down)
        if not (self.name.strip() and self.name.isprintable()) or self.name.endswith(EDGES):
            raise ValueError(
                f"name: expected text in one line that does not end in {EDGES}, got {self.name!r}"
            )
        if strange := [number for number in self.numbers if number not in BUG_QUERIES]:
            raise ValueError(
                f"numbers: expected the paper's patterns, 1 to {max(BUG_QUERIES)}, got {strange[0]}"
            )
        if steps > MOST_STEPS:
            raise ValueError(f"down: expected at most {MOST_STEPS} steps up and down, got {steps}")
        if not self.pronouns or not all(down for _, down in self.paths):
            raise ValueError(
                "down: expected a step that cannot be left out, and a role of the pronoun, got none"
            )

    @cached_property
    def paths(self) -> tuple[Trail, ...]:
        """The labels of each step up and of each step down; several paths where a step may be left
        out.
        """
        return tuple(product(_paths(self.up, "up"), _paths(self.down, "down")))

    @cached_property
    def words(self) -> frozenset[str]:
        """The pronouns that it may find, in lower case."""
        return frozenset(word for role in self.pronouns for word in PRONOUN_ROLES[role])

    @property
    def number(self) -> int | None:
        """The paper's number of the pattern, the first of two."""
        return self.numbers[0] if self.numbers else None

    def ties(self, graph: DependencyGraph, noun: int, pronoun: int) -> bool:
        """Whether a path of the pattern leads from the word `noun` to the word `pronoun`, through
        `noun` once.
        """
        if self.adjacent and pronoun != noun + 1:
            return False
        for up, down in self.paths:
            tops = _climb(graph, {noun}, up)
            if tops:
                below = _climb(graph, {pronoun}, down[:0:-1]) - {noun}
                if not tops.isdisjoint(_climb(graph, below, down[:1])):
                    return True
        return False


def _climb(graph: DependencyGraph, words: set[int], steps: tuple[Step, ...]) -> set[int]:
    """The words that are reached from `words` by going up an edge for each of `steps`."""
    for step in steps:
        words = {
            head
            for word in words
            for label, head in graph.heads[word]
            if label in step or step == ANY
        }
    return words


@dataclass(frozen=True)
class _File:
    __pydantic_config__: ClassVar = EXACT
    pattern: tuple[Pattern, ...]


def read_patterns(path: Path | None = None) -> tuple[Pattern, ...]:
    """Read the pattern file `path`; None is the one that ships with mtbias.

    Raises:
        DataError: no TOML; an unknown key or label; a name twice.
    """
    file = read_text(path or SHIPPED)
    patterns = file.converted(_File, parse_toml(file)).pattern
    names = [pattern.name for pattern in patterns]
    if not names or len(set(names)) < len(names):
        raise file.error(
            f"expected patterns of different names, got {', '.join(map(repr, names)) or 'none'}"
        )
    return patterns


def _paths(steps: Sequence[str], key: str) -> list[tuple[Step, ...]]:
    """The labels of each step; several paths where a step may be left out."""
    paths: list[tuple[Step, ...]] = [()]
    for step in steps:
        labels = frozenset(step.removesuffix("?").split("|"))
        for label in sorted(labels - ANY):
            if label.partition(":")[0] not in RELATIONS:
                raise ValueError(
                    f"{key}: {label!r} is no relation of Universal Dependencies, version 2; there are "
                    f"{', '.join(sorted(RELATIONS))}, and their subtypes, such as nmod:poss"
                )
        paths = [
            more
            for path in paths
            for more in [(*path, labels), *([path] if step.endswith("?") else [])]
        ]
    return paths


def find(
    sentence: ParsedSentence, patterns: Sequence[Pattern], listed: Container[str]
) -> tuple[Find, ...]:
    """The finds of `patterns` in `sentence`, by the place of the noun, then of the pronoun, then
    the patterns' order.

    The noun is a singular common noun whose form, in lower case, is in `listed`. Where patterns of
    one number tie the same noun and pronoun, the first of them names the find: they stand for one
    query. A pattern with `extra_edges` names a find ``NAME+edges`` where the basic tree does not
    hold it.
    """
    nodes = sentence.nodes
    nouns = [
        at
        for at, node in enumerate(nodes)
        if node.form.lower() in listed and is_singular_noun(node)
    ]
    words = frozenset().union(*(pattern.words for pattern in patterns))
    pronouns = [(at, form) for at, node in enumerate(nodes) if (form := node.form.lower()) in words]
    if not (nouns and pronouns):
        return ()
    basic, extended = basic_graph(sentence), extended_graph(sentence)
    finds = []
    for noun, (pronoun, form) in product(nouns, pronouns):
        queries = set()
        for pattern in patterns:
            query = pattern.name if pattern.number is None else pattern.number
            if form not in pattern.words or query in queries:
                continue
            by_tree = pattern.ties(basic, noun, pronoun)
            if by_tree or (pattern.extra_edges and pattern.ties(extended, noun, pronoun)):
                queries.add(query)
                finds.append(
                    Find(pattern.name + EDGES * (not by_tree), pattern.number, noun, pronoun)
                )
    return tuple(finds)


def is_singular_noun(node: Node) -> bool:
    """Whether a word is a singular common noun: tagged NN, or, by a treebank with other tags, NOUN
    and Number=Sing.
    """
    if node.xpos in PENN_NOUNS:
        return node.xpos == "NN"
    return node.upos == "NOUN" and node.feat("Number") == "Sing"
