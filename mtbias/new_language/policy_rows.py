"""Checks of an installed language: the calls of the policy (``docs/policy.md``), and nouns for
occupations.

A sentence of the policy has a kind of noun, the evidence of the gender, and the call that follows
from them.

Each row of such a file is a sentence with its translation: ``[ ]`` marks the entity's head in both,
``{ }`` the words of the translation that show the kind and the evidence (without them the head
shows it). `call` is the gender, or the reason for none, that follows from kind and evidence in
every language.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from mtbias.align import Pair, StatisticalAligner
from mtbias.corpora import cache_folder
from mtbias.errors import SettingError
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.files.reading import Record, read_table
from mtbias.language.definition import Language
from mtbias.language.grammar import NounKind
from mtbias.language.installed import get_language
from mtbias.morphology import Analyser, AnalysisCache, StanzaAnalyser, find_package, stanza_folder
from mtbias.morphology.conllu_analyses import ConlluAnalyser
from mtbias.reading.gender_pairs import count, pair_outcomes
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.rules import says
from mtbias.settings import EvidenceReader
from mtbias.testing import contract_problems
from mtbias.types import Gender, GenderCall, Reason, Span, frozen

# Which occupations a language's table of nouns does not know, or knows for one gender alone.
#
# The list (``occupations.txt``) has the entities of WinoMT and Winogender, the professions of BUG
# and the occupations of ISCO-08.

_FOR_BOTH = frozenset((NounKind.COMMON, NounKind.GENERIC, NounKind.FIXED))
_PAIR = frozenset((NounKind.MASCULINE, NounKind.FEMININE))


@cache
def occupations(*, winomt: bool = False) -> tuple[str, ...]:
    """The occupations, English, in the order of their sources; with `winomt` the first source's,
    its entities.
    """
    file = resources.files("mtbias.new_language").joinpath("occupations.txt")
    text = file.read_text(encoding="utf-8")
    if winomt:
        text = text.partition("\n# BUG")[0]
    words = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(word for word in words if word)


def lacking_occupations(language: Language) -> tuple[list[str], list[str]]:
    """The occupations, each as a phrase or by its head, that have no noun, and those with one for a
    single gender.
    """
    translations = KnownTranslations(language)
    kinds = {word: kinds_of(language, translations.forms(word)) for word in occupations()}
    one_sided = [word for word, k in kinds.items() if k and not (k & _FOR_BOTH or k >= _PAIR)]
    return [word for word, k in kinds.items() if not k], one_sided


def kinds_of(language: Language, forms: frozenset[str]) -> frozenset[NounKind]:
    """The kinds of all nouns with one of `forms`, alone or as the first word of a compound."""
    kinds: set[NounKind] = set()
    for form in forms:
        kinds.update(reading.kind for reading in language.nouns.get(form, ()))
        kinds.update(reading.kind for _, reading in language.phrases.get(form, ()))
    return frozenset(kinds)


@frozen
class CheckedLanguage:
    """The faults and gaps of an installed language."""

    code: str
    version: str
    nouns: int
    """Forms of nouns."""
    contract_problems: Sequence[str]
    """A line for each breach of the contract."""
    gender_pairs: Mapping[str, int]
    """The number of pairs of sentences that differ in gender alone, and of those in which the call
    on the man and on the woman is right."""
    occupations: int
    without_noun: Sequence[str]
    """Occupations without any noun."""
    winomt_entities: int
    winomt_without_noun: Sequence[str]
    """Of these, the entities of WinoMT's sentences, which come first in the list."""
    one_gender_only: Sequence[str]
    """Occupations with nouns only for men or only for women."""
    sentences: int | None
    """Sentences whose calls were checked; None, like `wrong_calls`, if none were."""
    wrong_calls: Sequence[str] | None
    """A line for each sentence whose call is wrong."""


def examine_language(
    code: str,
    challenge: Path | None = None,
    analyses: Path | None = None,
    stanza_dir: Path | None = None,
    cache: Path | None = None,
) -> CheckedLanguage:
    """Check the contract of an installed language, its calls on men and women, its occupations, and
    its calls on the sentences of `challenge`, analysed by Stanza or as the file `analyses` has it.

    Raises:
        SettingError: `analyses` without `challenge`.
        MtbiasError: there is no such language; a file cannot be read; Stanza's models are not
            there.
    """
    if analyses is not None and challenge is None:
        raise SettingError("analyses", "expected --challenge too, the sentences that are analysed")
    language = get_language(code)
    outcomes = pair_outcomes(language)
    without_noun, one_sided = lacking_occupations(language)
    rows = () if challenge is None else read_policy_rows(challenge)
    if analyses is not None:
        analyser: Analyser = ConlluAnalyser(analyses)
    elif rows:
        package = find_package(code, stanza_folder(stanza_dir, cache_folder(cache)))
        analyser = StanzaAnalyser(package, AnalysisCache(None), device="cpu")
    wrong = None
    if rows:
        calls = policy_calls(rows, language, analyser)
        wrong = [describe(row, call) for row, call in calls if not is_right(row, call)]
    winomt = occupations(winomt=True)
    return CheckedLanguage(
        code=code,
        version=language.version,
        nouns=len(language.nouns),
        contract_problems=contract_problems(language, outcomes),
        gender_pairs=count(outcomes),
        occupations=len(occupations()),
        without_noun=without_noun,
        winomt_entities=len(winomt),
        winomt_without_noun=[word for word in without_noun if word in winomt],
        one_gender_only=one_sided,
        sentences=len(rows) or None,
        wrong_calls=wrong,
    )


