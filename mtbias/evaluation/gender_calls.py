"""The gender of an entity by morphology, as a measure: align → analyse → decide, one call for each
sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mtbias.align import Aligner, Pair, get_aligner
from mtbias.corpora import cache_folder
from mtbias.demo import STANZA_NAME, stanza_folder_of_demo
from mtbias.entry_points import package_of
from mtbias.errors import MissingResourceError
from mtbias.files.kept_results import NOTHING_KEPT, KeptResults
from mtbias.files.reading import sha256_of
from mtbias.files.strict_json import decoded, encoded
from mtbias.language.definition import Language
from mtbias.language.installed import GROUP as LANGUAGES
from mtbias.language.installed import get_language
from mtbias.language.source import ENGLISH, SourceLanguage, source_language
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import require_device
from mtbias.morphology import (
    Analyser,
    AnalysisCache,
    StanzaAnalyser,
    StanzaPackage,
    find_package,
    stanza_folder,
)
from mtbias.morphology.stanza_models import download
from mtbias.reading import FEATURES, decide, read_features, with_features
from mtbias.reading.rules import as_declared
from mtbias.reading.syntax import GROUP as FAMILIES
from mtbias.runs.call_records import CallRecord, join_records
from mtbias.scoring.bias import GENDER_COUNTING, UNKNOWN_GENDER
from mtbias.scoring.counting import Counting
from mtbias.scoring.measure import Measure, MeasureKind, MeasureOptions
from mtbias.scoring.scores import Scores, score
from mtbias.settings import EvidenceReader
from mtbias.translate.text_language import CopiedRun, copied_runs
from mtbias.types import (
    Alignment,
    Analysis,
    GenderCall,
    Instance,
    Json,
    JsonObject,
    Progress,
    Reason,
    Span,
    Translation,
    frozen,
    quiet,
)


class GenderKind(MeasureKind):
    """The measure of WinoMT, BUG and one's own sentences (`mtbias.scoring.measure.MeasureKind`)."""

    counting = GENDER_COUNTING
    uses = frozenset({"aligner", "evidence"})
    needs_stanza = True
    reads_entities = True

    def open(self, options: MeasureOptions) -> GenderMeasure:
        """See `mtbias.scoring.measure.MeasureKind`.

        Raises:
            UsageError: an unknown language, aligner or device.
            DependencyError: the aligner is not installed.
            MissingResourceError: the aligner's or Stanza's models are not there and may not be
                downloaded.
            ModelError: the aligner's model is not an encoder.
        """
        language, aligner = get_language(options.lang), make_aligner(options)
        _ = (
            aligner.signature
        )  # one that is not installed is refused before Stanza's models are downloaded
        if options.device is not None:
            require_device(
                options.device
            )  # also where the cache has all analyses, and nothing would load a model
        return GenderMeasure(
            language,
            aligner,
            make_analyser(options),
            options.settings.evidence,
            source_language(options.source_lang),
            make_results(options, language),
        )

    def read(self, line: bytes) -> CallRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return CallRecord.from_line(line)

    def score(self, records: Sequence[CallRecord], *, n_resamples: int, seed: int) -> Scores:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return score(records, n_resamples=n_resamples, seed=seed)

    def counting_of(self, metrics: JsonObject) -> Counting:
        """See `mtbias.scoring.measure.MeasureKind`; a corpus without known genders has others."""
        axes = metrics.get("confusion_axes") or {}
        return UNKNOWN_GENDER if axes.keys() == UNKNOWN_GENDER.axes.keys() else self.counting


GENDER_MEASURE = GenderKind()


class AnalysedTexts(Measure):
    """The part of a `mtbias.scoring.measure.Measure` that deals with its analyser; the measure has
    both as fields.
    """

    language: Language
    analyser: Analyser

    @property
    def identity(self) -> Mapping[str, Json]:
        """Stanza with the hashes of its models, and language plugin."""
        return {
            "stanza": self.analyser.signature,
            "plugin": f"{self.language.code}/{self.language.version}",
        }

    @property
    def execution(self) -> Mapping[str, Json]:
        """How new texts went through Stanza: the numbers do not depend on it, the hours do."""
        return {"analysed_by": list(self.analyser.ways)}

    def hint(self, texts: Iterable[str]) -> None:
        """Let the analyser's other processes begin."""
        self.analyser.submit(texts)

    def expect(self, texts: Iterable[str]) -> None:
        """Let the analyser's other processes begin, where that is worth while."""
        self.analyser.submit(texts, whole=True)

    def abandon(self) -> None:
        """End them: the translations will not be judged."""
        self.analyser.abandon()

    def analyse(self, texts: Iterable[str], progress: Progress) -> Iterable[str]:
        """Analyse each distinct text; gives these, in their order."""
        distinct = dict.fromkeys(texts)
        done = 0

        def count(n: int) -> None:
            nonlocal done
            done += n
            progress("analyse", done, len(distinct))

        count(0)
        self.analyser.prepare(distinct, count)
        progress("analyse", len(distinct), len(distinct))  # those that the cache had, too
        return distinct


