"""WinoBias's public files and the figures known of them (Zhao et al., NAACL 2018, N18-2003).

The paper's Table 2 needs the outputs of its systems, which are not published: none of its cells can
be computed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from mtbias.coref.conll_scorer import (
    compute_coref,
    conll_f1,
    count_coref,
    count_table,
    read_conll_gold,
)
from mtbias.coref.dataset import DatasetScores, by_kind
from mtbias.coref.documents import Clusters, exported
from mtbias.coref.winobias import WinoBias, answer_by_rule, read_winobias
from mtbias.coref.winobias_data import SPLITS, TYPES, WinoBiasDocument, differing_pairs
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.stats.results import Estimate, number
from mtbias.types import Gender, Stereotype

PRO, ANTI = Stereotype.PRO, Stereotype.ANTI
Key = tuple[str, int, Stereotype]
KEYS: list[Key] = list(product(SPLITS, TYPES, (PRO, ANTI)))


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "coref" / "winobias"


@pytest.fixture(scope="module")
def data(folder: Path) -> WinoBias:
    return read_winobias(folder)


# Table 2, development sets, the systems as they are (E2E, Feature, Rule): F1 pro, F1 anti and their
# difference as printed, of type 1 and of type 2.
TABLE_2 = """
76.0 49.4 26.6  88.7 75.2 13.5
66.7 56.0 10.6  73.0 57.4 15.7
76.7 37.5 39.2  50.5 29.2 21.3
"""


def test_the_difference_of_the_abstract() -> None:
    """The abstract's 21.1 is the mean of six printed differences, (26.6 + 13.5 + 10.6 + 15.7 +
    39.2 + 21.3) / 6 = 126.9 / 6 = 21.15. Each is pro less anti, to the rounding of both."""
    cells = np.array(TABLE_2.split(), dtype=np.float64).reshape(6, 3)
    ours = by_kind("", cells[:, 0], cells[:, 1])["difference"]
    assert np.abs(ours - cells[:, 2]).max() < 0.1 + 1e-9
    assert ours.mean() == pytest.approx(21.15)
    assert cells[:, 2].mean() == pytest.approx(21.15)


def test_eight_sets_of_396_sentences(data: WinoBias) -> None:
    """3,168 in all; section 2 of the paper says 3,160."""
    assert list(data.sets) == KEYS
    assert [len(one) for one in data.sets.values()] == [396] * 8
    assert all([d.line for d in one] == list(range(1, 397)) for one in data.sets.values())


def _gender(document: WinoBiasDocument) -> Gender:
    return GENDER_OF_PRONOUN[document.words[document.pronouns[0]].lower()]


def test_the_pronouns_fit_the_stereotype_exactly_where_the_file_says_so(data: WinoBias) -> None:
    """Section 2 and the paper's list of 40 occupations: no sentence is in the wrong file."""
    for (_, _, condition), one in data.sets.items():
        fits = {_gender(document) is document.occupation.stereotype for document in one}
        assert fits == {condition is PRO}
    assert len({o.name for one in data.sets.values() for d in one for o in d.occupations}) == 40


def test_pronouns_are_balanced(data: WinoBias) -> None:
    """198 of each gender in each file, but in type 2, test, anti."""
    for key, one in data.sets.items():
        counts = Counter(_gender(document) for document in one)
        male = 200 if key == ("test", 2, ANTI) else 198
        assert counts == {Gender.MALE: male, Gender.FEMALE: 396 - male}


def test_sentences_with_a_second_pronoun(data: WinoBias) -> None:
    expected = [9, 9, 6, 6, 24, 22, 5, 6]
    extra = [sum(len(document.gold[0]) == 3 for document in one) for one in data.sets.values()]
    assert dict(zip(KEYS, extra, strict=True)) == dict(zip(KEYS, expected, strict=True))
    assert {len(document.gold[0]) for one in data.sets.values() for document in one} == {2, 3}


def _brackets(text: str) -> tuple[str, set[tuple[int, int]]]:
    """The letters of a line without blanks and brackets, and where its brackets open and close
    among them."""
    letters, opened, spans = "", [], set()
    for char in re.sub(r"^\d+ ", "", text):
        if char == "[":
            opened.append(len(letters))
        elif char == "]":
            spans.add((opened.pop(), len(letters)))
        elif not char.isspace():
            letters += char
    return letters, spans


def _mentions(document: WinoBiasDocument) -> tuple[str, set[tuple[int, int]]]:
    starts = [0]
    for word in document.words:
        starts.append(starts[-1] + len(word))
    return "".join(document.words), {
        (starts[start], starts[end + 1]) for start, end in document.gold[0]
    }


