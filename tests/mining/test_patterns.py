"""Pattern files, and what the patterns find, on trees by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.english.dependencies import MOST_WORDS, Edge, Node, basic_graph, extended_graph
from mtbias.errors import DataError
from mtbias.mining.patterns import EDGES, MOST_STEPS, Pattern, find, is_singular_noun, read_patterns
from mtbias.types import Span
from tests.mining.small_trees import examples
from tests.mining.small_trees import tree as sentence_of

PATTERNS = read_patterns()
PAPER = tuple(pattern for pattern in PATTERNS if pattern.name == str(pattern.number))
WORDS = frozenset(("writer", "nurse", "clerk"))


def found(tree: str, patterns: tuple[Pattern, ...] = PATTERNS) -> list[tuple[str, str, str]]:
    """Pattern, noun and pronoun of each find; a noun of the tree is tagged NN by hand."""
    sentence = sentence_of(tree)
    forms = [node.form for node in sentence.nodes]
    return [
        (f.pattern, forms[f.profession], forms[f.pronoun]) for f in find(sentence, patterns, WORDS)
    ]


def added(tree: str) -> list[Edge]:
    """The edges that the extended graph has more than the tree, words counted from 1 as in
    `tree`."""
    sentence = sentence_of(tree)
    basic, extended = basic_graph(sentence), extended_graph(sentence)
    return sorted(
        (head + 1, label, word + 1)
        for word, (few, many) in enumerate(zip(basic.heads, extended.heads, strict=True))
        for label, head in set(many) - set(few)
    )


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_each_example_is_found_by_its_own_pattern(pattern: Pattern) -> None:
    # The paper's examples by no other of the paper's patterns; ours by a pattern of the paper's in
    # no case.
    for example in examples()[pattern.name]:
        profession = example["profession"]
        tagged = [
            f"{w}/NN" if w.startswith(f"{profession}/") else w for w in example["tree"].split()
        ]
        sentence = sentence_of(" ".join(tagged))
        forms = [node.form for node in sentence.nodes]
        finds = find(sentence, (*PAPER, pattern), {profession.lower()})
        assert [(f.pattern, forms[f.profession], forms[f.pronoun]) for f in finds] == [
            (pattern.name, profession, example["pronoun"])
        ]


def test_all_fourteen_numbers_are_there() -> None:
    assert {number for pattern in PAPER for number in pattern.numbers} == set(range(1, 15))


def test_adjacent_is_right_behind() -> None:
    tree = "The/2/det nurse/5/nsubj/NN {}himself/{}/nsubj told/0/root us/{}/obj"
    assert found(tree.format("", 4, 4).replace("/5/nsubj/NN", "/4/nsubj/NN")) == [
        ("7-adjacent", "nurse", "himself")
    ]
    assert found(tree.format("then/5/advmod ", 5, 5)) == []


def test_patterns_of_one_number_find_a_pair_once() -> None:
    # "she" is found by 8, and not once more by "8-parataxis", which takes conjuncts as well.
    tree = "The/2/det nurse/3/nsubj/NN got/0/root her/5/nmod:poss book/3/obj and/8/cc she/8/nsubj slept/3/conj"
    assert found(tree) == [("11", "nurse", "her"), ("8", "nurse", "she")]


def test_a_noun_must_be_listed_singular_and_common() -> None:
    tree = "The/2/det {}/3/nsubj/{} hurt/0/root herself/3/obj"
    assert found(tree.format("Nurse", "NN")) == [("3", "Nurse", "herself")]
    assert found(tree.format("nurse", "NNS")) == []
    assert found(tree.format("nurse", "NNP")) == []
    assert found(tree.format("dentist", "NN")) == []


def test_other_tags_than_the_penn_treebanks_go_by_upos() -> None:
    # LinES tags SG-NOM, ParTUT S; some treebanks have no XPOS at all.
    for xpos in ("SG-NOM", "S", None):
        for upos, number, is_noun in (
            ("NOUN", "Sing", True),
            ("NOUN", "Plur", False),
            ("PROPN", "Sing", False),
        ):
            node = Node(
                "nurse", upos, "root", -1, Span(0, 5), xpos=xpos, feats=(("Number", number),)
            )
            assert is_singular_noun(node) is is_noun


def test_finds_come_in_the_order_of_nouns_and_pronouns() -> None:
    # "The nurse and the clerk lost his book and her hat": of the objects, and by the conjuncts'
    # shared roles.
    tree = (
        "The/2/det nurse/6/nsubj/NN and/5/cc the/5/det clerk/2/conj/NN lost/0/root His/8/nmod:poss book/6/obj "
        "and/11/cc her/11/nmod:poss hat/8/conj"
    )
    assert found(tree) == [
        ("11", "nurse", "His"),
        ("11" + EDGES, "nurse", "her"),
        ("11" + EDGES, "clerk", "His"),
        ("11" + EDGES, "clerk", "her"),
    ]


def test_a_pronoun_of_another_kind_is_no_find() -> None:
    assert found("The/2/det nurse/3/nsubj/NN hurt/0/root her/3/obj") == []
    assert found("The/2/det nurse/3/nsubj/NN lost/0/root its/5/nmod:poss book/3/obj") == []


@pytest.mark.parametrize(
    ("tree", "edges"),
    [
        # "the writer who came": writer is the subject of came.
        ("the/2/det writer/0/root who/4/nsubj came/2/acl:relcl", [(4, "nsubj", 2)]),
        # "the writer whom we paid": its object.
        ("the/2/det writer/0/root whom/5/obj we/5/nsubj paid/2/acl:relcl", [(5, "obj", 2)]),
        # "the writer paid", passive, and so an object as well; "the writer holding books".
        ("the/2/det writer/0/root paid/2/acl/VBN", [(3, "nsubj:pass", 2), (3, "obj", 2)]),
        ("the/2/det writer/0/root holding/2/acl/VBG books/3/obj", [(3, "nsubj", 2)]),
        # "the writer was paid".
        ("the/2/det writer/4/nsubj:pass was/4/aux:pass paid/0/root/VBN", [(4, "obj", 2)]),
        # "The writer came and sat"; with a subject of its own the second verb gets none.
        ("The/2/det writer/3/nsubj came/0/root/VBD and/5/cc sat/3/conj/VBD", [(5, "nsubj", 2)]),
        ("The/2/det writer/3/nsubj came/0/root and/6/cc we/6/nsubj sat/3/conj", []),
        # "Nurses and writers came": both are subjects.
        ("Nurses/4/nsubj and/3/cc writers/1/conj came/0/root", [(4, "nsubj", 3)]),
        # "The writer tried to come"; "The writer told us to come".
        ("The/2/det writer/3/nsubj tried/0/root to/5/mark come/3/xcomp", [(5, "nsubj", 2)]),
        (
            "The/2/det writer/3/nsubj told/0/root us/3/iobj to/6/mark come/3/xcomp",
            [(6, "nsubj", 4)],
        ),
        # "Smiling, the writer sat".
        ("Smiling/4/advcl/VBG the/3/det writer/4/nsubj sat/0/root", [(1, "nsubj", 3)]),
        # "Ann, the writer, came".
        ("Ann/4/nsubj the/3/det writer/1/appos came/0/root", [(4, "nsubj", 3)]),
        # "the writer and Ann, his wife": his wife is joined to the writer as well.
        (
            "the/2/det writer/0/root and/4/cc Ann/2/conj his/6/nmod:poss wife/4/appos",
            [(2, "conj", 6)],
        ),
        # "Writer Ann came"; "writer groups came".
        ("Writer/2/nmod:desc/NN Ann/3/nsubj/NNP came/0/root", [(3, "nsubj", 1)]),
        ("Writer/2/compound/NN groups/3/nsubj/NNS came/0/root", []),
        # "The writer is tired".
        ("The/2/det writer/4/nsubj is/4/cop tired/0/root", [(3, "nsubj", 2), (3, "xcomp", 4)]),
    ],
)
def test_edges_that_follow_from_the_tree(tree: str, edges: list[Edge]) -> None:
    assert added(tree) == edges


def test_a_sentence_too_long_for_further_edges_keeps_its_tree() -> None:
    verb, others = "was/0/root", MOST_WORDS // 2
    many = f"He/2/nsubj {verb} " + "they/2/nsubj sat/2/conj " * others
    assert len(sentence_of(many).nodes) > MOST_WORDS
    assert added(many) == []
    # He and 10 others are subjects of was, and so of 10 more verbs.
    assert len(added(f"He/2/nsubj {verb} " + "they/2/nsubj sat/2/conj " * 10)) == 11 * 10


def test_edges_rest_on_edges() -> None:
    # "the writer who came and sold her book": subject of the relative clause, shared by the second
    # verb, then 11.
    tree = "the/2/det writer/0/root/NN who/4/nsubj came/2/acl:relcl and/6/cc sold/4/conj her/8/nmod:poss book/6/obj"
    assert found(tree) == [("11" + EDGES, "writer", "her")]


@pytest.fixture
def pattern_file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


OWN = """
[[pattern]]
name = "of-phrase"
up = ["nsubj"]
down = ["obj", "nmod?", "nmod:poss"]
pronouns = ["determiner"]
"""


def test_a_pattern_of_ones_own_with_an_optional_step(pattern_file: Callable[[str], Path]) -> None:
    patterns = read_patterns(pattern_file(OWN))
    assert patterns[0].number is None
    near = "The/2/det nurse/3/nsubj/NN lost/0/root her/5/nmod:poss book/3/obj"
    far = "The/2/det nurse/3/nsubj/NN lost/0/root half/3/obj of/7/case her/7/nmod:poss book/4/nmod"
    assert found(near, patterns) == found(far, patterns) == [("of-phrase", "nurse", "her")]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("up =", "upwards ="),
            r"own\.toml: pattern\.0\.upwards: unknown key; there are adjacent, down, example",
        ),
        (
            ('"obj"', '"dobj"'),
            r"own\.toml: pattern\.0\.down: 'dobj' is no relation of Universal Dependencies",
        ),
        (
            ('["determiner"]', '["noun"]'),
            r"own\.toml: pattern\.0\.pronouns\.0: expected subject, object",
        ),
        (
            ('"obj", "nmod?", "nmod:poss"', '"obj?"'),
            r"own\.toml: pattern\.0\.down: expected a step that cannot",
        ),
        (("name", "number = 3\nname"), r"own\.toml: pattern\.0\.number: unknown key"),
        (("of-phrase", "of\\tphrase"), r"own\.toml: pattern\.0\.name: expected text in one line"),
        (
            ("of-phrase", "of+edges"),
            r"own\.toml: pattern\.0\.name: expected text in one line that does not end",
        ),
        (
            ("up =", "numbers = [15]\nup ="),
            r"own\.toml: pattern\.0\.numbers: expected .* 1 to 14, got 15",
        ),
        (
            ('"nmod?"', ", ".join(['"nmod?"'] * MOST_STEPS)),
            r"expected at most 10 steps up and down, got 13",
        ),
        ((OWN, OWN + OWN), r"own\.toml: expected patterns of different names, got 'of-phrase'"),
        ((OWN, "pattern = []"), r"own\.toml: expected patterns of different names, got none"),
        ((OWN, "="), r"own\.toml: expected TOML"),
    ],
)
def test_errors_say_what_is_wrong(
    pattern_file: Callable[[str], Path], change: tuple[str, str], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        read_patterns(pattern_file(OWN.replace(*change)))
