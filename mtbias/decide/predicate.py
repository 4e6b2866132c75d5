"""The predicate that agrees with the entity, asked only where the noun phrase is silent, and only
where it surely is its own.

Sure means: the phrase opens its clause (nothing, a conjunction or a punctuation mark before it),
holds no preposition, can be nominative, and the verb stands right next to it, apart from negation,
clitics and adverbs. In languages with case, phrases that are no subject by their case or
preposition may stand before it and between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mtbias.decide.noun_phrase import (
    NounPhrase,
    belongs_to_following,
    governed,
    is_verb_form,
    rules_out,
)
from mtbias.decide.sentence_words import (
    CONJUNCTION,
    GENDER_OF_LETTER,
    NOMINAL,
    PERSONAL,
    VERBAL,
    SentenceWord,
    feature_values,
    listed,
    only_gender,
    tagged_gender,
    word_behind,
)
from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement
from mtbias.types import Evidence, Gender, Word

# fr "L'interprète n'est pas venue", cs "Vyučující jí to už vysvětlil" need three. More than four
# words change no call.
_MAX_BETWEEN = 4


def predicate_gender(phrase: NounPhrase) -> Evidence | None:
    """The gender that the entity's own predicate shows, or None."""
    both = phrase.language.verbs.order == "both"
    if not _may_be_subject(phrase):
        return None
    if not _is_nominative(phrase):
        return (
            _preceding(phrase, behind_object=True)
            if both and phrase.language.prepositions
            else None
        )
    if _opens_clause(phrase) and not _coordinated(phrase):
        found = _bare_predicate(phrase) or _following(phrase)
        if found is not None:
            return None if _may_be_object(phrase, found) else found
    return _preceding(phrase) if both else None


def further_predicates(phrase: NounPhrase, gender: Gender) -> Iterator[tuple[int, Evidence]]:
    """Predicates in `gender` elsewhere in the sentence, each with its index: behind a pronoun of
    the third person in that gender, and those without a subject at the beginning of a clause. They
    may be somebody else's.
    """
    words = phrase.words
    for n in range(-1, len(words) - 1):
        opener = (
            words[n + 1].tagged[0].upos if words[n + 1].tagged else ""
        )  # written on: ar وأصبحت "and she became"
        begins = (
            not words[n + 1].joined
            or opener in CONJUNCTION
            or bool(n >= 0 and words[n].tags & CONJUNCTION)
        )
        found = _behind(phrase, n, begins=True) if begins or is_pronoun(words[n], gender) else None
        if found is None or found.gender is not gender:
            continue
        place = next(k for k in range(n + 1, len(words)) if words[k].text == found.word)
        subject = word_behind(words, place)
        if (
            subject is None
            or place + 1 == phrase.first
            or not (subject.is_noun and subject.may_be_subject)
        ):
            yield place, found


def is_pronoun(word: SentenceWord, gender: Gender) -> bool:
    """A pronoun of the third person singular, or one written onto the word, whose gender the tagger
    reads so.
    """
    return "PRON" in word.tags and any(
        w.upos == "PRON"
        and w.feat("Person") == "3"
        and w.feat("Number") == "Sing"
        and tagged_gender([w])[0] is gender
        for w in word.tagged
    )


def _may_be_subject(phrase: NounPhrase) -> bool:
    words = phrase.words
    # he כשהממונה, with "when" written on, which the tagger calls a preposition: better none than a
    # wrong subject.
    if any("ADP" in words[n].tags for n in (*phrase.left, phrase.head)):
        return False
    before = phrase.before()
    if before is not None and (
        "ADP" in before.tags or before.form in phrase.language.verbs.oblique
    ):
        return False
    # ru Разработчику понадобилась обратная связь "the developer needed feedback": a dative is no
    # subject. "Попытка заклеймить профессора способствовала": of one professor it is no nominative.
    singular = [
        a for a in phrase.agreements if phrase.number != "sg" or a.number != "pl"
    ] or phrase.agreements
    return "nom" in phrase.cases()[0] and any(a.case in ("nom", "*") for a in singular)


def _is_nominative(phrase: NounPhrase) -> bool:
    """The form is one of a nominative, whatever the tagger reads; where forms show no case, it
    reads none other.
    """
    head = phrase.words[phrase.head]
    if not phrase.language.prepositions or any(
        a.case != "*" for r in head.readings for a in r.agreements
    ):
        return True
    cases = head.cases
    return not cases or "Nom" in cases