@pytest.mark.parametrize("key", KEYS)
def test_the_clusters_are_the_brackets_of_the_text_files(
    data: WinoBias, folder: Path, key: Key
) -> None:
    """The number that ends a document's name is its line in the text file, less 1."""
    split, type_, condition = key
    text = (folder / f"{condition}_stereotyped_type{type_}.txt.{split}").read_text(encoding="utf-8")
    documents = data.sets[key]
    for line, document in zip(text.splitlines(), documents, strict=True):
        assert _mentions(document) == _brackets(line)


def test_twins_that_are_no_minimal_pairs(data: WinoBias) -> None:
    """The two with the roles exchanged are lines 382 and 384 of type 2, test."""
    differing = {
        (split, type_): differing_pairs(data.sets[split, type_, PRO], data.sets[split, type_, ANTI])
        for split, type_ in product(SPLITS, TYPES)
    }
    assert {key: len(lines) for key, lines in differing.items()} == {
        ("dev", 1): 3, ("dev", 2): 9, ("test", 1): 5, ("test", 2): 5,
    }  # fmt: skip
    exchanged = [
        line for line in differing["test", 2]
        if [o.name for o in data.sets["test", 2, PRO][line - 1].occupations]
        != [o.name for o in data.sets["test", 2, ANTI][line - 1].occupations]
    ]  # fmt: skip
    assert exchanged == [382, 384]


def _score(data: WinoBias, rule: str, resamples: int = 0) -> DatasetScores:
    return data.score(data.baseline(rule), resamples=resamples)


def _values(scores: DatasetScores, key: str) -> dict[Key, float | None]:
    return {(s, t, c): scores[f"{s} type {t}", f"{key}_{c}"].value for s, t, c in KEYS}


def test_a_system_whose_links_are_all_wrong(data: WinoBias) -> None:
    """F1 from 25.73 (type 2, dev) to 27.59 (type 1, test) over the anti files.

    With t sentences of two pronouns among 396: MUC t/(396+t); B³ ((396−t)/2 + 4t/3)/(792+t);
    CEAFe ((396−t)/2 + 2t/3)/396; recall equals precision in each.
    """
    scores = _score(data, "wrong")
    rounded = {key: round(value or 0, 2) for key, value in _values(scores, "f1").items()}
    assert rounded["dev", 2, ANTI] == rounded["dev", 2, PRO] == 25.73
    assert rounded["test", 1, ANTI] == 27.59
    anti = [value for key, value in rounded.items() if key[2] is ANTI]
    assert (min(anti), max(anti)) == (25.73, 27.59)
    f1, links = _values(scores, "f1"), _values(scores, "link")
    for key in KEYS:
        t = sum(len(document.gold[0]) == 3 for document in data.sets[key])
        muc = t / (396 + t)
        b3 = ((396 - t) / 2 + 4 * t / 3) / (792 + t)
        ceafe = ((396 - t) / 2 + 2 * t / 3) / 396
        assert f1[key] == pytest.approx(100 * (muc + b3 + ceafe) / 3)
        assert links[key] == 0


def test_perfect_and_empty_output(data: WinoBias) -> None:
    assert set(_values(_score(data, "perfect"), "f1").values()) == {100}
    empty = _score(data, "empty")
    assert set(_values(empty, "f1").values()) == {0}
    assert set(_values(empty, "link").values()) == {0}


