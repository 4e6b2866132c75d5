"""Sources in another language than English: the corpus, the two tables that join on English nouns,
whole runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mtbias
from mtbias.align import Pair, get_aligner
from mtbias.cli import main
from mtbias.cluster.sweep_file import read_sweep
from mtbias.cluster.sweep_tasks import check_names, make_plan
from mtbias.cluster.task_runs import make_request
from mtbias.corpora import load_corpus
from mtbias.corpora.corpus import GENDER
from mtbias.corpora.own_sentences import write_custom
from mtbias.errors import SettingError, UsageError
from mtbias.language.installed import get_language
from mtbias.language.source import english_name, source_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.known_translations import KnownTranslations
from mtbias.report.report_runs import report_run, title_and_intro
from mtbias.scoring.alarms import checks
from mtbias.settings import EvalSettings, ScoreSettings
from mtbias.translate.given_translations import read_translations
from mtbias.types import Span

FRENCH = [
    ("L'avocate a appelé le boulanger, car elle avait faim.", "avocate", "female"),
    ("L'avocat a appelé la boulangère, car il avait faim.", "avocat", "male"),
    (
        "La directrice de l'école remercie l'infirmier de son aide.",
        "directrice de l'école",
        "female",
    ),
    ("Le directeur de l'école remercie l'infirmière de son aide.", "infirmière", "female"),
]
GERMAN = [
    ("Die Anwältin rief den Bäcker an, denn sie hatte Hunger.", "female", "Anwältin"),
    ("Der Anwalt rief die Bäckerin an, denn er hatte Hunger.", "male", "Anwalt"),
    ("Der Direktor der Schule dankt dem Krankenpfleger für seine Hilfe.", "male", "Direktor"),
    (
        "Der Direktor der Schule dankt der Krankenschwester für ihre Hilfe.",
        "female",
        "Krankenschwester",
    ),
]


@pytest.fixture
def french(tmp_path: Path) -> Path:
    """A corpus of one's own, in French."""
    lines = ["source\tentity\tgender", *("\t".join(row) for row in FRENCH)]
    path = tmp_path / "french.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_two_tables_join_on_the_english_noun() -> None:
    german = source_language("de")
    man, woman = (set(german.nouns(word)) for word in ("geschäftsführers", "geschäftsführerin"))
    assert man == woman
    assert "director" in man
    known = KnownTranslations(get_language("es"), german)
    assert {"director", "directora", "gerente"} <= known.forms("geschäftsführerin")
    # An adjective and a thing are nobody; of a compound its last part is known, too.
    adjective, noun = german.words("alte Umzugshelferin")
    assert not known.word_forms(adjective)
    assert not known.forms("bäckerei")
    assert set(german.nouns("yogaskilehrerin")) == set(german.nouns("skilehrer"))
    assert "ayudante" not in known.forms("umzugshelferin")
    assert "ayudante" in known.word_forms(noun)
    pair = Pair("x", "Die Umzugshelferin kam.", "", Span(4, 18), "umzugshelferin")
    assert "ayudante" in known.wider_forms(pair)


@pytest.mark.parametrize(
    ("noun", "before", "number"),
    [
        ("Analysten", "des", "sg"), ("Analysten", "die", "pl"), ("Lehrerin", "die", None), ("Bäcker", "", None),
        ("Angestellten", "", None), ("Zzz", "das", "sg"), ("Zzz", "die", None),
    ],
)  # fmt: skip
def test_noun_and_determiner_tell_the_number(noun: str, before: str, number: str | None) -> None:
    assert source_language("de").number(noun, before) == number


def test_a_qualifier_and_a_gender_are_read_where_the_language_has_them() -> None:
    german, other = map(source_language, ("de", "tr"))
    young, a = german.words("junge einer")
    assert (german.may_qualify(young), german.may_qualify(a)) == (True, False)
    assert german.gender("weibliche") == "female"
    assert [word.text for word in other.words("Doktor'un eşi, geldi.")] == [
        "Doktor'un",
        "eşi",
        "geldi",
    ]
    assert (other.nouns("doktor"), other.number("doktor", ""), other.signature) == (
        (),
        None,
        "tr/none",
    )
    assert [english_name(code) for code in ("en", "de", "tr")] == ["English", "German", "Turkish"]


