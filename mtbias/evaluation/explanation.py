"""How one call came about: the candidates, the words as tables and tagger read them, the rules that
were asked, and the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import shorten

from mtbias.errors import DataError
from mtbias.evaluation.gender_calls import GenderMeasure, TranslatedPart
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading import decide
from mtbias.reading.agreement import listed
from mtbias.reading.policy import Decision, PolicyLine
from mtbias.reading.rules import RULES, listening, says
from mtbias.reading.sentence_pair import Pair
from mtbias.reading.words import SentenceWord, sentence_words
from mtbias.report.tables import aligned, printable
from mtbias.types import Alignment, Analysis, GenderCall, Word, frozen

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
        where = f", at {target[0]!r} ({call.trust}, {call.basis})" if target else ""
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
        parts.append(f"adjective {listed(word.facts.adjective)}")
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
    parts = [TranslatedPart.of(pair) for pair in pairs]
    alignments = measure.aligner.align([part.pair for part in parts], texts)
    text = pairs[place].text
    measure.analyser.prepare([text], lambda _: None)
    analysis = parts[place].only(measure.analyser.analysis(text))
    return _explained(pairs[place], parts[place], alignments[place], analysis, texts)


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
