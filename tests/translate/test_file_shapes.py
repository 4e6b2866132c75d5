"""Files as other programs write them. Those in ``shapes`` were written by the programs themselves
where these are libraries: samples by lm_eval 0.4.13, hub.jsonl by datasets, logs by inspect_ai
0.3.285 (their paths and versions left out), bodies of batch answers by openai's own classes; the
others after the formats that ``file_shapes.toml`` names."""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from mtbias.api import score, score_systems
from mtbias.corpora import load_corpus
from mtbias.errors import DataError, DependencyError, UsageError
from mtbias.files.packing import content_name, suffix_of
from mtbias.files.reading import read_table, read_text
from mtbias.settings import ScoreSettings
from mtbias.translate.file_shapes import parts_in, tells_languages
from mtbias.translate.given_translations import (
    MARKS,
    GivenTranslations,
    given_file,
    parse_pairs,
    read_translations,
)
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.translate.shape_table import Selection, shapes
from mtbias.translate.wmt_names import SuitePlace, suite_place, wmt_code
from mtbias.translate.wmt_suite import instruction, suite_lines
from mtbias.types import SourceSentence

SHAPES = Path(__file__).with_name("shapes")
SENTENCES = [
    SourceSentence("x-0", 0, "The doctor helped her."),
    SourceSentence("x-1", 1, "The doctor helped him."),
]
TEXTS = ["Die Ärztin half.", "Der Arzt half."]
GERMAN = Selection(lang="de", dataset="custom")
zstandard = pytest.mark.skipif(find_spec("zstandard") is None, reason="zstandard is not installed")

TABLE = [
    ("by_id.json", "table by id"),
    ("comet.tsv", "table by source"),
    ("excel_comma.csv", "table by source"),
    ("excel_semicolons.csv", "table by id"),
    ("excel_sep.csv", "table by id"),
    ("fairseq.out", "fairseq-generate"),
    ("hub.jsonl", "rows of a translation data set by source"),
    pytest.param("inspect.eval", "sample of Inspect by id", marks=zstandard),
    ("inspect.json", "sample of Inspect by id"),
    ("openai_chat.jsonl", "OpenAI's batch output, chat completions by id"),
    ("openai_responses.jsonl", "OpenAI's batch output, responses by id"),
    ("pipeline.json", "table in order"),
    ("pipeline_each.jsonl", "table in order"),
    (
        "samples_hub_2026-11-29T12-00-00.000000.jsonl",
        "samples of lm-evaluation-harness by source",
    ),
    ("samples_own_2026-11-29T12-00-00.000000.jsonl", "samples of lm-evaluation-harness by id"),
    ("table.tsv.gz", "table by id"),
    pytest.param("table.tsv.zst", "table by id", marks=zstandard),
    ("texts.json", "table in order"),
    ("wmt_sources.jsonl", "table by source"),
    ("wmt_system.jsonl", "table by id"),
]
"""Each file of the folder, and its form."""


