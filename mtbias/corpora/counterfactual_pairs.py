"""Counterfactual corpora: each sentence with its counterfactual of the other gender, and with
controls of its own.

The counterfactual has the sentence's gendered pronouns swapped and nothing else: names stay. A
control has another determiner before the entity. All pronouns of a sentence are taken for the
entity's; a sentence where that cannot be so, or in which other words tell a gender, is left out
with its reason. Counterfactuals measure what gender alone changes, controls what another small
change does (`mtbias.scoring.consistency`).

Source: the quadruples of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section
3, without names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus
from mtbias.corpora.own_sentences import write_custom
from mtbias.english.gender_swap import (
    Edit,
    apply_edits,
    match_case,
    swap_words,
    tells_gender,
    tokenize,
)
from mtbias.english.words import GENDER_OF_PRONOUN, PRONOUNS, count_pronouns, is_plural
from mtbias.errors import DataError
from mtbias.files.writing import check_table_name, signature_line
from mtbias.types import Gender, Instance, Span, Stereotype, frozen

CONTROL, SWAP, SWAP_CONTROL = "-control", "-swap", "-swap-control"
"""Suffixes of the ids of a sentence's control, its counterfactual and the counterfactual's
control."""

NEUTRAL = "gold gender is neutral"
UNKNOWN = "the gender is unknown"
COUNTERPART = "a woman's sentence whose counterpart is in the corpus"
NO_PRONOUN = "no gendered pronoun"
BOTH = "masculine and feminine pronouns"
NOT_GOLD = "pronouns of the gender that is not gold"
ENTITY = "the entity's own word tells a gender"
OTHERS = "other words that tell a gender"
JOINED = "a pronoun that is part of a longer word"

EXAMPLES = 5
"""Most ids shown for each reason."""

NO_DETERMINER = "no the, a, an, this or these right before the entity"
INDEFINITE = "a or an where no definite noun phrase can stand"

_OTHER: Mapping[Gender | None, Gender] = {Gender.MALE: Gender.FEMALE, Gender.FEMALE: Gender.MALE}
_OPPOSITE = {
    Stereotype.PRO: Stereotype.ANTI,
    Stereotype.ANTI: Stereotype.PRO,
    Stereotype.NONE: Stereotype.NONE,
}
_EITHER = re.compile(r"\bs/he\b|\(s\)he\b", re.IGNORECASE)

# Not "that": after a verb of saying it reads as a conjunction (the nurse said that doctor …).
_DETERMINER = {
    "the": ("this", "these"),
    "a": ("this", None),
    "an": ("this", None),
    "this": ("the", None),
    "these": (None, "the"),
}
_VERBS_AND_OTHERS = """
am is are was were be been being become becomes became becoming remain remains remained
as like than such what many quite rather half not too how so called named made there
"""
_NO_DEFINITE_AFTER = frozenset(_VERBS_AND_OTHERS.split())


@frozen
class Counterfactual:
    """Counts of a counterfactual corpus, and of the sentences that were left out."""

    sentences: int
    """Sentences of the corpus."""
    swapped: int
    with_controls: int
    """Swapped sentences with controls."""
    written: int
    left_out: Mapping[str, int]
    """Sentences without counterfactual, by reason."""
    without_control: Mapping[str, int]
    """Swapped sentences without control, by reason; empty without controls."""
    examples: Mapping[str, tuple[str, ...]]
    """Ids of the first sentences under each reason."""
    ambiguous: Sequence[tuple[str, str]]
    """Id and context of each pronoun in the originals whose reading was a guess."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """The notes on the corpus (`Corpus.notes`), including rows that its reader left out."""
    out: Path | None = None
    signature: str = ""


@frozen
class _Swap:
    """How the gender of a sentence is swapped."""

    edits: tuple[Edit, ...]
    guesses: tuple[str, ...]


def make_counterfactual(
    instances: Sequence[Instance], *, controls: bool = False
) -> tuple[tuple[Instance, ...], Counterfactual]:
    """The counterfactual corpus of `instances`: each sentence and its counterfactual, each followed
    by its control if it has one.

    These are left out, under the first reason that applies: the woman's sentence of a pair in the
    corpus (*his* has one reading, *her* two); sentences whose gold gender is neutral; sentences
    without a gendered pronoun, with pronouns of both genders, or of the gender that is not gold;
    sentences in which the entity or another word shows a gender (wife, Mr., waitress, fisherman;
    names are not checked).

    A control has *this* (*these* before a plural) for *the*, *a* and *an*, and *the* for *this* and
    *these*, right before the entity. There is none for *a* and *an* where a definite noun phrase
    would not fit (He is a doctor; such a doctor).

    Raises:
        DataError: the corpus already has a new id (-control, -swap, -swap-control).
    """
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    without: defaultdict[str, list[str]] = defaultdict(list)
    sentences: list[Instance] = []
    ambiguous: list[tuple[str, str]] = []
    swapped: set[str] = set()
    plans = {instance.id: _plan_swap(instance) for instance in instances}
    men = {i.id for i in instances if i.gold is Gender.MALE and isinstance(plans[i.id], _Swap)}
    for instance in instances:
        plan = plans[instance.id]
        if instance.gold is Gender.FEMALE and instance.pair in men:
            plan = COUNTERPART
        if isinstance(plan, str):
            left_out[plan].append(instance.id)
            continue
        determiner = _plan_control(instance) if controls else None
        if isinstance(determiner, str):
            without[determiner].append(instance.id)
            determiner = None
        sentences += _quadruple(instance, plan, determiner)
        swapped.add(instance.id)
        ambiguous += [(instance.id, guess) for guess in plan.guesses]

    times = Counter(instance.id for instance in instances if instance.id not in swapped)
    times.update(sentence.id for sentence in sentences)
    clash = next((id_ for id_, number in times.items() if number > 1), None)
    if clash is not None:
        raise DataError(
            f"expected ids that no new sentence would get, got {clash!r}; "
            "rename this row of the corpus"
        )
    counts = Counterfactual(
        sentences=len(instances),
        swapped=len(swapped),
        with_controls=len(swapped) - sum(map(len, without.values())) if controls else 0,
        written=len(sentences),
        left_out={reason: len(ids) for reason, ids in left_out.items()},
        without_control={reason: len(ids) for reason, ids in without.items()},
        examples={
            reason: tuple(ids[:EXAMPLES]) for reason, ids in (*left_out.items(), *without.items())
        },
        ambiguous=ambiguous,
    )
    return tuple(replace(each, row=row) for row, each in enumerate(sentences)), counts


def write_counterfactual(
    corpus: Corpus[Instance], out: Path, *, controls: bool = False
) -> Counterfactual:
    """Write the counterfactual corpus of `corpus` to `out`, with the columns of a corpus of one's
    own.

    Raises:
        SettingError: the name of `out` is not that of a table.
        OutputError: `out` is the corpus.
        DataError: no sentence can be swapped; as `make_counterfactual`.
        RunFolderError: `out` cannot be written.
    """
    check_table_name(out)
    sentences, counts = make_counterfactual(corpus.instances, controls=controls)
    if not sentences:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in counts.left_out.items())
        raise DataError(f"no sentence of the corpus can be swapped: {reasons}", path=corpus.path)
    write_custom(out, sentences)
    options = {"dataset": corpus.name, "controls": "yes" if controls else "no"}
    signature = signature_line("counterfactual", {"data": corpus.files}, options)
    return replace(counts, notes=corpus.notes, out=out, signature=signature)


def _plan_swap(instance: Instance) -> _Swap | str:
    """The edits that swap the sentence's pronouns, or the reason why there is no counterfactual."""
    if instance.gold is Gender.NEUTRAL:
        return NEUTRAL
    if instance.gold is None:
        return UNKNOWN
    source = instance.source
    tokens = tokenize(source)
    places = [n for n, token in enumerate(tokens) if token.text.lower() in PRONOUNS]
    if not places:
        return NO_PRONOUN
    genders = {GENDER_OF_PRONOUN[tokens[n].text.lower()] for n in places}
    if len(genders) > 1 or _EITHER.search(source):
        return BOTH
    if genders != {instance.gold}:
        return NOT_GOLD
    words = swap_words([token.text for token in tokens])
    gendered = {word.index for word in words}
    gendered |= {n for n, token in enumerate(tokens) if tells_gender(token.text)}
    entity = _entity_span(instance) or instance.head
    if any(Span(tokens[n].start, tokens[n].end).overlaps(entity) for n in gendered):
        return ENTITY
    if gendered - set(places):
        return OTHERS
    if len(places) != count_pronouns(source):
        return JOINED
    edits = tuple(Edit(tokens[w.index].start, tokens[w.index].end, w.new) for w in words)
    guesses = []
    for word in words:
        if word.ambiguous:
            token = tokens[word.index]
            guesses.append(source[max(0, token.start - 15) : token.end + 25])
    return _Swap(edits, tuple(guesses))


