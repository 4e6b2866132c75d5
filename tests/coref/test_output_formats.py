"""One file of each format that systems write, scored as the CoNLL file of the same clusters.

Stanza's files are made by Stanza, CorefUD's was made by udapi 0.5.2; the others are as their
authors document them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mtbias.coref.documents import Answers, Clusters, Spans
from mtbias.coref.output_reading import read_output
from mtbias.coref.system_files import parse_documents
from mtbias.coref.winobias import WinoBias, read_winobias
from mtbias.errors import DataError
from tests.coref.small_corpora import ANTI_SENTENCES, PRO_SENTENCES, write_winobias

SENTENCES = {
    f"nw/{name}//{n}": text.split()
    for name, of in (("pro", PRO_SENTENCES), ("anti", ANTI_SENTENCES))
    for n, (text, _) in enumerate(of)
}
# What a system might say: right, wrong, a cluster too many, half a mention, nothing.
ANSWERS: dict[str, Clusters] = {
    "nw/pro//0": (((0, 1), (6, 6)), ((3, 4), (8, 8))),
    "nw/pro//1": (((0, 1), (6, 6)),),
    "nw/pro//2": (((4, 5), (7, 7)), ((9, 10), (0, 2))),
    "nw/anti//0": (((0, 1), (6, 6)),),
    "nw/anti//1": (),
    "nw/anti//2": (((0, 2), (7, 7), (9, 9)),),
}


@pytest.fixture
def data(tmp_path: Path) -> WinoBias:
    write_winobias(tmp_path)
    return read_winobias(tmp_path)


def _read(
    data: WinoBias, path: Path, ids: Path | None = None, spans: Spans | None = None
) -> Answers:
    return read_output(data.texts, [path], ids=ids, spans=spans)


ORDER = Path("order")


def _same(
    data: WinoBias, path: Path, ids: Path | None = None, spans: Spans | None = None
) -> tuple[str, ...]:
    """Check that the scores are those of `ANSWERS` in CoNLL; what was said of the reading."""
    folder = path.parent / "expected"
    folder.mkdir(exist_ok=True)
    both = folder / "both.conll"
    text = ""
    for name, words in SENTENCES.items():
        rows = [
            f"{name} 0 {at} {word} {_links(at, ANSWERS[name])}" for at, word in enumerate(words)
        ]
        text += (
            "\n".join([f"#begin document ({name}); part 000", *rows, "", "#end document"]) + "\n"
        )
    both.write_text(text, encoding="utf-8")
    expected, found = _read(data, both), _read(data, path, ids, spans)
    assert expected.notes == ()
    sets = [set(map(frozenset, found.of[name])) for name in SENTENCES]
    assert sets == [set(map(frozenset, ANSWERS[name])) for name in SENTENCES]
    assert data.score(found, resamples=200).numbers == data.score(expected, resamples=200).numbers
    return found.notes


def _links(at: int, clusters: Clusters) -> str:
    links = []
    for number, cluster in enumerate(clusters):
        for start, end in cluster:
            opens, closes = "(" * (at == start), ")" * (at == end)
            links += [f"{opens}{number}{closes}"] if opens or closes else []
    return "|".join(links) or "-"


def _lines(path: Path, make: Callable[[str], object]) -> Path:
    path.write_text("".join(json.dumps(make(name)) + "\n" for name in SENTENCES), encoding="utf-8")
    return path


def _characters(name: str) -> list[list[list[int]]]:
    """The mentions in characters of the words with blanks between them, end excluded."""
    words = SENTENCES[name]
    starts = [len(" ".join([*words[:at], ""])) for at in range(len(words))]
    return [
        [[starts[a], starts[b] + len(words[b])] for a, b in cluster] for cluster in ANSWERS[name]
    ]


def test_e2e_and_spanbert(data: WinoBias, tmp_path: Path) -> None:
    def line(name: str) -> object:
        gold = [[[0, 0], [1, 1]]]
        return {
            "doc_key": f"{name}_0", "sentences": [SENTENCES[name]], "speakers": [["-"]], "clusters": gold,
            "predicted_clusters": ANSWERS[name], "top_spans": [[0, 1]],
        }  # fmt: skip

    assert (
        _same(data, _lines(tmp_path / "out.txt", line)) == ()
    )  # told by what is in it, not by its name


def test_word_pieces_of_spanbert(data: WinoBias, tmp_path: Path) -> None:
    def line(name: str) -> object:
        pieces, first, last = ["[CLS]"], [], []
        for word in SENTENCES[name]:
            cut = (
                [word[:3], "##" + word[3:]]
                if len(word) > 3
                else ["[UNK]"]
                if word == "was"
                else [word]
            )
            first.append(len(pieces))
            pieces += cut
            last.append(len(pieces) - 1)
        predicted = [[[first[a], last[b]] for a, b in cluster] for cluster in ANSWERS[name]]
        return {
            "doc_key": name,
            "sentences": [[*pieces, "[SEP]"]],
            "clusters": [],
            "predicted_clusters": predicted,
        }

    assert _same(data, _lines(tmp_path / "out.jsonl", line)) == ()


def test_fastcoref(data: WinoBias, tmp_path: Path) -> None:
    names = [text.id for text in data.texts]

    def line(name: str) -> object:
        text, clusters = " ".join(SENTENCES[name]), _characters(name)
        return {
            "text": text,
            "clusters": clusters,
            "clusters_strings": [[text[a:b] for a, b in c] for c in clusters],
        }

    path = tmp_path / "out.json"
    path.write_text("".join(json.dumps(line(name)) + "\n" for name in names), encoding="utf-8")
    assert _same(data, path, ORDER) == ()
    assert _read(data, path, ORDER).signed == {"spans": "characters"}
    with pytest.raises(
        DataError, match=r"out\.json:1: it has no id; give --ids order where the 6 documents"
    ):
        _read(data, path)
    path.write_text(json.dumps(line(names[0])) + "\n", encoding="utf-8")
    with pytest.raises(
        DataError, match="--ids order: expected 6 documents, as the data has, got 1"
    ):
        _read(data, path, ORDER)


def test_fastcoref_on_words(data: WinoBias, tmp_path: Path) -> None:
    """With `is_split_into_words`, fastcoref's `text` is the list of words, and its mentions count
    them."""

    def line(name: str) -> object:
        clusters: list[list[object]] = [
            [[a, b + 1] for a, b in cluster] for cluster in ANSWERS[name]
        ]
        return {"text": SENTENCES[name], "clusters": [*clusters, [None]], "clusters_strings": []}

    path = tmp_path / "out.json"
    path.write_text(
        "".join(json.dumps(line(text.id)) + "\n" for text in data.texts), encoding="utf-8"
    )
    assert _same(data, path, ORDER) == ()
    assert _read(data, path, ORDER).signed == {"spans": "excluded"}


def test_characters_that_are_said_to_be_some(data: WinoBias, tmp_path: Path) -> None:
    # Without the text they count those of the data's own, which has no blank before the full stop.
    path = _lines(tmp_path / "out.jsonl", lambda name: {"id": name, "clusters": _characters(name)})
    assert _same(data, path, spans="characters") == ()
    with pytest.raises(
        DataError, match=r"\[0, 11\] is 'The plumber called .* as tokens with the end included"
    ):
        _read(data, path)


def test_corenlp(data: WinoBias, tmp_path: Path) -> None:
    def mention(start: int, end: int) -> dict[str, Any]:
        return {
            "id": 1,
            "text": "",
            "startIndex": start + 1,
            "endIndex": end + 2,
            "sentNum": 1,
            "position": [1, 1],
        }

    folder = tmp_path / "corenlp"
    folder.mkdir()
    for name, words in SENTENCES.items():
        corefs = {str(n): [mention(*m) for m in cluster] for n, cluster in enumerate(ANSWERS[name])}
        tokens = [
            {"index": n + 1, "word": word, "originalText": word} for n, word in enumerate(words)
        ]
        file = next(text.file_name for text in data.texts if text.id == name)
        path = folder / f"{file}.json"  # CoreNLP adds .json to the name of its input
        path.write_text(
            json.dumps({"sentences": [{"index": 0, "tokens": tokens}], "corefs": corefs}),
            encoding="utf-8",
        )
    assert _same(data, folder) == ()


def test_corenlp_counts_words_of_sentences(tmp_path: Path) -> None:
    from mtbias.files.reading import read_text

    sentences = [
        {"tokens": [{"word": word} for word in text.split()]}
        for text in ("Ann left .", "She -LRB- Ann -RRB-")
    ]
    chain = [
        {"startIndex": 1, "endIndex": 2, "sentNum": 1},
        {"startIndex": 1, "endIndex": 2, "sentNum": 2},
        {"startIndex": 2, "endIndex": 5, "sentNum": 2},
    ]
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps({"docId": "a", "sentences": sentences, "corefs": {"7": chain}}), encoding="utf-8"
    )
    (document,) = parse_documents(read_text(path))
    assert (document.id, document.clusters) == ("a", (((0, 0), (3, 3), (4, 6)),))
    path.write_text(
        json.dumps({"docId": 7, "sentences": sentences, "corefs": {}}), encoding="utf-8"
    )
    assert parse_documents(read_text(path))[0].id == "7"


def _stanza(name: str) -> Any:
    from stanza.models.common.doc import Document
    from stanza.models.coref.coref_chain import CorefChain, CorefMention

    words = [
        {"id": n + 1, "text": word, "head": int(n > 0), "deprel": "x"}
        for n, word in enumerate(SENTENCES[name])
    ]
    document = Document([words])
    document.coref = [
        CorefChain(number, [CorefMention(0, a, b + 1) for a, b in cluster], "", 0)
        for number, cluster in enumerate(ANSWERS[name])
    ]
    return document


def test_what_stanza_writes_of_each_document(data: WinoBias, tmp_path: Path) -> None:
    from stanza.utils.conll import CoNLL

    folder = tmp_path / "stanza"
    folder.mkdir()
    for text in data.texts:
        path = folder / Path(text.file_name).with_suffix(".conllu")
        CoNLL.write_doc2conll(_stanza(text.id), str(path))
    assert _same(data, folder) == ()


@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_stanza_is_refused_with_what_is_read(
    data: WinoBias, tmp_path: Path, indent: int | None
) -> None:
    from stanza.models.common.doc import DocJSONEncoder

    path = tmp_path / "stanza.json"
    text = json.dumps(_stanza("nw/pro//0").to_dict(), cls=DocJSONEncoder, indent=indent)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        DataError, match=r"stanza\.json:1: .*got a list; of Stanza give CoNLL-U.*write_doc2conll"
    ):
        _read(data, path)


def test_conllu_of_stanza(data: WinoBias, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    text = "".join(f"# newdoc id = {name}\n{_stanza(name):C}\n\n" for name in SENTENCES)
    assert "coref_chains=start-repr-id0" in text
    path.write_text(text, encoding="utf-8")
    assert _same(data, path) == ()


# As udapi writes ANSWERS, without the columns that do not matter; the last document has no entity.
UDAPI: Mapping[str, tuple[str, ...]] = {
    "nw/pro//0": ("(e1-person-2", "e1)", "", "(e2-person-2", "e2)", "", "(e1-person-1)", "", "(e2-person-1)", ""),
    "nw/pro//1": ("(e3-person-2", "e3)", "", "", "", "", "(e3-person-1)", "", "", ""),
    "nw/pro//2": (
        "(e5-person-3", "", "e5)", "", "(e4-person-2", "e4)", "", "(e4-person-1)", "", "(e5-person-2", "e5)", "",
    ),
    "nw/anti//0": ("(e6-person-2", "e6)", "", "", "", "", "(e6-person-1)", "", "", ""),
    "nw/anti//1": ("",) * 10,
    "nw/anti//2": (
        "(e7-person-3", "", "e7)", "", "", "", "", "(e7-person-1)", "", "(e7-person-1)", "", "",
    ),
}  # fmt: skip


def test_corefud(data: WinoBias, tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    lines = []
    for name, entities in UDAPI.items():
        lines += [f"# newdoc id = {name}", "# global.Entity = eid-etype-head-other"]
        for number, (word, entity) in enumerate(
            zip(SENTENCES[name], entities, strict=True), start=1
        ):
            lines.append(
                "\t".join(
                    [
                        str(number),
                        word,
                        *["_"] * 4,
                        "0",
                        *["_"] * 2,
                        f"Entity={entity}" if entity else "_",
                    ]
                )
            )
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")
    assert _same(data, path) == ()


def test_corefud_nested_of_several_parts_and_at_empty_nodes(tmp_path: Path) -> None:
    from mtbias.files.reading import read_text

    rows = [
        ("1-2", "don't", ""), ("1", "do", "(e1-a-1(e2-b-1)"), ("2", "n't", "e1)(e3[1/2]"), ("2.1", "_", "(e1-a-1)"),
        ("3", "go", "e3[1/2])"), ("3.1", "_", "(e4"), ("4", "on", "e4)(e3[2/2])"), ("5", ".", "(e4)"),
    ]  # fmt: skip
    lines = [
        "\t".join([n, word, *["_"] * 7, f"SpaceAfter=No|Entity={e}" if e else "_"])
        for n, word, e in rows
    ]
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (document,) = parse_documents(read_text(path))
    assert document.tokens == ("do", "n't", "go", "on", ".")
    # e1 has a mention of its own at the empty node, which is no word; e3 goes from its first part
    # to its last.
    assert sorted(map(sorted, document.clusters)) == [
        [(0, 0)],
        [(0, 1)],
        [(1, 3)],
        [(3, 3), (4, 4)],
    ]


def test_coref_chains_and_entities_at_empty_nodes(tmp_path: Path) -> None:
    """A mention of empty nodes alone is none; others begin at the next word, or end at the one
    before."""
    from mtbias.files.reading import read_text

    rows = [
        ("0.1", "_", "coref_chains=unit-id0"), ("1", "He", "coref_chains=start-id1"),
        ("1.1", "_", "coref_chains=end-id1,unit-id0,start-id2"), ("2", "left", "coref_chains=end-id2"),
        ("3", ".", "Entity=(e1"), ("3.1", "_", "Entity=e1)(e2"), ("3.2", "_", "Entity=e2)"),
        ("3.3", "_", "coref_chains=start-id3"), ("3.4", "_", "coref_chains=middle-id3"),
        ("3.5", "_", "coref_chains=end-id3,unit-id4"),
    ]  # fmt: skip
    path = tmp_path / "a.conllu"
    path.write_text(
        "".join("\t".join([n, word, *["_"] * 7, last]) + "\n" for n, word, last in rows),
        encoding="utf-8",
    )
    (document,) = parse_documents(read_text(path))
    assert document.tokens == ("He", "left", ".")
    assert document.clusters == (((0, 0),), ((1, 1),), ((2, 2),))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("Entity=(e1", "mentions that begin and end in their document, got one that does not"),
        ("Entity=e1)", "mentions that begin and end"),
        ("Entity=e1", r"Entity: expected such as \(e1-person-1"),
        ("coref_chains=id1", "expected such as start-id0, got 'id1'"),
        ("coref_chains=unit-id1|Entity=(e1)", "got both"),
    ],
)
def test_broken_conllu(data: WinoBias, tmp_path: Path, last: str, message: str) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(f"1\tThe\t{'_	' * 7}{last}\n", encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        _read(data, path)
    assert caught.value.line == 1


def test_a_file_with_gold_and_predicted_clusters_is_scored_on_the_predicted(
    data: WinoBias, tmp_path: Path
) -> None:
    def line(name: str) -> dict[str, object]:
        gold = winobias_gold[name]
        return {
            "id": name,
            "sentences": [SENTENCES[name]],
            "speakers": [[]],
            "clusters": gold,
            "predicted_clusters": [],
        }

    winobias_gold = {text.id: text.gold for text in data.texts}
    found = _read(data, _lines(tmp_path / "out.jsonl", line))
    assert not any(found.of.values())
    assert found.notes == (
        "predicted_clusters are empty in all documents; clusters are the data's gold ones and were not read",
        "documents without any cluster: all 6",
    )


def _with_both(
    folder: Path, clusters: Mapping[str, Clusters], predicted: Mapping[str, Clusters]
) -> Path:
    """A file whose documents have both sets of clusters."""

    def line(name: str) -> dict[str, object]:
        both = {"clusters": clusters.get(name, ()), "predicted_clusters": predicted.get(name, ())}
        return {"id": name, **both}

    return _lines(folder / "both.jsonl", line)


def test_of_two_sets_of_clusters_the_one_that_is_not_empty_counts(
    data: WinoBias, tmp_path: Path
) -> None:
    """A system wrote the one, and left the other as it was in its input."""
    gold = {text.id: text.gold for text in data.texts}
    assert gold != ANSWERS
    predicted = _read(data, _with_both(tmp_path, {}, ANSWERS))
    assert (predicted.of, predicted.notes) == (ANSWERS, ())
    others = _read(data, _with_both(tmp_path, ANSWERS, {}))
    assert others.of == ANSWERS
    assert others.notes == (
        "predicted_clusters are empty in all documents; clusters were read in their place",
    )
    same = _read(data, _with_both(tmp_path, ANSWERS, ANSWERS))
    assert (same.of, same.notes) == (ANSWERS, ())
    # Gold clusters beside the predicted ones are no predictions, in whatever order.
    turned = {name: tuple(cluster[::-1] for cluster in clusters) for name, clusters in gold.items()}
    beside = _read(data, _with_both(tmp_path, turned, ANSWERS))
    assert (beside.of, beside.notes) == (ANSWERS, ())


def test_two_sets_of_clusters_that_differ_are_refused(data: WinoBias, tmp_path: Path) -> None:
    name = list(SENTENCES)[1]
    wrong: Clusters = (((0, 0), (2, 2)),)
    for predicted in (ANSWERS, {**ANSWERS, name: ()}):
        path = _with_both(tmp_path, {name: wrong}, predicted)
        with pytest.raises(DataError, match="expected clusters that are empty") as caught:
            _read(data, path)
        assert caught.value.line == 2
        assert name in str(caught.value)
    path = _with_both(tmp_path, {name: (((2, 1),),)}, ANSWERS)
    with pytest.raises(DataError, match=r"clusters: expected mentions .* got \[2, 1\]"):
        _read(data, path)


def test_predicted_clusters_must_be_of_each_document_or_of_none(
    data: WinoBias, tmp_path: Path
) -> None:
    names = list(SENTENCES)

    def line(name: str) -> dict[str, object]:
        one: dict[str, object] = {"id": name, "clusters": ANSWERS[name]}
        return one if name == names[3] else one | {"predicted_clusters": []}

    path = _lines(tmp_path / "out.jsonl", line)
    with pytest.raises(
        DataError, match=r"expected predicted_clusters, which 5 of the 6 documents .* got none"
    ) as caught:
        _read(data, path)
    assert caught.value.line == 4


def test_gold_clusters_alone_are_refused(data: WinoBias, tmp_path: Path) -> None:
    def gold_alone(name: str) -> dict[str, object]:
        return {
            "doc_key": name,
            "sentences": [SENTENCES[name]],
            "speakers": [["-"]],
            "clusters": ANSWERS[name],
        }

    with pytest.raises(DataError, match="expected predicted_clusters, got the gold clusters alone"):
        _read(data, _lines(tmp_path / "gold.jsonl", gold_alone))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"id": "a", "clusters": []},', "expected a JSON"),
        ("[1]", "expected a JSON object for each document, got a list"),
        ('{"nw/pro//0": []}', r"got the keys \['nw/pro//0'\]"),
        ('{"document": ["He"], "clusters": []}', r"got the keys \['clusters', 'document'\]"),
        ('{"sentences": [], "corefs": {"1": [{}]}}', "as CoreNLP writes them"),
        (
            '{"text": "He", "clusters": [3], "clusters_strings": []}',
            r"clusters\.0: expected a list, got 3",
        ),
        ('{"text": 3, "clusters": []}', "text: expected text or a list, got 3"),
        ("clusters\n", "#begin document"),
        (
            "#begin document (a); part 0\na 0 0 He (0)\n#end document\n#begin docu",
            "got '#begin docu'",
        ),  # cut off
    ],
)
def test_what_is_no_format(data: WinoBias, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        _read(data, path)


@pytest.mark.parametrize(
    "mention",
    [
        (0, 1, 2),
        (3, 1, 2),
        (1, 0, 1),
        (1, 1, 5),
        (2, 1, 3),
        (1, 2, 2),
        (1.0, 1, 2),
        ("1", 1, 2),
        (1, 1.5, 2),
        (1, True, 2),
    ],
)
def test_mentions_of_corenlp_are_within_a_sentence(
    tmp_path: Path, mention: tuple[object, object, object]
) -> None:
    from mtbias.files.reading import read_text

    sentences = [
        {"tokens": [{"word": word} for word in text.split()]} for text in ("He left .", "Yes")
    ]
    chain = [dict(zip(("sentNum", "startIndex", "endIndex"), mention, strict=True))]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"sentences": sentences, "corefs": {"1": chain}}), encoding="utf-8")
    with pytest.raises(
        DataError, match="expected words of a sentence, both counted from 1, got sentNum"
    ) as caught:
        parse_documents(read_text(path))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("text", "line"), [("[\n[", 2), ('{\n "id": "a",\n "clusters": [\n', 3), ('{\n "id": x\n}', 2)]
)
def test_json_on_several_lines_that_breaks_off(tmp_path: Path, text: str, line: int) -> None:
    from mtbias.files.reading import read_text

    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="expected a JSON object: Expecting") as caught:
        parse_documents(read_text(path))
    assert caught.value.line == line


def test_the_small_corpus_is_what_these_answers_are_about(data: WinoBias) -> None:
    assert {id_: list(document.words) for id_, document in data.documents.items()} == SENTENCES