POLICY_COLUMNS = ("kind", "evidence", "call", "source", "target")
CALLS: dict[str, Gender | Reason] = {str(call): call for call in (*Gender, *Reason)}


@frozen
class PolicyRow:
    """One sentence of the policy, with the call that follows from it."""

    kind: str
    evidence: str
    call: Gender | Reason
    language: str
    """Empty where the file is of one language."""
    pair: Pair
    head: Span
    """Characters of the translation that are the entity's head."""
    shown: tuple[Span, ...]
    """Characters of the translation that show the kind and the evidence."""


def read_policy_rows(path: Path, languages: Collection[str] = ()) -> tuple[PolicyRow, ...]:
    """The rows of the file at `path`, in order; those of other languages' files have a column
    `language`.

    Rows without a translation are passed over where the file is of one language: a draft has many.

    Raises:
        DataError: a mark is missing, a call or a language is unknown, or one kind and evidence has
            two calls.
    """
    table = read_table(path, *POLICY_COLUMNS, *(["language"] if languages else []))
    records = [record for record in table.records if languages or record.get("target")]
    rows = tuple(_row(record, languages) for record in records)
    calls: dict[tuple[str, str], PolicyRow] = {}
    for record, row in zip(records, rows, strict=True):
        first = calls.setdefault((row.kind, row.evidence), row)
        if first.call is not row.call:
            raise record.error(
                f"expected {first.call}, as in {first.language or first.pair.text}; got {row.call}"
            )
    return rows


def policy_calls(
    rows: Sequence[PolicyRow],
    language: Language,
    analyser: Analyser,
    evidence: EvidenceReader = "tables",
) -> list[tuple[PolicyRow, GenderCall]]:
    """The calls on `rows`, which are of one language and are aligned among themselves."""
    measure = GenderMeasure(language, StatisticalAligner(), analyser, evidence)
    calls = measure.call_pairs([row.pair for row in rows])
    return list(zip(rows, calls, strict=True))


def is_right(row: PolicyRow, call: GenderCall) -> bool:
    """The call is the policy's, at the head; where both forms are shown, at either."""
    if (call.gender or call.reason) is not row.call or not call.target:
        return False
    heads: Sequence[Span] = row.shown if row.call is Gender.NEUTRAL else (row.head,)
    return any(call.target[0].overlaps(head) for head in heads)


def describe(row: PolicyRow, call: GenderCall) -> str:
    """A row with a wrong call, as a line for the user."""
    head = row.pair.text[slice(*row.head)]
    called = row.pair.text[slice(*call.target[0])] if call.target else "–"
    evidence = "; ".join(
        f"{e.kind} {e.word}: {e.gender or 'silent'} ({says(e)})" for e in call.evidence
    )
    return (
        f"{row.language} {row.kind}, {row.evidence}: expected {row.call} at {head}, "
        f"got {call.gender or call.reason} at {called} [{evidence}] in {row.pair.text!r}"
    ).lstrip()


def _row(record: Record, languages: Collection[str]) -> PolicyRow:
    language, call = record.get("language"), record.get("call")
    if languages and language not in languages:
        raise record.error(f"expected one of {', '.join(languages)}; got {language!r}")
    if call not in CALLS:
        raise record.error(f"expected one of {', '.join(CALLS)}; got {call!r}")
    source, (entity,) = unmarked(record.raw("source"), "[]", record)
    target, (head,) = unmarked(re.sub(r"[{}]", "", record.raw("target")), "[]", record)
    braced = re.sub(r"[\[\]]", "", record.raw("target"))
    shown = [head] if not languages and "{" not in braced else unmarked(braced, "{}", record)[1]
    pair = Pair(f"{language}:{record.line}", source, target, entity, source[slice(*entity)].lower())
    return PolicyRow(
        record.get("kind"), record.get("evidence"), CALLS[call], language, pair, head, tuple(shown)
    )


def unmarked(text: str, marks: str, record: Record) -> tuple[str, list[Span]]:
    """`text` without the two `marks`, and the characters between them."""
    pieces = re.split(rf"[{re.escape(marks)}]", text)
    if len(pieces) % 2 == 0 or len(pieces) == 1 or (marks == "[]" and len(pieces) > 3):
        raise record.error(f"expected what {marks[0]} and {marks[1]} mark, got {text!r}")
    spans, start = [], 0
    for n, piece in enumerate(pieces):
        end = start + len(piece)
        if n % 2:
            spans.append(Span(start, end))
        start = end
    return "".join(pieces), spans