def _opens_clause(phrase: NounPhrase) -> bool:
    words, first = phrase.words, phrase.first
    if first == 0 or not words[first].joined:
        return True
    if (
        words[first].tagged and words[first].tagged[0].upos in CONJUNCTION
    ):  # written on: he שהמורה "that the teacher"
        return True
    before = words[first - 1].tags
    if before and before <= {"CCONJ", "SCONJ", "ADV", "PART"}:
        return True
    # uk У четвер колега повернула, cs V sobotu pokladní onemocněl: only case shows that Thursday is
    # no subject.
    return bool(phrase.language.prepositions) and _no_subject(words, first)


def _no_subject(words: Sequence[SentenceWord], end: int) -> bool:
    """Nothing before `end` in its clause is a verb or can be a nominative (uk *У понеділок колега
    сказала*).
    """
    for n in range(end - 1, -1, -1):
        word = words[n]
        if word.tags & CONJUNCTION:
            return True
        # A verb before the phrase is its own or another's: `_preceding` asks it (ru «…», — сказала
        # стоматолог).
        if not word.tags or word.tags & VERBAL or (word.may_be_subject and not governed(words, n)):
            return False
        if not word.joined:
            return True
    return True


def _coordinated(phrase: NounPhrase) -> bool:
    """A plural behind "noun and": the predicate agrees with both (es *Juan y sus estudiantes están
    cansados*).
    """
    words, n = phrase.words, phrase.first - 1
    if phrase.number != "pl" or n < 1 or not words[n].joined or "CCONJ" not in words[n].tags:
        return False
    nominals = (w for w in words[n - 1].tagged if w.upos in ("NOUN", "PROPN", "PRON"))
    return any(feature_values([w], "Case") <= {"Nom"} for w in nominals)


def _may_be_object(phrase: NounPhrase, found: Evidence) -> bool:
    """The noun may be an object by its form, and behind the verb stands a nominative that agrees:
    cs *Účetní pozval ředitel* "the director invited the accountant".
    """
    words, language = phrase.words, phrase.language
    cases = {a.case for r in words[phrase.head].readings for a in r.agreements}
    if not language.prepositions or not cases - {"nom", "voc"}:
        return False
    verb = next(n for n in range(phrase.last + 1, len(words)) if words[n].text == found.word)
    # cs "Mluvčí byla žena": whichever of the two is the subject.
    if "AUX" in words[verb].tags:
        return False
    for n in range(verb + 1, len(words)):
        if not words[n].joined or words[n].tags & CONJUNCTION:
            return False
        if not governed(words, n) and _surely_subject(words[n], found.gender):
            return True
    return False


def _surely_subject(word: SentenceWord, gender: Gender | None) -> bool:
    """A noun in the nominative whose verb has that gender."""
    # A person in the form of the dictionary is no accusative (cs ředitel, sekretářka), though the
    # tagger reads one behind the verb.
    if any(r.kind.gender is gender and r.lemma.lower() == word.form for r in word.readings):
        return True
    # cs "Vedoucí pochválil celý tým": of a thing that is masculine nominative and accusative are
    # one form.
    feminine = gender is Gender.FEMALE and bool(word.tags & NOMINAL) and not word.readings
    return feminine and word.cases == {"Nom"} and not word.cannot_agree(gender)


def _following(phrase: NounPhrase) -> Evidence | None:
    """The predicate behind the phrase and its attributes."""
    words, end = phrase.words, _attributes_end(phrase)
    other = word_behind(words, end) if phrase.language.prepositions else None
    # uk "Мер міста обрана", where the tagger reads the genitive of "city" as a nominative.
    thing = other is not None and other.is_thing and other.form not in phrase.language.verbs.short
    if other is None or not (thing and other.may_be_subject):
        return _behind(phrase, end)
    found = _behind(phrase, end + 1)
    return found if found and other.cannot_agree(found.gender) else None


