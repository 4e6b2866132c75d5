"""Measures of word vectors, by hand in two and three dimensions and against scikit-learn."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from mtbias.embeddings.bias_measures import direct_bias, gender_direction, gipe, indirect_bias, weat
from mtbias.embeddings.biased_groups import clustering, most_biased, recoverability
from mtbias.embeddings.vectors import Vectors, read_vectors
from mtbias.embeddings.word_lists import EXAMPLE_LISTS, read_lists
from mtbias.errors import DataError
from mtbias.stats.results import Floats

G = np.array([1.0, 0.0, 0.0])


def make_vectors(words: Sequence[str], matrix: Floats) -> Vectors:
    return Vectors(tuple(words), np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True)))


def toy() -> Vectors:
    """80 words with v_i[j] = sin(1 + 3i + j² + ij), 8 dimensions."""
    i, j = np.arange(80)[:, None], np.arange(8)[None, :]
    return make_vectors([f"w{n}" for n in range(80)], np.sin(1.0 + 3 * i + j * j + i * j))


def unit(*numbers: float) -> Floats:
    vector = np.array(numbers)
    return np.asarray(vector / np.linalg.norm(vector))


def test_direct_bias_by_hand() -> None:
    # cos with g: 0.6, -0.8, 0. c = 1: 1.4 / 3; c = 2: (0.36 + 0.64) / 3.
    rows = np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]])
    assert direct_bias(rows, G) == pytest.approx(1.4 / 3)
    assert direct_bias(rows, G, c=2) == pytest.approx(1 / 3)
    assert direct_bias(rows[:0], G) is None


def test_indirect_bias_by_hand() -> None:
    # w = (1, 1, 0)/√2, v = (1, 0, 1)/√2: w·v = 1/2; without g (0, 1, 0) and (0, 0, 1), cosine 0: β = 1.
    # w = (0.6, 0.8, 0), v = (-0.6, 0.8, 0): w·v = 0.28; without g both (0, 1, 0), cosine 1: (0.28 - 1) / 0.28.
    # w = g: nothing is left of it. w·v = 0: undefined.
    first = np.array([unit(1, 1, 0), [0.6, 0.8, 0], G, [0, 1, 0]])
    second = np.array([unit(1, 0, 1), [-0.6, 0.8, 0], unit(1, 1, 0), [0, 0, 1]])
    beta = indirect_bias(first, second, G)
    assert beta[:2] == pytest.approx([1.0, -0.72 / 0.28])
    assert np.isnan(beta[2:]).all()


def test_gender_direction() -> None:
    # Differences (f - m): (2, 0) and (2, 1): halves (1, 0), (1, .5). Mean (1, .25). First principal component of ±: the
    # eigenvector of [[2, .5], [.5, .25]] to λ = (2.25 + √(1.75² + 1)) / 2, that is (.5, λ - 2).
    vectors = Vectors(("f", "m", "g", "h"), np.array([[1.0, 0], [-1, 0], [2, 1], [0, 0]]))
    pairs = [("f", "m"), ("g", "h")]
    largest = (2.25 + sqrt(1.75**2 + 1)) / 2
    assert gender_direction(vectors, pairs) == pytest.approx(unit(0.5, largest - 2))
    assert gender_direction(vectors, pairs, "mean") == pytest.approx(unit(1, 0.25))
    # Masculine and feminine exchanged: the direction turns round.
    turned = [(m, f) for f, m in pairs]
    assert gender_direction(vectors, turned) == pytest.approx(-unit(0.5, largest - 2))
    with pytest.raises(DataError, match=r"without: \['x'\]"):
        gender_direction(vectors, [("f", "x")])
    with pytest.raises(DataError, match="no gender direction"):
        gender_direction(vectors, [("f", "m"), ("m", "f")], "mean")


def test_weat_by_hand() -> None:
    # One target e1; cosines of A1: 1, 0.6; of A2: 0, -1. S = 0.8 + 0.5 = 1.3, the largest of all six partitions.
    rng = np.random.default_rng(0)
    first = np.array([[1.0, 0, 0], [0.6, 0.8, 0]])
    second = np.array([[0, 1.0, 0], [-1, 0, 0]])
    result = weat(G[None], first, second, partitions=6, rng=rng)
    assert result.s == pytest.approx(1.3)
    assert (result.p, result.partitions, result.exact) == (0.0, 6, True)
    # Exchanged it is the smallest: the five others are larger.
    assert weat(G[None], second, first, partitions=6, rng=rng).p == pytest.approx(5 / 6)
    # Parts of unequal size: of three numbers 1, 0.6, -1 one is chosen; 0.6 - (1 - 1)/2 = 0.6; only 1 - (-.2) is larger.
    uneven = weat(G[None], first[1:], np.array([first[0], second[1]]), partitions=3, rng=rng)
    assert [uneven.s, uneven.p] == pytest.approx([0.6, 1 / 3])
    # All alike: no partition is strictly larger.
    assert weat(G[None], first[:1], first[:1], partitions=2, rng=rng).p == 0.0


def test_weat_exact_and_sampled_on_the_toy_vectors() -> None:
    # C(16, 8) = 12870; p once more by a plain loop over all of them, from cosines word by word.
    vectors = toy()
    targets, first, second = vectors.matrix[:16], vectors.matrix[16:24], vectors.matrix[24:32]
    exact = weat(targets, first, second, partitions=12870, rng=np.random.default_rng(0))
    attributes = np.concatenate([first, second])
    close = [sum(float(t @ a) for t in targets) / 16 for a in attributes]
    all_ = sum(close)
    sums = [sum(close[k] for k in chosen) for chosen in combinations(range(16), 8)]
    s = (2 * sum(close[:8]) - all_) / 8
    assert exact.exact
    assert exact.partitions == len(sums) == 12870
    assert exact.s == pytest.approx(s)
    assert exact.p == pytest.approx(sum((2 * x - all_) / 8 > s + 1e-12 for x in sums) / 12870)
    drawn = weat(targets, first, second, partitions=12869, rng=np.random.default_rng(0))
    assert not drawn.exact
    # Standard error of a share over 12869 draws is below .0045.
    assert drawn.p == pytest.approx(exact.p, abs=0.018)


def test_gipe_by_hand() -> None:
    # On a circle around g's axis tilted: words a, b share a component along g, c has none.
    # a = (.8, .6, 0), b = (.8, .36, .48), c = (0, .6, .8): a·b = .64 + .216 = .856, a·c = .36, b·c = .216 + .384 = .6.
    # Without g: a_p ∝ (1, 0), b_p ∝ (.6, .8), c_p = (.6, .8): cosines ab .6, ac .6, bc 1.
    # β(a, b) = (.856 - .6)/.856 = .299 > θ; β(b, c) = (.6 - 1)/.6 < 0; β(a, c) = (.36 - .6)/.36 < 0.
    vectors = make_vectors(["a", "b", "c"], np.array([[0.8, 0.6, 0], [0.8, 0.36, 0.48], [0, 0.6, 0.8]]))
    # N = 1: a → b (.856), b → a, c → b (.6). η: a 1, b 1, c 0. Incoming: a 1 of 1 high, b 1 of 2, c none.
    # γ: 2, 1.5, and 1 or 0 for c.
    one = gipe(["a", "b", "c"], vectors, vectors, G, neighbours=1, theta=0.03)
    assert one.value == pytest.approx((2 + 1.5) / 4.5)
    assert (one.n, one.above, one.undefined, one.without_edges) == (3, 2, 0, 1)
    none = gipe(["a", "b", "c"], vectors, vectors, G, neighbours=1, theta=0.03, weight_without_edges=0)
    assert none.value == pytest.approx(1.0)
    # Strictly larger than θ.
    assert gipe(["a", "b", "c"], vectors, vectors, G, neighbours=1, theta=0.256 / 0.856 + 1e-9).above == 0
    # Of c alone, which is nobody's neighbour: η 0 with weight 1; no number with weight 0.
    assert gipe(["c"], vectors, vectors, G, neighbours=1).value == 0.0
    assert gipe(["c"], vectors, vectors, G, neighbours=1, weight_without_edges=0).value is None
    # N = 2: a → b, c; b → a, c; c → b, a: η 1/2, 1/2, 0. Incoming a: 1 of 2, b: 1 of 2, c: 0 of 2: γ 1.5, 1.5, 1.
    assert gipe(["a", "b", "c"], vectors, vectors, G, neighbours=2).value == pytest.approx(1.5 / 4)


def test_gipe_judges_neighbours_of_one_space_by_the_other() -> None:
    original = make_vectors(["a", "b", "c"], np.array([[0.8, 0.6, 0], [0.8, 0.36, 0.48], [0, 0.6, 0.8]]))
    # In the debiased space a and c are nearest, whose β in the original space is below 0.
    debiased = make_vectors(["a", "b", "c"], np.array([[0, 1.0, 0], [0, 0, 1.0], [0, 1.0, 0.1]]))
    assert gipe(["a"], debiased, original, G, neighbours=1).above == 0
    assert gipe(["a"], original, original, G, neighbours=1).above == 1
    with pytest.raises(DataError, match="between 1 and 2 neighbours"):
        gipe(["a"], original, original, G, neighbours=3)
    with pytest.raises(DataError, match=r"without: \['x', 'x'\]"):
        gipe(["x"], original, original, G, neighbours=1)


def test_most_biased() -> None:
    rows = np.array([[0.9, 0.1], [-0.8, 0.2], [0.7, 0.3], [0, 1], [-0.1, 1], [0.95, 0.1]])
    vectors = make_vectors(list("abcdef"), rows)
    g = np.array([1.0, 0.0])
    assert most_biased(vectors, g, 3, exclude=["f", "zzz"]).words == ("a", "b", "c")
    assert most_biased(vectors, g, 3).feminine.tolist() == [True, True, False]
    # Balanced: two of each; of the five that lean, b and e are masculine. d leans nowhere.
    assert set(most_biased(vectors, g, 4, balanced=True).words) == {"f", "a", "b", "e"}
    assert len(most_biased(vectors, g, 100).words) == 5


def test_clustering_and_recoverability() -> None:
    pytest.importorskip("sklearn")
    # Two clouds far apart along g: everything is found. In the debiased space the clouds are one: nearly nothing is.
    rng = np.random.default_rng(4)
    side = np.repeat([1.0, -1.0], 100)
    noise = 0.1 * rng.normal(size=(200, 5))
    words = [f"w{n}" for n in range(200)]
    original = make_vectors(words, np.column_stack([side, noise]))
    g = np.eye(6)[0]
    biased = most_biased(original, g, 150)
    apart = clustering(biased, original, seed=0)
    assert [apart.accuracy, apart.v_measure] == pytest.approx([100.0, 100.0])
    assert apart.n == 150
    found = recoverability(biased, original, seed=0, train_share=0.5)
    assert (found.linear, found.rbf, found.n_train, found.n_test) == (100.0, 100.0, 75, 75)
    debiased = make_vectors(words, np.column_stack([np.zeros(200), rng.normal(size=(200, 5))]))
    mixed = clustering(biased, debiased, seed=0)
    assert 50 <= mixed.accuracy < 65
    assert mixed.v_measure < 10
    assert recoverability(biased, debiased, seed=0, train_share=0.5).linear < 70
    with pytest.raises(DataError, match="cannot be split"):
        recoverability(most_biased(original, g, 3), original, seed=0, train_share=0.5)
    with pytest.raises(DataError, match="have no vector"):
        clustering(biased, make_vectors(words[:5], noise[:5]), seed=0)


def written(folder: Path, text: str, name: str = "v.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_reading_vectors(tmp_path: Path) -> None:
    plain = read_vectors(written(tmp_path, "a 3 4\r\nb 0 2e0 \r\nnew york -1 0\n"), limit=None)
    assert plain.words == ("a", "b", "new york")
    assert plain.matrix.tolist() == [[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
    headed = read_vectors(written(tmp_path, "4 2\na 3 4\na 1 0\n  0 1\nzero 0 0\n".replace("  0 1", "c 0 1")))
    assert (headed.words, headed.repeated, headed.zeros) == (("a", "c"), 1, 1)
    assert read_vectors(written(tmp_path, "9 2\na 3 4\nb 1 0\n"), limit=1).words == ("a",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", r"v\.txt:2: expected a word and 2 numbers, got 'b 1'"),
        ("2 3\na 1 2 3 4\nb 1 2\n", r"v\.txt:3: expected a word and 3 numbers"),
        ("a 1 x\n", "expected finite numbers behind the word 'a'"),
        ("a 1 2\nb 1 2x\n", "expected finite numbers behind the word 'b'"),
        ("a 1 nan\n", "finite numbers"),
        ("a 1 inf\n", "finite numbers"),
        ("3 2\na 1 2\n", "promises 3 words, the file has 1"),
        ("1 2\na 0 0\n", "no vectors"),
        ("", "no vectors"),
        ("a\n", "expected a word and numbers"),
    ],
)
def test_vectors_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(written(tmp_path, text))


def test_binary_vectors(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(b"1 2\na \xff\xfe\x00\n")
    with pytest.raises(DataError, match=r"v\.bin:2: not UTF-8"):
        read_vectors(path)
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "expected TOML"),
        ("[direct]\nwords = ['a']\n", r"\[direction\] pairs, got none"),
        ("[direction]\npairs = [['a']]\n", r"\[direction\] pairs: expected a pair of words, got \['a'\]"),
        ("[direction]\npairs = []\n", "expected a list of pairs of words"),
        ("[direction]\npairs = [['a', 'b']]\n[direct]\nwords = ['a', 'a']\n", "expected each word once, got 'a' twice"),
        ("[direction]\npairs = [['a', 'b']]\n[direct]\nwords = 'a'\n", "expected a list of words"),
        ("[direction]\npairs = [['a', 'b']]\n[other]\n", r"\[other\]: the sections and their lists are"),
        ("[direction]\npairs = [['a', 'b']]\n[weat]\ntargets = ['a']\n", r"\[weat\]: the sections"),
    ],
)
def test_lists_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_lists(written(tmp_path, text, "w.toml"))


def test_the_example_lists() -> None:
    lists = read_lists(EXAMPLE_LISTS)
    assert len(lists.pairs["direction"]) == 9
    assert len(lists.words["weat"]["attributes_1"]) == len(lists.words["weat"]["attributes_2"]) == 8


def test_command(tmp_path: Path, coref: Callable[..., str]) -> None:
    pytest.importorskip("sklearn")
    vectors = toy()
    lines = [f"{w} {' '.join(map(repr, row.tolist()))}\n" for w, row in zip(vectors.words, vectors.matrix, strict=True)]
    data = written(tmp_path, "80 8\n" + "".join(lines))
    words = written(
        tmp_path,
        "[direction]\npairs = [['w0', 'w1'], ['w2', 'w3'], ['gone', 'w4']]\n"
        "[direct]\nwords = ['w10', 'w11', 'lost']\n[indirect]\npairs = [['w10', 'w11']]\n"
        "[weat]\ntargets = ['w20']\nattributes_1 = ['w30', 'w31']\nattributes_2 = ['w32', 'w33']\n"
        "[gipe]\nwords = ['w10', 'w11']\n[groups]\nexclude = ['w5']\n",
        "w.toml",
    )
    arguments = ["embeddings", "--vectors", data, "--words", words, "--neighbours", 5]
    result = json.loads(coref(*arguments, "--json"))
    assert result["missing_words"] == {"direction": ["gone"], "direct": ["lost"]}
    g = gender_direction(vectors, [("w0", "w1"), ("w2", "w3")])
    measures = result["measures"]
    assert measures["direct"] == {"value": pytest.approx(direct_bias(vectors.rows(["w10", "w11"]), g)), "n": 2}
    beta = indirect_bias(vectors.rows(["w10"]), vectors.rows(["w11"]), g)[0]
    assert measures["indirect"] == [{"pair": ["w10", "w11"], "beta": pytest.approx(beta)}]
    assert (measures["weat"]["partitions"], measures["weat"]["exact"]) == (6, True)
    assert measures["gipe"]["neighbours"] == 5
    # 80 words less w0 to w4 and w5; w4's pair is not used, but its words are gendered all the same.
    assert measures["clustering"]["n"] == 74
    for part in ("direction:pca", "partitions:100000", "theta:0.03", "svm-gamma:scale", "seed:0", "list:given"):
        assert f"|{part}|" in result["signature"]
    shown = coref(*arguments, "--measure", "direct")
    assert "direct bias DB" in shown
    assert "WEAT" not in shown
    assert "without vector, [direct]: lost" in shown
