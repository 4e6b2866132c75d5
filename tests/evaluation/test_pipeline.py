"""The order of the stages and the joins between them, with an aligner and an analyser that know
what they are asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from mtbias.align import Aligner, Pair
from mtbias.align.aligners import StatisticalAligner
from mtbias.corpora import Corpus
from mtbias.corpora.human_labels import HumanLabel
from mtbias.errors import DataError, RunFolderError
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure
from mtbias.evaluation.stages import Request, evaluate, evaluate_given
from mtbias.evaluation.validation import validate
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language
from mtbias.reading.known_translations import KnownTranslations
from mtbias.runs.call_records import CallRecord
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import RunFolder
from mtbias.translate.given_translations import GivenSystem, read_translations
from mtbias.types import (
    Alignment,
    Analysis,
    Candidate,
    Gender,
    GenderCall,
    Instance,
    Progress,
    Reason,
    Span,
    Stereotype,
    Token,
    Translation,
    Word,
    quiet,
)

# (id, source, entity, gold, stereotype, translation, its head). The third is translated wrongly,
# the fourth not at all.
ROWS = [
    (
        "a",
        "The cook left because she slept.",
        "cook",
        "female",
        "anti",
        "Die Köchin ging.",
        "Köchin",
    ),
    ("b", "The doctor left because he slept.", "doctor", "male", "pro", "Der Arzt ging.", "Arzt"),
    (
        "c",
        "The teacher left because she slept.",
        "teacher",
        "female",
        "anti",
        "Der Lehrer ging.",
        "Lehrer",
    ),
    ("d", "The guard left because he slept.", "guard", "male", "pro", "", ""),
]
HEADS = {row[0]: row[6] for row in ROWS}


def _span(text: str, word: str) -> Span:
    start = text.index(word)
    return Span(start, start + len(word))


INSTANCES = tuple(
    Instance(
        id_,
        n,
        source,
        _span(source, entity),
        entity,
        Gender(gold),
        Stereotype(stereotype),
        "custom",
        1,
    )
    for n, (id_, source, entity, gold, stereotype, _, _) in enumerate(ROWS)
)
TRANSLATIONS = tuple(
    Translation(row[0], row[5] or None, None if row[5] else "empty") for row in ROWS
)


@dataclass
class KnownHeads(Aligner):
    """An aligner that is told the heads, and remembers what it was asked."""

    heads: dict[str, str] = field(default_factory=lambda: dict(HEADS))
    signature: str = "known/1"
    asked: list[str] = field(default_factory=list)

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        self.asked += [pair.id for pair in pairs]
        return tuple(map(self._alignment, pairs))

    def _alignment(self, pair: Pair) -> Alignment:
        word = self.heads.get(pair.id, "")
        if not word:
            return Alignment(pair.id)
        return Alignment(pair.id, (Candidate((_span(pair.text, word),), "links"),))


@dataclass
class Capitals:
    """An analyser for which words with a capital are nouns; it remembers what it was asked."""

    signature: str = "capitals/1"
    ways: Sequence[str] = ()
    prepared: list[str] = field(default_factory=list)

    def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
        pass

    def abandon(self, texts: Iterable[str] | None = None) -> None:
        pass

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        for text in texts:
            self.prepared.append(text)
            if progress is not None:
                progress(1)

    def analysis(self, text: str) -> Analysis:
        assert text in self.prepared
        tokens = []
        for match in re.finditer(r"\w+|[^\w\s]", text):
            word = match.group()
            upos = (
                "DET" if word.lower() in {"der", "die"} else "NOUN" if word[0].isupper() else "VERB"
            )
            tokens.append(Token(Span(*match.span()), word, (Word(word, None, upos),)))
        return Analysis(text, tuple(tokens))


@pytest.fixture
def german() -> Language:
    return get_language("de")


def _calls(
    measure: GenderMeasure,
    instances: Sequence[Instance],
    translations: Sequence[Translation],
    progress: Progress = quiet,
) -> list[GenderCall]:
    return [record.call for record in measure.judge(instances, translations, progress)]


def test_calls_are_joined_by_id_and_stand_in_the_corpus_order(german: Language) -> None:
    for translations in (TRANSLATIONS, tuple(reversed(TRANSLATIONS))):
        calls = _calls(GenderMeasure(german, KnownHeads(), Capitals()), INSTANCES, translations)
        assert [(c.id, c.gender, c.reason) for c in calls] == [
            ("a", Gender.FEMALE, None),
            ("b", Gender.MALE, None),
            ("c", Gender.MALE, None),
            ("d", None, Reason.UNTRANSLATED),
        ]


def test_what_is_not_translated_reaches_neither_aligner_nor_analyser(german: Language) -> None:
    aligner, analyser = KnownHeads(), Capitals()
    _calls(GenderMeasure(german, aligner, analyser), INSTANCES, TRANSLATIONS)
    assert aligner.asked == ["a", "b", "c"]
    assert analyser.prepared == ["Die Köchin ging.", "Der Arzt ging.", "Der Lehrer ging."]


def test_an_entity_without_words_in_the_translation_has_no_gender(german: Language) -> None:
    (call,) = _calls(
        GenderMeasure(german, KnownHeads(heads={}), Capitals()), INSTANCES[:1], TRANSLATIONS[:1]
    )
    assert (call.gender, call.reason, call.target) == (None, Reason.UNALIGNED, ())


def test_every_distinct_text_is_analysed_once(german: Language) -> None:
    same = "Die Köchin ging."
    analyser = Capitals()
    aligner = KnownHeads(heads=dict.fromkeys("abcd", "Köchin"))
    translations = [Translation(i.id, same) for i in INSTANCES]
    calls = _calls(GenderMeasure(german, aligner, analyser), INSTANCES, translations)
    assert analyser.prepared == [same]
    assert [c.gender for c in calls] == [Gender.FEMALE] * 4


def test_where_aligning_ends_early_the_analyser_is_told(german: Language) -> None:
    class Interrupted(KnownHeads):
        def align(
            self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
        ) -> tuple[Alignment, ...]:
            assert events == ["submit"]  # it works beside
            raise KeyboardInterrupt

    class Remembers(Capitals):
        def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
            events.append("submit")

        def abandon(self, texts: Iterable[str] | None = None) -> None:
            events.append("abandon")

    events: list[str] = []
    measure = GenderMeasure(german, Interrupted(), Remembers())
    with pytest.raises(KeyboardInterrupt):
        _calls(measure, INSTANCES, TRANSLATIONS)
    assert events == ["submit", "abandon"]


def test_pairs_without_a_head_only_help(german: Language) -> None:
    aligner = KnownHeads()
    pairs = [
        Pair("bitext", "She slept.", "Sie schlief.", None, ""),
        Pair.from_instance(INSTANCES[1], "Der Arzt ging."),
    ]
    calls = GenderMeasure(german, aligner, Capitals()).call_pairs(pairs)
    assert [(c.id, c.gender) for c in calls] == [("b", Gender.MALE)]
    assert aligner.asked == ["bitext", "b"]


def test_an_aligner_that_loses_a_pair_is_an_error(german: Language) -> None:
    class Loses(KnownHeads):
        def align(
            self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
        ) -> tuple[Alignment, ...]:
            return super().align(pairs, texts)[1:]

    with pytest.raises(ValueError, match="zip"):
        _calls(GenderMeasure(german, Loses(), Capitals()), INSTANCES, TRANSLATIONS)


def test_every_stage_reports_from_nothing_to_all(german: Language) -> None:
    seen: dict[str, list[tuple[int, int]]] = {}
    _calls(
        GenderMeasure(german, KnownHeads(), Capitals()),
        INSTANCES,
        TRANSLATIONS,
        lambda stage, done, total: seen.setdefault(stage, []).append((done, total)),
    )
    assert list(seen) == ["align", "analyse", "decide"]
    for stages in seen.values():
        assert stages[-1] == (3, 3)
        assert [done for done, _ in stages] == sorted(done for done, _ in stages)


# Scoring


def _request(path: Path, language: Language) -> Request:
    path.mkdir()
    given = path / "mine.tsv"
    given.write_text(
        "id\ttarget\n" + "".join(f"{row[0]}\t{row[5]}\n" for row in ROWS), encoding="utf-8"
    )
    corpus = Corpus(
        "custom",
        path / "own.tsv",
        "0" * 64,
        INSTANCES,
        {"column not used: x": 1},
        files={"own.tsv": "00"},
    )
    translations = read_translations(given, INSTANCES)
    return Request(
        corpus=corpus,
        lang=language.code,
        system=GivenSystem("mine", lambda _: translations),
        measure=GenderMeasure(language, KnownHeads(), Capitals()),
        kind=GENDER_MEASURE,
        n_resamples=20,
    )


def _fingerprint(request: Request) -> str:
    return RunManifest(request.identity(request.system.plan(request.corpus, {}))).fingerprint


def test_the_numbers_of_four_rows(german: Language, tmp_path: Path) -> None:
    metrics = evaluate(_request(tmp_path / "in", german)).metrics
    assert (metrics["n"], metrics["decided"], metrics["reasons"]) == (4, 3, {"untranslated": 1})
    overall = metrics["overall"]
    # a and b are right. Male: called b and c, of which b is right (precision 1/2), gold b and d
    # (recall 1/2), F1 50. Female: called a, right (precision 1), gold a and c (recall 1/2), F1
    # 200/3. Pro: b of b, d; anti: a of a, c.
    assert overall["accuracy"] == 50
    assert overall["accuracy_bounds"] == pytest.approx([50, 200 / 3], abs=1e-6)
    assert overall["f1_male"] == 50
    assert overall["f1_female"] == pytest.approx(200 / 3, abs=1e-6)
    assert overall["delta_g"] == pytest.approx(50 - 200 / 3, abs=1e-6)
    assert overall["delta_s"] == 0


def test_nothing_of_a_run_is_built_twice(
    german: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: Counter[type] = Counter()
    for cls in (KnownTranslations, SplitTexts):

        def counted(
            self: object, *args: object, cls: type = cls, make: Callable[..., None] = cls.__init__
        ) -> None:
            built[cls] += 1
            make(self, *args)

        monkeypatch.setattr(cls, "__init__", counted)
    request = _request(tmp_path / "in", german)
    measure = GenderMeasure(german, StatisticalAligner(), Capitals())
    run = evaluate(replace(request, measure=measure), out=tmp_path / "out")
    assert "unrendered" in run.metrics["alarms"]["shares"]  # the alarms used them
    assert built == {KnownTranslations: 1, SplitTexts: 1}


def test_an_analyser_knows_all_systems_before_the_first_is_judged(
    german: Language, tmp_path: Path
) -> None:
    class Remembers(Capitals):
        def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
            assert whole
            events.append(("submit", tuple(texts)))

        def abandon(self, texts: Iterable[str] | None = None) -> None:
            events.append(("abandon", texts))

        def prepare(
            self, texts: Iterable[str], progress: Callable[[int], object] | None = None
        ) -> None:
            super().prepare(texts := tuple(texts), progress)
            events.append(("prepare", texts))

    events: list[tuple[str, object]] = []
    request = _request(tmp_path / "in", german)
    measure = GenderMeasure(german, KnownHeads(), Remembers())
    translations = [replace(each, text=each.text and f"{each.text} Ja.") for each in TRANSLATIONS]
    assert isinstance(request.system, GivenSystem)
    given = replace(request.system.read(request.corpus), translations=translations)
    requests = [
        (replace(request, measure=measure), tmp_path / "a"),
        (
            replace(request, measure=measure, system=GivenSystem("b", lambda _: given)),
            tmp_path / "b",
        ),
    ]
    a = tuple(each.text for each in TRANSLATIONS if each.text is not None)
    b = tuple(f"{text} Ja." for text in a)
    runs = list(evaluate_given(requests))
    assert [run.path for run in runs] == [tmp_path / "a", tmp_path / "b"]
    files = [("submit", a), ("submit", b)]
    assert events[:2] == files
    assert events[2:6] == [files[0], ("prepare", a), files[1], ("prepare", b)]
    assert events[6:] == [("abandon", None)] * 2

    events.clear()  # they are done: nothing is analysed
    again = list(evaluate_given(requests))
    assert [run.metrics for run in again] == [run.metrics for run in runs]
    assert events == [("abandon", None)] * 2


def test_what_was_noticed_in_the_input_is_in_the_metrics(german: Language, tmp_path: Path) -> None:
    metrics = evaluate(_request(tmp_path / "in", german)).metrics
    assert metrics["corpus"]["name"] == "custom"
    assert (metrics["corpus"]["rows"], metrics["corpus"]["skipped"]) == (4, 0)
    assert metrics["corpus"]["notes"] == {"column not used: x": 1}
    given = metrics["translations"]
    assert (given["form"], given["missing"], given["empty"], given["extra"]) == (
        "table by id",
        0,
        1,
        0,
    )
    assert given["examples"]["empty"] == ["d"]


def test_whatever_changes_results_changes_the_fingerprint(german: Language, tmp_path: Path) -> None:
    request = _request(tmp_path / "in", german)
    measure, corpus = GenderMeasure(german, KnownHeads(), Capitals()), request.corpus
    translations = read_translations(tmp_path / "in" / "mine.tsv", INSTANCES)
    others = [
        replace(request, seed=1),
        replace(request, n_resamples=21),
        replace(request, lang="es"),
        replace(request, system=GivenSystem("yours", lambda _: translations)),
        replace(
            request, system=GivenSystem("mine", lambda _: replace(translations, sha256="1" * 64))
        ),
        replace(request, measure=replace(measure, aligner=KnownHeads(signature="known/2"))),
        replace(request, measure=replace(measure, analyser=Capitals(signature="capitals/2"))),
        replace(request, measure=replace(measure, language=get_language("es"))),
        replace(request, measure=replace(measure, evidence="stanza")),
        replace(request, corpus=replace(corpus, name="winomt")),
        replace(request, corpus=replace(corpus, measure="another")),
        replace(request, corpus=replace(corpus, files={"own.tsv": "01"})),
        replace(request, corpus=replace(corpus, files={"own.tsv": "00", "more.tsv": "00"})),
    ]
    prints = [_fingerprint(each) for each in (request, *others)]
    assert len(set(prints)) == len(prints)
    moved = replace(request, corpus=replace(corpus, path=tmp_path / "elsewhere.tsv"))
    assert _fingerprint(moved) == prints[0]
    # What the first reader's runs were begun with before there was a second one.
    assert list(measure.identity) == ["aligner", "stanza", "plugin"]


class _Never(Capitals):
    """An analyser that must not be asked."""

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        pytest.fail("nothing was to be computed")


def test_a_complete_folder_is_read_and_not_computed_again(german: Language, tmp_path: Path) -> None:
    request = _request(tmp_path / "in", german)
    never = replace(request, measure=GenderMeasure(german, KnownHeads(), _Never()))
    first = evaluate(request, out=tmp_path / "run").metrics
    assert RunFolder(tmp_path / "run").is_complete()
    assert json.loads((tmp_path / "run" / "metrics.json").read_bytes()) == first
    assert evaluate(never, out=tmp_path / "run").metrics == first
    written = (tmp_path / "run" / "metrics.json").read_bytes()
    (tmp_path / "run" / "metrics.json").write_bytes(written.replace(b'"n": ', b'"n": 9', 1))
    assert (
        evaluate(never, out=tmp_path / "run").metrics == first
    )  # computed again from the calls, and written
    assert (tmp_path / "run" / "metrics.json").read_bytes() == written
    (tmp_path / "run" / "metrics.json").write_bytes(written.replace(b'"rows": ', b'"rows": 9', 1))
    with pytest.raises(DataError, match=r"other sentences were counted than calls\.jsonl has"):
        evaluate(never, out=tmp_path / "run")
    (tmp_path / "run" / "metrics.json").write_bytes(written)
    alone = evaluate(request).metrics
    assert {k: v for k, v in first.items() if k not in {"files", "sha256"}} == alone


@pytest.mark.parametrize("name", ["metrics.json", "calls.jsonl", "translations.jsonl"])
def test_a_folder_that_lacks_a_file_is_completed(
    german: Language, tmp_path: Path, name: str
) -> None:
    request = _request(tmp_path / "in", german)
    evaluate(request, out=tmp_path / "run")
    before = {
        p.name: p.read_bytes()
        for p in (tmp_path / "run").glob("*.json*")
        if p.name != "manifest.json"
    }
    (tmp_path / "run" / name).unlink()
    evaluate(request, out=tmp_path / "run")
    assert {
        p.name: p.read_bytes()
        for p in (tmp_path / "run").glob("*.json*")
        if p.name != "manifest.json"
    } == before


def test_metrics_that_were_changed_are_computed_again_with_their_report(
    german: Language, tmp_path: Path
) -> None:
    request, out = _request(tmp_path / "in", german), tmp_path / "run"
    evaluate(request, out=out)
    metrics, report = (out / name for name in ("metrics.json", "report.html"))
    before = metrics.read_bytes(), report.read_bytes()
    metrics.write_bytes(before[0].replace(b'"accuracy": 50.0', b'"accuracy": 10.0', 1))
    assert metrics.read_bytes() != before[0]
    report.write_text("made of those", encoding="utf-8")
    evaluate(request, out=out)
    assert (metrics.read_bytes(), report.read_bytes()) == before


def test_the_folder_of_another_run_is_refused_before_anything_is_computed(
    german: Language, tmp_path: Path
) -> None:
    request = _request(tmp_path / "in", german)
    never = replace(request, measure=GenderMeasure(german, KnownHeads(), _Never()))
    evaluate(request, out=tmp_path / "run")
    with pytest.raises(RunFolderError, match="belongs to another run: seed: 0 here, 1 asked for"):
        evaluate(replace(never, seed=1), out=tmp_path / "run")


def test_the_records_hold_what_was_asked_and_answered(german: Language, tmp_path: Path) -> None:
    evaluate(_request(tmp_path / "in", german), out=tmp_path / "run")
    records = RunFolder(tmp_path / "run").read_calls(CallRecord.from_line)
    assert [(r.id, r.row, r.source, r.translation, r.gold, r.stereotype) for r in records] == [
        (row[0], n, row[1], row[5] or None, row[3], row[4]) for n, row in enumerate(ROWS)
    ]
    assert [r.translation[slice(*r.call.target[0])] for r in records[:3] if r.translation] == [
        "Köchin",
        "Arzt",
        "Lehrer",
    ]
    assert tuple(RunFolder(tmp_path / "run").read_translations()) == TRANSLATIONS


# Validation

LABELS = tuple(
    HumanLabel(
        row[0], n, "S", row[1], row[5], label, _span(row[1], row[2]), row[2], basis, target_head
    )
    for n, (row, label, basis, target_head) in enumerate(
        [
            (ROWS[0], "f", "N", Span(4, 10)),  # Köchin
            (ROWS[1], "m", "D", Span(9, 14)),  # not Arzt but "ging."
            (ROWS[2], "f", "P", None),
        ],
        start=2,
    )
)


def test_agreement_with_three_labels(german: Language) -> None:
    aligner = KnownHeads()
    result = validate(
        LABELS, [("She slept.", "Sie schlief.")], GenderMeasure(german, aligner, Capitals())
    )
    assert aligner.asked == ["a", "b", "c", "bitext-0"]
    found = result.to_json()
    # Labels f m f, calls f m m. Chance: 2/3 · 1/3 + 1/3 · 2/3 = 4/9, so κ = (2/3 − 4/9) / (5/9) =
    # 0.4. Recall 1/2 of the feminine and 1 of the masculine.
    assert (found["lang"], found["n"], found["undecided"]) == ("de", 3, 0)
    assert found["agreement"] == pytest.approx(200 / 3, abs=1e-6)
    assert found["kappa"] == pytest.approx(40)
    assert found["balanced_accuracy"] == pytest.approx(75)
    assert (found["head_n"], found["head_exact"]) == (2, 50)
    assert found["by_basis"] == {
        "N": {"n": 1, "agreement": 100},
        "D": {"n": 1, "agreement": 100},
        "P": {"n": 1, "agreement": 0},
    }
    assert result.signature.startswith(
        "lang:de|labels:3|bitext:1|aligner:known/1|stanza:capitals/1|plugin:de/"
    )


def test_disagreements_are_the_wrong_calls_and_the_wrong_heads(german: Language) -> None:
    second, third = validate(
        LABELS, [], GenderMeasure(german, KnownHeads(), Capitals())
    ).differing_json()
    assert (second["line"], second["system"], second["basis"]) == (3, "S", "D")
    assert (second["label"], second["label_head"], second["called"], second["target"]) == (
        "male", "ging.", "male", ["Arzt"],
    )  # fmt: skip
    assert (third["line"], third["source"]) == (4, "The teacher left because she slept.")
    assert (third["label"], third["label_head"], third["called"], third["target"][0]) == (
        "female", None, "male", "Lehrer",
    )  # fmt: skip


def test_an_undecided_row_disagrees(german: Language) -> None:
    found = validate(
        LABELS[:1], [], GenderMeasure(german, KnownHeads(heads={}), Capitals())
    ).to_json()
    assert (found["agreement"], found["undecided"], found["head_exact"]) == (0, 100, 0)