def _behind(phrase: NounPhrase, n: int, *, begins: bool = False) -> Evidence | None:
    """The predicate behind the word at `n`, with nothing between but what can be no subject;
    `begins`: a clause may begin there.
    """
    words, language = phrase.words, phrase.language
    verbs = language.verbs
    copula = reflexive = False
    for _ in range(_MAX_BETWEEN + 1):
        n += 1
        if n >= len(words) or not (words[n].joined or begins):
            return None
        word, first, begins = words[n], begins, False
        # Clitics, negation, conditional: cs "Účetní se rozhodla", "by nikdy nelhal", it "L'autista
        # si è scusato".
        if word.form in verbs.skip or _auxiliary(words, n, language):
            reflexive = reflexive or word.form in verbs.reflexives
            continue
        # Short forms are predicates by themselves (ru секретарь должна, uk міністр певна).
        if not copula and word.form in verbs.short:
            return _by_form(word, verbs.short[word.form], phrase, word.form, tagged=True)
        listed_verb = is_verb_form(word, language)
        between = None if copula or listed_verb else _oblique_end(words, n, language)
        # cs "Pokladní si v pátek koupila kolo": the Friday is passed over as a whole.
        if between is not None:
            n = between
        elif word.tags & {"ADP", *CONJUNCTION} and not (listed_verb or first):
            return None
        elif word.form in verbs.copulas or (reflexive and word.form in verbs.reflexive_copulas):
            # A copula may tell itself (ru аналитик была уверена, he האופה היה); a pronoun in its
            # place never (he הוא). Behind an auxiliary it never does (pt "tinha sido convidada",
            # whose participle treebanks call masculine).
            compound = _compound_tense(word, language) or (
                n > 0 and _auxiliary(words, n - 1, language)
            )
            silent = compound or "PRON" in word.tags
            found = None if silent else _shown(word, phrase)
            if found:
                return found
            copula = True
        # it "è stata lodata", fr "est née", es "fue ascendido"; but not the adjective of a noun
        # behind it (cs "je dobrá osoba").
        elif (copula and word.tags & {"ADJ", *VERBAL}) or _bare_participle(word, language):
            # A noun of fixed gender where the predicate stands: es *fue víctima* is said of men,
            # too.
            role = word.readings and not word.is_personal
            return (
                None
                if role or belongs_to_following(words, n, language)
                else _predicative(word, phrase)
            )
        elif word.tags & VERBAL or listed_verb:
            return None if _compound_tense(word, language) else _shown(word, phrase)
        # Adverbs may stand between, and oblique nouns (cs "Rozhodčí se trenérovi omluvil"); another
        # nominative may be the verb's subject.
        elif not (word.tags <= {"ADV", "PART"} or _oblique(word, language)):
            return None
    return None


def _bare_predicate(phrase: NounPhrase) -> Evidence | None:
    """The gender of an adjective without article right behind a noun with one, where attributes
    share their noun's: it is the predicate (he *המורה עייפה*, ar *الباريستا متعبة*).
    """
    language, head = phrase.language, phrase.words[phrase.head].form
    word = (
        word_behind(phrase.words, _attributes_end(phrase)) if language.is_definite(head) else None
    )
    if word is None or language.same_definiteness(head, word.form):
        return None
    # By its ending only: the tagger calls adverbs adjectives as well (ar دائمًا "always").
    adjective = word.is_adjective and word.facts.adjective and not is_verb_form(word, language)
    return _predicative(word, phrase) if adjective else None


def _bare_participle(word: SentenceWord, language: Language) -> bool:
    """A participle in the nominative behind its subject, with the copula left out (ru *мэр
    избрана*), where attributes stand before their noun and the past tense of verbs shows gender.
    """
    # No mere adjective: the tagger reads ru трамвая in "водитель трамвая" as one.
    if language.postposed or not language.verbs.endings or word.readings:
        return False
    return feature_values(word.tagged, "VerbForm") == {"Part"} and feature_values(
        word.tagged, "Case"
    ) == {"Nom"}


def _oblique(word: SentenceWord, language: Language) -> bool:
    """A noun or pronoun that is no nominative, where nouns show case (cs *Rozhodčí se trenérovi
    omluvil*).
    """
    nominal = bool(word.content) and bool(word.readings or word.tags & {"NOUN", "PROPN", "PRON"})
    return bool(language.prepositions) and nominal and not word.may_be_subject


def _oblique_end(words: Sequence[SentenceWord], n: int, language: Language) -> int | None:
    """Index of the last word of a phrase that begins at `n` and can be no subject, where nouns show
    case: a preposition with its noun (cs *si v pondělí koupila*), adjectives or determiners with an
    oblique noun (cs *minulý týden*).
    """
    if not language.prepositions or words[n].tags & {*VERBAL, *CONJUNCTION}:
        return None
    if "ADP" in words[n].tags or words[n].form in language.prepositions:
        return _noun_of(words, n)
    noun = n
    while noun + 1 < len(words) and words[noun + 1].joined and words[noun].is_modifier:
        noun += 1
    if noun == n or not _oblique(words[noun], language):
        return None
    return noun if all(words[k].agrees_with(words[noun]) for k in range(n, noun)) else None