def _plan_control(instance: Instance) -> Edit | str:
    """The edit that changes the entity's determiner, or the reason why there is none."""
    source, entity = instance.source, _entity_span(instance)
    if entity is None:
        return NO_DETERMINER
    before = [span for span in locate.tokens(source) if span.end <= entity.start]
    if not before:
        return NO_DETERMINER
    place = locate.core(source, before[-1])
    old = source[slice(*place)]
    if place.end != before[-1].end or old.lower() not in _DETERMINER:  # "the," ends a phrase
        return NO_DETERMINER
    new = _DETERMINER[old.lower()][is_plural(source[slice(*instance.head)])]
    if new is None:
        return NO_DETERMINER
    if old.lower() in {"a", "an"} and len(before) > 1:
        previous = source[slice(*locate.core(source, before[-2]))].lower()
        if previous in _NO_DEFINITE_AFTER:
            return INDEFINITE
    return Edit(place.start, place.end, match_case(new, old))


def _entity_span(instance: Instance) -> Span | None:
    """The whole phrase of the entity; None where the words before the head are not those that the
    corpus names.
    """
    phrase, spans = locate.words(instance.entity), locate.tokens(instance.source)
    for index in locate.find_phrase(instance.source, spans, phrase):
        if locate.core(instance.source, spans[index + len(phrase) - 1]) == instance.head:
            return Span(locate.core(instance.source, spans[index]).start, instance.head.end)
    return None


