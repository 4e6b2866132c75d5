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
in which the noun of a relative clause is its verb's subject, for instance;
`mtbias.english.dependencies.extended_graph` adds those that the patterns need.

Source: Tiktinsky, Goldberg and Tsarfaty, *pyBART: Evidence-based Syntactic Transformations for IE*
(ACL 2020 demonstrations).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import ClassVar, Literal

from mtbias.english.dependencies import (
    DependencyGraph,
    Node,
    ParsedSentence,
    basic_graph,
    extended_graph,
)
from mtbias.english.words import PRONOUN_ROLES
from mtbias.files.reading import parse_toml, read_text
from mtbias.files.strict_json import EXACT
from mtbias.mining.parsed_sentence import Find

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
seven were dropped; the remaining ones are in the appendix's order."""

MOST_STEPS = 10
"""Steps of a path, at most; the paper's longest has six. Every step that may be left out doubles
the paths."""

_RELATIONS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse
    dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis
    punct reparandum root vocative xcomp
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
        for number in self.numbers:
            if number not in BUG_QUERIES:
                raise ValueError(
                    f"numbers: expected the paper's patterns, 1 to {max(BUG_QUERIES)}, got {number}"
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
        return frozenset(chain.from_iterable(PRONOUN_ROLES[role] for role in self.pronouns))

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
        edges = chain.from_iterable(graph.heads[word] for word in words)
        words = {head for label, head in edges if label in step or step == ANY}
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
                    f"{key}: {label!r} is no relation of Universal Dependencies, version 2; there"
                    f" are {', '.join(sorted(RELATIONS))}, and their subtypes, such as nmod:poss"
                )
        longer: list[tuple[Step, ...]] = []
        for path in paths:
            longer.append((*path, labels))
            if step.endswith("?"):
                longer.append(path)
        paths = longer
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
    forms = [node.form.lower() for node in nodes]
    nouns = [n for n, node in enumerate(nodes) if forms[n] in listed and is_singular_noun(node)]
    words = frozenset().union(*(pattern.words for pattern in patterns))
    pronouns = [(n, form) for n, form in enumerate(forms) if form in words]
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
                name = pattern.name if by_tree else pattern.name + EDGES
                finds.append(Find(name, pattern.number, noun, pronoun))
    return tuple(finds)


def is_singular_noun(node: Node) -> bool:
    """Whether a word is a singular common noun: tagged NN, or, by a treebank with other tags, NOUN
    and Number=Sing.
    """
    if node.xpos in PENN_NOUNS:
        return node.xpos == "NN"
    return node.upos == "NOUN" and node.feat("Number") == "Sing"
