"""How one call came about: the candidates, the words as tables and tagger read them, the rules that
were asked, and the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten

from mtbias.corpora import entity_place
from mtbias.corpora.own_sentences import custom_corpus
from mtbias.errors import DataError, SettingError
from mtbias.evaluation.gender_calls import GenderMeasure, TranslatedPart, translated_part
from mtbias.evaluation.person_calls import WHOLE_PERSON_NAME, PersonKind
from mtbias.language.definition import Language
from mtbias.language.source import SourceLanguage
from mtbias.language.split_texts import SplitTexts
from mtbias.reading import decide, read_features, with_features
from mtbias.reading.agreement import listed
from mtbias.reading.policy import Decision, PolicyLine
from mtbias.reading.rules import RULES, listening, says
from mtbias.reading.sentence_pair import Pair
from mtbias.reading.words import SentenceWord, sentence_words
from mtbias.report.person_list import chain_text
from mtbias.report.tables import aligned, printable
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.measure import MeasureOptions, find_measure
from mtbias.scoring.whole_person import PersonRecord
from mtbias.types import Alignment, Analysis, GenderCall, Instance, Word, frozen

_NONE = "  none"
_WIDTH = 70


@frozen
class Explanation:
    """One call, and what it rests on."""

    pair: Pair
    alignment: Alignment
    words: Sequence[SentenceWord]
    rules: Sequence[tuple[str, str]]
    """Names of the rules that held, with what they answered, in the order in which they were
    asked."""
    policy: PolicyLine | None
    """The line of the policy that made the call; None where no noun phrase did."""
    call: GenderCall
    language: Language
    other_call: str = ""
    """What the run has, where its call is another."""

    def text(self) -> str:
        """For a terminal, ending in a newline."""
        blocks = [
            f"{self.pair.source}\n{self.pair.text}",
            self._candidates(),
            self._words(),
            self._rules(),
            self._call(),
        ]
        lines = "\n\n".join(blocks).split("\n")
        return "".join(f"{printable(line)}\n" for line in lines)

    def _candidates(self) -> str:
        rows = []
        for candidate in self.alignment.candidates:
            target = " … ".join(self.pair.text[slice(*span)] for span in candidate.target)
            known = candidate.target[0] in self.alignment.translations
            facts = [candidate.basis, *(["a known translation"] if known else [])]
            facts += [f"meant: {candidate.meant}"] if candidate.meant else []
            facts += ["left in the source's language"] if candidate.copied else []
            facts += ["spelt like the entity"] if candidate.loan else []
            rows.append([f"  {candidate.trust}", target, ", ".join(facts)])
        title = f"Candidates for {self.pair.entity!r}, in the order of trust"
        return "\n".join([title, *(aligned(rows, "<<<") if rows else [_NONE])])

    def _words(self) -> str:
        rows = [
            [f"  {word.text}", _by_tables(word, self.language), _by_tagger(word)]
            for word in self.words
        ]
        head = [["  word", "by the tables", "by the tagger"]]
        return "\n".join(["Words", *aligned([*head, *rows], "<<<")])

    def _rules(self) -> str:
        rows = [[f"  {name}", answer, _what_it_says(name)] for name, answer in self.rules]
        title = "Rules that held, in the order in which they were asked"
        return "\n".join([title, *(aligned(rows, "<<<") if rows else [_NONE])])

    def _call(self) -> str:
        call = self.call
        target = [self.pair.text[slice(*span)] for span in call.target[:1]]
        where = f", at {target[0]!r}" if target else ""
        where += f" ({call.trust}, {call.basis})" if call.trust else ""
        rows = [
            [f"  {piece.kind}", piece.word, piece.gender or "silent", piece.rule, says(piece)]
            for piece in call.evidence
        ]
        lines = [f"Call: {call.gender or f'none, {call.reason}'}{where}", *aligned(rows, "<<<<<")]
        if self.policy is not None:
            lines.append(f"By line {self.policy.number} of the policy: {self.policy}")
        if call.edits:
            changed = ", ".join(edit.word for edit in call.edits)
            lines.append(f"Words that would be others in the other gender: {changed}")
        lines += [self.other_call] if self.other_call else []
        return "\n".join(lines)


def _by_tables(word: SentenceWord, language: Language) -> str:
    if word.form in language.determiners:
        return f"determiner {listed(language.determiners[word.form])}"
    parts = [
        f"{reading.kind} {reading.lemma} {listed(reading.agreements)}".rstrip()
        for reading in word.readings
    ]
    if not parts and word.facts.ending:
        parts.append(f"ends in -{word.facts.ending[0]}: {word.facts.ending[1]}")
    if not parts and word.facts.adjective:
        parts.append(f"as an adjective {listed(word.facts.adjective)}")
    return "; ".join(parts)


def _what_it_says(rule: str) -> str:
    """The first sentence of a rule's description, cut."""
    first = re.split(r"(?<=\w)[.:;] ", RULES[rule].example)[0]
    return shorten(first, _WIDTH, placeholder=" …")


def _by_tagger(word: SentenceWord) -> str:
    return " + ".join(map(_features, word.tagged))


def _features(tagged: Word) -> str:
    return " ".join([tagged.upos, *(f"{name}={value}" for name, value in tagged.feats)])


