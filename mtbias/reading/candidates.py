"""From word links to the words that render the entity.

For every pair the entity's head word is compared with every target word by three things: how surely
both directions of the model link them (geometric mean of the two posteriors), how strongly their
types are associated over the whole corpus (the Dice coefficient of *expected links*, so that what a
rival entity explains is already set aside), and whether the plugin's nouns say that one translates
the other. The best word is the anchor; neighbours that the model explains by the entity's words
belong to its phrase (``أمين المكتبة``, ``obrero de la construcción``). Which of them is the head is
chosen where parts of speech are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mtbias.english.person_nouns import may_name_person
from mtbias.language.definition import Language
from mtbias.language.grammar import NounKind
from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.language.split_texts import SurfaceWord
from mtbias.reading.known_translations import KnownTranslations, words_of_entity
from mtbias.reading.sentence_pair import Pair, source_facts
from mtbias.reading.spelling import common_beginning
from mtbias.reading.target_words import (
    MAX_SHIFT,
    MIN_SCORE,
    SURELY_EXPLAINED,
    EntityScores,
    FloatArray,
    TargetWords,
    mentions_of_noun,
    target_words,
)
from mtbias.types import (
    DERIVED,
    ELIMINATION,
    Alignment,
    Candidate,
    SourceFacts,
    Span,
    Strategy,
    Trust,
)

MAX_OTHERS = 3
"""Nouns for people that are left over, at most."""
MIN_STEM = 5
"""Letters that a word shares at least with the known translation from which it derives: with four
uk *кравню*, which is not a word, would derive from *кравець* "tailor"."""
SURE_SCORE = 0.5
"""Below it a noun for people that no other source word explains is taken before a word that is not
known as one. A known translation has it by that alone; with more, things that do render the entity
give way to other people (he *מכונית* "car" for *mover*)."""
MAX_CANDIDATES = 3
"""Other content words that are left over, at most: es *La futura novia … un autor contemporáneo*
for *contemporary*."""
MIN_BELONGS = 0.5
"""Least P(entity | target word) at which a neighbour belongs to the entity's phrase: more likely
than not. With less ar *المساعد* "the assistant" takes in *مساعدة* "to help", by its form a
woman."""
MAX_GAP = 2
"""Words that may be inside a phrase without belonging to it: one in es *obrero de la
construcción*, two in a compound of three words that is written apart."""


def align_entity(
    pair: Pair,
    words: Sequence[SurfaceWord],
    scores: EntityScores | None,
    translations: KnownTranslations,
) -> Alignment:
    """The target words that render the entity: the anchor first, then the rest of its phrase in
    text order.

    Args:
        pair: the sentence pair.
        words: those of its translation.
        scores: what the link model says of each of them; None where it says nothing.
        translations: what translates the entity, and the other words of the source.
    """
    if scores is None:
        return Alignment(pair.id)
    target = target_words(pair, words, scores, translations)
    # he אודיטור for *auditor* is found by the table alone.
    total = 0.5 * (scores.link + scores.lexicon + target.known)
    total = np.where(target.elsewhere, 0.0, total)
    anchor = _anchor(target, total)
    aligned = total[anchor] >= MIN_SCORE
    alignment = _around_anchor(target, anchor, total) if aligned else _without_anchor(target)
    if alignment.translations or not _is_possessive(pair):
        return alignment
    part = translations.first_part(pair.entity, words)
    if part is None:
        return alignment
    in_compound = Candidate((part,), "lexicon", Trust.IN_COMPOUND)
    return replace(alignment, candidates=(*alignment.candidates, in_compound))


def _is_possessive(pair: Pair) -> bool:
    behind = pair.source[pair.head.end :].lstrip() if pair.head is not None else ""
    return behind.startswith(("'", "’"))


def _anchor(target: TargetWords, total: FloatArray) -> int:
    """The word that most likely renders the entity's head: the only known translation, else the one
    of the best score, or the best noun for people where that is not a sure rendering.
    """
    only_known = _only_known(target)
    anchor = int(total.argmax()) if only_known is None else only_known
    # de "an der Guildhall School … Büroangestellte": one link at a preposition would be enough.
    unsure = total[anchor] < SURE_SCORE or not target.scores.rare[anchor]
    in_table = target.words[anchor].facts.readings or target.known[anchor]
    if unsure and target.people.any() and not in_table:
        return int(np.where(target.people, total, -1.0).argmax())
    return anchor


def _without_anchor(target: TargetWords) -> Alignment:
    """The alignment where no word has `MIN_SCORE`: with a word that derives from a translation, or
    with those that are left over.
    """
    pair, translations = target.pair, target.translations
    number = SourceFacts(source_facts(pair, translations.source).number)
    derived = None if target.people.any() else _derived(target)
    if derived is not None:
        candidate = Candidate((target.words[derived].span,), DERIVED)
        return Alignment(pair.id, (candidate,), source=number)
    persons = _only_persons(_unclaimed(pair, target.words, translations), None)
    left = _left_over(target)
    if left is None:
        return Alignment(pair.id, tuple(persons))
    return Alignment(pair.id, (left, *persons), source=number)


def _around_anchor(target: TargetWords, anchor: int, total: FloatArray) -> Alignment:
    """The alignment with the anchor and its phrase, and with the words that are left over beside
    them, the best score first.
    """
    pair, words, translations = target.pair, target.words, target.translations
    known, misspelt = bool(target.known[anchor]), target.misspelt
    members = _phrase(target, anchor)
    phrase = [anchor, *(n for n in members if n != anchor)]
    aligned = Candidate(
        tuple(words[n].span for n in phrase),
        _basis(target.scores, anchor, known=known),
        # What the tagger says of a word of the source does not count.
        copied=words[anchor].facts.form == _head_form(pair),
        meant=misspelt[1] if misspelt is not None and misspelt[0] == anchor else None,
        loan=known and not target.entity_forms and _may_name(pair, translations.source),
    )
    ranking = np.argsort(-total, kind="stable").tolist()
    ranking = [n for n in ranking if target.free[n] and n not in members]
    people = [words[n].span for n in ranking if target.people[n]][:MAX_OTHERS]
    rare = [words[n].span for n in ranking if target.scores.rare[n]][:MAX_CANDIDATES]
    unclaimed = () if words[anchor].facts.readings else _unclaimed(pair, words, translations)
    candidates = (
        aligned,
        *(Candidate((span,), ELIMINATION, Trust.PERSON_LEFT) for span in people),
        *(Candidate((span,), ELIMINATION, Trust.WORD_LEFT) for span in rare),
        *_only_persons(unclaimed, aligned),
    )
    translating = tuple(words[n].span for n in np.flatnonzero(target.known).tolist())
    return Alignment(pair.id, candidates, translating, source_facts(pair, translations.source))


def _head_form(pair: Pair) -> str | None:
    return None if pair.head is None else pair.source[slice(*pair.head)].lower()


def _only_persons(spans: Sequence[Span], aligned: Candidate | None) -> Iterator[Candidate]:
    """Each noun for people that translates no other word, as a candidate by itself."""
    copied, loan = (aligned.copied, aligned.loan) if aligned else (False, False)
    for span in spans:
        yield Candidate((span,), "lexicon", Trust.ONLY_PERSON, copied=copied, loan=loan)


def _may_name(pair: Pair, source: SourceLanguage) -> bool:
    """The loan of a noun names a person where the noun does: *baritone*, but not *tendency*."""
    return source is not ENGLISH or may_name_person(pair.entity)


def _only_known(target: TargetWords) -> int | None:
    """The one word that is known as the entity's translation, unless another word of the source
    claims it; of several the one for this mention.
    """
    pair, words, translations = target.pair, target.words, target.translations
    places = np.flatnonzero(target.known).tolist()
    if len(places) > 1:
        place = _same_mention(pair, places, translations.source)
        return _in_order(pair, words, places, translations) if place is None else place
    if not places:
        return None
    only = places[0]
    # The first part of a compound may be another word's (de "100-Meter-Läufer",
    # "Parallax-Mitarbeiter").
    compound = target.entity_forms.isdisjoint(words[only].facts.bases)
    if target.scores.explained[only] >= SURELY_EXPLAINED and not compound:
        return None
    return None if translations.claimed(pair, words[only]) else only


def _unclaimed(
    pair: Pair, words: Sequence[SurfaceWord], translations: KnownTranslations
) -> tuple[Span, ...]:
    """The nouns for people, near the entity's place, that the tables know as a translation of no
    other source word; if there is none, the words that end like one, then those for a person or
    for all (es *la persona de ventas*).
    """
    if pair.head is None:
        return ()
    place, length = pair.head.start / len(pair.source), len(pair.text)
    near = [w for w in words if abs(w.span.start / length - place) <= MAX_SHIFT]
    people = [w for w in near if w.facts.names_person and not translations.claimed(pair, w)]
    if not people:
        people = [w for w in near if w.facts.ends_like_person]
    if not people:
        neutral = [w for w in near if _neutral(w, translations.language)]
        people = [w for w in neutral if not translations.claimed(pair, w)]
    return tuple(word.span for word in people)


def _neutral(word: SurfaceWord, language: Language) -> bool:
    """A noun of fixed gender of those that avoid one; es *visita* "visitor" is a visit, mostly."""
    fixed = any(r.kind is NounKind.FIXED for r in word.facts.readings)
    return fixed and language.neutral_noun(word.facts.form)[1] is not Strategy.EPICENE


def _same_mention(pair: Pair, places: Sequence[int], spoken: SourceLanguage) -> int | None:
    """Of the words at `places`, the entity's translations, the n-th for its n-th mention, where it
    is mentioned as often.
    """
    mentions = mentions_of_noun(pair, spoken)
    if pair.head is None or len(mentions) != len(places):
        return None
    for place, mention in zip(places, mentions, strict=True):
        if mention.overlaps(pair.head):
            return place
    return None


def _in_order(
    pair: Pair, words: Sequence[SurfaceWord], places: Sequence[int], translations: KnownTranslations
) -> int | None:
    """Of the words at `places`, the entity's translations, the n-th for the n-th person of a list,
    where each of its nouns has all of them for translations (ru *священников, викариев* for
    *curates, vicars*). Elsewhere a translation may turn the order round: *the author was praised by
    the writer*.
    """
    source = translations.source.words(pair.source)
    own = words_of_entity(pair, source)
    if not own:
        return None
    persons = [own[-1]]
    for n in range(len(source)):
        forms = frozenset[str]() if n in own else translations.mention_forms(source, n, own)
        claimed = [not forms.isdisjoint(words[place].facts.dictionary_forms) for place in places]
        if all(claimed):
            persons.append(n)
        elif any(claimed):
            return None
    persons.sort()
    gaps = (pair.source[source[a].span.end : source[b].span.start] for a, b in pairwise(persons))
    listed = all(map(translations.source.lists, gaps))
    if not listed or len(persons) != len(places):
        return None
    return places[persons.index(own[-1])]


def _derived(target: TargetWords) -> int | None:
    """The word that shares the longest beginning, of `MIN_STEM` letters or more, with a known
    translation of the entity.
    """
    best, longest = None, MIN_STEM - 1
    for n, word in enumerate(target.words):
        if target.other_mentions[n]:
            continue
        for translation in target.entity_forms:
            shared = common_beginning(word.facts.form, translation)
            if shared > longest:
                best, longest = n, shared
    return best


def _left_over(target: TargetWords) -> Candidate | None:
    """The noun for people that no other source word explains (ru *продавец* "salesman" for
    *mover*), else such a content word, at the likeliest place.

    A word that is only left over gets a call only if it is a noun for people.
    """
    scores, people = target.scores, target.people
    left = people if people.any() else scores.rare & target.free
    if not left.any():
        return None
    best = int(np.where(left, scores.link + scores.belongs, -1.0).argmax())
    # ru "тенористом" for *tenor player*: linked with the word before the head.
    surer = people[best] and scores.belongs[best] >= MIN_BELONGS
    return Candidate((target.words[best].span,), "lexicon" if surer else ELIMINATION)


def _basis(scores: EntityScores, anchor: int, *, known: bool) -> str:
    if scores.link[anchor] < MIN_BELONGS:
        return "lexicon"
    return "links+lexicon" if known or scores.lexicon[anchor] >= MIN_SCORE else "links"


def _phrase(target: TargetWords, anchor: int) -> list[int]:
    """Indices of the words around the anchor that belong to the entity.

    So does a noun for people before it, parted from it by function words at most, that no other
    source word explains (``empleado de la empresa``). Beyond a function word or a person before the
    anchor, if that is known as a person, only a translation of the entity does (``Soudci a
    soudkyně``).
    """
    words, scores = target.words, target.scores
    kinds = {reading.kind for reading in words[anchor].facts.readings}
    # A known word that another source word explains is another mention: ar سألت الطبيبة الطبيب
    # الآخر "the doctor asked the other doctor".
    known = target.known & target.free
    is_person = bool(target.known[anchor]) and any(kind.is_personal for kind in kinds)
    people = target.people.copy()
    if is_person:
        # A person is found: whoever comes before it is somebody else (es "se hizo amiga del
        # empleado"), but in "médica forense", where a noun of common gender follows as an
        # adjective. A noun of fixed gender is not enough: ar صديقًا للطبخ "a friend of cooking" for
        # *cook*.
        people[: anchor - 1 if kinds == {NounKind.COMMON} and anchor else len(people)] = False
    members = [anchor]
    for step in (-1, 1):
        j, gap, functional, beyond = anchor + step, 0, True, False
        while 0 <= j < len(known) and gap <= MAX_GAP:
            # es "técnicas auxiliares", ar صديقًا للطهي: the head comes first. Beyond a content word
            # it would be another person: ar الرئيس التنفيذي في المكتبة "the CEO … in the library"
            # for *librarian*.
            before = step < 0 and functional and people[j]
            # A translation counts without a link only next to the anchor; farther off it is
            # another's: ar الرئيس التنفيذي … المحرر "the CEO … the editor", where رئيس begins a
            # compound for *editor* too.
            linked = scores.belongs[j] >= MIN_BELONGS and (known[j] or not beyond)
            if linked or (gap == 0 and known[j]) or before:
                members.append(j)
                gap = 0
            else:
                # ar زواجه الملكي من قرينه "his royal marriage to his consort": the person is found
                # behind the preposition, and what comes before it and is not a translation is
                # something else.
                border = is_person and (not scores.rare[j] or words[j].facts.names_person)
                beyond = beyond or (step < 0 and bool(border))
                gap += 1
                functional = functional and not scores.rare[j]
            j += step
    return sorted(members)