def put(folder: Path, name: str, content: object) -> Path:
    """A file with this text, or with this value as JSON."""
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def lines(folder: Path, *rows: object) -> Path:
    return put(folder, "t.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


def read(path: Path, selection: Selection = GERMAN) -> GivenTranslations:
    return read_translations(path, SENTENCES, selection=selection)


def texts(found: GivenTranslations) -> list[str | None]:
    return [each.text for each in found.translations]


@pytest.mark.parametrize(("name", "form"), TABLE)
def test_each_shape_gives_the_same(name: str, form: str) -> None:
    found = read(SHAPES / name)
    assert (texts(found), found.noticed["form"]) == (TEXTS, form)
    assert [found.noticed[mark] for mark in MARKS] == [0] * len(MARKS)


def test_every_file_of_the_folder_is_in_the_table() -> None:
    names = {str(getattr(row, "values", row)[0]) for row in TABLE}
    assert names == {path.name for path in SHAPES.iterdir()}


def test_every_shape_says_where_it_is_from() -> None:
    assert all(shape.origin for shape in shapes().log)


def test_without_a_language_the_two_languages_of_a_row_suffice() -> None:
    found = read_translations(SHAPES / "hub.jsonl", SENTENCES)
    assert texts(found) == TEXTS


def test_pairs_for_an_aligner_come_from_the_same_shapes() -> None:
    expected = [(each.source, text) for each, text in zip(SENTENCES, TEXTS, strict=True)]
    for name in ("comet.tsv", "hub.jsonl", "wmt_sources.jsonl"):
        assert parse_pairs(read_text(SHAPES / name)) == expected


def test_json_lines_are_known_whatever_their_file_is_called(tmp_path: Path) -> None:
    for name in ("openai_chat.jsonl", "hub.jsonl", "wmt_system.jsonl"):
        path = put(tmp_path, "outputs", (SHAPES / name).read_text(encoding="utf-8"))
        assert texts(read(path)) == TEXTS
    braces = put(tmp_path, "t.txt", "{Der Arzt} half.\n{}.\n")
    assert texts(read(braces)) == ["{Der Arzt} half.", "{}."]


# What is ambiguous: both readings are named.


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [{"id": "x-0", "target": "A", "hypothesis": "B"}],
            r"expected one column or key with the translation, got 'target' \('A'\) and 'hypothesis' \('B'\)",
        ),
        (
            [{"id": "x-0", "doc_id": "x-1", "target": "A"}],
            r"one column or key with the id, got 'id' \('x-0'\) and 'doc_id' \('x-1'\)",
        ),
        (
            [[{"translation_text": "A"}, {"translation_text": "B"}]],
            "two readings: {'translation_text': 'A'} and {'translation_text': 'B'}",
        ),
        (
            [{"translation": {"en": "E", "de_DE": "A", "de_AT": "B"}}],
            r"expected one translation, got 'de_DE' \('A'\) and 'de_AT' \('B'\)",
        ),
        (
            [{"custom_id": "x-0", "response": {"body": {"choices": [
                {"message": {"content": "A"}}, {"message": {"content": "B"}}]}}}],
            "two readings: {'message': {'content': 'A'}} and",
        ),
        (
            [
                {"id": "x-0", "epoch": 1, "input": "I", "output": {"completion": "A"}},
                {"id": "x-0", "epoch": 2, "input": "I", "output": {"completion": "B"}},
            ],
            r"one translation of 'x-0', got 'A' \(epoch 1\) and 'B' \(epoch 2\); keep one of the two",
        ),
        (
            [
                {"doc": {"id": "x-0"}, "resps": [["A"]], "filtered_resps": ["A"], "filter": "none"},
                {"doc": {"id": "x-0"}, "resps": [["A"]], "filtered_resps": ["B"], "filter": "last"},
            ],
            r"got 'A' \(filter none\) and 'B' \(filter last\)",
        ),
        (
            [{"id": "x-0", "target": "A", "tgt_text": {"one": "A", "two": "B"}}],
            r"got 'target' \('A'\) and 'tgt_text' \({'one': 'A', 'two': 'B'}\)",
        ),
        (
            [{"id": "x-0", "hypothesis": {"one": "A", "two": "B"}}],
            "expected the translations of one system, got those of one, two",
        ),
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(
    tmp_path: Path, rows: list[object], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        read(lines(tmp_path, *rows))


def test_columns_that_say_the_same_are_one(tmp_path: Path) -> None:
    rows = [
        {"id": each.id, "doc_id": each.id, "target": text, "hypothesis": text}
        for each, text in zip(SENTENCES, TEXTS, strict=True)
    ]
    assert texts(read(lines(tmp_path, *rows))) == TEXTS


def test_epochs_and_filters_that_agree_are_one(tmp_path: Path) -> None:
    rows = [
        {"id": each.id, "epoch": epoch, "input": "I", "output": {"completion": text}}
        for each, text in zip(SENTENCES, TEXTS, strict=True)
        for epoch in (1, 2)
    ]
    found = read(lines(tmp_path, *rows))
    assert (texts(found), found.noticed["duplicates"]) == (TEXTS, 0)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.json", "3", "expected a list of objects, an object of ids and translations"),
        ("t.json", {"rows": [1]}, "an object of ids and translations, or Inspect's log"),
        ("t.json", [], "no rows"),
        ("t.json", [[]], "expected a JSON object, got list"),
        ("t.json", [1], "expected a JSON object, got int"),
        ("t.json", ["A"], "expected one target a line, so 2 lines"),
        ("t.json", "[", "expected a JSON object"),
        ("t.eval", "x", "expected a log of Inspect, a zip archive"),
        ("t.jsonl", '{"doc": {"text": "A"}, "resps": [], "filtered_resps": []}',
         "expected 'id' or 'doc_id' or 'source' or .* under 'doc', got 'text'"),
        ("t.jsonl", '{"translation": {"en": "A", "fr": "B"}}',
         "expected 'en' and 'de' under 'translation', got 'en', 'fr'"),
        ("t.jsonl", '{"custom_id": null, "response": {"body": {"choices": []}}}', "has no custom_id"),
        ("t.csv", "id;a,target\nx-0;b,X\n", "Fields parted by semicolons. Write sep=; as the first line"),
        ("t.csv", "sep=;\nid,target\nx-0,X\n", "expected the columns 'id' or 'source'"),
        ("t.csv.gz", "not packed", "packed as its name says, got one that gz cannot read"),
        ("t.out", "H-0\t-1\tDie Ärz@@ tin half .\nH-1\t-1\tDer Arzt half .\n",
         "got pieces of a tokenizer in 'Die Ärz@@ tin half .'; generate with --post-process"),
        ("t.out", "H-0\t-1\tA\nH-0\t-2\tB\nH-1\t-1\tC\n",
         "one translation of sentence 0, got 'A' and 'B'; generate with --nbest 1"),
        ("t.out", "H-0\t-1\tA\nH-999999999\t-2\tB\n", "2 lines as the corpus has, got 1000000000"),
    ],
)  # fmt: skip
def test_what_is_no_shape_is_refused_in_a_line(
    tmp_path: Path, name: str, content: object, says: str
) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read(put(tmp_path, name, content))
    assert "\n" not in str(caught.value)