def explain(measure: GenderMeasure, pairs: Sequence[Pair], id_: str) -> Explanation:
    """How the call on one of `pairs` came about; all of them are aligned together, as in a run.

    Raises:
        DataError: none of them has this id.
    """
    place = next((n for n, pair in enumerate(pairs) if pair.id == id_), None)
    if place is None:
        first = f", such as {pairs[0].id!r}" if pairs else ""
        raise DataError(f"expected the id of a translated sentence{first}, got {id_!r}")
    texts = SplitTexts(measure.language, measure.source)
    parts = [translated_part(pair) for pair in pairs]
    alignments = measure.aligner.align([part.pair for part in parts], texts)
    text = pairs[place].text
    measure.analyser.prepare([text], lambda _: None)
    analysis = parts[place].only(measure.analyser.analysis(text))
    explained = _explained(pairs[place], parts[place], alignments[place], analysis, texts)
    read = with_features if measure.evidence == "tables" else read_features
    return replace(explained, call=read(explained.call, analysis, measure.language))


def explain_in_run(measure: GenderMeasure, run: FinishedRun, id_: str) -> Explanation:
    """How the call on a sentence of a run came about.

    `calls.jsonl` does not say at which of several places in the source the entity is: it is taken
    to be the first one that leads to the run's call. If none does, the explanation says what the
    run has.

    Raises:
        DataError: no translated sentence has this id, or the entity does not occur in it as named.
    """
    pairs = [Pair(r.id, r.source, r.translation) for r in run.calls if r.translation]
    record = next((r for r in run.calls if r.id == id_ and r.translation), None)
    if record is None:
        return explain(measure, pairs, id_)
    explanations = []
    for sentence in _at_each_place(record, measure.source):
        placed = [sentence if pair.id == id_ else pair for pair in pairs]
        explanation = explain(measure, placed, id_)
        if _is_call_of(record, explanation.call):
            return explanation
        explanations.append(explanation)
    return replace(explanations[0], other_call=_other_call(measure, run, record))


def explain_person(options: MeasureOptions, instance: Instance, translation: str) -> str:
    """The chain of mentions of one person, and the call, for a terminal.

    Raises:
        SettingError: the measure of the options reads no whole persons, or the source tells no
            gender and none is given.
        MtbiasError: a language or model is missing.
    """
    kind = find_measure(options.settings.measure or "")
    if not isinstance(kind, PersonKind):
        measure = options.settings.measure
        raise SettingError("measure", f"expected {WHOLE_PERSON_NAME} here, got {measure}")
    if instance.gold is None:
        message = "expected male or female for a sentence without pronouns of one gender"
        raise SettingError("gender", f"{message}, got nothing")
    (record,) = kind.open(options).judge_texts([instance], [translation])
    return chain_text(record)


def explain_person_in_run(run: FinishedRun, id_: str) -> str:
    """How a person of a run was read, from its `calls.jsonl`.

    Raises:
        DataError: none has this id.
    """
    records: Sequence[PersonRecord] = run.calls
    match = next((record for record in records if record.id == id_), None)
    if match is None:
        first = f", such as {records[0].id!r}" if records else ""
        raise DataError(f"expected the id of a person of the run{first}, got {id_!r}")
    return chain_text(match)


def _at_each_place(record: CallRecord, source: SourceLanguage) -> list[Pair]:
    """The sentence with its entity at each of its places."""
    spans = entity_place.tokens(record.source)
    phrase = entity_place.words(record.entity, source)
    places = entity_place.find_phrase(record.source, spans, phrase, source)
    if not places:
        message = f"expected {record.entity!r} in the source of {record.id!r}"
        raise DataError(
            f"{message}, got {record.source!r}; give sentence, translation and --entity"
        )
    row = {"id": record.id, "source": record.source, "entity": record.entity, "gender": "unknown"}
    pairs = []
    for place in places:
        (instance,) = custom_corpus([{**row, "entity_index": place}], source).instances
        pairs.append(Pair.from_instance(instance, record.translation or ""))
    return pairs


def _is_call_of(record: CallRecord, call: GenderCall) -> bool:
    """Whether a call is the record's: what was called, at which words, by which evidence."""
    theirs = record.call
    return (call.gender, call.reason, call.target, call.evidence) == (
        theirs.gender,
        theirs.reason,
        theirs.target,
        theirs.evidence,
    )


def _other_call(measure: GenderMeasure, run: FinishedRun, record: CallRecord) -> str:
    """The run's call, and by what other means it was read."""
    theirs = record.call
    differing = []
    for name in sorted({*measure.identity, "evidence", "source_plugin"}):
        was, is_ = run.evaluator.get(name), measure.identity.get(name)
        if was != is_:
            differing.append(f"{name} {was or 'tables'}, here {is_ or 'tables'}")
    means = "; ".join(differing) or "with the same evaluator"
    evidence = ", ".join(f"{piece.word} {piece.gender or 'silent'}" for piece in theirs.evidence)
    call = theirs.gender or f"none, {theirs.reason}"
    return f"In the run the call is another: {call} ({evidence or 'no evidence'}); {means}"


def _explained(
    pair: Pair, part: TranslatedPart, alignment: Alignment, analysis: Analysis, texts: SplitTexts
) -> Explanation:
    held: dict[str, str] = {}
    decisions: list[Decision] = []

    def listen(name: str, answer: object) -> None:
        if isinstance(answer, Decision):
            decisions.append(answer)
        elif answer:
            held.setdefault(name, _answer(answer))

    with listening(listen):
        call = decide(alignment, analysis, texts)
    if pair.head is not None:
        call = part.without_copy(call, pair.head)
    words = sentence_words(analysis, texts)
    lines = [decision.line for decision in decisions if decision.evidence == call.evidence]
    policy = lines[-1] if lines else None
    rules = tuple(held.items())
    return Explanation(pair, alignment, words, rules, policy, call, texts.language)


def _answer(answer: object) -> str:
    if answer is True:
        return "yes"
    if isinstance(answer, list | tuple | frozenset):
        return ", ".join(map(_answer, answer))
    word = getattr(answer, "word", None) or getattr(answer, "text", None)
    return str(word or getattr(answer, "trust", None) or type(answer).__name__.lower())
