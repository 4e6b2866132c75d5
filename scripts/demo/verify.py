"""The evaluator against the grammar: the demo's translations and the correct ones have genders that
are known. The demo's are those of its own model, and in Portuguese of Firefox's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mtbias.corpora import load_corpus
from mtbias.demo import STANZA_NAME, model_folder_of_demo
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.evaluation.stages import Request, evaluate
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings, TranslationSettings
from mtbias.translate.firefox.firefox_system import FIREFOX_KIND
from mtbias.translate.given_translations import given_file
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.system import System, SystemRequest
from scripts.demo.corpus import corpus
from scripts.demo.grammar import GENDERS, LANGUAGES, Choice, Grammar


@dataclass(frozen=True)
class Verified:
    """What came out in one language."""

    language: str
    known: int
    """Translations whose gender the grammar knows (`known_gender`)."""
    agreed: int
    """Of those, called with that gender."""
    wrong: tuple[str, ...]
    """The others: translation and call."""
    references_agreed: int
    """Correct translations called with the gender that they have."""
    references: int
    metrics: Mapping[str, Any]
    """Of the translations."""

    def line(self) -> str:
        """All of it in a line."""
        overall = self.metrics["overall"]
        low_g, high_g = overall["ci"]["delta_g"]
        low_s, high_s = overall["ci"]["delta_s"]
        return (
            f"{self.language}: accuracy {overall['accuracy']:.1f}, ΔG {overall['delta_g']:.1f} "
            f"[{low_g:.1f}, {high_g:.1f}], ΔS {overall['delta_s']:.1f} [{low_s:.1f}, {high_s:.1f}]; evaluator "
            f"right on {self.agreed} of {self.known} translations of known gender ({self.agreed / self.known:.2%}), on "
            f"{self.references_agreed} of {self.references} correct ones"
        )


def known_gender(grammar: Grammar, choice: Choice, text: str) -> str | None:
    """The gender of the entity in a translation: whose form of the noun stands in it; None where
    none does.

    Where both genders have the same noun, it is taken with its articles and adjectives.
    """
    padded = f" {text.lower()} "
    found = [gender for gender in GENDERS if _phrase(grammar, choice, gender) in padded]
    if (
        len(found) == 2
    ):  # the one contains the other (it "infermiera", he "טייסת" hold their masculines)
        found = [max(found, key=lambda gender: len(_phrase(grammar, choice, gender)))]
    return found[0] if len(found) == 1 else None


def _phrase(grammar: Grammar, choice: Choice, gender: str) -> str:
    said = grammar.say(choice, gender)
    other = grammar.say(choice, GENDERS[1 - GENDERS.index(gender)])
    place = said.tokens.index(said.head)
    start, end = place, place + 1
    if (
        said.head.text.lower() == other.head.text.lower()
    ):  # the noun is the same: what agrees with it tells
        while start and {w.upos for w in said.tokens[start - 1].words} <= {"DET", "ADJ", "ADP"}:
            start -= 1
        while end < len(said.tokens) and said.tokens[end].words[-1].upos == "ADJ":
            end += 1
    text = said.text[said.tokens[start].start : said.tokens[end - 1].end]
    return text.lower()


def verify(language: str) -> Verified:
    """Evaluate the demo's translations and the correct ones in one language, with the demo's own
    Stanza.

    Raises:
        MtbiasError: of Portuguese, that Firefox's model is not installed.
    """
    rows, grammar = corpus(), Grammar.load(language)
    with TemporaryDirectory() as name:
        folder = Path(name)
        settings = EvaluatorSettings(stanza_dir=Path(STANZA_NAME), cache_dir=folder)
        measure = GENDER_MEASURE.open(
            MeasureOptions(lang=language, settings=settings, device="cpu")
        )
        common: dict[str, Any] = {"corpus": load_corpus("demo", None), "lang": language}
        common |= {"measure": measure, "kind": GENDER_MEASURE}
        run = evaluate(Request(system=_system(language, folder), **common))
        known = agreed = 0
        wrong = []
        for row, record in zip(rows, run.calls, strict=True):
            gender = known_gender(grammar, row.choice, record.translation or "")
            known += gender is not None
            agreed += gender is not None and record.call.gender == gender
            if gender is not None and record.call.gender != gender:
                wrong.append(
                    f"{record.translation} | {gender} | {record.call.gender or record.call.reason}"
                )
        correct = folder / "correct.tsv"
        lines = [f"{row.id}\t{grammar.say(row.choice, row.gender).text}\n" for row in rows]
        correct.write_text("id\ttarget\n" + "".join(lines), encoding="utf-8")
        calls = evaluate(Request(system=given_file(correct, name="correct"), **common)).calls
        right = sum(
            record.call.gender == row.gender for row, record in zip(rows, calls, strict=True)
        )
    return Verified(language, known, agreed, tuple(wrong), right, len(rows), run.metrics)


def _system(language: str, cache: Path) -> System:
    """What translates the demo into a language."""
    settings = TranslationSettings()
    if language in LANGUAGES:
        checkpoint = Checkpoint("demo", "", model_folder_of_demo())
        return CheckpointSystem(checkpoint, language, settings, cache=cache, device="cpu")
    asked = SystemRequest(
        name=f"en-{language}",
        lang=language,
        settings=settings,
        device="cpu",
        cache=cache,
        offline=True,
    )
    return FIREFOX_KIND.open(asked)