def test_a_failed_request_is_an_empty_translation(tmp_path: Path) -> None:
    failed = {"id": "b", "custom_id": "x-0", "response": None, "error": {"code": "batch_expired"}}
    for name in ("openai_chat.jsonl", "openai_responses.jsonl"):
        good = json.loads((SHAPES / name).read_text(encoding="utf-8").splitlines()[0])
        for order in ([good, failed], [failed, good]):
            found = read(lines(tmp_path, *order))
            assert (texts(found), found.noticed["empty"]) == ([None, "Der Arzt half."], 1)


def test_a_number_that_fairseq_left_out_is_missing(tmp_path: Path) -> None:
    path = put(tmp_path, "t.out", "S-0\tA\nS-1\tB\nH-1\t-1\tDer Arzt half .\n")
    found = read_translations(path, SENTENCES, allow_missing=True)
    assert (texts(found), found.noticed["missing"]) == ([None, "Der Arzt half ."], 1)


def test_an_older_log_of_inspect_is_deflated(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for each, text in zip(SENTENCES, TEXTS, strict=True):
            sample = {"id": each.id, "epoch": 1, "input": "I", "output": {"completion": text}}
            archive.writestr(f"samples/{each.id}_epoch_1.json", json.dumps(sample, indent=2))
    assert texts(read(tmp_path / "t.eval")) == TEXTS


def test_prompts_are_no_sources_where_ids_are_those_of_the_corpus() -> None:
    # The log's inputs are "Translate: …", which is the source of no sentence.
    others = [replace(each, id=f"y-{n}") for n, each in enumerate(SENTENCES)]
    with pytest.raises(DataError, match=r"got 0; .*matched nothing is 'x-0: Translate: The doctor"):
        read_translations(SHAPES / "inspect.json", others)


# Packed files


def test_names_of_packed_files() -> None:
    assert [suffix_of(Path(name)) for name in ("a.TSV.GZ", "b.jsonl.zst", "c.gz", "d.txt")] == [
        ".tsv",
        ".jsonl",
        "",
        ".txt",
    ]
    assert content_name(Path("folder/a.b.tsv.gz")) == Path("a.b.tsv")
    assert given_file(SHAPES / "table.tsv.gz").name == "table"


def test_any_table_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a;b\n1;2\n") + gzip.compress(b"3;4\n"))
    rows = [(row.line, row.get("a"), row.get("b")) for row in read_table(path, "a", "b").records]
    assert rows == [(2, "1", "2"), (3, "3", "4")]


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv.gz"
    path.write_bytes((SHAPES / "table.tsv.gz").read_bytes()[:-9])
    with pytest.raises(DataError, match=r"packed as its name says.*; pack it again"):
        read(path)


@zstandard
def test_a_cut_file_of_zstandard_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    path, whole = tmp_path / "t.tsv.zst", (SHAPES / "table.tsv.zst").read_bytes()
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match="packed as its name says"):
            read(path)


