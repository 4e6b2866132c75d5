"""What fewer bits cost on trained weights: how many of the demo's translations and calls of gender change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from mtbias.corpora import Corpus, load_corpus
from mtbias.demo import demo_file, model_folder_of_demo, stanza_folder_of_demo
from mtbias.errors import MissingResourceError, UsageError
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.generation import Memory
from mtbias.translate.seq2seq.translator import Settings, Translator
from mtbias.types import Gender, Translation

REFERENCE = ("transformers", "float32")


@dataclass(frozen=True, slots=True)
class Price:
    """One engine and number type in one language, against `REFERENCE`."""

    lang: str
    engine: str
    dtype: str
    sentences: int
    translations: int
    """Translations that differ."""
    calls: int | None
    """Calls of gender that differ, no call being a call of its own; None without Stanza."""

    def line(self) -> str:
        """A row of the Markdown table."""
        calls = "–" if self.calls is None else f"{100 * self.calls / self.sentences:.1f}"
        share = 100 * self.translations / self.sentences
        return f"| {self.lang} | {self.engine} {self.dtype} | {share:.1f} | {calls} |"


HEADER = "| language | engine | translations that change, % | calls of gender that change, % |\n|---|---|---|---|"


def prices(languages: Sequence[str], *, ct2: bool, device: str, sentences: int | None = None) -> Iterator[Price]:
    """Translate the demo's corpus (the first `sentences`) in fp32 and in fewer bits, language by language."""
    corpus = load_corpus("demo", None)
    sources = [instance.source for instance in corpus.instances][:sentences]
    others = [("transformers", "bfloat16"), *([("ct2", "float32"), ("ct2", "int8")] if ct2 else [])]
    for lang in languages:
        with TemporaryDirectory() as name:
            cache = Path(name)
            said = {one: _translate(one, lang, sources, device, cache) for one in (REFERENCE, *others)}
            called = _calls(said, lang, corpus, cache)
        for one in others:
            yield Price(
                lang,
                *one,
                len(sources),
                _differ(said[REFERENCE], said[one]),
                None if called is None else _differ(called[REFERENCE], called[one]),
            )


def demo_languages() -> list[str]:
    """The languages that the demo's model writes."""
    return sorted(path.stem for path in (demo_file().parent / "references").glob("*.tsv"))


def _differ(these: Sequence[object], those: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(these, those, strict=True))


def _translate(one: tuple[str, str], lang: str, sources: Sequence[str], device: str, cache: Path) -> list[str]:
    engine, dtype = one
    translator = Translator(
        Checkpoint("demo", "", model_folder_of_demo()),
        lang,
        Settings(engine=engine, dtype=dtype, device=device),
        cache=cache,
    )
    outputs, _ = translator.translate(translator.prepare(sources), Memory(), lambda _done, _total: None)
    return [output.text for output in outputs]


def _calls(
    said: Mapping[tuple[str, str], Sequence[str]], lang: str, corpus: Corpus, cache: Path
) -> dict[tuple[str, str], list[Gender | None]] | None:
    """The calls for every set of translations; None where Stanza or its models for the language are not here."""
    if find_spec("stanza") is None:
        return None
    from mtbias.align import get_aligner
    from mtbias.evaluation.stages import call_genders
    from mtbias.language.installed import get_language
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package

    try:
        package, language = find_package(lang, stanza_folder_of_demo()), get_language(lang)
    except (MissingResourceError, UsageError):
        return None
    analyser = StanzaAnalyser(package, AnalysisCache(cache / "analyses.sqlite"), device="cpu")
    calls = {}
    for one, texts in said.items():
        instances = corpus.instances[: len(texts)]
        translations = [
            Translation(i.id, text) if text else Translation(i.id, None, "empty")
            for i, text in zip(instances, texts, strict=True)
        ]
        found = call_genders(instances, translations, language, get_aligner("statistical"), analyser)
        calls[one] = [call.gender for call in found]
    return calls
