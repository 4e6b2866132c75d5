"""MUC, B³, CEAFe and their mean: hand-made cases, cases of other tools, and a reference written
differently."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.coref.conll_scorer import compute_coref, conll_f1, count_coref, count_table
from mtbias.coref.documents import Cluster, Clusters, CorefText, Mention, exported, without_repeated
from mtbias.coref.winobias import BASELINES, WinoBias, answer_by_rule, read_winobias
from mtbias.errors import DataError, UsageError
from mtbias.stats.results import Estimate, Floats, number
from mtbias.types import Stereotype


def _clusters(text: str) -> Clusters:
    """``ab c``: an entity of two mentions and one of one; a letter is a mention."""
    return tuple(tuple((ord(letter), ord(letter)) for letter in word) for word in text.split())


def _table(*documents: tuple[str, str]) -> Floats:
    return count_table(
        count_coref(_clusters(key), _clusters(response)) for key, response in documents
    )


def _score(key: str, response: str) -> dict[str, Estimate]:
    return compute_coref(_table((key, response)))


def _conll(*documents: tuple[str, str]) -> float | None:
    return number(conll_f1(_table(*documents).sum(axis=0)))


def _values(scores: dict[str, Estimate], part: str) -> tuple[float | None, ...]:
    return tuple(scores[part + rate].value for rate in ("_recall", "_precision", ""))


GOLD = [  # words, and chains of mentions by their first and last words
    ("Mr. Hill told his sister that she and Ms. Poe saw him .", ["0:1 3:3 11:11", "3:4 6:6"]),
    ("The widow left . Her son stayed .", ["0:1 4:4", "4:5"]),
    ("He met her .", ["0:0 2:2"]),
]


def _conll_file(path: Path, words: Sequence[str], chains: Sequence[Sequence[str]]) -> Path:
    texts = [
        CorefText(f"nw/{n}", tuple(text.split()), text, tuple(map(_chain, of)))
        for n, (text, of) in enumerate(zip(words, chains, strict=True))
    ]
    path.write_text("\n".join(exported(texts, "conll", gold=True)) + "\n", encoding="utf-8")
    return path


def _chain(text: str) -> Cluster:
    ends = (mention.split(":") for mention in text.split())
    return tuple((int(first), int(last)) for first, last in ends)


def test_any_two_conll_files(tmp_path: Path, coref: Callable[..., str]) -> None:
    """Key {a b c} {d e}, {f g} {h}, {i j}; response {a b} {d e c}, {f g} (h is missing), {i}
    twice."""
    words, chains = zip(*GOLD, strict=True)
    gold = _conll_file(tmp_path / "gold.conll", words, chains)
    found = [["0:1 3:3", "3:4 6:6 11:11"], ["0:1 4:4"], ["0:0", "0:0"]]
    other = _conll_file(tmp_path / "found.conll", words, found)
    arguments = ["--gold", gold, "--predictions", other, "--resamples", 0]
    (said,) = json.loads(coref("score", "conll", *arguments, "--json"))["systems"]
    value = {one["key"]: one["value"] for one in said["numbers"]}
    # MUC: links of the key found 1 + 1, 1, 0 of 3 + 1 + 1; of the response 2 + 1 of 3 + 1: in F1
    # 2·3/(5 + 4).
    assert (value["muc_recall"], value["muc_precision"]) == (60, 75)
    # B³: 2²/3 + 1/3 + 2 of the first, 2²/2 of the second, 1/2 of the third; 10 mentions, of the
    # response 8.
    assert value["b3_recall"] == pytest.approx(100 * (5 / 3 + 2 + 2 + 1 / 2) / 10)
    assert value["b3_precision"] == pytest.approx(100 * (2 + 5 / 3 + 2 + 1) / 8)
    # CEAFe: 2·2/5 + 2·2/5, 1, 2·1/3; five entities, of the response four.
    assert value["ceafe_recall"] == pytest.approx(100 * (8 / 5 + 1 + 2 / 3) / 5)
    assert value["ceafe_precision"] == pytest.approx(100 * (8 / 5 + 1 + 2 / 3) / 4)
    assert value["f1"] == pytest.approx((value["muc"] + value["b3"] + value["ceafe"]) / 3)
    assert said["notes"] == ["mentions of the output that are in a cluster already, left out: 1"]
    assert said["signature"].startswith("coref:conll|data:")
    # His, him, He; she, Her, her. By their last word "his sister", "The widow" and "Her son" too;
    # Mr. Hill has none.
    assert said["counts"]["mentions that are a pronoun"] == {"male": 3, "female": 3}
    assert said["counts"]["mentions by their last word"] == {"male": 4, "female": 5}
    assert said["counts"]["chains with a pronoun"] == {"male": 1, "female": 2, "both": 1}
    arguments = ["--gold", gold, "--baseline", "perfect", "--resamples", 0]
    (perfect,) = json.loads(coref("score", "conll", *arguments, "--json"))["systems"]
    assert {one["value"] for one in perfect["numbers"]} == {100}
    with pytest.raises(UsageError, match="--baseline: expected perfect, got 'first'"):
        coref("score", "conll", "--gold", gold, "--baseline", "first")
    with pytest.raises(DataError, match=r"conll: no file; give its place with --data$"):
        coref("score", "conll", "--baseline", "perfect")


def test_the_example_of_pradhan_et_al() -> None:
    """Pradhan et al., ACL 2014, the example of section 4: key {abc} {defg}, response {ab} {cd}
    {fghi}."""
    scores = _score("abc defg", "ab cd fghi")
    # Links of the key kept: a-b and f-g; the key has 2 + 3, the response 1 + 1 + 3.
    assert _values(scores, "muc") == pytest.approx((40, 40, 40))
    # Recall is (2²/3 + 1²/3 + 1²/4 + 2²/4) / 7, or 5/12.
    # Precision is (2²/2 + 1²/2 + 1²/2 + 2²/4) / 8, or 1/2, so F1 is 5/11.
    assert _values(scores, "b3") == pytest.approx((500 / 12, 50, 500 / 11))
    # abc-ab 2·2/5 and defg-fghi 2·2/8 beat abc-cd 2/5 and defg-cd 2/6: 1.3 of 2 and of 3; F1 =
    # 2.6/5.
    assert _values(scores, "ceafe") == pytest.approx((65, 130 / 3, 52))
    assert _conll(("abc defg", "ab cd fghi")) == pytest.approx((40 + 500 / 11 + 52) / 3)
    # Six of the key's mentions are found, of the response's eight.
    assert _values(scores, "mentions") == pytest.approx((600 / 7, 75, 80))


# Test cases of the official scorer that have values of MUC, B³ or CEAFe: name, key, response,
# recall and precision. A letter is a mention; in A7 to A9 one stands in the response again, which
# the scorer drops.
_A, _D = "a bc def", "12345 67 89ABC"
OFFICIAL: list[tuple[str, str, str, dict[str, tuple[float, float]]]] = [
    ("A1", _A, "a bc def", {"muc": (1, 1), "b3": (1, 1), "ceafe": (1, 1)}),
    ("A2", _A, "a de", {"muc": (1 / 3, 1), "b3": (7 / 18, 1), "ceafe": (0.6, 0.9)}),
    (
        "A3",
        _A,
        "a bcx defy z",
        {"muc": (1, 3 / 5), "b3": (1, (4 + 7 / 12) / 9), "ceafe": (0.88571, 0.66429)},
    ),
    (
        "A4",
        _A,
        "a bcx dy z",
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42), "ceafe": (0.73333, 0.55)},
    ),
    (
        "A5",
        _A,
        "a bcxB dy z",
        {"muc": (1 / 3, 1 / 4), "b3": (5 / 9, 5 / 16), "ceafe": (0.68889, 0.51667)},
    ),
    (
        "A6",
        _A,
        "a bcx dy Bz",
        {"muc": (1 / 3, 1 / 4), "b3": (5 / 9, 17 / 48), "ceafe": (0.73333, 0.55)},
    ),
    (
        "A7",
        _A,
        "a bcxb dy z",
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42), "ceafe": (0.73333, 0.55)},
    ),
    (
        "A8",
        _A,
        "a bcx dy bz",
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42), "ceafe": (0.73333, 0.55)},
    ),
    (
        "A9",
        _A,
        "a bcx dy bbbbbbbbbbz",
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42), "ceafe": (0.73333, 0.55)},
    ),
    ("A10", _A, "a b c d e f", {"muc": (0, 0), "b3": (3 / 6, 1)}),
    ("A11", _A, "abcdef", {"muc": (1, 3 / 5), "b3": (1, 7 / 18)}),
    ("A12", _A, "a x y c d e z", {"muc": (0, 0), "b3": (13 / 36, 4 / 7)}),
    ("A13", _A, "axycdez", {"muc": (1 / 3, 1 / 6), "b3": (17 / 36, 6 / 49)}),
    ("D1", _D, "12345 6789ABC", {"muc": (1, 9 / 10), "b3": (1, 16 / 21)}),
    ("E1", _D, "1234589ABC 67", {"muc": (1, 9 / 10), "b3": (1, 7 / 12)}),
    ("F1", "ABCD", "AB CD", {"muc": (2 / 3, 1)}),
    ("G1", "AB CD", "ABCD", {"muc": (1, 2 / 3)}),
    ("H1", "ABCD", "ABCD", {"muc": (1, 1)}),
    ("I1", "ABCD", "AB CD", {"muc": (2 / 3, 1)}),
    ("J1", "ABC", "AC", {"muc": (1 / 2, 1)}),
    ("K1", "BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6)}),
    ("L1", "ABC DEFG", "AB CD FGH", {"muc": (2 / 5, 2 / 4)}),
    ("M1", "abcdef", "abcdef", {"muc": (1, 1), "b3": (1, 1), "ceafe": (1, 1)}),
    ("M2", "abcdef", "a b c d e f", {"muc": (0, 0)}),
    ("M5", "abcdef", "a b c x y z", {"muc": (0, 0)}),
    ("N1", "a b c d e f", "a b c d e f", {"muc": (0, 0), "b3": (1, 1), "ceafe": (1, 1)}),
    ("N2", "a b c d e f", "abcdef", {"muc": (0, 0)}),
    ("N4", "a b c d e f", "a b c x y z", {"muc": (0, 0)}),
]


@pytest.mark.parametrize(
    ("key", "response", "expected"), [case[1:] for case in OFFICIAL], ids=[c[0] for c in OFFICIAL]
)
def test_the_official_scorers_own_cases(
    key: str, response: str, expected: dict[str, tuple[float, float]]
) -> None:
    """github.com/conll/reference-coreference-scorers: test/CorefMetricTestConfig.pm, clusters of
    test/TestCases.README.

    The scorer prints 0 where there is nothing to find or nothing found, which is None here. B³ and
    CEAFe of N1 are in the README alone.
    """
    counts = count_coref(_clusters(key), without_repeated(_clusters(response)))
    scores = compute_coref(count_table([counts]))
    for name, (recall, precision) in expected.items():
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0
        found = [value or 0 for value in _values(scores, name)]
        assert found == pytest.approx([100 * recall, 100 * precision, 100 * f1], abs=6e-4), name


def test_nothing_to_find_and_nothing_found() -> None:
    nothing = _score("", "")
    assert _conll(("", "")) is None
    assert (
        _values(nothing, "muc")
        == _values(nothing, "b3")
        == _values(nothing, "ceafe")
        == (None, None, None)
    )
    empty = _score("ab", "")
    assert _conll(("ab", "")) == 0
    assert _values(empty, "b3") == (0, None, 0)
    invented = _score("", "ab")
    assert _conll(("", "ab")) == 0
    assert _values(invented, "ceafe") == (None, 0, 0)
    # Singletons have no links, so MUC and with it the mean are undefined; B³ and CEAFe are not.
    single = _score("a b", "a b")
    assert _conll(("a b", "a b")) is None
    assert _values(single, "muc") == (None, None, None)
    assert _values(single, "b3") == _values(single, "ceafe") == (100, 100, 100)


def test_nothing_in_common() -> None:
    scores = _score("ab", "cd")
    assert _conll(("ab", "cd")) == 0
    assert scores["muc_recall"].n == scores["muc_precision"].n == 1


def test_counts_add_up_over_documents() -> None:
    documents = [("abc defg", "ab cd fghi"), ("AB C", "ABC"), ("KLMN", "KL MN"), ("Q", "")]
    joined = " ".join(key for key, _ in documents), " ".join(response for _, response in documents)
    ours, pooled = compute_coref(_table(*documents)), _score(*joined)
    assert _table(*documents).shape == (4, 16)
    assert _conll(*documents) == pytest.approx(_conll(joined))
    assert _values(ours, "b3") == pytest.approx(_values(pooled, "b3"))
    assert (ours["b3"].n, pooled["b3"].n) == (4, 1)


def test_many_corpora_at_once_are_each_alone() -> None:
    pairs = [("abc defg", "ab cd fghi"), ("ab", ""), ("a", "a"), ("ab c", "ab c")]
    expected = [np.nan if (one := _conll(pair)) is None else one for pair in pairs]
    np.testing.assert_array_equal(conll_f1(_table(*pairs)), expected)


def test_no_documents() -> None:
    assert count_table([]).shape == (0, 16)
    assert _conll() is None


# A reference: mention pairs and permutations, in exact fractions; nothing of it is shared with the
# code above.

Quotient = tuple[Fraction, int, Fraction, int]
"""Numerator and denominator of recall, then of precision."""


def _links(entities: list[set[object]], others: list[set[object]]) -> int:
    """Links of a spanning forest of the pairs of mentions that are together in both."""
    parent = {mention: mention for entity in entities for mention in entity}

    def root(mention: object) -> object:
        while parent[mention] != mention:
            mention = parent[mention]
        return mention

    joined = 0
    for entity in entities:
        for a, b in combinations(entity, 2):
            together = any(a in other and b in other for other in others)
            if together and root(a) != root(b):
                parent[root(a)] = root(b)
                joined += 1
    return joined


def _reference_muc(key: list[set[object]], response: list[set[object]]) -> Quotient:
    return (
        Fraction(_links(key, response)), _links(key, key),
        Fraction(_links(response, key)), _links(response, response),
    )  # fmt: skip


def _reference_b3(key: list[set[object]], response: list[set[object]]) -> Quotient:
    def overlaps(entities: list[set[object]], others: list[set[object]]) -> list[Fraction]:
        shares = []
        for entity in entities:
            for mention in entity:
                other: set[object] = next((other for other in others if mention in other), set())
                shares.append(Fraction(len(entity & other), len(entity)))
        return shares

    recall, precision = overlaps(key, response), overlaps(response, key)
    return sum(recall, Fraction(0)), len(recall), sum(precision, Fraction(0)), len(precision)


def _reference_ceafe(key: list[set[object]], response: list[set[object]]) -> Quotient:
    few, many = sorted((key, response), key=len)
    best = max(
        sum(
            (Fraction(2 * len(a & b), len(a) + len(b)) for a, b in zip(few, chosen, strict=True)),
            Fraction(0),
        )
        for chosen in permutations(many, len(few))
    )
    return best, len(key), best, len(response)


REFERENCES = (_reference_muc, _reference_b3, _reference_ceafe)


def _reference_f1(documents: Sequence[tuple[Clusters, Clusters]]) -> list[float | None]:
    """MUC, B³ and CEAFe of all documents, in per cent."""
    scores: list[float | None] = []
    for reference in REFERENCES:
        parts = [
            reference([set(c) for c in key], [set(c) for c in response])
            for key, response in documents
        ]
        hit_r, of_r, hit_p, of_p = (sum(column) for column in zip(*parts, strict=True))
        if not of_r + of_p:
            scores.append(None)
        elif not hit_r or not hit_p:
            scores.append(0.0)
        else:
            scores.append(float(200 / (of_r / hit_r + of_p / hit_p)))
    return scores


def _f1(documents: Sequence[tuple[Clusters, Clusters]]) -> list[float | None]:
    scores = compute_coref(count_table(count_coref(key, response) for key, response in documents))
    return [scores[name].value for name in ("muc", "b3", "ceafe")]


_PARTITION = st.lists(st.integers(0, 5), min_size=9, max_size=9)
"""For each of nine mentions its entity; 5 is none."""


def _partition(labels: list[int]) -> Clusters:
    entities = [
        tuple((at, at) for at, label in enumerate(labels) if label == entity) for entity in range(5)
    ]
    return tuple(entity for entity in entities if entity)


@given(st.lists(st.tuples(_PARTITION, _PARTITION), min_size=1, max_size=3))
def test_any_partitions_score_as_in_the_reference(
    labels: list[tuple[list[int], list[int]]],
) -> None:
    documents = [(_partition(first), _partition(second)) for first, second in labels]
    for ours, expected in zip(_f1(documents), _reference_f1(documents), strict=True):
        assert ours == (None if expected is None else pytest.approx(expected))


@pytest.fixture(scope="module")
def data(shared: Path) -> WinoBias:
    return read_winobias(shared / "data" / "coref" / "winobias")


@pytest.mark.parametrize("rule", BASELINES)
def test_winobias_scores_as_in_the_reference(data: WinoBias, rule: str) -> None:
    assert len(data.sets) == 8
    for one in data.sets.values():
        documents = [(document.gold, answer_by_rule(document, rule)) for document in one]
        assert _f1(documents) == pytest.approx(_reference_f1(documents), abs=1e-9)


def test_winobias_in_larger_documents_scores_as_in_the_reference(data: WinoBias) -> None:
    """Six sentences as one document, a rule system's mentions dealt out again: several entities on
    either side."""
    documents = []
    one = data.sets["test", 1, Stereotype.PRO]
    for start in range(0, 396, 6):
        key: list[list[Mention]] = []
        response: dict[int, list[Mention]] = {}
        for offset, document in enumerate(one[start : start + 6]):
            key += [
                [(100 * offset + a, 100 * offset + b) for a, b in cluster]
                for cluster in document.gold
            ]
            for a, b in answer_by_rule(document, "first")[0]:
                response.setdefault((offset + a) % 4, []).append(
                    (100 * offset + a, 100 * offset + b)
                )
        documents.append((tuple(map(tuple, key)), tuple(map(tuple, response.values()))))
    assert {len(response) for _, response in documents} <= {3, 4}
    assert _f1(documents) == pytest.approx(_reference_f1(documents), abs=1e-9)