def _quadruple(original: Instance, swap: _Swap, determiner: Edit | None) -> list[Instance]:
    """The original and its counterfactual, with their controls where there is a determiner to
    change.
    """
    base = original.id
    swapped = replace(
        original, gold=_OTHER[original.gold], stereotype=_OPPOSITE[original.stereotype]
    )

    def variant(
        instance: Instance, edits: Sequence[Edit], own: str, pair: str, control: str | None
    ) -> Instance:
        linked = None if control is None else base + control
        return replace(_edited(instance, edits), id=base + own, pair=base + pair, control=linked)

    if determiner is None:
        return [variant(original, (), "", SWAP, None), variant(swapped, swap.edits, SWAP, "", None)]
    return [
        variant(original, (), "", SWAP, CONTROL),
        variant(original, [determiner], CONTROL, SWAP_CONTROL, ""),
        variant(swapped, swap.edits, SWAP, "", SWAP_CONTROL),
        variant(swapped, [*swap.edits, determiner], SWAP_CONTROL, CONTROL, SWAP),
    ]


def _edited(instance: Instance, edits: Sequence[Edit]) -> Instance:
    shift = sum(
        len(edit.new) - (edit.end - edit.start) for edit in edits if edit.end <= instance.head.start
    )
    source, _ = apply_edits(instance.source, edits)
    return replace(
        instance, source=source, head=Span(instance.head.start + shift, instance.head.end + shift)
    )
