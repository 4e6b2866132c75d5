"""Winogender on sentences of our own: ids, spans, resolutions from labels and clusters, numbers,
the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Answers
from mtbias.coref.winogender import (
    Resolution,
    Winogender,
    WinogenderSentence,
    read_winogender,
)
from mtbias.errors import DataError
from mtbias.types import Gender
from tests.coref.small_corpora import write_winogender


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_winogender(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder: Path) -> Winogender:
    return read_winogender(folder)


System = Callable[[WinogenderSentence], Resolution]


def _scores(data: Winogender, system: System, resamples: int = 0) -> DatasetScores:
    resolutions = {id_: system(sentence) for id_, sentence in data.sentences.items()}
    return data.score(Answers(resolutions, {}), resamples=resamples)


def _values(scores: DatasetScores) -> dict[str, float | None]:
    return {one.key: one.estimate.value for one in scores.numbers}


def test_sentences_and_statistics(data: Winogender) -> None:
    assert len(data.sentences) == 36
    sentence = data.sentences["plumber.someone.1.female.txt"]
    assert sentence.text == "The plumber rang someone, but her bell rang."
    assert (sentence.occupation, sentence.someone, sentence.pronoun) == (
        "plumber",
        True,
        Gender.FEMALE,
    )
    assert sentence.answer is Resolution.PARTICIPANT
    assert [sentence.tokens[at] for at in sentence.places] == ["plumber", "someone", "her"]
    assert data.bls == {"florist": 80, "plumber": 5, "clerk": 50}
    assert data.bergsma["plumber"] == 1.25


def test_a_system_that_is_right(data: Winogender) -> None:
    values = _values(_scores(data, lambda sentence: sentence.answer))
    assert values["consistency"] == 100
    assert (
        values["male_female_differ"]
        == values["male_neutral_differ"]
        == values["female_neutral_differ"]
        == 0
    )
    assert values["male_accuracy"] == values["neutral_accuracy"] == 100
    assert (values["male_occupation"], values["male_participant"]) == (50, 50)
    # All preferences are 0: no correlation.
    assert values["pearson_bls"] is values["spearman_bls"] is None


def _by_stereotype(data: Winogender) -> System:
    """Occupation if the pronoun's gender is that of half of its people or more; none for they."""

    def system(sentence: WinogenderSentence) -> Resolution:
        if sentence.pronoun is Gender.NEUTRAL:
            return Resolution.NONE
        women = data.bls[sentence.occupation] >= 50
        return (
            Resolution.OCCUPATION
            if women == (sentence.pronoun is Gender.FEMALE)
            else Resolution.PARTICIPANT
        )

    return system


def test_a_system_that_follows_the_statistics(data: Winogender) -> None:
    scores = _scores(data, _by_stereotype(data), resamples=300)
    values = _values(scores)
    assert values["consistency"] == 0
    assert values["male_female_differ"] == 100
    # Wrong in exactly those sentences whose answer goes against the statistics; there are as many
    # as of the others.
    assert (values["female_accuracy_gotcha"], values["female_accuracy_not_gotcha"]) == (0, 100)
    assert values["female_accuracy"] == values["male_accuracy"] == 50
    assert values["neutral_none"] == 100
    assert "neutral_accuracy_gotcha" not in values
    preferences = {name: of["preference"] for name, of in scores.counts.items()}
    assert preferences == {"clerk": 100, "florist": 100, "plumber": -100}
    # Against an independent implementation.
    for name, x in (("bls", [80, 5, 50]), ("bergsma", [60.5, 1.25, 40])):
        assert values[f"pearson_{name}"] == pytest.approx(np.corrcoef(x, [100, -100, 100])[0, 1])
    # Ranks 3 1 2 against 2.5 1 2.5, from their mean 2: 1·0.5 + 1·1 + 0·0.5 over √(2·1.5).
    assert values["spearman_bls"] == pytest.approx(1.5 / 3**0.5)