class GenderRecords(list[CallRecord]):
    """The records of a corpus, with the words of its translations for the alarms, which read them
    again.
    """

    def __init__(
        self, records: Iterable[CallRecord], words: SplitTexts, results: KeptResults
    ) -> None:
        """The records, what split their translations, and where the alarms keep what they found."""
        super().__init__(records)
        self.words, self.results = words, results


@frozen
class TranslatedPart:
    """The part of a translation that is translated: without source words that were left in it.

    English nouns can look like nouns of the target language, and masculine ones: *the patient was…*
    is not the German *Patient*.
    """

    pair: Pair
    """With blanks for the words that were left, so that all others stay in their places."""
    runs: Sequence[CopiedRun]

    def only(self, analysis: Analysis) -> Analysis:
        """The morphology of this part alone."""
        if not self.runs:
            return analysis
        spans = [run.span for run in self.runs]
        tokens = (token for token in analysis.tokens if not any(map(token.span.overlaps, spans)))
        return Analysis(self.pair.text, tuple(tokens))

    def without_copy(self, call: GenderCall, head: Span) -> GenderCall:
        """The call; where nothing renders the entity and its head, at `head` in the source, was
        left, the reason is that.
        """
        if call.reason not in (Reason.UNALIGNED, Reason.NO_PERSON):
            return call
        for run in self.runs:
            for ours, theirs in run.words:
                if ours.overlaps(head):
                    return GenderCall(call.id, None, Reason.COPIED, (theirs,))
        return call


def translated_part(pair: Pair) -> TranslatedPart:
    """The part of a sentence pair that is not copied from the source."""
    runs = copied_runs(pair.source, pair.text)
    text = pair.text
    for run in runs:
        start, end = run.span
        text = text[:start] + " " * (end - start) + text[end:]
    return TranslatedPart(pair._replace(text=text), runs)


@frozen
class ReadPair:
    """A sentence pair with what was found in its translation."""

    pair: Pair
    alignment: Alignment
    analysis: Analysis
    """Of what of it is translated."""
    call: GenderCall