def test_the_head_is_the_first_known_word_without_its_elided_article(french: Path) -> None:
    corpus = load_corpus("custom", french, source_lang="fr")
    heads = [i.source[slice(*i.head)] for i in corpus.instances]
    assert heads == ["avocate", "avocat", "directrice", "infirmière"]
    assert {i.pronouns for i in corpus.instances} == {None}
    assert corpus.source_lang == "fr"


@pytest.mark.parametrize(
    ("code", "entity", "head"),
    [
        ("de", "junge ärztin", "ärztin"),  # *Junge* is a boy
        ("de", "frau des bürgermeisters", "frau"),
        ("ru", "больная девочка", "девочка"),
        ("cs", "vrchní sestra", "sestra"),
        ("uk", "дружина міністра", "дружина"),
        ("es", "directora general", "directora"),
        ("es", "obrero de la construcción", "obrero"),
    ],
)
def test_an_adjective_that_is_a_noun_too_is_no_head(code: str, entity: str, head: str) -> None:
    source = source_language(code)
    assert entity.split()[source.head(entity.split())] == head
    assert source.nouns(entity) == source.nouns(head)


def test_words_of_a_language_without_a_table_keep_their_vowel_signs() -> None:
    found = source_language("hi").words("«डॉक्टर» ने कहा – हाँ।")
    assert [word.text for word in found] == ["डॉक्टर", "ने", "कहा", "हाँ"]


def test_what_is_written_can_be_read_again(french: Path, tmp_path: Path) -> None:
    corpus = load_corpus("custom", french, source_lang="fr")
    write_custom(tmp_path / "again.tsv", corpus.instances)
    assert (
        load_corpus("custom", tmp_path / "again.tsv", source_lang="fr").instances
        == corpus.instances
    )


