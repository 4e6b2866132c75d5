"""The SoWinoBias test set and its numbers, by hand on a vocabulary of two words a list."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mtbias.coref.dataset import DatasetScores, Link
from mtbias.coref.sowinobias import (
    PAPER_SIZE,
    PAPER_VOCABULARY,
    SoWinoBias,
    SoWinoBiasSentence,
    Vocabulary,
    generate,
    link,
    open_sowinobias,
    parse_vocabulary,
)
from mtbias.errors import DataError
from mtbias.files.reading import read_text
from mtbias.types import Stereotype

SMALL = Vocabulary(
    ("pilot", "tree surgeon"), ("nanny", "nurse"), ("kind", "sweet"), ("vain", "fussy")
)


def test_sentences_by_hand() -> None:
    sentences = {s.id: s for s in generate(SMALL)}
    # 2 · 2 · 2 a direction and polarity.
    assert len(sentences) == 32
    pro = sentences["pro-positive-pilot-nurse-sweet"]
    assert pro.text == "The pilot liked the nurse because they were sweet."
    anti = sentences["anti-negative-nanny-tree_surgeon-vain"]
    assert anti.text == "The nanny disliked the tree surgeon because they were vain."
    assert [anti.tokens[a : b + 1] for a, b in (anti.first, anti.second, anti.pronoun)] == [
        ("The", "nanny"), ("the", "tree", "surgeon"), ("they",),
    ]  # fmt: skip
    # Its counterpart is the next sentence.
    ids = list(sentences)
    assert ids[ids.index(pro.id) + 1] == "anti-positive-nurse-pilot-sweet"


def test_the_size_of_the_set() -> None:
    # Section 4.2: lists of 16 give 16³ = 4096 sentences, here in each direction and polarity.
    everything = generate(parse_vocabulary(read_text(PAPER_VOCABULARY)))
    assert set(Counter((s.direction, s.polarity) for s in everything).values()) == {4096}
    # The paper prints 4096 a direction, which users are told where they meet 8192.
    assert Counter(s.direction for s in everything) == {Stereotype.PRO: 8192, Stereotype.ANTI: 8192}
    assert list(open_sowinobias(None).remarks) == [PAPER_SIZE]
    # Counterparts stay together: an occupation of men and one of women, the other way round.
    assert all(
        a.tokens[a.first[1]] == b.tokens[b.second[1]]
        for a, b in zip(everything[::2], everything[1::2], strict=True)
    )


def sentence() -> SoWinoBiasSentence:
    return next(s for s in generate(SMALL) if s.id == "pro-positive-tree_surgeon-nanny-kind")


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        # The 0 tree 1 surgeon 2 liked 3 the 4 nanny 5 because 6 they 7
        ((((4, 5), (7, 7)),), Link.RIGHT),
        ((((5, 5), (7, 7)),), Link.RIGHT),
        ((((2, 2), (7, 7)),), Link.WRONG),
        ((((0, 2), (7, 7)), ((4, 5),)), Link.WRONG),
        ((((0, 2), (4, 5), (7, 7)),), Link.BOTH),
        ((((0, 2), (7, 7)), ((5, 5), (7, 7))), Link.BOTH),
        ((((7, 7),), ((4, 5),)), Link.NONE),
        ((), Link.NONE),
        # The clause as a mention is not the person, "tree" is not the tree surgeon, "they were" is
        # not they.
        ((((4, 9), (7, 7)),), Link.NONE),
        ((((0, 1), (7, 7)),), Link.NONE),
        ((((4, 5), (7, 8)),), Link.NONE),
    ],
)
def test_link(clusters: tuple[tuple[tuple[int, int], ...], ...], expected: Link) -> None:
    assert link(sentence(), clusters) is expected


def scored(
    folder: Path, choice: Mapping[str, str], *extra: str, without: str = "", resamples: int = 0
) -> DatasetScores:
    """The scores of a system that links ``second`` or ``first`` by id, nothing otherwise; and
    further lines."""
    lines = []
    for s in generate(SMALL):
        person = {"first": s.first, "second": s.second}.get(choice.get(s.id, ""))
        clusters = [[person, s.pronoun]] if person else []
        if s.id != without:
            lines.append(json.dumps({"id": s.id, "clusters": clusters}))
    path = folder / "p.jsonl"
    path.write_text("\n".join([*lines, *extra]), encoding="utf-8")
    data = SoWinoBias(generate(SMALL), {}, {})
    return data.score(data.read([path], spans="included"), resamples=resamples)


def test_numbers_by_hand(tmp_path: Path) -> None:
    sentences = generate(SMALL)
    choice = {}
    for s in sentences:
        if s.polarity == "positive":
            # All pro right; of the 8 anti sentences those with "kind" (4) right, the rest wrong.
            right = s.direction is Stereotype.PRO or "kind" in s.tokens
            choice[s.id] = "second" if right else "first"
        elif "vain" in s.tokens:
            # 4 of 8 right in both directions, the others without a link.
            choice[s.id] = "second"
    scores = scored(tmp_path, choice, resamples=200)

    def values(what: str) -> dict[str, float | None]:
        return {row: scores[f"{row}:{what}"].value for row in ("positive", "negative", "all")}

    assert values("pro") == {"positive": 100.0, "negative": 50.0, "all": 75.0}
    assert values("anti") == {"positive": 50.0, "negative": 50.0, "all": 50.0}
    assert values("average") == {"positive": 75.0, "negative": 50.0, "all": 62.5}
    assert values("difference") == {"positive": 50.0, "negative": 0.0, "all": 25.0}
    assert scores["negative:pro"].n == 8
    assert scores.counts["positive, anti"] == {"right": 4, "wrong": 4, "both": 0, "none": 0}
    assert scores.counts["negative, pro"] == {"right": 4, "wrong": 0, "both": 0, "none": 4}
    # McNemar: 4 pairs with pro right and anti wrong, none the other way: 2 · (1/2)⁴ = 1/8.
    # Negative: no such pair.
    assert [scores[f"{row}:difference"].p for row in ("positive", "negative", "all")] == [
        0.125,
        1.0,
        0.125,
    ]
    # Eight pairs of a polarity: all right has Wilson's lower end n / (n + z²); 16 pairs of both are
    # resampled.
    assert scores["positive:pro"].interval == pytest.approx((800 / (8 + 1.959964**2), 100))
    low, high = scores["all:difference"].interval or (0, 0)
    assert 0 <= low < 25 < high <= 50


def test_nobody_is_linked(tmp_path: Path) -> None:
    scores = scored(tmp_path, {})
    accuracy = scores["all:pro"]
    assert (accuracy.value, accuracy.interval) == (0.0, None)  # no resamples were asked for


def test_predictions_that_do_not_fit(tmp_path: Path) -> None:
    first = generate(SMALL)[0].id
    late = json.dumps({"id": first, "clusters": [[[0, 99]]]})
    other = json.dumps({"id": first, "clusters": [], "tokens": ["The", "nanny"]})
    for extra, without, message in (
        ([], first, f"no prediction for 1 of 32 documents, the first '{first}'"),
        (['{"id": "x", "clusters": []}'], "", "id 'x': none of the data's documents"),
        ([late], first, "ends at 99"),
        ([other], first, "token 1 is 'pilot' in the data set, 'nanny' here"),
    ):
        with pytest.raises(DataError, match=message):
            scored(tmp_path, {}, *extra, without=without)


LISTS = 'male_occupations = ["a"]\nfemale_occupations = ["b"]\npositive_adjectives = ["c"]\nnegative_adjectives = ["d"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("male_occupations = [", "expected TOML"),
        (LISTS.replace('["b"]', "[]"), "female_occupations: expected a list of words"),
        (LISTS.replace('["b"]', "[1]"), r"female_occupations\.0: expected text, got 1"),
        (
            LISTS.replace('["d"]', '["A"]'),
            "negative_adjectives: 'A' is in male_occupations already",
        ),
        (LISTS + 'verbs = ["x"]\n', "verbs: unknown key; there are female_occupations"),
        (
            LISTS.replace("male_occ", "male_o", 1),
            "male_oupations: unknown key; did you mean male_occupations",
        ),
    ],
)
def test_vocabularies_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "v.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        parse_vocabulary(read_text(path))


def test_the_example_has_lists_of_sixteen() -> None:
    v = parse_vocabulary(read_text(PAPER_VOCABULARY))
    lists = (v.male_occupations, v.female_occupations, v.positive_adjectives, v.negative_adjectives)
    assert [len(words) for words in lists] == [16] * 4


def test_commands(tmp_path: Path, coref: Callable[..., str]) -> None:
    vocabulary, out, clusters = (tmp_path / name for name in ("v.toml", "set.jsonl", "p.jsonl"))
    vocabulary.write_text(LISTS, encoding="utf-8")
    export = [
        "export",
        "sowinobias",
        "--data",
        vocabulary,
        "--format",
        "jsonl",
        "--gold",
        "--out",
        out,
    ]
    assert re.search(r"^documents +4\n\nDataset: sowinobias$", coref(*export), re.MULTILINE)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert (rows[0]["id"], rows[0]["text"]) == (
        "pro-positive-a-b-c",
        "The a liked the b because they were c.",
    )
    lines = [{key: row[key] for key in ("id", "tokens", "clusters")} for row in rows]
    clusters.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    arguments = [
        "score",
        "sowinobias",
        "--data",
        vocabulary,
        "--predictions",
        clusters,
        "--resamples",
        200,
    ]
    (system,) = json.loads(coref(*arguments, "--json"))["systems"]
    values = {one["key"]: one["value"] for one in system["numbers"]}
    assert (values["all:pro"], values["all:difference"], system["documents"]) == (100.0, 0.0, 4)
    assert "|list:given|right:second-person-alone|" in system["signature"]
    assert "|sentences:" in system["signature"]
    shown = coref(*arguments)
    assert shown.splitlines()[-1].startswith("Signature: coref:sowinobias|data:")
