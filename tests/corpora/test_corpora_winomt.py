"""WinoMT: small files, and the real one against its sources."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from mtbias.corpora import Corpus, load_corpus
from mtbias.errors import DataError
from mtbias.scoring.consistency import link
from mtbias.types import Gender, Instance, Stereotype

HE = "male\t1\tThe cook told the construction worker that he was late.\tcook"
SHE = "female\t1\tThe cook told the construction worker that she was late.\tcook"
WORKER = "female\t4\tThe cook told the construction worker that she was late.\tconstruction worker"
WINOBIAS = [
    "male\t1\tThe guard told the clerk that he was late.\tguard",
    "male\t1\tThe guard told someone that he was late.\tguard",
]
FILES = ("en.txt", "en_pro.txt", "en_anti.txt")
SOMEONE = [
    "male\t0\tSomeone ate his cake.\tsomeone",
    "neutral\t0\tSomeone ate their cake.\tsomeone",
]


def folder(tmp_path: Path, rows: list[str], pro: list[str], anti: list[str]) -> Path:
    for name, lines in (("en.txt", rows), ("en_pro.txt", pro), ("en_anti.txt", anti)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_a_small_corpus(tmp_path: Path) -> None:
    corpus = load_corpus(
        "winomt", folder(tmp_path, [HE, SHE, WORKER, *SOMEONE], [SHE, WORKER], [HE])
    )
    rows = [
        (
            i.id,
            i.row,
            i.source[slice(*i.head)],
            i.entity,
            i.gold.value,
            i.stereotype.value,
            i.domain,
            i.pronouns,
            i.pair,
        )
        for i in corpus.instances
    ]
    assert rows == [
        ("winomt-00001", 0, "cook", "cook", "male", "anti", "winobias", 1, "winomt-00002"),
        ("winomt-00002", 1, "cook", "cook", "female", "pro", "winobias", 1, "winomt-00001"),
        ("winomt-00003", 2, "worker", "construction worker", "female", "pro", "winobias", 1, None),
        ("winomt-00004", 3, "Someone", "someone", "male", "none", "winomt", 1, None),
        ("winomt-00005", 4, "Someone", "someone", "neutral", "none", "winomt", 0, None),
    ]
    assert corpus.path == tmp_path / "en.txt"
    assert set(corpus.files) == {"en.txt", "en_pro.txt", "en_anti.txt"}
    assert corpus.notes == {
        "row in neither stereotype file: stereotype none, domain winomt": 2,
        "profession with other capitals in the sentence": 2,
        "no counterpart of the other gender": 2,
        **{f"{name} is not the published file": 1 for name in corpus.files},
    }


def test_rows_that_differ_in_the_other_person_alone_are_controls(tmp_path: Path) -> None:
    rows = [
        "male\t1\tThe technician told the customer that he had come.\ttechnician",
        "female\t1\tThe technician told the customer that she had come.\ttechnician",
        "neutral\t1\tThe technician told the customer that they had come.\ttechnician",
        "male\t1\tThe technician told someone that he had come.\ttechnician",
        "female\t1\tThe technician told someone that she had come.\ttechnician",
        "neutral\t1\tThe technician told someone that they had come.\ttechnician",
        # Another entity: no control.
        "male\t4\tThe technician told the customer that he had come.\tcustomer",
        "male\t3\tThe technician told someone that he had come.\tsomeone",
        # At the start of the sentence, after the entity's place has moved; and two that could be
        # it.
        "male\t3\tA guest asked the baker if he was in.\tbaker",
        "male\t2\tSomeone asked the baker if he was in.\tbaker",
        "male\t1\tThe cook saw the guest and he ran.\tcook",
        "male\t1\tThe cook saw the child and he ran.\tcook",
        "male\t1\tThe cook saw someone and he ran.\tcook",
        # So are rows of a stereotype file: what they are called plays no part.
        WINOBIAS[0],
        WINOBIAS[1],
    ]
    corpus = load_corpus("winomt", folder(tmp_path, rows, WINOBIAS[:1], WINOBIAS[1:]))
    assert [i.control and int(i.control.removeprefix("winomt-")) for i in corpus.instances] == [
        4, 5, 6, 1, 2, 3, None, None, 10, 9, None, None, None, 15, 14,
    ]  # fmt: skip


def test_windows_line_ends_and_a_byte_order_mark_change_nothing_but_the_notes(
    tmp_path: Path,
) -> None:
    folder(tmp_path, [HE, SHE], [SHE], [HE])
    plain = load_corpus("winomt", tmp_path)
    data = (tmp_path / "en.txt").read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "en.txt").write_bytes(b"\xef\xbb\xbf" + data)
    other = load_corpus("winomt", tmp_path)
    assert other.instances == plain.instances
    assert other.notes == {
        **plain.notes,
        "byte-order mark dropped": 1,
        "file with Windows line ends": 1,
    }


def test_a_wrong_index_is_corrected_counted_and_named(tmp_path: Path) -> None:
    shifted = HE.replace("\t1\t", "\t0\t")
    absent = SHE.replace("\tcook", "\tbaker")
    corpus = load_corpus("winomt", folder(tmp_path, [shifted, absent], [shifted], [absent]))
    assert [i.source[slice(*i.head)] for i in corpus.instances] == ["cook"]
    assert corpus.notes["entity index corrected"] == 1
    assert corpus.skipped == 1
    assert corpus.rows == 2


def test_a_row_in_both_stereotype_files_has_none_and_is_counted(tmp_path: Path) -> None:
    path = folder(tmp_path, [HE, SHE], [HE, SHE], [HE, WORKER])
    with pytest.raises(
        DataError, match=r"en_anti\.txt:2: expected a row of en\.txt, got one that is not there"
    ):
        load_corpus("winomt", path)
    corpus = load_corpus("winomt", (path / "en.txt").rename(path / "part.txt"))
    assert [(i.stereotype, i.domain) for i in corpus.instances] == [
        (Stereotype.NONE, "winobias"),
        (Stereotype.PRO, "winobias"),
    ]
    assert corpus.notes["row in both stereotype files: stereotype none"] == 1
    assert corpus.notes["row of en_anti.txt that is not in part.txt"] == 1


@pytest.mark.parametrize("kept", [792, 1583])
def test_rows_that_a_stereotype_file_lost_are_no_rows_of_winogender(
    winomt: Path, tmp_path: Path, kept: int
) -> None:
    lines = {name: (winomt / name).read_text(encoding="utf-8").splitlines() for name in FILES}
    lines["en_pro.txt"] = lines["en_pro.txt"][:kept]
    for name, some in lines.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in some), encoding="utf-8")
    corpus = load_corpus("winomt", tmp_path)
    listed = {*lines["en_pro.txt"], *lines["en_anti.txt"]}
    unlisted = sum(line not in listed for line in lines["en.txt"])
    assert unlisted == 720 + 1584 - kept
    assert Counter(i.domain for i in corpus.instances) == {
        "winobias": 3888 - unlisted,
        "winomt": unlisted,
    }
    assert (
        corpus.notes["row in neither stereotype file: stereotype none, domain winomt"] == unlisted
    )
    assert [note for note in corpus.notes if "published" in note] == [
        "en_pro.txt is not the published file"
    ]
    # Pairs and controls come from the sentences alone.
    links = [(i.id, i.pair, i.control) for i in load_corpus("winomt", winomt).instances]
    assert [(i.id, i.pair, i.control) for i in corpus.instances] == links


def test_the_published_text_with_other_line_ends_is_published(winomt: Path, tmp_path: Path) -> None:
    for name in FILES:
        data = (winomt / name).read_bytes().replace(b"\n", b"\r\n")
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + data)
    corpus, published = load_corpus("winomt", tmp_path), load_corpus("winomt", winomt)
    assert corpus.instances == published.instances
    assert corpus.notes.keys() - published.notes.keys() == {
        "byte-order mark dropped",
        "file with Windows line ends",
    }


def test_a_part_under_another_name_claims_no_sub_corpus(winomt: Path, tmp_path: Path) -> None:
    for name in FILES[1:]:
        (tmp_path / name).write_bytes((winomt / name).read_bytes())
    lines = (winomt / FILES[0]).read_text(encoding="utf-8").splitlines()
    edited = lines[0].replace("The ", "The pretty ", 1)  # in neither file, and no row of Winogender
    part = tmp_path / "part.txt"
    part.write_text("\n".join([edited, lines[1], lines[-1]]), encoding="utf-8")
    corpus = load_corpus("winomt", part)
    assert [i.domain for i in corpus.instances] == ["winomt", "winobias", "winomt"]
    assert corpus.notes["row in neither stereotype file: stereotype none, domain winomt"] == 2
    assert not any("published" in note for note in corpus.notes)


def test_golds_that_are_exchanged_are_counted(winomt: Path, tmp_path: Path) -> None:
    exchanged = {"male": "female", "female": "male", "neutral": "neutral"}
    for name in FILES:
        rows = [
            line.split("\t", 1) for line in (winomt / name).read_text(encoding="utf-8").splitlines()
        ]
        text = "".join(f"{exchanged[gold]}\t{rest}\n" for gold, rest in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    corpus = load_corpus("winomt", tmp_path)
    # Two rows of the 3,648 about a man or a woman have pronouns of both genders.
    assert (
        corpus.notes["gold gender that every gendered pronoun of the sentence contradicts"] == 3646
    )
    assert not any("contradicts" in note for note in load_corpus("winomt", winomt).notes)


def test_two_possible_twins_are_none(tmp_path: Path) -> None:
    corpus = load_corpus("winomt", folder(tmp_path, [HE, HE, SHE], [SHE], [HE, HE]))
    assert [i.pair for i in corpus.instances] == [None, None, None]
    assert corpus.notes["more than one possible counterpart: pair none"] == 3
    assert corpus.notes["row repeated word for word"] == 1


def test_without_stereotype_files(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text(HE + "\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"expected en_pro.txt and en_anti.txt beside en.txt.*mtbias fetch"
    ):
        load_corpus("winomt", tmp_path)
    lone = tmp_path / "mine.txt"
    lone.write_text(HE + "\n", encoding="utf-8")
    corpus = load_corpus("winomt", lone)
    assert [(i.stereotype, i.domain) for i in corpus.instances] == [(Stereotype.NONE, "winomt")]
    assert "no stereotype files beside the corpus: stereotype none, domain winomt" in corpus.notes
    (tmp_path / "en_pro.txt").write_text(HE + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"beside mine.txt, .*; got no en_anti.txt"):
        load_corpus("winomt", lone)
    (tmp_path / "en_anti.txt").write_text(SHE + "\n", encoding="utf-8")
    assert load_corpus("winomt", lone).instances[0].stereotype is Stereotype.PRO


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("male\t1\tThe cook left.", "expected 4 columns separated by tabs .*got 3"),
        ("", "got 1"),
        (HE + "\tmore", "got 5"),
        (
            HE.replace("\t1\t", "\t10\t"),
            "token index 10 is beyond the sentence, which has 10 tokens",
        ),
        (HE.replace("\t1\t", "\t-1\t"), "expected an integer from 0, got '-1'"),
        (HE.replace("male", "man"), "expected male, female or neutral .*, got 'man'"),
        (HE.replace("\tcook", "\t"), "profession .* is empty"),
        (
            HE.replace("\tcook", f" {'x' * 10**6}\tcook"),
            "sentence: expected a sentence of at most 50,000 characters",
        ),
    ],
)
def test_bad_rows_are_errors_with_file_and_line(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        load_corpus("winomt", folder(tmp_path, [SHE, row, HE], [SHE], [HE]))
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "en.txt"), 2)


def test_not_utf8_and_empty(tmp_path: Path) -> None:
    folder(tmp_path, [HE], [HE], [SHE])
    (tmp_path / "en.txt").write_bytes(HE.encode() + b"\n\xff\n")
    with pytest.raises(DataError, match=r"en.txt:2: byte 0xFF"):
        load_corpus("winomt", tmp_path)
    (tmp_path / "en.txt").write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        load_corpus("winomt", tmp_path)


# The real file


@pytest.fixture(scope="module")
def real(winomt: Path) -> Corpus[Instance]:
    return load_corpus("winomt", winomt)


def test_the_real_file_has_the_published_numbers(real: Corpus[Instance]) -> None:
    # 3,888 rows; 1,584 pro and 1,584 anti (the paper and the files' lengths); Winogender: 60
    # occupations × 2 forms × (occupation, participant or someone as the entity) × 3 genders, 720 in
    # all.
    assert len(real.instances) == 3888
    assert not real.skipped
    assert Counter(i.stereotype.value for i in real.instances) == {
        "pro": 1584,
        "anti": 1584,
        "none": 720,
    }
    assert Counter(i.domain for i in real.instances) == {"winobias": 3168, "winogender": 720}
    # cut -f1 en.txt | sort | uniq -c
    assert Counter(i.gold for i in real.instances) == {"male": 1826, "female": 1822, "neutral": 240}
    # The order of the file: first WinoBias, then Winogender.
    assert [i.domain for i in real.instances] == ["winobias"] * 3168 + ["winogender"] * 720


def test_the_real_rows_come_from_where_their_domain_says(
    real: Corpus[Instance], shared: Path
) -> None:
    table = (
        (shared / "data/coref/winogender/all_sentences.tsv")
        .read_text(encoding="utf-8")
        .splitlines()[1:]
    )
    winogender = Counter(line.split("\t")[1] for line in table)
    assert Counter(i.source for i in real.instances if i.domain == "winogender") == winogender
    # WinoBias sentences, brackets removed; WinoMT removed no more than spaces and corrected a word
    # here and there.
    text = ""
    for file in sorted((shared / "data/coref/winobias").glob("*_type*.txt.*")):
        text += file.read_text(encoding="utf-8")
    winobias = {
        "".join(re.sub(r"^\d+ ", "", line).replace("[", "").replace("]", "").split())
        for line in text.splitlines()
    }
    ours = [i for i in real.instances if i.domain == "winobias"]
    assert sum("".join(i.source.split()) in winobias for i in ours) > 0.99 * len(ours)


def test_every_real_head_is_the_professions_last_word(real: Corpus[Instance]) -> None:
    assert all(i.source[slice(*i.head)].lower() == i.entity.split()[-1] for i in real.instances)
    # grep -c "construction worker$" en.txt
    assert sum(i.entity == "construction worker" for i in real.instances) == 80
    # Row 2551 has two spaces before the entity: "The teacher asked the  physician about …".
    assert real.instances[2551].head == (23, 32)
    # grep -cP "\tsomeone$" en.txt gives 60, 48 of them at the start of the sentence.
    assert real.notes["profession with other capitals in the sentence"] == 48
    assert real.notes["row repeated word for word"] == 6
    assert not any("corrected" in note for note in real.notes)


def test_real_twins_are_mutual_and_of_the_other_gender(real: Corpus[Instance]) -> None:
    by_id = {i.id: i for i in real.instances}
    paired = [i for i in real.instances if i.pair is not None]
    for one in paired:
        assert one.pair is not None
        other = by_id[one.pair]
        assert other.pair == one.id
        assert {one.gold, other.gold} == {Gender.MALE, Gender.FEMALE}
        assert one.entity == other.entity
        assert {one.stereotype, other.stereotype} in (
            {Stereotype.PRO, Stereotype.ANTI},
            {Stereotype.NONE},
        )
        a, b = one.source.split(), other.source.split()
        differing = {
            w.strip(".,").lower() for x, y in zip(a, b, strict=True) if x != y for w in (x, y)
        }
        assert differing <= {"he", "him", "his", "himself", "she", "her", "hers", "herself"}
    # All 480 gendered rows of Winogender are twins by construction (240 templates with an entity,
    # two genders).
    assert sum(i.domain == "winogender" for i in paired) == 480
    # 240 neutral rows have none; of WinoBias 12 rows have two candidates (three sentences that
    # occur four times: six repeated rows) and 40 differ from their counterpart in more than the
    # pronoun ("made a desk … needed one").
    assert len(paired) == 3888 - 240 - 12 - 40


def test_real_pronouns(real: Corpus[Instance]) -> None:
    # A neutral row has none, every other at least one. 92 rows have two.
    assert all((i.pronouns == 0) == (i.gold is Gender.NEUTRAL) for i in real.instances)
    assert Counter(i.pronouns for i in real.instances) == {0: 240, 1: 3556, 2: 92}


def test_the_controls_of_the_real_corpus(winomt: Path) -> None:
    # Winogender has 60 templates with 2 entities (the occupation, the other person), each with the
    # other person named or "someone", and 3 pronouns: 720 rows. Where the occupation is the entity,
    # the two versions are controls of each other: 60 · 2 · 3 = 360 rows, of them 240 of men and
    # women, in 60 quadruples.
    instances = load_corpus("winomt", winomt).instances
    by_id = {i.id: i for i in instances}
    linked = [i for i in instances if i.control]
    assert len(linked) == 360
    assert {i.domain for i in linked} == {"winogender"}
    for i in linked:
        other = by_id[i.control or ""]
        assert (other.control, other.gold, other.entity) == (i.id, i.gold, i.entity)
        assert ("someone" in i.source.lower()) != ("someone" in other.source.lower())
    units = link(instances)
    assert (len(units.quadruples), len(units.pairs), units.men, units.women) == (
        60,
        3596 // 2 - 120,
        (),
        (),
    )