def _attributes_end(phrase: NounPhrase) -> int:
    """Index of the last word of the phrase with its prepositional and genitive attributes (ru
    *менеджер по продажам*,
    *представитель министерства*) and the names behind it (he *המורה רותי כהן*, uk *суддя
    Ковальчук*).
    """
    words, n, prepositions = phrase.words, _construct_end(phrase), phrase.language.prepositions
    # Where nouns show no case only the order of the words tells: there no attribute stands before
    # the name.
    while not prepositions and (word := word_behind(words, n)) and word.tags == {"PROPN"}:
        n += 1
    while (word := word_behind(words, n)) and word.form not in phrase.language.verbs.short:
        # A name belongs to the noun before it, whatever case is read on it: ru Захарова is read as
        # a man's genitive.
        genitive = prepositions and "NOUN" in word.tags and word.cases == {"Gen"}
        if genitive or (
            prepositions
            and word.tags == {"PROPN"}
            and (not word.readings or word.text[:1].isupper())
        ):
            n += 1
        elif "ADP" in word.tags or word.form in prepositions:
            noun = _noun_of(words, n + 1)
            if noun is None:
                break
            n = noun
        else:
            break
    return n


def _construct_end(phrase: NounPhrase) -> int:
    """Index of the last word of the genitive right behind the head (he *ראש המחלקה הרפואית*), with
    its adjective.
    """
    words, n, language = phrase.words, phrase.last, phrase.language
    if not language.construct or language.is_definite(words[phrase.head].form):
        return n
    while (following := word_behind(words, n)) and _bare_noun(following, language):
        n += 1
    attribute = (
        phrase.last < n
        and following is not None
        and following.is_adjective
        and "CCONJ" not in following.tags
    )
    if following is not None and attribute and not is_verb_form(following, language):
        n += language.is_definite(words[n].form) and language.is_definite(following.form)
    return n


def _bare_noun(word: SentenceWord, language: Language) -> bool:
    """A noun with at most an article written on, and no verb."""
    noun = word.tags & NOMINAL and not word.tags & {"ADP", "PRON", *VERBAL, *CONJUNCTION}
    return bool(noun) and not is_verb_form(word, language)


def _noun_of(words: Sequence[SentenceWord], preposition: int) -> int | None:
    """Index of the noun that a preposition (or a word with one written onto it) governs."""
    # Room for three words between: cs "v první řadě", "ve svém novém domě".
    for n in range(preposition, min(preposition + 5, len(words))):
        if n > preposition and not words[n].joined:
            return None
        if words[n].tags & NOMINAL:
            return n
        if words[n].tags & {"PRON", *VERBAL, *CONJUNCTION}:
            return None
    return None


def _auxiliary(words: Sequence[SentenceWord], n: int, language: Language) -> bool:
    """An auxiliary right before a copula (fr *a été*)."""
    following = words[n + 1].form if n + 1 < len(words) else ""
    return words[n].form in language.verbs.auxiliaries and following in language.verbs.copulas


def _predicative(word: SentenceWord, phrase: NounPhrase) -> Evidence | None:
    """An adjective or participle that a copula joins to its subject: its ending by the plugin's
    table, else the tagger.
    """
    # The ending before the tagger, as in `phrase_evidence.adjectives`.
    ending = word.facts.adjective
    if ending:
        gender = only_gender([a for a in ending if a.number in ("*", phrase.number or "sg")])
        return (
            Evidence("verb", word.text, gender, "form", listed(ending))
            if gender in PERSONAL
            else None
        )
    return _tagged(word, [w for w in word.tagged if w.upos in ("ADJ", "VERB", "AUX")], phrase)


def _tagged(word: SentenceWord, tagged: Sequence[Word], phrase: NounPhrase) -> Evidence | None:
    """The gender that the tagger reads on the syntactic words `tagged`, where it reads the entity's
    number on them.
    """
    gender, feature = tagged_gender(tagged)
    fits = gender in PERSONAL and _same_number(tagged, phrase)
    return Evidence("verb", word.text, gender, "tagger", feature) if fits else None


def _same_number(tagged: Sequence[Word], phrase: NounPhrase) -> bool:
    return feature_values(tagged, "Number") <= {"Plur" if phrase.number == "pl" else "Sing"}


