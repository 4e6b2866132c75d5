"""What fewer bits cost on trained weights: how many of the demo's translations and calls of gender change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from mtbias.corpora import Corpus, load_corpus
from mtbias.demo import STANZA_NAME, demo_file, model_folder_of_demo
from mtbias.errors import MissingResourceError, UsageError
from mtbias.settings import Engine, EvaluatorSettings, TranslationSettings
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.system import MemoryStore, Translated
from mtbias.types import Gender, Instance, Translation

CT2: tuple[tuple[Engine, str], ...] = (("ct2", "float32"), ("ct2", "int8"))
REFERENCE: tuple[Engine, str] = ("transformers", "float32")


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
    corpus = replace(corpus, instances=corpus.instances[:sentences])
    others: list[tuple[Engine, str]] = [
        ("transformers", "bfloat16"),
        *(CT2 if ct2 else ()),
    ]
    for lang in languages:
        with TemporaryDirectory() as name:
            cache = Path(name)
            said = {one: _translate(one, lang, corpus, device, cache) for one in (REFERENCE, *others)}
            called = _calls(said, lang, corpus, cache)
        for one in others:
            yield Price(
                lang,
                *one,
                len(corpus.instances),
                _differ(said[REFERENCE], said[one]),
                None if called is None else _differ(called[REFERENCE], called[one]),
            )


def demo_languages() -> list[str]:
    """The languages that the demo's model writes."""
    return sorted(path.stem for path in (demo_file().parent / "references").glob("*.tsv"))


def _differ(these: Sequence[object], those: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(these, those, strict=True))


def _translate(
    one: tuple[Engine, str], lang: str, corpus: Corpus[Instance], device: str, cache: Path
) -> Sequence[Translation]:
    engine, dtype = one
    checkpoint = Checkpoint("demo", "", model_folder_of_demo())
    settings = TranslationSettings(engine=engine, dtype=dtype)
    plan = CheckpointSystem(checkpoint, lang, settings, cache=cache, device=device).plan(corpus, {})
    store = MemoryStore()
    plan.translate(store, range(len(plan.sizes)), lambda _done, _total: None)
    found = plan.collect(store)
    assert isinstance(found, Translated)  # all parts were translated just now
    return found.translations


def _calls(
    said: Mapping[tuple[Engine, str], Sequence[Translation]], lang: str, corpus: Corpus[Instance], cache: Path
) -> dict[tuple[Engine, str], list[Gender | None]] | None:
    """The calls for every set of translations; None where Stanza or its models for the language are not here."""
    if find_spec("stanza") is None:
        return None
    from mtbias.evaluation.gender_calls import GENDER
    from mtbias.metrics.measure import Wanted

    settings = EvaluatorSettings(stanza_dir=Path(STANZA_NAME), cache_dir=cache)
    try:
        measure = GENDER.open(Wanted(lang=lang, settings=settings, device="cpu"))
    except (MissingResourceError, UsageError):
        return None
    return {
        one: [call.gender for call in measure.call_instances(corpus.instances, translations)]
        for one, translations in said.items()
    }