def test_all_frames_of_zstandard_are_read_and_those_without_content_skipped(
    tmp_path: Path,
) -> None:
    library = pytest.importorskip("zstandard")
    rows = [f"{each.id}\t{text}\n" for each, text in zip(SENTENCES, TEXTS, strict=True)]
    frames = [library.compress(row.encode()) for row in ("id\ttarget\n", *rows)]
    skipped = bytes.fromhex("502a4d18") + (4).to_bytes(4, "little") + b"abcd"
    path = tmp_path / "t.tsv.zst"
    path.write_bytes(skipped.join([b"", *frames, b""]))
    assert texts(read(path)) == TEXTS


@pytest.mark.skipif(find_spec("zstandard") is not None, reason="zstandard is installed")
@pytest.mark.parametrize("name", ["table.tsv.zst", "inspect.eval"])
def test_without_its_library_zstandard_names_the_extra(name: str) -> None:
    with pytest.raises(DependencyError, match=r"needs the package zstandard: .*zst\]"):
        read(SHAPES / name)


def test_lines_of_a_table_of_excel_are_those_of_the_file(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "sep=;\nid;target\nx-0;A\n;B\n")
    with pytest.raises(DataError, match=r"t\.csv:4: the row has no id"):
        read(path)


# Suites of WMT


def test_the_names_of_a_suite() -> None:
    place = SuitePlace("bug-gold", "gender-aware", "eng_Latn", "deu_Latn", "17")
    doc_id = "mtbias_###_bug-gold.gender-aware_###_eng_Latn_###_deu_Latn_###_17"
    assert place.doc_id == doc_id
    assert suite_place(doc_id) == place
    assert suite_place(f"WMT26_###_suite_###_{doc_id}") == place  # whatever is put before it
    assert suite_place("WMT26_###_edu_###_ces_Latn_###_deu_Latn_###_edu00733") is None
    assert [wmt_code(lang) for lang in ("de", "ar", "xx")] == ["deu_Latn", "arb_Arab", "xx"]


def test_a_suite_asks_each_sentence_with_each_prompt() -> None:
    prompts = [load_prompt(name) for name in ("plain", "feminine")]
    rows = list(map(json.loads, suite_lines(SENTENCES, "custom", prompts, lang="de")))
    assert [row["src_text"] for row in rows] == [each.source for each in SENTENCES] * 2
    assert len({row["doc_id"] for row in rows}) == 4
    asked = rows[2]["prompt_instruction"]
    # The organisers put an empty line and the text behind it, which gives the prompt as it is.
    whole = f"{asked}\n\n{SENTENCES[0].source}"
    assert whole == load_prompt("feminine").filled(SENTENCES[0].source, "de")[-1]["content"]
    assert "in the feminine" in asked
    assert (rows[2]["src_lang"], rows[2]["tgt_lang"]) == ("eng_Latn", "deu_Latn")


def test_a_prompt_that_wmt_cannot_ask() -> None:
    with pytest.raises(UsageError, match=r"ends with an empty line and {source}.*got mittens"):
        instruction(load_prompt("mittens"), "de", "en")


def test_two_prompts_of_one_name_would_have_one_doc_id() -> None:
    prompts = [load_prompt("plain"), load_prompt("plain")]
    with pytest.raises(UsageError, match=r"of different names, .* got 2 of the name plain"):
        list(suite_lines(SENTENCES, "custom", prompts, lang="de"))


def test_an_id_that_parts_the_name_is_refused() -> None:
    odd = [replace(SENTENCES[0], id="a_###_b")]
    with pytest.raises(DataError, match="expected an id without #"):
        list(suite_lines(odd, "custom", [load_prompt("plain")], lang="de"))