# MUC, B³ and CEAFe F1 of the rule systems in the order of KEYS, each file as one document, computed
# with scorch 0.2.0 (https://pypi.org/project/scorch), an implementation that shares nothing with
# ours.
SCORCH: dict[str, list[tuple[float, ...]]] = {
    "first": [
        (51.1111, 62.8797, 75.0842), (51.1111, 62.8797, 75.0842), (1.4888, 25.3859, 50.2020),
        (1.4888, 25.3859, 50.2020), (52.8571, 63.3987, 75.4209), (52.5687, 63.2494, 75.3283),
        (1.7456, 25.7424, 50.4630), (1.9900, 25.8145, 50.5051),
    ],
    "nearest": [
        (51.1111, 62.7757, 75.2946), (50.8642, 62.5884, 75.1684), (99.2556, 99.4471, 99.6717),
        (99.5037, 99.6349, 99.7980), (52.8571, 63.3170, 75.5892), (52.5687, 63.1983, 75.5219),
        (99.5012, 99.6236, 99.7475), (99.5025, 99.6241, 99.7475),
    ],
    "stereotype": [
        (100, 100, 100), (2.2222, 25.6554, 50.3788), (99.5037, 99.6035, 99.7727), (1.7370, 25.5422, 50.3030),
        (100, 100, 100), (5.2569, 26.5500, 50.9007), (100, 100, 100), (1.4925, 25.4386, 50.2525),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", list(SCORCH))
def test_rule_systems_score_as_in_scorch(data: WinoBias, rule: str) -> None:
    scores = _score(data, rule)
    muc, b3, ceafe = (_values(scores, metric) for metric in ("muc", "b3", "ceafe"))
    for key, expected in zip(KEYS, SCORCH[rule], strict=True):
        assert (muc[key], b3[key], ceafe[key]) == pytest.approx(expected, abs=5e-5)


def test_where_the_rules_miss_the_gold_mentions(data: WinoBias) -> None:
    """Rules see the words alone. Rules that were given the gold mentions would answer seven
    sentences otherwise.

    Five have a pronoun outside the gold cluster, which the rules link too; in two the gold mention
    has no article.
    """
    found = {
        (*key, document.line): [
            words[at] for at in range(len(words)) if words[at] in GENDER_OF_PRONOUN
        ]
        for key, documents in data.sets.items()
        for document in documents
        for words in [[word.lower() for word in document.words]]
        if sum(word in GENDER_OF_PRONOUN for word in words) != len(document.pronouns)
        or document.occupation.mention not in document.gold[0]
    }
    assert found == {
        ("dev", 1, ANTI, 162): ["he"], ("dev", 2, PRO, 176): ["him"],
        ("dev", 2, PRO, 190): ["his", "him"], ("dev", 2, PRO, 236): ["his", "him"],
        ("dev", 2, ANTI, 215): ["he", "him"], ("dev", 2, ANTI, 236): ["his", "her"],
        ("test", 1, ANTI, 255): ["she", "he"],
    }  # fmt: skip


def test_rules_that_are_given_the_gold_mentions(data: WinoBias) -> None:
    """They differ in 30 of the 72 cells above, by at most 0.54 of CoNLL F1."""
    differing, most = 0, 0.0
    for (_, documents), rule in product(data.sets.items(), SCORCH):
        ours = [answer_by_rule(document, rule) for document in documents]
        f1 = []
        for answers in (ours, [_of_gold_mentions(document, rule) for document in documents]):
            table = count_table(
                count_coref(d.gold, answer) for d, answer in zip(documents, answers, strict=True)
            )
            f1.append(compute_coref(table) | {"f1": Estimate(number(conll_f1(table.sum(axis=0))))})
        apart = {
            key: abs((f1[0][key].value or 0) - (f1[1][key].value or 0))
            for key in ("muc", "b3", "ceafe", "f1")
        }
        most = max(most, apart.pop("f1"))
        differing += sum(one > 1e-9 for one in apart.values())
    assert (differing, round(most, 2)) == (30, 0.54)


def _of_gold_mentions(document: WinoBiasDocument, rule: str) -> Clusters:
    """What a rule answers that knows which words are mentions: its pronouns are the gold ones, its
    occupations too."""
    words = tuple(
        "" if word.lower() in GENDER_OF_PRONOUN and at not in document.pronouns else word
        for at, word in enumerate(document.words)
    )
    ((occupation, *pronouns),) = answer_by_rule(replace(document, words=words), rule)
    return (
        (
            (
                next(gold for gold in document.gold[0] if gold[1] == occupation[1])
                if occupation == document.occupation.mention
                else occupation
            ),
            *pronouns,
        ),
    )


@pytest.mark.parametrize("rule", ["first", "nearest"])
def test_two_conll_files_score_as_the_data_set(
    data: WinoBias, folder: Path, tmp_path: Path, rule: str
) -> None:
    """`mtbias coref score conll --gold` of one of WinoBias's files: the counts and the score are
    those of above."""
    name = "dev_type1_pro_stereotype.v4_auto_conll"
    gold = read_conll_gold(folder / name)
    answers = data.baseline(rule).of
    texts = [replace(text, gold=answers[text.id]) for text in gold.texts]
    (tmp_path / "found.conll").write_text(
        "\n".join(exported(texts, "conll", gold=True)), encoding="utf-8"
    )
    scores = gold.score(gold.read([tmp_path / "found.conll"]), resamples=0)
    values = tuple(scores[key].value for key in ("muc", "b3", "ceafe"))
    assert values == pytest.approx(SCORCH[rule][0], abs=5e-5)
    assert scores["f1"].value == pytest.approx(sum(SCORCH[rule][0]) / 3, abs=5e-5)
    # 198 women and 198 men; 3 and 6 of them have a second pronoun.
    assert scores.counts["chains with a pronoun"] == {
        Gender.MALE: 198,
        Gender.FEMALE: 198,
        "both": 0,
    }
    assert scores.counts["mentions that are a pronoun"] == {Gender.MALE: 204, Gender.FEMALE: 201}


def test_stereotypes_alone_are_told_by_link_accuracy_and_f1(data: WinoBias) -> None:
    """The rule is right throughout on pro and (but for a stray pronoun) never on anti: the largest
    possible bias."""
    scores = _score(data, "stereotype", resamples=1000)
    for part in (f"{split} type {type_}" for split, type_ in product(SPLITS, TYPES)):
        assert scores[part, "link_pro"].value == 100
        anti = scores[part, "link_anti"].value
        assert anti is not None
        assert anti < 0.3
        assert scores[part, "f1_difference"].p == pytest.approx(1 / 1001)
        assert scores[part, "f1_difference"].n == 396