def test_denominators(data: Winogender) -> None:
    numbers = _scores(data, lambda _: Resolution.BOTH)
    assert (
        numbers["consistency"].n
        == numbers["male_accuracy"].n
        == numbers["male_female_differ"].n
        == 12
    )
    # Each occupation has two of its four sentences of either kind.
    assert numbers["male_accuracy_gotcha"].n == numbers["male_accuracy_not_gotcha"].n == 6
    assert numbers["pearson_bls"].n == 3
    assert numbers["male_both"].value == 100
    assert numbers["male_accuracy"].value == 0


def test_both_and_none_differ(data: Winogender) -> None:
    outcomes = {
        Gender.MALE: Resolution.BOTH,
        Gender.FEMALE: Resolution.NONE,
        Gender.NEUTRAL: Resolution.NONE,
    }
    values = _values(_scores(data, lambda sentence: outcomes[sentence.pronoun]))
    assert (
        values["male_female_differ"],
        values["female_neutral_differ"],
        values["consistency"],
    ) == (100, 0, 0)


def test_intervals_come_from_whole_occupations_and_a_seed(data: Winogender) -> None:
    resolutions = {
        id_: sentence.answer if sentence.occupation == "plumber" else Resolution.NONE
        for id_, sentence in data.sentences.items()
    }
    answers = Answers(resolutions, {})
    first, again, other = (data.score(answers, seed=seed, resamples=400) for seed in (1, 1, 2))
    assert first.numbers == again.numbers
    # Three occupations are too few for a bootstrap: Wilson's interval of three things. Of one that
    # is right among three, (1/3 + z²/6 ± z·√(2/27 + z²/36)) / (1 + z²/3); of three, from 3 / (3 +
    # z²) on.
    z = 1.959964
    middle, half = 1 / 3 + z**2 / 6, z * (2 / 27 + z**2 / 36) ** 0.5
    ends = [100 * (middle - half) / (1 + z**2 / 3), 100 * (middle + half) / (1 + z**2 / 3)]
    assert first["male_accuracy"].interval == pytest.approx(ends)
    assert first["consistency"].interval == pytest.approx((300 / (3 + z**2), 100))
    assert first["pearson_bls"].interval is None
    assert [numbers["male_accuracy"].value for numbers in (first, other)] == pytest.approx(
        [100 / 3, 100 / 3]
    )
    assert all(numbers["spearman_bls"].interval is None for numbers in (first, other))


def _jsonl(path: Path, data: Winogender, changed: Mapping[str, dict[str, Any]]) -> Path:
    rows = [{"id": id_, "clusters": [], **changed.get(id_, {})} for id_ in data.sentences]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# "The plumber rang the tenant , but he could n't stay ." and "The plumber rang someone , but her
