"""One's own corpus: the three forms, where the entity is, and what is wrong in a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtbias.corpora import load_corpus
from mtbias.corpora.own_sentences import custom_corpus
from mtbias.errors import DataError, UsageError
from mtbias.types import Gender, Stereotype

SENTENCE = "Yesterday the Construction worker's boss, a doctor, lost her keys."


def put(folder: Path, text: str, name: str = "a.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


FULL = {
    "id": "a1",
    "source": SENTENCE,
    "gender": "F",
    "entity": "Construction Worker",
    "entity_index": "2",
    "stereotype": "Anti",
    "domain": "news",
    "distance": "4",
    "pair": "a2",
}
OTHER = {
    **FULL,
    "id": "a2",
    "source": SENTENCE.replace("her", "his"),
    "gender": "male",
    "pair": "a1",
    "stereotype": "",
}


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl"])
def test_every_column_in_every_form(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    with path.open("w", encoding="utf-8", newline="") as file:
        if suffix == "jsonl":
            file.writelines(json.dumps(row) + "\n" for row in (FULL, OTHER))
        elif suffix == "tsv":
            file.writelines("\t".join(row) + "\n" for row in (FULL, FULL.values(), OTHER.values()))
        else:
            writer = csv.DictWriter(file, FULL, lineterminator="\n")
            writer.writeheader()
            writer.writerows([FULL, OTHER])
    corpus = load_corpus("custom", path)
    one, two = corpus.instances
    assert (one.id, one.row, one.source, one.entity) == ("a1", 0, SENTENCE, "construction worker")
    assert one.source[slice(*one.head)] == "worker"
    assert (one.gold, one.stereotype, one.domain) == (Gender.FEMALE, Stereotype.ANTI, "news")
    assert (one.pronouns, one.corpus_pronouns, one.distance, one.pair) == (1, None, 4, "a2")
    assert (two.row, two.gold, two.stereotype, two.pair) == (1, Gender.MALE, Stereotype.NONE, "a1")
    assert corpus.notes == {}
    assert corpus.name == "custom"


@pytest.mark.parametrize(
    ("columns", "values", "head"),
    [
        ("entity", "doctor", "doctor"),
        ("entity", "construction worker", "worker"),
        ("entity", "a doctor", "doctor"),
        ("entity_index", "6", "doctor"),  # "doctor," without its comma
        ("entity_index", "3", "worker"),  # "worker's" without its ending
        ("entity\tentity_index", "construction worker\t2", "worker"),  # the phrase starts there
        ("entity\tentity_index", "construction worker\t3", "worker"),  # its head stands there
        ("entity_start\tentity_end", "44\t50", "doctor"),
        ("entity_start\tentity_end", "14\t35", "worker"),  # "Construction worker's"
        ("entity\tentity_start\tentity_end", "construction worker\t14\t35", "worker"),
        (
            "entity\tentity_start\tentity_end",
            "construction worker\t27\t33",
            "worker",
        ),  # the head alone
        ("entity_index\tentity_start\tentity_end", "6\t44\t50", "doctor"),
    ],
)
def test_where_the_entity_stands(tmp_path: Path, columns: str, values: str, head: str) -> None:
    path = put(tmp_path, f"source\tgender\t{columns}\n{SENTENCE}\tn\t{values}\n")
    instance = load_corpus("custom", path).instances[0]
    assert instance.source[slice(*instance.head)] == head
    assert (instance.id, instance.gold, instance.domain) == (
        "custom-00001",
        Gender.NEUTRAL,
        "custom",
    )
    named = columns.split("\t", maxsplit=1)[0] == "entity"
    assert instance.entity == (values.split("\t", maxsplit=1)[0] if named else head)


def test_offsets_count_in_the_field_as_it_stands(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        '{"source": "  The cook left. ", "gender": "m", "entity_start": 6, "entity_end": 10}\n',
        "a.jsonl",
    )
    instance = load_corpus("custom", path).instances[0]
    assert (instance.source, instance.head) == ("The cook left.", (4, 8))


def test_other_columns_are_noted(tmp_path: Path) -> None:
    path = put(tmp_path, ",source,gender,entity,note\n0,The cook left.,m,cook,x\n", "a.csv")
    assert load_corpus("custom", path).notes == {
        "column not used: (without a name)": 1,
        "column not used: note": 1,
    }


def test_quotes_of_csv_are_no_part_of_a_sentence(tmp_path: Path) -> None:
    quoted = 'The nurse said ""I am her boss"" and left.'
    with pytest.raises(DataError, match=r"a.tsv:2.* got one quoted as in CSV"):
        load_corpus("custom", put(tmp_path, f'source\tgender\tentity\n"{quoted}"\tf\tnurse\n'))
    plain = f"source\tgender\tentity\n{quoted.replace(chr(34) * 2, chr(34))}\tf\tnurse\n"
    assert load_corpus("custom", put(tmp_path, plain)).instances[0].source == quoted.replace(
        '""', '"'
    )


@pytest.mark.parametrize(
    ("header", "row", "line", "says"),
    [
        (
            "source\tsex\tentity",
            "The cook left.\tm\tcook",
            1,
            "expected the column 'gender'; got 'source', 'sex'",
        ),
        (
            "source\tgender",
            "The cook left.\tm",
            1,
            "the columns 'entity_index', or .*; got 'source', 'gender'",
        ),
        ("source\tgender\tentity_start", "The cook left.\tm\t4", 1, "'entity_index', or"),
        (
            "source\tgender\tentity",
            "The cook left.\tx\tcook",
            2,
            "expected male, female, neutral or unknown .* got 'x'",
        ),
        ("source\tgender\tentity", "The cook left.\t\tcook", 2, "male, female, neutral or unknown"),
        ("source\tgender\tentity", "\tm\tcook", 2, "source: expected a sentence"),
        ("source\tgender\tentity", "The cook left.\tm", 2, "expected 3 fields"),
        (
            "source\tgender\tentity",
            "The cook left.\tm\tbaker",
            2,
            "'baker' once in the sentence, got it 0 times",
        ),
        (
            "source\tgender\tentity",
            "The cook saw a cook.\tm\tcook",
            2,
            "once in the sentence, got it 2 times",
        ),
        (
            "source\tgender\tentity",
            "The cook left.\tm\t",
            2,
            "nothing says where the entity is",
        ),
        (
            "source\tgender\tentity_index",
            "The cook left.\tm\t3",
            2,
            "beyond the sentence, which has 3 tokens",
        ),
        (
            "source\tgender\tentity_index",
            "The cook left.\tm\tone",
            2,
            "expected an integer from 0, got 'one'",
        ),
        (
            "source\tgender\tentity\tentity_index",
            "The cook left.\tm\tcook\t2",
            2,
            "expected entity 'cook' at token 2, got 'left",
        ),
        (
            "source\tgender\tentity_start\tentity_end",
            "The cook left.\tm\t4\t99",
            2,
            "no word between characters 4 and 99",
        ),
        (
            "source\tgender\tentity_start\tentity_end",
            "The cook left.\tm\t4\t",
            2,
            "entity_end: expected an integer",
        ),
        (
            "source\tgender\tentity_start\tentity_end",
            "The cook left.\tm\t3\t4",
            2,
            "no word between",
        ),
        (
            "source\tgender\tentity\tentity_start\tentity_end",
            "The cook left.\tm\tcook\t9\t13",
            2,
            "expected entity 'cook' at characters 9 to 13, got 'left'",
        ),
        (
            "source\tgender\tentity_index\tentity_start\tentity_end",
            "The cook left.\tm\t1\t9\t13",
            2,
            "name different words",
        ),
        (
            "source\tgender\tentity\tstereotype",
            "The cook left.\tm\tcook\tmaybe",
            2,
            "pro, anti or none, got 'maybe'",
        ),
        (
            "source\tgender\tentity\tdistance",
            "The cook left.\tm\tcook\tfar",
            2,
            "distance: expected an integer",
        ),
        (
            "source\tgender\tentity\tpair",
            "The cook left.\tunknown\tcook\tzzz",
            2,
            "pair: expected nothing where the gender is unknown, got 'zzz'",
        ),
        (
            "source\tgender\tentity\tstereotype",
            "The cook left.\tu\tcook\tpro",
            2,
            "stereotype: expected nothing where the gender is unknown, got 'pro'",
        ),
        (
            "id\tsource\tgender\tentity\tcontrol",
            "a\tThe cook left.\tm\tcook\tb\nb\tA cook left.\tu\tcook\t",
            2,
            "control: expected the id of a row whose gender is known, got 'b'",
        ),
        (
            "source\tgender\tentity\tpair",
            "The cook left.\tm\tcook\tzzz",
            2,
            "pair: expected the id of another row of this file, got 'zzz'",
        ),
    ],
)
def test_what_is_wrong_has_file_and_line(
    tmp_path: Path, header: str, row: str, line: int, says: str
) -> None:
    path = put(tmp_path, f"{header}\n{row}\n")
    with pytest.raises(DataError, match=says) as caught:
        load_corpus("custom", path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("start", "end", "says"),
    [
        (
            4,
            9,
            "expected whole words at characters 4 to 9, got 'hunte'; correct entity_start and entity_end",
        ),
        (5, 10, "got 'unter'"),
        (4, 13, "got 'hunter as'"),
        (0, 3, "expected a noun at the entity's place, got 'The'; correct the place"),
        (17, 19, "got 'in'"),
        (20, 23, "got 'her'"),
    ],
)
def test_a_place_that_is_no_word_or_no_noun_is_refused(
    tmp_path: Path, start: int, end: int, says: str
) -> None:
    source = "The hunter asked in her tent that someone's cook, a café-owner, called May."
    head = "source\tgender\tentity_start\tentity_end\n"
    with pytest.raises(DataError, match=says) as caught:
        load_corpus(
            "custom", put(tmp_path, f"{head}{source}\tf\t4\t10\n{source}\tf\t{start}\t{end}\n")
        )
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "word", ["someone", "someone's", "cook", "café", "owner", "café-owner", "May", "hunter asked"]
)
def test_places_of_people_are_taken(tmp_path: Path, word: str) -> None:
    source = "The hunter asked in her tent that someone's cook, a café-owner, called May."
    place = source.index(word)
    rows = f"source\tgender\tentity_start\tentity_end\n{source}\tf\t{place}\t{place + len(word)}\n"
    noted = (
        {"entity that is an adjective, a verb or an adverb by its form": 1}
        if word == "hunter asked"
        else {}
    )
    assert load_corpus("custom", put(tmp_path, rows)).notes == noted


def test_a_token_that_is_no_noun_is_refused_or_noted(tmp_path: Path) -> None:
    source = "The busy hunter quickly asked the accused if Rich had lost her keys."
    noted = []
    for index, word in enumerate(source.split()):
        path = put(tmp_path, f"source\tgender\tentity_index\n{source}\tf\t{index}\n")
        if word in {"The", "the", "if", "had", "her"}:
            with pytest.raises(
                DataError, match=f"expected a noun at the entity's place, got '{word}'"
            ):
                load_corpus("custom", path)
        elif load_corpus("custom", path).notes:
            noted.append(word)
    # "lost" is in no list, and keys are a noun; "Rich" has a capital and may be a name.
    assert noted == ["busy", "quickly", "asked"]


def test_where_the_entity_is_named_its_place_says_what_is_meant(tmp_path: Path) -> None:
    rows = "source\tgender\tentity\tentity_index\nThe old told her.\tf\told\t1\n"
    assert load_corpus("custom", put(tmp_path, rows)).notes == {}


@pytest.mark.parametrize(
    ("lang", "source", "span"),
    [
        ("he", "הרופאה באה.", (1, 6)),  # the article is written on
        ("ja", "その医者は来た。", (2, 4)),
        ("fr", "L'avocate vint.", (2, 9)),
        ("de", "Die kam.", (0, 3)),  # English word classes say nothing of it
    ],
)
def test_in_other_languages_a_word_may_begin_within_what_blanks_part(
    tmp_path: Path, lang: str, source: str, span: tuple[int, int]
) -> None:
    rows = f"source\tgender\tentity_start\tentity_end\n{source}\tf\t{span[0]}\t{span[1]}\n"
    (instance,) = load_corpus("custom", put(tmp_path, rows), source_lang=lang).instances
    assert instance.head == span


def test_a_german_compound_is_one_word(tmp_path: Path) -> None:
    rows = "source\tgender\tentity_start\tentity_end\nDie Bauarbeiterin kam.\tf\t7\t17\n"
    with pytest.raises(
        DataError, match="expected whole words at characters 7 to 17, got 'arbeiterin'"
    ):
        load_corpus("custom", put(tmp_path, rows), source_lang="de")


def test_golds_that_all_pronouns_contradict_are_counted(tmp_path: Path) -> None:
    rows = [
        ("The cook lost his keys.", "f", "cook"),  # counted
        ("The cook lost her keys.", "f", "cook"),
        ("The cook saw her lose his keys.", "f", "cook"),  # of both genders
        ("The queen saw him.", "f", "queen"),  # she tells her gender herself: he is somebody else
        ("The cook saw him.", "n", "cook"),
        ("The cook saw them.", "f", "cook"),
    ]
    lines = "".join(f"{source}\t{gold}\t{entity}\n" for source, gold, entity in rows)
    note = "gold gender that every gendered pronoun of the sentence contradicts"
    assert load_corpus("custom", put(tmp_path, f"source\tgender\tentity\n{lines}")).notes == {
        note: 1
    }
    in_memory = [dict(zip(("source", "gender", "entity"), row, strict=True)) for row in rows]
    assert custom_corpus(in_memory).notes == {note: 1}
    german = "source\tgender\tentity\nDie Ärztin nahm his.\tf\tÄrztin\n"
    assert load_corpus("custom", put(tmp_path, german), source_lang="de").notes == {}


def test_an_id_twice_names_both_lines(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "id\tsource\tgender\tentity\na\tThe cook left.\tm\tcook\n\na\tThe cook ate.\tm\tcook\n",
    )
    with pytest.raises(DataError, match=r"a\.tsv:4: id 'a' is in line 2 already"):
        load_corpus("custom", path)


def test_a_line_break_in_a_sentence_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path, 'source,gender,entity\n"The cook\nleft.",m,cook\n', "a.csv")
    with pytest.raises(DataError, match="line break"):
        load_corpus("custom", path)


def test_a_sentence_of_a_megabyte_is_refused(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        f"source\tgender\tentity\nThe cook left.\tf\tcook\nThe cook {'x' * 10**6}\tf\tcook\n",
    )
    said = r"a\.tsv:3: source: expected a sentence of at most 50,000 characters, got 1,000,009; divide or shorten it$"
    with pytest.raises(DataError, match=said):
        load_corpus("custom", path)


def test_custom_needs_a_path() -> None:
    with pytest.raises(UsageError, match="--data PATH"):
        load_corpus("custom", None)


# Any bytes parse or are a data error; what is written is read back.

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), max_size=20)
HEADERS = (
    "source\tgender\tentity\n",
    "id\tsource\tgender\tentity_index\n",
    "source,gender,entity,entity_start\n",
    "",
)


@settings(deadline=None)
@given(
    header=st.sampled_from(HEADERS),
    body=st.one_of(
        st.binary(max_size=200),
        st.text(st.sampled_from('the cook\t,"\n\rmf01{}:[]\ufeff\u2028é'), max_size=80).map(
            str.encode
        ),
        st.lists(st.lists(CELL, min_size=3, max_size=4).map("\t".join), max_size=4).map(
            lambda r: "\n".join(r).encode()
        ),
    ),
    name=st.sampled_from(["a.tsv", "a.csv", "a.jsonl", "b.txt"]),
)
def test_any_file_parses_or_is_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, header: str, body: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(header.encode() + body)
    dataset = "winomt" if name == "b.txt" else "custom"
    caught, corpus = None, None
    try:
        corpus = load_corpus(dataset, path)
    except DataError as error:
        caught = error
    assert caught is None or (caught.path == str(path) and caught.line is not None)
    for instance in corpus.instances if corpus else ():
        assert 0 <= instance.head.start < instance.head.end <= len(instance.source)


WORD = st.text(st.characters(codec="utf-8", categories=["L"]), min_size=1, max_size=8)


@settings(deadline=None)
@given(
    parts=st.tuples(
        st.lists(WORD, max_size=4),
        st.lists(WORD, min_size=1, max_size=2),
        st.lists(WORD, max_size=4),
    ),  # before the entity, the entity, after it
    end=st.sampled_from(["", ".", ",", "?!", "\u201d"]),
    gold=st.tuples(st.sampled_from(list(Gender)), st.sampled_from(list(Stereotype))),
    suffix=st.sampled_from(["tsv", "csv", "jsonl"]),
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    parts: tuple[list[str], list[str], list[str]],
    end: str,
    gold: tuple[Gender, Stereotype],
    suffix: str,
) -> None:
    before, entity, after = parts
    gender, stereotype = gold
    source = " ".join([*before, *entity]) + end + "".join(f" {word}" for word in after)
    row = {
        "id": "x",
        "source": source,
        "gender": gender.value,
        "entity": " ".join(entity),
        "entity_index": str(len(before)),
        "stereotype": stereotype.value,
    }
    path = tmp_path_factory.getbasetemp() / f"back.{suffix}"
    with path.open("w", encoding="utf-8", newline="") as file:
        if suffix == "jsonl":
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        elif suffix == "csv":
            writer = csv.DictWriter(file, row, lineterminator="\n")
            writer.writeheader()
            writer.writerow(row)
        else:
            file.write("\t".join(row) + "\n" + "\t".join(row.values()) + "\n")
    instance = load_corpus("custom", path).instances[0]
    assert (instance.id, instance.source, instance.gold, instance.stereotype) == (
        "x",
        source,
        gender,
        stereotype,
    )
    start = len(" ".join([*before, *entity])) - len(entity[-1])
    assert instance.head == (start, start + len(entity[-1]))


@pytest.mark.parametrize("word", ["unknown", "Unknown", "u", "U"])
def test_a_sentence_may_show_no_gender(tmp_path: Path, word: str) -> None:
    rows = f"source\tgender\tentity\nThe cook left.\t{word}\tcook\nThe cook left her car.\t{word}\tcook\n"
    corpus = load_corpus("custom", put(tmp_path, rows))
    assert [instance.gold for instance in corpus.instances] == [None, None]
    # "her" may be another's: it is noted, and the sentence stays.
    note = "gender unknown, but a gendered pronoun in the sentence"
    assert corpus.notes == {note: 1}