def test_what_the_collector_calls_failed_is_no_translation(tmp_path: Path) -> None:
    asked = map(json.loads, suite_lines(SENTENCES, "custom", [load_prompt("plain")], lang="de"))
    rows = [{"doc_id": row["doc_id"], "hypothesis": "FAILED"} for row in asked]
    found = read(lines(tmp_path, *rows))
    assert (texts(found), found.noticed["empty"]) == ([None, None], 2)


def test_a_file_of_other_languages_and_data_sets_says_which() -> None:
    path = SHAPES / "wmt_system.jsonl"
    with pytest.raises(
        DataError, match=r"expected sentences of winomt in deu_Latn, got those of custom"
    ):
        read(path, Selection(lang="de", dataset="winomt"))
    with pytest.raises(
        DataError, match="of custom in fra_Latn, got those of custom in deu_Latn, c"
    ):
        read(path, Selection(lang="fr", dataset="custom"))
    assert tells_languages(path)
    assert not tells_languages(SHAPES / "comet.tsv")


SETTINGS = ScoreSettings(dataset="demo", stanza_dir=Path("mtbias:demo"), resamples=0, part=True)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of a suite that asks two prompts in two languages: by the prompt plain every pilot is
    a man, by feminine a woman."""
    folder = tmp_path_factory.mktemp("suite")
    said = {
        ("de", "plain"): "Der Pilot sprach gestern.",
        ("de", "feminine"): "Die Pilotin sprach gestern.",
        ("es", "plain"): "El piloto habló ayer.",
        ("es", "feminine"): "La piloto habló ayer.",
    }
    pilots = [each for each in load_corpus("demo", None).instances if "pilot" in each.source][:12]
    rows: list[object] = []
    for (lang, prompt), text in said.items():
        asked = map(json.loads, suite_lines(pilots, "demo", [load_prompt(prompt)], lang=lang))
        rows += [{"doc_id": line["doc_id"], "hypothesis": text} for line in asked]
    lines(folder, *rows)
    return folder / "t.jsonl"


def test_one_file_of_two_prompts_and_two_languages_is_scored_at_once(
    outputs: Path, tmp_path: Path
) -> None:
    assert parts_in(outputs, Selection("de", dataset="demo")) == ["plain", "feminine"]
    runs, compared = score_systems({"S": outputs}, ["de", "es"], tmp_path, settings=SETTINGS)
    assert [run.path.name for run in runs if run.path] == [
        "S-plain-de",
        "S-feminine-de",
        "S-plain-es",
        "S-feminine-es",
    ]
    # Of 12 pilots 6 are men: all calls are one gender, so half of them are right in each run.
    calls = [{record.call.gender for record in run.calls} for run in runs]
    assert calls == [{"male"}, {"female"}, {"male"}, {"female"}]
    assert [run.accuracy for run in runs] == [50.0] * 4
    assert compared is not None
    assert len({run.fingerprint for run in runs}) == 4


def test_systems_in_one_file(outputs: Path, tmp_path: Path) -> None:
    rows = []
    for line in outputs.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        place = suite_place(row["doc_id"])
        if place is not None and place.prompt == "plain":
            both = {"one": row["hypothesis"], "two": row["hypothesis"]}
            rows.append({"doc_id": row["doc_id"], "tgt_text": both})
    path = lines(tmp_path, *rows)
    runs, _ = score_systems({"S": path}, ["de"], tmp_path / "out", settings=SETTINGS)
    assert [run.system for run in runs] == ["S-one", "S-two"]
    with pytest.raises(DataError, match="got those of one, two"):
        score(path, "de", settings=SETTINGS)


def test_what_one_of_several_systems_lacks_is_said_of_it(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"id": "x-0", "target": {"one": "Ja."}},
        {"id": "x-1", "target": {"one": "Ja.", "two": "Nein."}},
    )
    assert texts(read(path, replace(GERMAN, part="one"))) == ["Ja.", "Ja."]
    with pytest.raises(DataError, match="2 instances, got 1 of two; one without is 'The doctor"):
        read(path, replace(GERMAN, part="two"))
