"""How the call on a sentence came about, as far as a run records it: what pages show folded below
the sentence.

`calls.jsonl` has the word that was read with the reason for taking it, each piece of evidence with
its rule, and what Stanza's features alone show. The other candidates, the words as tables and
tagger read them, and the rules that were tried are computed again by ``mtbias explain``, whose
command is shown last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from shlex import quote

from mtbias.demo import STANZA_NAME
from mtbias.reading import says
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import FinishedRun
from mtbias.types import Evidence, GenderCall, Reason, Trust, frozen

WHY: Mapping[str, str] = {
    Reason.UNTRANSLATED: "there is no translation",
    Reason.UNALIGNED: "no word of the translation was found that renders the entity",
    Reason.NO_MORPHOLOGY: "the phrase shows no gender",
    Reason.NO_PERSON: "nothing says that the noun names a person",
    Reason.COPIED: "the entity is in words of the source that were left untranslated",
    Reason.AMBIGUOUS: "the evidence contradicts itself",
}
"""Why a sentence has no call."""

SOURCES: Mapping[str, str] = {
    "lexicon": "the table of nouns",
    "form": "the table of forms",
    "tagger": "the tagger",
    "stanza": "Stanza's features",
    "alignment": "the alignment",
}
"""`Evidence.source` → who says so."""

_BASIS = {
    "links": "linked to the entity by the aligner",
    "links+lexicon": "linked to the entity by the aligner, and a translation of it",
    "lexicon": "a translation of the entity",
    "derived": "derived from a translation of the entity",
    "elimination": "the only word that nothing else in the source explains",
}
"""`Candidate.basis` → why the aligner's word was taken."""
_TRUST = {
    Trust.PERSON_LEFT: "a noun for people that nothing else in the source explains; "
    "what was aligned is not a noun",
    Trust.WORD_LEFT: "a word that nothing else in the source explains; what was aligned is unknown",
    Trust.ONLY_PERSON: "the only noun for people that translates nothing else in the source; "
    "what was aligned names nobody",
    Trust.IN_COMPOUND: "the beginning of a compound",
}
"""Why a word was taken that is not the aligner's."""

_NEURAL = re.compile(r"neural\((.*)@([^@]*),(\d+)\)$")
"""The encoder in the signature of an aligner: model, revision, layer."""


@frozen
class PieceOfEvidence:
    """A piece of evidence as the fold below a sentence shows it."""

    kind: str
    word: str
    gender: str
    """What it says; ``silent`` where it shows no gender."""
    says: str
    """The rule in words, with what the word shows; empty where the gender is all."""
    source: str
    rule: str


def piece_of_evidence(evidence: Evidence) -> PieceOfEvidence:
    """A piece of evidence in words."""
    source = SOURCES.get(evidence.source, evidence.source)
    gender = evidence.gender or "silent"
    return PieceOfEvidence(
        evidence.kind, evidence.word, gender, says(evidence), source, evidence.rule
    )


def why_taken(call: GenderCall) -> tuple[str, str]:
    """Why the aligned word is taken to render the entity: in words, and as `calls.jsonl` has it.

    Edge cases: both are empty where no word was read.
    """
    if call.reason is Reason.COPIED:
        return "a word of the source", ""
    if call.basis is None or call.trust is None:
        return "", ""
    words = _TRUST.get(call.trust, _BASIS.get(call.basis, ""))
    return words, f"{call.trust}, {call.basis}"


def word_read(record: CallRecord) -> str:
    """The word that was taken to render the entity; empty if there is none."""
    target = record.call.target
    return (record.translation or "")[slice(*target[0])] if target else ""


def shell_word(text: str) -> str:
    r"""The text as a shell takes it for one word; what a page cannot show is written as bash reads
    it, ``$'\xe4'``.
    """
    if text.isprintable():
        return quote(text)
    escaped = ""
    for byte in os.fsencode(text):
        plain = chr(byte).isprintable() and byte < 0x7F and chr(byte) not in "\\'"
        escaped += chr(byte) if plain else f"\\x{byte:02x}"
    return f"$'{escaped}'"


def explain_command(run: FinishedRun) -> str:
    """``mtbias explain RUN`` with the options of the run's evaluator, before the id of a sentence;
    empty for a run without a folder.

    A run does not record where Stanza's models are, unless they are the demo's.
    """
    if run.path is None:
        return ""
    words = ["mtbias", "explain", *_evaluator_options(run), shell_word(str(run.path))]
    return " ".join(words)


def _evaluator_options(run: FinishedRun) -> list[str]:
    """What the run set of aligner, evidence and Stanza's models, where it is not the default."""
    aligner, stanza = (str(run.evaluator.get(name) or "") for name in ("aligner", "stanza"))
    options = []
    encoder = _NEURAL.search(aligner)
    if encoder is not None:
        name = "statistical+neural" if aligner.partition("neural(")[0] else "neural"
        # The signature has the commit of a hub's model, and the hash of the files of a folder.
        model, revision, layer = encoder.groups()
        if not revision.startswith("sha256:"):
            model = f"{model}@{revision}"
        options += ["--aligner", name, "--aligner-model", shell_word(model)]
        options += ["--aligner-layer", layer]
    elif aligner.startswith("eflomal"):
        options += ["--aligner", "eflomal"]
    if "evidence" in run.evaluator:
        options += ["--evidence", "stanza"]
    if "=demo:" in stanza:
        options += ["--stanza-dir", STANZA_NAME]
    return options