def _compound_tense(word: SentenceWord, language: Language) -> bool:
    """A bare past participle that no copula introduces ("ha chiesto") does not agree with the
    subject.

    Where the plugin says which endings of past verbs mark gender (the Slavic l-participle), it
    does.
    """
    # cs zavolala is tagged as a past participle too.
    if language.verbs.ending(word.form):
        return False
    forms = feature_values((w for w in word.tagged if w.upos in VERBAL), "VerbForm")
    # Declined it is an attribute of something: ru "подписанная атташе нота".
    silent = "Past" in feature_values(word.tagged, "Tense") or bool(
        feature_values(word.tagged, "Case")
    )
    return "Part" in forms and "Fin" not in forms and silent


def _preceding(phrase: NounPhrase, *, behind_object: bool = False) -> Evidence | None:
    """The verb right before the phrase, where nothing before it in its clause can be its subject.

    Args:
        phrase: the entity's.
        behind_object: the phrase is taken for a subject only where the verb has its object before
            it (ru *ставку приняла крупье*): the form shows no case, and the tagger guesses one.
    """
    word, words, verbs = phrase.before(), phrase.words, phrase.language.verbs
    if word is None or not word.tags & {"ADJ", *VERBAL}:
        return None
    n = phrase.first - 1
    before = n - 1
    while before > 0 and words[before + 1].joined and words[before].form in verbs.skip:
        before -= 1
    copula = before >= 0 and words[before + 1].joined and words[before].form in verbs.copulas
    if copula:
        found = _predicative(word, phrase)
    else:
        found = (
            None
            if "ADJ" in word.tags or _compound_tense(word, phrase.language)
            else _shown(word, phrase)
        )
    if found is None:
        return None
    # he האיכר נתן למורה "the farmer gave the teacher": the farmer is the subject. The search for
    # one ends at the conjunction that opens the clause: es "cuando fue despedida su asistente", it
    # "quando è arrivato l'auditor".
    has_object = False
    while n > 0 and words[n].joined:
        n -= 1
        if words[n].tags & CONJUNCTION:
            # ru "вошла и неделю искала портье": the subject may be the one of the clause before.
            has_object = has_object and "CCONJ" not in words[n].tags
            break
        if words[n].may_be_subject and not rules_out(words[n], found.gender, phrase.language):
            return None
        has_object = has_object or _object(words, n)
    return found if has_object or not behind_object else None


def _object(words: Sequence[SentenceWord], n: int) -> bool:
    """A noun without a preposition, and no instrumental, which may be a time (ru *утром*)."""
    time = words[n].cases == {"Ins"}
    return bool(words[n].tags & NOMINAL) and not time and not governed(words, n)


def _shown(word: SentenceWord, phrase: NounPhrase) -> Evidence | None:
    """The gender of a finite verb in the entity's number: by the plugin's endings, else by the
    tagger.
    """
    tagged, verbs = [w for w in word.tagged if w.upos in VERBAL], phrase.language.verbs
    # he הראה "showed" (he) ends like the feminine verbs: whole forms come first. Endings come
    # before the tagger, which reads he שכחה "forgot" (she) as masculine.
    whole = verbs.words.get(word.form)
    if whole:
        return _by_form(word, whole, phrase, word.form, tagged=True)
    ending = verbs.ending(word.form)
    if ending:
        return _by_form(
            word, ending[1], phrase, f"-{ending[0]}", tagged=_same_number(tagged, phrase)
        )
    # ar افتتح العمدة المعرض: the tagger reads a feminine that the form, without ت, cannot be.
    found = _tagged(word, tagged, phrase)
    if (
        found
        and found.gender is Gender.FEMALE
        and verbs.feminine
        and not re.search(verbs.feminine, word.form)
    ):
        return None
    return found


def _by_form(
    word: SentenceWord, agreement: Agreement, phrase: NounPhrase, detail: str, *, tagged: bool
) -> Evidence | None:
    """Evidence of a form that shows gender, if it shows the entity's number; where it shows none,
    the tagger must agree.
    """
    # cs "Zloděj a účetní utekli": a plural verb tells of two people, where the English has one
    # accountant.
    fits = (
        tagged
        if agreement.number == "*"
        else agreement.number == (phrase.number or agreement.number)
    )
    gender = GENDER_OF_LETTER.get(agreement.gender)
    return (
        Evidence("verb", word.text, gender, "form", detail) if gender in PERSONAL and fits else None
    )