@dataclass(frozen=True)
class GenderMeasure(AnalysedTexts):
    """What reads genders in one language (`mtbias.scoring.measure.Measure`)."""

    language: Language
    aligner: Aligner
    analyser: Analyser
    evidence: EvidenceReader = "tables"
    source: SourceLanguage = ENGLISH
    results: KeptResults = NOTHING_KEPT
    """Where calls are kept that were made once."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """Aligner, Stanza with the hashes of its models, and language plugin; the reader, where it
        is not the first; by which table entities of another source than English are known.
        """
        other: dict[str, Json] = {} if self.evidence == "tables" else {"evidence": FEATURES}
        if self.source is not ENGLISH:
            other["source_plugin"] = self.source.signature
        return {"aligner": self.aligner.signature, **other, **super().identity}

    @property
    def execution(self) -> Mapping[str, Json]:
        """How new texts went through Stanza, and what the aligner's encoder was asked."""
        return {**super().execution, **self.aligner.execution}

    def judge(
        self,
        instances: Sequence[Instance],
        translations: Sequence[Translation],
        progress: Progress = quiet,
    ) -> list[CallRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        words = SplitTexts(self.language, self.source)
        texts = {translation.id: translation.text for translation in translations}
        pairs = [
            Pair.from_instance(instance, text)
            for instance in instances
            if (text := texts[instance.id]) is not None
        ]
        called = {call.id: call for call in self._kept_calls(pairs, progress, words)}
        calls = (called.get(i.id) or GenderCall(i.id, None, Reason.UNTRANSLATED) for i in instances)
        records = join_records(instances, translations, calls)
        return GenderRecords(records, words, self.results)

    def _kept_calls(
        self, pairs: Sequence[Pair], progress: Progress, words: SplitTexts
    ) -> Sequence[GenderCall]:
        """`call_pairs`, made once for the same pairs, models and code."""
        if not (self.aligner.repeatable and as_declared()):
            return self.call_pairs(pairs, progress, words)
        inputs = [dict(self.identity), pairs]
        stored = self.results.get("calls", inputs)
        if stored is not None:
            self.analyser.abandon(pair.text for pair in pairs)
            for stage in ("align", "analyse", "decide"):
                progress(stage, 0, len(pairs))
                progress(stage, len(pairs), len(pairs))
            return decoded(list[GenderCall], stored)
        calls = self.call_pairs(pairs, progress, words)
        self.results.keep("calls", inputs, encoded(list[GenderCall], list(calls)))
        return calls

    def call_pairs(
        self, pairs: Sequence[Pair], progress: Progress = quiet, words: SplitTexts | None = None
    ) -> tuple[GenderCall, ...]:
        """One call for each of `pairs` that has a head; the others only help alignment.

        The aligner sees the whole corpus at once, since it learns from it.
        """
        texts = words or SplitTexts(self.language, self.source)
        read = with_features if self.evidence == "tables" else read_features
        return tuple(
            read(each.call, each.analysis, self.language)
            for each in self.read_pairs(pairs, texts, progress)
        )

    def read_pairs(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> Iterator[ReadPair]:
        """Each of `pairs` that has a head with its alignment, its morphology and the call that the
        tables make; the others only help alignment.
        """
        total = len(pairs)
        progress("align", 0, total)
        self.expect(pair.text for pair in pairs)
        translated = [translated_part(pair) for pair in pairs]
        try:
            alignments = self.aligner.align([part.pair for part in translated], texts, progress)
        except BaseException:
            self.abandon()
            raise
        progress("align", total, total)
        self.analyse((pair.text for pair in pairs), progress)
        rows = zip(pairs, translated, alignments, strict=True)
        for done, (pair, part, alignment) in enumerate(rows, 1):
            if pair.head is not None:
                analysis = part.only(self.analyser.analysis(pair.text))
                call = part.without_copy(decide(alignment, analysis, texts), pair.head)
                yield ReadPair(pair, alignment, analysis, call)
            if done % 1000 == 0 or done == total:
                progress("decide", done, total)


def make_aligner(options: MeasureOptions) -> Aligner:
    """The aligner of the settings; an encoder that is not here is downloaded, where that is
    allowed.

    Raises:
        UsageError: an unknown aligner, encoder or layer.
        MissingResourceError: the encoder is not here and may not be downloaded.
        ModelError: it is not an encoder.
    """
    settings = options.settings
    if "neural" not in settings.aligner:
        return get_aligner(settings.aligner)
    from mtbias.align.neural_aligner import NeuralAligner, locate_encoder
    from mtbias.align.second_opinion import SecondOpinion

    cache = cache_folder(settings.cache_dir)
    try:
        encoder = locate_encoder(settings.aligner_model, options.lang, cache=cache, fetch=False)
    except MissingResourceError:
        if options.fetch is None:
            raise
        options.fetch("downloading the aligner's encoder")
        encoder = locate_encoder(settings.aligner_model, options.lang, cache=cache)
    neural = NeuralAligner(encoder, layer=settings.aligner_layer, device=options.device)
    return neural if settings.aligner == "neural" else SecondOpinion(neural)


def make_analyser(options: MeasureOptions) -> StanzaAnalyser:
    """Stanza for a language, with the cache of its package.

    Raises:
        MissingResourceError: the models are not there and may not be downloaded.
    """
    settings = options.settings
    package = stanza_package(options)
    name = sha256_of(package.analyses_signature)[:12]
    path = cache_folder(settings.cache_dir) / "analyses" / f"{options.lang}-{name}.sqlite"
    return StanzaAnalyser(
        package, AnalysisCache(path), device=options.device, processes=settings.processes
    )


def make_results(options: MeasureOptions, language: Language) -> KeptResults:
    """Where the calls and alarms of a language are kept: the folder ``results`` of the cache."""
    plugins = {
        package_of(LANGUAGES, language.code),
        package_of(FAMILIES, language.family),
        package_of(LANGUAGES, options.source_lang),
    }
    folder = cache_folder(options.settings.cache_dir) / "results"
    return KeptResults(folder, [plugin for plugin in plugins if plugin is not None])


def stanza_package(options: MeasureOptions) -> StanzaPackage:
    """Stanza's models for a language, downloaded where they are missing and may be.

    Raises:
        MissingResourceError: they are not there and may not be downloaded.
    """
    code, stanza_dir = options.lang, options.settings.stanza_dir
    if str(stanza_dir) == STANZA_NAME or (stanza_dir is None and options.demo):
        return find_package(code, stanza_folder_of_demo())
    folder = stanza_folder(stanza_dir, cache_folder(options.settings.cache_dir))
    try:
        return find_package(code, folder)
    except MissingResourceError:
        if options.fetch is None:
            raise
        options.fetch(f"downloading Stanza's models for {code}")
        return download(code, folder)
