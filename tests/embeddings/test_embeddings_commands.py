"""`mtbias embeddings measure` and `mtbias embeddings debias`, on files."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mtbias.cli import main, make_app
from mtbias.embeddings.bias_measures import (
    direct_bias,
    gender_direction,
    gender_subspace,
    indirect_bias,
)
from mtbias.embeddings.measure_settings import MEASURES, DebiasSettings, EmbeddingSettings
from mtbias.embeddings.vectors import Vectors, read_vectors
from mtbias.errors import DataError, OutputError, SettingError
from tests.embeddings.toy_vectors import make_vectors, toy, write_vectors, written

WORDS = """\
[direction]
pairs = [['w0', 'w1'], ['w2', 'w3'], ['gone', 'w4']]
[direct]
words = ['w10', 'w11', 'lost']
[indirect]
pairs = [['w10', 'w11']]
[weat.first]
targets = ['w20']
attributes_1 = ['w30', 'w31']
attributes_2 = ['w32', 'w33']
[weat.second]
targets = ['w21', 'w22']
attributes_1 = ['w30', 'w31']
attributes_2 = ['w32', 'w33']
[weat-two-targets.some]
targets_1 = ['w20', 'w21']
targets_2 = ['w22', 'w23']
attributes_1 = ['w30', 'w31']
attributes_2 = ['w32', 'w33']
[gipe.two]
words = ['w10', 'w11']
[gipe.every]
words = 'all neutral'
[gendered]
pairs = [['w0', 'w1'], ['w6', 'w7']]
words = ['w5']
"""
PAIRS = [("w0", "w1"), ("w2", "w3")]
"""Of the direction, with vectors."""


OUT = ["--out", "y"]
INLP = [*OUT, "--method", "inlp"]


@pytest.fixture
def embeddings(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """``embeddings("measure", "--vectors", path)``: what the command prints; an error is raised as
    it is."""

    def run(*arguments: object) -> str:
        make_app()(["embeddings", *map(str, arguments)])
        return capsys.readouterr().out

    return run


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    """The options that name the files of vectors and of words."""
    return [
        "--vectors",
        write_vectors(tmp_path, toy()),
        "--words",
        written(tmp_path, WORDS, "w.toml"),
    ]


def test_measure(files: list[object], embeddings: Callable[..., str]) -> None:
    pytest.importorskip("sklearn")
    vectors = toy()
    arguments = ["measure", *files, "--neighbours", 5, "--repeats", 2]
    result = json.loads(embeddings(*arguments, "--json"))
    (space,) = result["spaces"]
    assert (space["name"], space["words"], space["dimensions"]) == ("v.txt", 80, 8)
    assert space["missing_words"] == {"direction": ["gone"], "direct": ["lost"]}
    g = gender_direction(vectors, PAIRS)
    measures = space["measures"]
    direct = direct_bias(vectors.rows(["w10", "w11"]), g).value
    rest = {"ends": None, "p": None, "undefined": ""}
    assert measures["direct"] == {
        "": {"value": pytest.approx(direct), "rests_on": {"words": 2}, **rest}
    }
    beta = indirect_bias(vectors.rows(["w10"]), vectors.rows(["w11"]), g)[0]
    assert measures["indirect"] == {
        "(w10, w11)": {"value": pytest.approx(beta), "rests_on": {}, **rest}
    }
    assert {name: one["rests_on"] for name, one in measures["weat"].items()} == {
        "first": {"partitions": 6}, "second": {"partitions": 6},
    }  # fmt: skip
    assert measures["weat-two-targets"]["some difference"]["rests_on"] == {"partitions": 6}
    assert measures["gipe"]["two"]["rests_on"]["neighbours each"] == 5
    assert measures["gipe"]["two mean η"]["rests_on"] == {"words": 2}
    # Of 80 words w0 to w3 are of the direction (w4 too), w5 to w7 gendered: 72 tell no gender.
    assert measures["gipe"]["every mean η"]["rests_on"] == {"words": 72}
    # Less w0 to w7, which tell a gender; w4's pair is not used, but its words are gendered all the
    # same. Of the 72 others half are taken from each gender, as many as the rarer one has.
    others = vectors.matrix[8:] @ g
    rarer = min((others > 0).sum(), (others < 0).sum())
    assert measures["clustering"]["V"]["rests_on"] == {
        "words": 2 * rarer,
        "feminine": rarer,
        "starts": 2,
    }
    assert measures["recoverability"]["linear"]["rests_on"]["splits"] == 2
    for part in (
        "direction:pca", "partitions:100000", "theta:0.03", "svm-gamma:scale", "selection:by-gender",
        "train-share:0.2", "repeats:2", "seed:0", "list:given",
    ):  # fmt: skip
        assert f"|{part}|" in result["signature"]
    assert result["signature"].startswith("embeddings:measure|vectors:")
    alone = ["measure", *files, "--measure", "direct", "--json"]
    signatures = [
        json.loads(embeddings(*alone, *more))["signature"]
        for more in ((), ("--theta", 0.5), ("--c", 2.0))
    ]
    assert (
        signatures[0] == signatures[1] != signatures[2]
    )  # theta is of a measure that was not taken
    shown = embeddings("measure", *files, "--measure", "direct")
    assert "direct bias DB" in shown
    assert "WEAT" not in shown
    assert "without vector: v.txt [direct]: lost" in shown
    assert next(line for line in shown.splitlines() if line.startswith("direct bias DB")).endswith(
        "  2 words"
    )


def test_without_scikit_learn_the_other_measures_are_taken(
    files: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)  # as Python has it of what is not there
    words = ["embeddings", "measure", *map(str, files), "--neighbours", "5", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    measures = json.loads(out)["spaces"][0]["measures"]
    assert {*MEASURES} - {*measures} == {"clustering", "recoverability"}
    assert err.startswith(
        "mtbias: left out: clustering and recoverability; not installed: scikit-learn"
    )
    assert err.count("\n") == 1
    assert main([*words, "--measure", "direct", "clustering"]) == 1
    assert capsys.readouterr().err.startswith(
        "mtbias: not installed: scikit-learn, which clustering, "
    )


@pytest.mark.parametrize("method", ["hard", "inlp"])
def test_before_and_after(
    tmp_path: Path, files: list[object], embeddings: Callable[..., str], method: str
) -> None:
    pytest.importorskip("sklearn")
    out = tmp_path / "after.txt"
    options = ["--rounds", 3] if method == "inlp" else []
    made = json.loads(
        embeddings("debias", *files, "--method", method, "--out", out, *options, "--json")
    )
    record = json.loads((tmp_path / "after.txt.json").read_text(encoding="utf-8"))
    assert record["sha256"] == made["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert record["signature"] == made["signature"]
    assert record["counts"]["words"] == 80
    before, after = toy(), read_vectors(out)
    assert after.words == before.words
    assert after.header
    result = json.loads(
        embeddings(
            "measure", *files, "--debiased", out, "--neighbours", 5, "--repeats", 2, "--json"
        )
    )
    first, second = result["spaces"]
    assert (first["name"], second["name"]) == ("v.txt", "after.txt")
    shown = embeddings("measure", *files, "--debiased", out, "--measure", "direct")
    assert f"{first['measures']['direct']['']['value']:.4f}" in shown
    assert f"{second['measures']['direct']['']['value']:.4f}" in shown
    if method == "hard":
        # w0 to w7 tell a gender; w0, w1 and w6, w7 are equalised; all others have no part in g any
        # more.
        g = gender_subspace(before, PAIRS)[0]
        assert (made["counts"]["neutralised"], made["counts"]["pairs_equalised"]) == (72, 2)
        assert np.abs(after.matrix[8:] @ g).max() < 1e-8  # 9 digits in the file
        assert second["measures"]["direct"][""]["value"] == pytest.approx(0, abs=1e-8)
        # Kept: w2 to w5. Equalised: opposite along g, and the same otherwise.
        assert after.matrix[2:6] == pytest.approx(before.matrix[2:6], abs=1e-8)
        for one, other in ((0, 1), (6, 7)):
            difference = after.matrix[one] - after.matrix[other]
            assert abs(difference @ g) == pytest.approx(np.linalg.norm(difference), abs=1e-8)
    else:
        # Up to three directions a round, of 8 dimensions, and none are left over for a classifier
        # to find.
        removed = made["counts"]["dimensions_removed"]
        assert 3 <= removed < 8
        assert (
            made["counts"]["dimensions_left"]
            == 8 - removed
            == np.linalg.matrix_rank(after.matrix, tol=1e-6)
        )


def test_double_hard_debiasing_of_a_file(
    tmp_path: Path, files: list[object], embeddings: Callable[..., str]
) -> None:
    pytest.importorskip("sklearn")
    out = tmp_path / "after.txt"
    options = ["--method", "double-hard", "--cluster-words", 20, "--candidates", 3]
    made = json.loads(embeddings("debias", *files, *options, "--out", out, "--json"))
    assert "|components:1|direction:pca|candidates:3|cluster-words:20|seed:0|" in made["signature"]
    # Of 80 words 8 tell a gender, of which two pairs are equalised; w0 to w3 give the direction.
    counts = made["counts"]
    assert (counts["neutralised"], counts["pairs_equalised"]) == (72, 2)
    assert counts["principal_component_removed"] in {1, 2, 3}
    # Of 8 dimensions, one went with the component, and all but the kept words lack another.
    after = read_vectors(out).matrix
    assert np.linalg.matrix_rank(after, tol=1e-6) == 7
    assert np.linalg.matrix_rank(after[8:], tol=1e-6) == 6


def test_inlp_without_neutral_words_counts_none(
    tmp_path: Path, files: list[object], embeddings: Callable[..., str]
) -> None:
    pytest.importorskip("sklearn")
    options = [
        "--method",
        "inlp",
        "--rounds",
        2,
        "--neutral-words",
        0,
        "--out",
        tmp_path / "out.txt",
        "--json",
    ]
    counts = json.loads(embeddings("debias", *files, *options))["counts"]
    assert counts["neutral_words"] == 0
    assert counts["feminine_words"] == counts["masculine_words"] > 1


def test_all_words_lean_one_way(tmp_path: Path, embeddings: Callable[..., str]) -> None:
    pytest.importorskip("sklearn")
    # g is (1, 0) from the pair; all others have a first coordinate above 0.
    rows = np.array([[1.0, 0], [-1, 0], [1, 2], [2, 1], [1, 3]])
    data = write_vectors(tmp_path, make_vectors(["she", "he", "a", "b", "c"], rows))
    words = written(tmp_path, "[direction]\npairs = [['she', 'he']]\n", "w.toml")
    arguments = [
        "measure",
        "--vectors",
        data,
        "--words",
        words,
        "--measure",
        "recoverability",
        "--measure",
        "clustering",
    ]
    measures = json.loads(embeddings(*arguments, "--json"))["spaces"][0]["measures"]
    assert measures["recoverability"]["linear"]["value"] is None
    assert measures["recoverability"]["rbf"]["undefined"] == "all 3 words lean to the feminine"
    shown = embeddings(*arguments)
    assert shown.count("all 3 words lean to the feminine") == 4


def test_debiased_files_are_named_apart_and_fit(
    tmp_path: Path, files: list[object], embeddings: Callable[..., str]
) -> None:
    vectors = files[1]
    other = write_vectors(tmp_path, make_vectors(["w0", "w1"], np.eye(2)), "other.txt")
    with pytest.raises(
        DataError, match="expected vectors of 8 dimensions, as before debiasing, got 2"
    ):
        embeddings("measure", *files, "--debiased", other, "--measure", "direct")
    with pytest.raises(SettingError, match="each file of vectors once"):
        embeddings("measure", *files, "--debiased", vectors, "--measure", "direct")
    (tmp_path / "second").mkdir()
    same_name = write_vectors(tmp_path / "second", toy())
    result = json.loads(
        embeddings("measure", *files, "--debiased", same_name, "--measure", "direct", "--json")
    )
    assert [space["name"] for space in result["spaces"]] == [str(vectors), str(same_name)]


def test_each_file_says_how_many_words_its_numbers_rest_on(
    tmp_path: Path, files: list[object], embeddings: Callable[..., str]
) -> None:
    vectors = toy()
    kept = [word for word in vectors.words if word != "w11"]
    few = write_vectors(tmp_path, make_vectors(kept, vectors.rows(kept)), "few.txt")
    assert " 2 words; 1 words" in embeddings(
        "measure", *files, "--debiased", few, "--measure", "direct"
    )


def test_debias_refuses(
    tmp_path: Path,
    files: list[object],
    embeddings: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, vectors = tmp_path / "out.txt", files[1]
    with pytest.raises(
        SettingError, match="rounds: expected a setting of --method hard, got one of another"
    ):
        embeddings("debias", *files, "--method", "hard", "--out", out, "--rounds", 3)
    with pytest.raises(SettingError, match="components: expected a setting of --method inlp"):
        embeddings("debias", *files, "--method", "inlp", "--out", out, "--components", 2)
    for taken in (tmp_path, tmp_path / "none" / "out.txt"):
        with pytest.raises(
            SettingError, match="out: expected a file, in a folder that is there, got "
        ):
            embeddings("debias", *files, "--method", "hard", "--out", taken)
    with pytest.raises(OutputError, match="expected another file than those that are read"):
        embeddings("debias", *files, "--method", "hard", "--out", vectors)
    words = written(tmp_path, "[direction]\npairs = [['she', 'he']]\n", "pairs.toml")
    for command in (["measure"], ["debias", "--method", "hard", "--out", str(out)]):
        assert main(["embeddings", *command, "--vectors", str(vectors), "--words", str(words)]) == 1
        error = capsys.readouterr().err
        assert (
            "v.txt: [direction]: none of the 1 entries has vectors; name other words with --words\n"
            in error
        )
        assert error.count("\n") == 1
    assert not out.exists()
    # Three pairs, two of which have vectors: their differences span no more than a plane.
    with pytest.raises(
        DataError,
        match=r"v\.txt: expected differences of 3 dimensions or more .*, got 2; .* 2 pairs",
    ):
        embeddings("debias", *files, "--method", "hard", "--out", out, "--components", 3)


def test_a_word_of_which_nothing_is_left_is_written_with_zeros(
    tmp_path: Path, embeddings: Callable[..., str]
) -> None:
    data = written(tmp_path, "she\t1 0\nhe\t-1 0\nnurse\t3 4\npure\t2 0\n")
    words = written(tmp_path, "[direction]\npairs = [['she', 'he']]\n", "w.toml")
    out = tmp_path / "out.txt"
    shown = embeddings(
        "debias", "--vectors", data, "--words", words, "--method", "hard", "--out", out
    )
    assert out.read_text(encoding="utf-8") == "she\t1 0\nhe\t-1 0\nnurse\t0 1\npure\t0 0\n"
    assert "vectors_of_length_0            1\n" in shown
    assert "out.txt\n" in shown


@pytest.mark.parametrize(
    ("gendered", "warning"),
    [
        ("", None),
        ("pairs = [['she', 'he']]", None),
        (
            "pairs = [['aunt', 'uncle']]\nwords = ['nurse']",
            "no pair of [gendered] was equalised: none",
        ),
        ("words = ['aunt']", "no word of [gendered] has a vector"),
        (
            "pairs = [['she', 'he']]\nwords = ['nurse', 'pure']",
            "no word was neutralised: all tell a gender",
        ),
    ],
)
def test_lists_without_effect_are_warned_of(
    tmp_path: Path,
    embeddings: Callable[..., str],
    caplog: pytest.LogCaptureFixture,
    gendered: str,
    warning: str | None,
) -> None:
    data = written(tmp_path, "she\t1 0\nhe\t-1 0\nnurse\t3 4\npure\t2 1\n")
    lists = "[direction]\npairs = [['she', 'he']]\n" + (
        f"[gendered]\n{gendered}\n" if gendered else ""
    )
    words = written(tmp_path, lists, "w.toml")
    embeddings(
        "debias",
        "--vectors",
        data,
        "--words",
        words,
        "--method",
        "hard",
        "--out",
        tmp_path / "out.txt",
    )
    texts = [record.message for record in caplog.records]
    assert len(texts) == (warning is not None)
    assert all(text.startswith(f"{data}: {warning}") for text in texts)


def test_limit_reads_and_writes_the_first_words(
    tmp_path: Path, embeddings: Callable[..., str]
) -> None:
    data = written(tmp_path, "4 2\nshe 1 0\nhe -1 0\nnurse 3 4\nmore 1 1\n")
    words = written(tmp_path, "[direction]\npairs = [['she', 'he']]\n", "w.toml")
    out = tmp_path / "out.txt"
    embeddings(
        "debias",
        "--vectors",
        data,
        "--words",
        words,
        "--method",
        "hard",
        "--out",
        out,
        "--limit",
        3,
    )
    assert out.read_text(encoding="utf-8") == "3 2\nshe 1 0\nhe -1 0\nnurse 0 1\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["measure", "--measure", "all"], 'Invalid value "all" for --measure'),
        (["measure", "--direction", "up"], 'Invalid value "up" for --direction'),
        (["measure", "--selection", "up"], 'Invalid value "up" for --selection'),
        (
            ["measure", "--edgeless-weight", "2"],
            'Invalid value "2" for --edgeless-weight. Choose from: 1, 0',
        ),
        (["measure", "--limit", "0"], "--limit. Must be >= 1"),
        (
            ["measure", "--neighbours", "0"],
            "--neighbours: expected a whole number of at least 1, got 0",
        ),
        (["measure", "--repeats", "0"], "--repeats: expected a whole number of at least 1, got 0"),
        (["measure", "--c", "-1"], "--c: expected a number of at least 0, got -1.0"),
        (["measure", "--theta", "inf"], "--theta: expected a number of at least 0, got inf"),
        (
            ["measure", "--svm-gamma", "nan"],
            "--svm-gamma: expected a finite number of at least 0, got nan",
        ),
        (["measure", "--svm-gamma", "high"], "Invalid value for --svm-gamma"),
        (["measure", "--svm-c", "0"], "--svm-c: expected a number of at least 1e-06, got 0.0"),
        (
            ["measure", "--train-share", "1"],
            "--train-share: expected a number of at most 0.99, got 1.0",
        ),
        (["debias", *OUT, "--method", "soft"], 'Invalid value "soft" for --method'),
        (
            ["debias", *INLP, "--rounds", "0"],
            "--rounds: expected a whole number of at least 1",
        ),
        (
            ["debias", *INLP, "--svm-c", "nan"],
            "--svm-c: expected a number of at least 1e-06, got nan",
        ),
        (
            ["debias", *INLP, "--neutral-cosine", "2"],
            "--neutral-cosine: expected a number of at most 1",
        ),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embeddings", *words, "--vectors", "x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_settings_from_python() -> None:
    assert EmbeddingSettings(svm_gamma=0, c=2).svm_gamma == 0
    with pytest.raises(
        SettingError, match="svm_gamma: expected a finite number of at least 0, got 'high'"
    ):
        EmbeddingSettings(svm_gamma="high")  # type: ignore[arg-type]
    assert DebiasSettings(components=2).described("hard") == {"components": 2}


def test_vectors_may_be_made_in_python() -> None:
    assert Vectors(("a",), np.ones((1, 1))).lengths is None