def test_the_entity_by_token_or_span(tmp_path: Path) -> None:
    rows = [
        {"source": FRENCH[0][0], "gender": "f", "entity_index": 0},
        {"source": FRENCH[0][0], "gender": "f", "entity_start": 2, "entity_end": 9},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert [i.head for i in load_corpus("custom", path, source_lang="fr").instances] == [
        (2, 9),
        (2, 9),
    ]


def test_winomts_form_in_another_language(tmp_path: Path) -> None:
    rows = [
        "male\t4\tDie Bäckerin hatte Angst vor dem Bericht des Analysten.\tAnalysten",  # a wrong index is corrected
        "female\t1\tDie Köchin kam.\tKöchin",
        "female\t1\tDie Lehrerin kam.\tLehrerin",
    ]
    for name, lines in (("de.txt", rows), ("de_pro.txt", rows[:1]), ("de_anti.txt", rows[1:2])):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    corpus = load_corpus("winomt", tmp_path, source_lang="de")
    assert [
        (i.source[slice(*i.head)], i.stereotype, i.domain, i.pronouns, i.pair)
        for i in corpus.instances
    ] == [
        ("Analysten", "pro", "winobias", None, None),
        ("Köchin", "anti", "winobias", None, None),
        ("Lehrerin", "none", "winomt", None, None),  # a row may be missing in the stereotype files
    ]
    assert set(corpus.files) == {"de.txt", "de_pro.txt", "de_anti.txt"}
    assert corpus.notes == {
        "entity index corrected": 1,
        "row in neither stereotype file: stereotype none, domain winomt": 1,
    }


def _settings(tmp_path: Path, **more: Any) -> ScoreSettings:
    return ScoreSettings(
        stanza_dir=Path("mtbias:demo"),
        cache_dir=tmp_path / "cache",
        device="cpu",
        resamples=0,
        **more,
    )


def test_a_run_from_french_says_so_and_knows_the_entities(french: Path, tmp_path: Path) -> None:
    settings = _settings(tmp_path, dataset="custom", data=french, source_lang="fr")
    run = mtbias.score([row[0] for row in GERMAN], "de", settings=settings, out=tmp_path / "run")
    assert [
        (r.call.gender, (r.translation or "")[slice(*r.call.target[0])]) for r in run.calls
    ] == [row[1:] for row in GERMAN]
    assert "|from:fr|lang:de|" in run.signature
    assert f"|source_plugin:fr/{get_language('fr').version}|" in run.signature
    assert run.metrics["alarms"]["shares"]["no_glossary"]["n"] == 0
    assert list(run.metrics["by_pronouns"]) == ["not counted"]
    assert run.not_following() == []
    title, _ = title_and_intro([report_run(run)])
    assert "from French (fr) into German (de)" in title
    assert "pronouns not counted" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    in_memory = mtbias.score(
        [row[0] for row in GERMAN],
        "de",
        sources=[row[0] for row in FRENCH],
        entities=[row[1] for row in FRENCH],
        genders=[row[2] for row in FRENCH],
        settings=_settings(tmp_path, source_lang="fr"),
    )
    assert in_memory.metrics["overall"] == run.metrics["overall"]


def test_without_a_table_of_the_source_an_alarm_is_raised(tmp_path: Path) -> None:
    sources = ["Avukat fırıncıyı aradı.", "Müdür hemşireye teşekkür etti."] * 2
    run = mtbias.score(
        [row[0] for row in GERMAN],
        "de",
        sources=sources,
        entities=["Avukat", "hemşireye"] * 2,
        genders=["female", "male"] * 2,
        settings=_settings(tmp_path, source_lang="tr"),
    )
    assert "|source_plugin:tr/none|" in run.signature
    assert run.metrics["alarms"]["shares"]["no_glossary"]["percent"] == 100
    assert "no_glossary" in run.metrics["alarms"]["raised"]
    as_english = checks(run.calls, "de", GENDER, n_resamples=0, seed=0)["alarms"]
    assert "no_glossary" not in as_english["shares"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--source-lang", "de"),
            "--source-lang: expected another language than that of the translations, got de for",
        ),
        (
            ("--source-lang", "xx"),
            "--source-lang: expected the code of a language, such as de, got 'xx'",
        ),
        (
            ("--dataset", "bug", "--source-lang", "fr"),
            "expected en, or custom or winomt with --data, got fr with bug",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    french: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    said: str,
) -> None:
    given = tmp_path / "given.txt"
    given.write_text("".join(f"{row[0]}\n" for row in GERMAN), encoding="utf-8")
    data = () if "bug" in options else ("--dataset", "custom", "--data", french)
    assert (
        main(
            [
                str(part)
                for part in ("score", "--translations", given, "--lang", "de", *data, *options)
            ]
        )
        == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_its_own_sentences_are_english_and_the_demo_translates_from_english(
    french: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        SettingError, match=r"expected en, or custom or winomt with --data, got de with winomt"
    ):
        load_corpus("winomt", None, source_lang="de")
    settings = EvalSettings(
        dataset="custom", data=french, source_lang="fr", cache_dir=tmp_path, device="cpu"
    )
    with pytest.raises(
        UsageError, match="the model demo translates from en alone, got the language fr"
    ):
        mtbias.evaluate("demo", "de", settings=settings)


# The German WinoMT of Kappl (2025), with the translations of two systems.


@pytest.fixture(scope="module")
def german(shared: Path) -> Path:
    """Its folder."""
    folder = shared / "data" / "winomt_german_source"
    if not folder.is_dir():
        pytest.skip(f"no German WinoMT at {folder}: set MTBIAS_SHARED")
    return folder


def test_the_real_corpus_is_balanced(german: Path) -> None:
    rows = load_corpus("winomt", german, source_lang="de").instances
    assert len(rows) == 288
    assert Counter(row.gold for row in rows) == {"male": 144, "female": 144}
    assert Counter(row.stereotype for row in rows) == {"pro": 121, "anti": 121, "none": 46}
    known = KnownTranslations(get_language("es"), source_language("de"))
    assert {row.entity for row in rows if not known.forms(row.entity)} == {"ratholenden"}


@pytest.mark.parametrize(("system", "extra"), [("bing", 0), ("gpt4o-mini", 20)])
def test_translations_join_by_their_source(german: Path, system: str, extra: int) -> None:
    rows = load_corpus("winomt", german, source_lang="de").instances
    found = read_translations(german / "translations" / system / "de-es.txt", rows).noticed
    assert (found["form"], found["missing"], found["duplicates"], found["extra"]) == (
        "pairs",
        0,
        0,
        extra,
    )


@pytest.mark.parametrize(("system", "known"), [("bing", 286), ("gpt4o-mini", 286)])
def test_the_head_is_a_known_translation(german: Path, system: str, known: int) -> None:
    rows = load_corpus("winomt", german, source_lang="de").instances
    given = read_translations(german / "translations" / system / "de-es.txt", rows).translations
    pairs = [
        Pair.from_instance(row, one.text) for row, one in zip(rows, given, strict=True) if one.text
    ]
    texts = SplitTexts(get_language("es"), source_language("de"))
    found = get_aligner("statistical").align(pairs, texts)
    assert sum(bool(a.target) and a.target[0] in a.translations for a in found) == known


# Google's translations of WinoMT: that into one language is taken for the source of that into
# another. Where the one known translation of the entity is the head in both, the head must be the
# one that is found from English.
@pytest.mark.parametrize(("spoken", "lang"), [("es", "fr"), ("ar", "it"), ("de", "he")])
def test_between_any_two_languages_the_head_is_that_from_english(
    winomt: Path, spoken: str, lang: str
) -> None:
    instances = load_corpus("winomt", winomt).instances[::48]
    texts, heads = {}, {}
    for code in (spoken, lang):
        read = read_translations(
            winomt / "translations" / "google" / f"en-{code}.txt", instances, allow_missing=True
        )
        texts[code] = {one.id: one.text or "" for one in read.translations}
        pairs = [Pair.from_instance(row, texts[code][row.id]) for row in instances]
        found = get_aligner("statistical").align(pairs, SplitTexts(get_language(code)))
        heads[code] = {
            a.id: a.target[0] for a in found if a.target and a.translations == a.target[:1]
        }
    both = sorted(heads[spoken].keys() & heads[lang].keys())
    named = [(texts[spoken][id_], heads[spoken][id_]) for id_ in both]
    pairs = [
        Pair(id_, source, texts[lang][id_], head, source[slice(*head)].lower())
        for id_, (source, head) in zip(both, named, strict=True)
    ]
    found = get_aligner("statistical").align(
        pairs, SplitTexts(get_language(lang), source_language(spoken))
    )
    assert len(pairs) > 70
    other = [(a.id, a.target) for a in found if a.target[:1] != (heads[lang][a.id],)]
    assert len(other) <= 1, other


def test_a_sweep_reads_the_same_sources(french: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    given.write_text("".join(f"{row[0]}\n" for row in GERMAN), encoding="utf-8")
    file = tmp_path / "sweep.toml"
    file.write_text(
        "source_lang = 'fr'\nout = 'runs'\nlanguages = ['de']\ndatasets = ['custom']\nstanza_dir = 'mtbias:demo'\n"
        "[data]\ncustom = 'french.tsv'\n[systems]\ngiven = 'given.txt'\n",
        encoding="utf-8",
    )
    sweep = read_sweep(file)
    (cell,) = make_plan(sweep).cells
    request = make_request(sweep, cell, "cpu", here="cpu")
    assert request.corpus.source_lang == "fr"
    assert request.identity(request.system.plan(request.corpus, {}))["source_language"] == "fr"
    with pytest.raises(
        UsageError, match="expected another language than that of the translations, got de for both"
    ):
        check_names(read_sweep(file, ["source_lang=de"]))
