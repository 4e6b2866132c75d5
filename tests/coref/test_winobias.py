"""WinoBias on sentences of our own: occupations, rule systems, links, scores, significance, the
command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from mtbias.cli.shared import Parts
from mtbias.coref.dataset import DatasetScores, Link
from mtbias.coref.documents import Clusters
from mtbias.coref.winobias import PARTS_OF_DATA, WinoBias, answer_by_rule, link, read_winobias
from mtbias.coref.winobias_data import WinoBiasDocument, differing_pairs
from mtbias.errors import DataError, UsageError
from mtbias.stats.results import Estimate
from mtbias.types import Gender, Stereotype
from tests.coref.small_corpora import (
    ANTI_SENTENCES,
    PRO_SENTENCES,
    Sentence,
    conll,
    write_winobias,
)

PRO, ANTI = Stereotype.PRO, Stereotype.ANTI


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_winobias(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder: Path) -> WinoBias:
    return read_winobias(folder)


def _documents(data: WinoBias, condition: Stereotype = PRO) -> tuple[WinoBiasDocument, ...]:
    return data.sets["dev", 1, condition]


def test_documents_in_the_order_of_the_text(data: WinoBias) -> None:
    documents = _documents(data)
    assert [document.id for document in documents] == ["nw/pro//0", "nw/pro//1", "nw/pro//2"]
    assert [document.line for document in documents] == [1, 2, 3]
    third = documents[2]
    assert [o.name for o in third.occupations] == ["night guard", "nanny"]
    assert [o.mention for o in third.occupations] == [(0, 2), (4, 5)]
    assert third.occupation.name == "nanny"
    assert third.occupation.stereotype is Gender.FEMALE
    assert third.pronouns == (7, 9)
    assert [o.name for o in third.others] == ["night guard"]
    assert len(data.files) == 4


def test_files_in_conll_format_and_capitals(folder: Path) -> None:
    (folder / "conll_format").mkdir()
    name = "dev_type1_pro_stereotype.v4_auto_conll"
    text = (folder / name).read_text(encoding="utf-8").replace("\tflorist\t", "\tFLORIST\t")
    (folder / "conll_format" / name).write_text(text, encoding="utf-8")
    (folder / name).unlink()
    assert [o.name for o in _documents(read_winobias(folder))[0].occupations] == [
        "plumber",
        "florist",
    ]


def test_rule_systems(data: WinoBias) -> None:
    def answers(rule: str, condition: Stereotype = PRO) -> list[Clusters]:
        return [answer_by_rule(document, rule) for document in _documents(data, condition)]

    he, she_her = ((6, 6),), ((7, 7), (9, 9))
    plumber, florist, guard, nanny = (0, 1), (3, 4), (0, 2), (4, 5)
    assert answers("first") == [((plumber, *he),), ((plumber, *he),), ((guard, *she_her),)]
    assert answers("nearest") == [((florist, *he),), ((florist, *he),), ((nanny, *she_her),)]
    assert answers("stereotype") == answers("perfect")
    assert answers("stereotype", ANTI) == answers("wrong", ANTI)
    assert answers("wrong") == [((florist, *he),), ((plumber, *he),), ((guard, *she_her),)]
    assert answers("empty") == [(), (), ()]


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        ((((0, 1), (6, 6)),), Link.RIGHT),
        ((((1, 1), (6, 6)),), Link.RIGHT),  # without the article
        ((((3, 4), (6, 6)),), Link.WRONG),
        ((((0, 1), (3, 4), (6, 6)),), Link.BOTH),
        ((((0, 1), (6, 6)), ((3, 4), (6, 6))), Link.BOTH),
        ((), Link.NONE),
        ((((0, 1), (3, 4)),), Link.NONE),  # without the pronoun
        ((((6, 6), (7, 7)),), Link.NONE),  # with something else
        ((((0, 1), (6, 7)),), Link.NONE),  # the pronoun within a longer mention
        ((((0, 4), (6, 6)),), Link.NONE),  # a mention of both occupations
        ((((0, 6), (6, 6)),), Link.NONE),  # a mention that holds the pronoun
        ((((0, 0), (6, 6)),), Link.NONE),  # the article alone
    ],
)
def test_links(data: WinoBias, clusters: Clusters, expected: Link) -> None:
    assert link(_documents(data)[0], clusters) is expected


def test_the_gold_occupations_word_elsewhere_is_no_link(folder: Path) -> None:
    sentences = [("The plumber called the florist because he was no plumber .", [(3, 4), (6, 6)])]
    path = folder / "dev_type1_pro_stereotype.v4_auto_conll"
    path.write_text(conll(sentences, "pro"), encoding="utf-8")
    (document,) = _documents(read_winobias(folder))
    assert [o.mention for o in document.occupations] == [(0, 1), (3, 4), (9, 9)]
    assert [o.head for o in document.others] == [1, 9]
    assert link(document, (((6, 6), (9, 9)),)) is Link.WRONG
    sentences = [
        ("The plumber called the florist because he liked a florist shop .", [(3, 4), (6, 6)])
    ]
    path.write_text(conll(sentences, "pro"), encoding="utf-8")
    (document,) = _documents(read_winobias(folder))
    assert link(document, (((6, 6), (8, 9)),)) is Link.NONE


PART = "dev type 1"


def _scored(data: WinoBias, rule: str, resamples: int, seed: int = 0) -> Callable[[str], Estimate]:
    scores = data.score(data.baseline(rule), seed=seed, resamples=resamples)
    return lambda key: scores[PART, key]


def test_scores_where_all_links_are_wrong(data: WinoBias) -> None:
    scores = data.score(data.baseline("wrong"), resamples=200)
    # Links: two sentences keep none of 1, the third one (between its pronouns) of 2: 1/4.
    assert scores[PART, "muc_pro"].value == pytest.approx(25)
    # Shares of the gold mentions: 1/2 and 1/2 of the pronouns, 2·2/3; over 2 + 2 + 3 mentions, and
    # alike for precision.
    assert scores[PART, "b3_pro"].value == pytest.approx(100 / 3)
    # 2·1/4, 2·1/4, 2·2/6 of three entities.
    assert scores[PART, "ceafe_pro"].value == pytest.approx(100 * (1 / 2 + 1 / 2 + 2 / 3) / 3)
    assert scores[PART, "link_pro"].value == 0
    assert scores.counts["dev type 1 pro"] == {"right": 0, "wrong": 3, "both": 0, "none": 0}
    # The other condition has the same, counterpart by counterpart.
    f1, links = scores[PART, "f1_difference"], scores[PART, "link_difference"]
    assert (f1.value, f1.p, links.p) == (0, 1, 1)


def test_pro_against_anti(data: WinoBias) -> None:
    of = _scored(data, "stereotype", 1000)
    wrong = (25 + 100 / 3 + 500 / 9) / 3  # as above
    assert of("f1_pro").value == 100
    assert of("f1_anti").value == pytest.approx(wrong)
    assert of("f1_average").value == pytest.approx((100 + wrong) / 2)
    assert of("f1_difference").value == pytest.approx(100 - wrong)
    assert of("f1_difference").interval is not None
    # Of the 2³ ways to swap, none and all are the two extremes: p = 2/8. McNemar: 2·(1/2)³.
    assert (of("f1_difference").p, of("link_difference").p) == (0.25, 0.25)
    assert (of("link_average").value, of("link_difference").value, of("link_difference").n) == (
        50,
        100,
        3,
    )
    assert of("link_difference").interval is None  # of three lines


def test_a_difference_has_its_sign(data: WinoBias) -> None:
    sets = {
        ("dev", 1, PRO): data.sets["dev", 1, ANTI],
        ("dev", 1, ANTI): data.sets["dev", 1, PRO],
    }
    of = _scored(WinoBias(sets, data.files), "stereotype", 0)
    gap = of("f1_difference").value
    assert gap is not None
    assert gap < 0
    # Without resamples there is no test and no interval; McNemar needs none.
    assert (of("f1_difference").p, of("f1_difference").interval, of("link_difference").p) == (
        None,
        None,
        0.25,
    )


def test_lines_of_one_condition_alone_are_in_no_average_and_no_difference(folder: Path) -> None:
    path = folder / "dev_type1_anti_stereotype.v4_auto_conll"
    path.write_text(conll(ANTI_SENTENCES[:2], "anti"), encoding="utf-8")
    data = read_winobias(folder)
    scores = data.score(data.baseline("stereotype"), resamples=0)
    assert (
        "dev type 1: 1 lines of one condition alone, in no average and no difference"
        in scores.notes
    )
    both = {c: data.sets["dev", 1, c][:2] for c in (PRO, ANTI)}
    alone = WinoBias({("dev", 1, c): documents for c, documents in both.items()}, data.files)
    expected = alone.score(alone.baseline("stereotype"), resamples=0)
    for key in ("f1_average", "f1_difference", "link_average", "link_difference", "f1_anti"):
        assert (scores[PART, key].value, scores[PART, key].n) == (
            expected[PART, key].value,
            expected[PART, key].n,
        )
    assert (scores[PART, "link_pro"].n, scores[PART, "link_anti"].n) == (3, 2)
    moved = (
        conll(ANTI_SENTENCES, "anti")
        .replace("//0", "//7")
        .replace("//1", "//8")
        .replace("//2", "//9")
    )
    path.write_text(moved, encoding="utf-8")
    data = read_winobias(folder)
    scores = data.score(data.baseline("stereotype"), resamples=200)
    assert (
        "dev type 1: 6 lines of one condition alone, in no average and no difference"
        in scores.notes
    )
    assert not [one.key for one in scores.numbers if one.key.endswith(("average", "difference"))]


def test_counterparts_that_differ_in_more_than_the_pronoun(data: WinoBias) -> None:
    pro, anti = data.sets["dev", 1, PRO], data.sets["dev", 1, ANTI]
    assert differing_pairs(pro, anti) == (2,)  # late, early


def test_counterparts_whose_gold_mentions_differ_count_too(folder: Path) -> None:
    sentences = [(text, mentions[:2]) for text, mentions in ANTI_SENTENCES]
    path = folder / "dev_type1_anti_stereotype.v4_auto_conll"
    path.write_text(conll(sentences, "anti"), encoding="utf-8")
    data = read_winobias(folder)
    assert differing_pairs(data.sets["dev", 1, PRO], data.sets["dev", 1, ANTI]) == (2, 3)


def test_the_same_seed_gives_the_same_numbers_whatever_else_is_scored(data: WinoBias) -> None:
    both = data.score(data.baseline("first"), seed=5, resamples=300)
    alone = WinoBias({key: one for key, one in data.sets.items() if key[2] is ANTI}, data.files)
    one = alone.score(alone.baseline("first"), seed=5, resamples=300)
    assert {number.key for number in one.numbers if not number.key.endswith("_anti")} == set()
    assert set(one.numbers) < set(both.numbers)


def _write(path: Path, answers: dict[str, Clusters]) -> Path:
    path.write_text(
        "".join(json.dumps({"id": i, "clusters": c}) + "\n" for i, c in answers.items()),
        encoding="utf-8",
    )
    return path


def _score(data: WinoBias, path: Path, resamples: int = 0) -> DatasetScores:
    return data.score(data.read([path], spans="included"), resamples=resamples)


def test_predictions_of_a_set_alone(folder: Path, tmp_path: Path) -> None:
    (folder / "dev_type1_anti_stereotype.v4_auto_conll").unlink()
    answers: dict[str, Clusters] = {
        "nw/pro//0": (((0, 1), (6, 6)),),
        "nw/pro//1": (),
        "nw/pro//2": (),
    }
    scores = _score(read_winobias(folder), _write(tmp_path / "p.jsonl", answers))
    assert list(scores.counts) == ["dev type 1 pro"]
    assert scores[PART, "f1_pro"].n == 3
    # One of 1 + 1 + 2 links, of 1 found.
    recall, precision = scores[PART, "muc_recall_pro"], scores[PART, "muc_precision_pro"]
    assert (recall.value, recall.n, precision.value, precision.n) == (25, 4, 100, 1)
    assert scores.counts["dev type 1 pro"]["none"] == 2


def test_gold_files_as_predictions_are_perfect(data: WinoBias, folder: Path) -> None:
    scores = _score(data, folder, resamples=200)
    assert [scores[PART, f"f1_{condition}"].value for condition in (PRO, ANTI)] == [100, 100]


def test_repeated_mentions_are_left_out_of_f1(data: WinoBias, tmp_path: Path) -> None:
    answers: dict[str, Clusters] = {
        "nw/pro//0": (((0, 1), (6, 6)), ((3, 4), (6, 6))),
        "nw/pro//1": (((3, 4), (6, 6), (6, 6)),),
        "nw/pro//2": (((4, 5), (7, 7), (9, 9)),),
        **{f"nw/anti//{n}": () for n in range(3)},
    }
    scores = _score(data, _write(tmp_path / "p.jsonl", answers))
    assert "mentions that are in a cluster already, left out of F1: 2" in scores.notes
    assert scores[PART, "muc_pro"].value == 100  # the first of the two clusters keeps the pronoun
    assert scores.counts["dev type 1 pro"] == {"right": 2, "wrong": 0, "both": 1, "none": 0}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            {"nw/pro//7": ()},
            "id 'nw/pro//7': none of the data's documents, whose ids are such as 'nw/pro//0'",
        ),
        ({"nw/pro//0": (((0, 1), (6, 10)),)}, "tokens 0 to 9; a mention ends at 10"),
        ({}, "no prediction for 6 of 6 documents, the first 'nw/pro//0'"),
    ],
)
def test_bad_predictions(
    data: WinoBias, tmp_path: Path, answers: dict[str, Clusters], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        _score(data, _write(tmp_path / "p.jsonl", answers))


def test_predictions_for_the_counterpart_are_an_error(data: WinoBias, folder: Path) -> None:
    text = (folder / "dev_type1_anti_stereotype.v4_auto_conll").read_text(encoding="utf-8")
    path = folder / "system.conll"
    path.write_text(text.replace("nw/anti", "nw/pro"), encoding="utf-8")
    with pytest.raises(DataError, match="token 7 is 'she' in the data set, 'he' here"):
        _score(data, path)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (("The plumber left because he wept .", [(0, 1)]), "one occupation and a pronoun"),
        (("The baker left because he wept .", [(0, 1), (4, 4)]), "one occupation and a pronoun"),
        (
            ("The plumber and the florist left as he wept .", [(0, 4), (7, 7)]),
            "one occupation and a pronoun",
        ),
        (("The plumber left .", []), "expected one cluster, of different mentions, got 0"),
    ],
)
def test_gold_that_is_not_one_cluster_of_an_occupation(
    folder: Path, sentence: Sentence, message: str
) -> None:
    path = folder / "dev_type1_pro_stereotype.v4_auto_conll"
    path.write_text(conll([sentence], "pro"), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_winobias(folder)


def test_gold_ids(folder: Path) -> None:
    path = folder / "dev_type1_pro_stereotype.v4_auto_conll"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("nw/pro//2", "nw/pro//x"), encoding="utf-8")
    with pytest.raises(DataError, match="expected a number at the end"):
        read_winobias(folder)
    path.write_text(text.replace("nw/pro//2", "bn/pro//1"), encoding="utf-8")
    with pytest.raises(DataError, match=r"expected another number at its end than '../pro//1' has"):
        read_winobias(folder)
    path.write_text(text.replace("nw/pro", "nw/anti"), encoding="utf-8")
    with pytest.raises(DataError, match=r"is in dev_type1_pro_stereotype\.v4_auto_conll already"):
        read_winobias(folder)


def test_a_folder_that_is_not_winobias(folder: Path) -> None:
    for path in folder.glob("*conll"):
        path.unlink()
    with pytest.raises(DataError, match=r"expected files such as .* in this folder, got none"):
        read_winobias(folder)
    (folder / "male_occupations.txt").unlink()
    with pytest.raises(DataError, match="no such file"):
        read_winobias(folder)


def test_the_command_prints_a_table(folder: Path, coref: Callable[..., str]) -> None:
    out = coref(
        "score",
        "winobias",
        "--data",
        folder,
        "--baseline",
        "stereotype",
        "--resamples",
        200,
        "--counts",
        "--full",
    )
    flat = " ".join(out.split())
    assert (
        "dev type 1: CoNLL F1, pro 100.00 3" in flat
    )  # no share, and three sentences are no sample
    # Wilson's lower end of 3 of 3 is 3 / (3 + z²) = 43.85 %.
    assert "dev type 1: link accuracy, pro 100.00 [43.85, 100.00] 3" in flat
    assert "dev type 1 pro       3      0     0     0" in out
    assert "1 of 3 pairs differ in other words or in gold mentions too (lines 2)" in out
    assert "6 of WinoBias's 8 files are not in the folder" in out
    last = out.splitlines()[-1]
    assert "coref:winobias|data:" in last
    assert (
        "|f1:conll-v8.01|link:first-pronoun|test:randomisation+mcnemar|system:stereotype|" in last
    )
    assert "|seed:0|resamples:200|" in last


def test_the_command_prints_json(folder: Path, tmp_path: Path, coref: Callable[..., str]) -> None:
    ids = [f"nw/{condition}//{n}" for condition in ("pro", "anti") for n in range(3)]
    path = _write(
        tmp_path / "p.jsonl", dict.fromkeys(ids, ()) | {ids[0]: (((0, 1), (6, 6), (6, 6)),)}
    )
    words = ["score", "winobias", "--data", folder, "--predictions", path, "--resamples", 0]
    (system,) = json.loads(coref(*words, "--json"))["systems"]
    assert system["counts"]["dev type 1 pro"] == {"right": 1, "wrong": 0, "both": 0, "none": 2}
    assert {one["interval"] for one in system["numbers"] if one["key"] == "f1_pro"} == {None}
    assert list(system["predictions"]) == ["p.jsonl"]
    out = coref(*words, "--full")
    assert all(note in out for note in system["notes"])
    assert "mentions that are in a cluster already, left out of F1: 1" in system["notes"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to score: give --predictions FILE, or --baseline NAME"),
        (
            ["--baseline", "best"],
            "--baseline: expected one of first, nearest, stereotype, .*, got 'best'",
        ),
        (["--baseline", "first", "--weights", "w"], "--weights goes with gap, not with winobias"),
        (["--baseline", "first", "--baseline", "first"], "expected systems that differ"),
    ],
)
def test_calls_that_cannot_be_meant(
    folder: Path, options: list[str], message: str, coref: Callable[..., str]
) -> None:
    with pytest.raises(UsageError, match=message):
        coref("score", "winobias", "--data", folder, *options)


def test_a_rule_system_beside_predictions_is_compared_with_them(
    folder: Path, coref: Callable[..., str]
) -> None:
    words = [
        "score",
        "winobias",
        "--data",
        folder,
        "--predictions",
        folder,
        "--baseline",
        "stereotype",
    ]
    found = json.loads(coref(*words, "--resamples", 200, "--json"))
    differences = {one["key"]: one["difference"] for one in found["differences"]}
    # The gold files: right throughout, as the rule is on pro; on anti the rule has none.
    assert (differences["link_pro"], differences["link_anti"]) == (0, 100)


def test_the_parts_are_those_of_the_commands() -> None:
    literal, _ = get_args(Parts)
    assert get_args(get_args(literal)[0]) == PARTS_OF_DATA


def test_a_part_is_scored_as_a_part(tmp_path: Path, coref: Callable[..., str]) -> None:
    write_winobias(tmp_path)
    for condition, sentences in (("pro", PRO_SENTENCES), ("anti", ANTI_SENTENCES)):
        path = tmp_path / f"test_type2_{condition}_stereotype.v4_auto_conll"
        path.write_text(conll(sentences, f"{condition}2"), encoding="utf-8")
    conditions = ("pro", "anti", "pro2", "anti2")
    every: dict[str, Clusters] = {
        f"nw/{condition}//{n}": () for condition in conditions for n in range(3)
    }
    every["nw/pro//0"] = (((0, 1), (6, 6)),)
    of_part = {id_: clusters for id_, clusters in every.items() if "2//" not in id_}
    whole, part = (
        _write(tmp_path / name, of)
        for name, of in (("whole.jsonl", every), ("part.jsonl", of_part))
    )
    words = ["score", "winobias", "--data", tmp_path, "--resamples", 0, "--json"]
    with pytest.raises(
        DataError,
        match=r"no prediction for 6 of 12 documents, .*; --part scores a part of the data$",
    ):
        coref(*words, part)
    found = []
    for file in (whole, part):
        (system,) = json.loads(coref(*words, file, "--part", "dev-type1"))["systems"]
        assert {one["part"] for one in system["numbers"]} == {"dev type 1"}
        assert system["documents"] == 6
        assert "6 of WinoBias's 8 files were not asked for (--part)" in system["notes"]
        assert len(system["data"]) == 4  # two of the part, and the lists of occupations
        found.append(system["numbers"])
    assert found[0] == found[1]
    out = tmp_path / "texts.txt"
    exported = ["export", "winobias", "--data", tmp_path, "--format", "text", "--out", out]
    assert "part:dev-type1" in coref(*exported, "--part", "dev-type1")
    assert len(out.read_text(encoding="utf-8").splitlines()) == 6
    with pytest.raises(DataError, match="expected files of dev-type2 in this folder, got none"):
        coref(*words, part, "--part", "dev-type2")
    with pytest.raises(UsageError, match="--part goes with winobias, not with bug"):
        coref("score", "bug", "--data", tmp_path, "--predictions", part, "--part", "dev-type1")