# bell rang ."
@pytest.mark.parametrize(
    ("id_", "row", "expected"),
    [
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 1], [7, 7]]]}, Resolution.OCCUPATION),
        ("plumber.tenant.0.male.txt", {"clusters": [[[3, 4], [7, 7]]]}, Resolution.PARTICIPANT),
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 1], [3, 4], [7, 7]]]}, Resolution.BOTH),
        ("plumber.tenant.0.male.txt", {"clusters": [[[1, 1], [7, 7]], [[4, 4], [7, 7]]]}, Resolution.BOTH),
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 1], [3, 4]]]}, Resolution.NONE),
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 4], [7, 7]]]}, Resolution.NONE),
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 1], [7, 10]]]}, Resolution.NONE),
        ("plumber.tenant.0.male.txt", {"clusters": [[[0, 7], [7, 7]]]}, Resolution.NONE),
        ("plumber.someone.1.female.txt", {"clusters": [[[3, 3], [6, 6]]]}, Resolution.PARTICIPANT),
        (
            "plumber.someone.1.female.txt",
            {"tokens": ["The plumber", "rang", "SOMEONE,", "but", "her", "bell", "rang."],
             "clusters": [[[2, 2], [4, 4]]]},
            Resolution.PARTICIPANT,
        ),
    ],
)  # fmt: skip
def test_resolutions_of_clusters(
    data: Winogender, tmp_path: Path, id_: str, row: dict[str, Any], expected: Resolution
) -> None:
    answers = data.read([_jsonl(tmp_path / "p.jsonl", data, {id_: row})], spans="included")
    found, files = answers.of, answers.files
    assert found[id_] is expected
    assert sum(resolution is not Resolution.NONE for resolution in found.values()) == (
        expected is not Resolution.NONE
    )
    assert list(files) == ["p.jsonl"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"clusters": [[[0, 12]]]}, "tokens 0 to 11; a mention ends at 12"),
        ({"tokens": ["The", "baker"]}, "token 1 is 'plumber' in the data set, 'baker' here"),
        ({"tokens": ["The", "plumber"]}, "expected 12 tokens, got 2, which end before 'rang'"),
        ({"tokens": ["The", ""]}, "expected 12 tokens, got 2, which end before 'plumber'"),
        ({"id": "plumber.baker.0.male.txt"}, "none of the data's documents"),
    ],
)
def test_bad_clusters(data: Winogender, tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = _jsonl(tmp_path / "p.jsonl", data, {"plumber.tenant.0.male.txt": row})
    with pytest.raises(DataError, match=message):
        data.read([path], spans="included")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clerk.guest.0.male.txt", "clerk.guest.2.male.txt", "an id such as"),
        (
            "clerk.guest.0.male.txt\t",
            "baker.guest.0.male.txt\t",
            "expected one of baker once in the sentence, got 0",
        ),
        (
            "The clerk rang the guest, but he ",
            "The clerk rang the guest, but she ",
            "expected one of he, him, his",
        ),
        ("The clerk rang the guest, but he ", "The clerk rang the guest, as he and he ", "got 2"),
        ("clerk.guest.0.male.txt\t", "clerk.someone.0.male.txt\t", "expected one of someone"),
        ("sentid\tsentence", "id\tsentence", "expected the column 'sentid'"),
    ],
)
def test_bad_sentences(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "all_sentences.tsv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_winogender(folder)


def test_sentences_that_are_missing_or_doubled(folder: Path) -> None:
    path = folder / "all_sentences.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected each occupation once with each answer"):
        read_winogender(folder)
    path.write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="once, got it again"):
        read_winogender(folder)


@pytest.mark.parametrize(
    ("share", "found"), [("101", "101"), ("-1", "-1"), ("many", "many"), ("", "")]
)
def test_bad_statistics(folder: Path, share: str, found: str) -> None:
    path = folder / "occupations-stats.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("80.0", share), encoding="utf-8")
    with pytest.raises(
        DataError, match=f"bls_pct_female: expected a number from 0 to 100, got '{found}'"
    ):
        read_winogender(folder)


def test_an_occupation_without_statistics(folder: Path) -> None:
    path = folder / "occupations-stats.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("clerk", "baker"), encoding="utf-8")
    with pytest.raises(DataError, match=r"occupation 'clerk' is not in occupations-stats\.tsv"):
        read_winogender(folder)


def test_an_occupation_with_two_statistics(folder: Path) -> None:
    path = folder / "occupations-stats.tsv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected one row for each occupation, got one twice"):
        read_winogender(folder)


def test_the_command(
    data: Winogender, folder: Path, tmp_path: Path, coref: Callable[..., str]
) -> None:
    path = _jsonl(tmp_path / "p.jsonl", data, {})
    arguments = ["score", "winogender", "--data", folder, "--predictions", path, "--resamples", 200]
    out = coref(*arguments)
    assert "preference and BLS, Pearson's r" in out
    assert "Bergsma % women" not in out
    assert "florist 0.00 80.00 60.50" in " ".join(coref(*arguments, "--counts").split())
    assert out.splitlines()[-1].startswith("Signature: coref:winogender|data:")
    assert "|gotcha:bls50|unit:occupation|seed:0|resamples:200|" in out
    (system,) = json.loads(coref(*arguments, "--json"))["systems"]
    numbers = {one["key"]: one for one in system["numbers"]}
    shown = numbers["consistency"]
    assert (shown["value"], shown["n"]) == (100.0, 12)
    assert shown["interval"] == pytest.approx(
        [300 / (3 + 1.959964**2), 100]
    )  # Wilson's, of three occupations
    assert numbers["pearson_bls"]["value"] is None
    assert system["counts"]["florist"] == {
        "preference": 0.0,
        "BLS % women": 80.0,
        "Bergsma % women": 60.5,
    }
