"""What the words of the noun phrase say of the entity's gender: articles, contractions, adjectives,
titles, the noun's own ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mtbias.decide.noun_phrase import NounPhrase
from mtbias.decide.predicate import predicate_gender
from mtbias.decide.sentence_words import (
    GENDER_OF_LETTER,
    NUMBER,
    PERSONAL,
    SentenceWord,
    feature_values,
    listed,
    only_gender,
    reading_agreements,
    tagged_gender,
    word_behind,
)
from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, NounReading, meet
from mtbias.types import Evidence, Gender

_CASE = {
    "Nom": "nom",
    "Gen": "gen",
    "Dat": "dat",
    "Acc": "acc",
    "Ins": "ins",
    "Loc": "loc",
    "Voc": "voc",
}
_DOUBTED = "renders nothing of the entity"
"""What the evidence of an adjective says that may be another word's."""


def determiners(phrase: NounPhrase, noun_gender: Gender | None = None) -> list[Evidence]:
    """Evidence of the articles, contractions, possessives and demonstratives before the head.

    What their forms allow is intersected with what the noun's ending allows and resolved
    (`resolve`). A form that allows the gender that the noun itself shows agrees with it, whatever
    else it allows (German *der Köchin*).
    """
    words, language = phrase.words, phrase.language
    known = [n for n in (*phrase.left, *phrase.right) if words[n].form in language.determiners]
    # es "el ama", "al ama": the masculine article before a stressed a- is a matter of sound, and
    # the ama is a woman.
    silent = language.silent_determiners.get(words[phrase.head].form, ())
    if known and known[0] == phrase.head - 1 and words[known[0]].form in silent:
        known = known[1:]
    # A determiner of another case or number is another noun's: ru "в своей речи фельдшера", "об
    # этом учителю". Where the noun tells its gender, only case and number count: a conflict (de
    # "dem Sekretärin") must show, not vanish.
    fits = phrase.agreements
    if noun_gender is not None:
        fits = [Agreement("*", a.case, a.number) for a in fits]
    known = [n for n in known if meet(language.determiners[words[n].form], fits)]
    if not known:
        return []
    # fr "mon collègue" is a man, "mon élève" may be a girl: before a vowel the masculine form
    # serves for both.
    nearest = words[known[0]].form
    allowed = list(language.determiners[nearest])
    before_consonant = language.determiners_before_consonant.get(nearest)
    # Behind its noun a determiner may end the sentence: then no sound follows that would tell.
    following = words[known[0] + 1].form[:1] if known[0] + 1 < len(words) else ""
    if before_consonant is not None and following.isalpha() and following not in language.vowels:
        allowed = list(before_consonant)
    # de "einer der Entwickler" for *one of the developers*: in their number the article is no part
    # of "einer". Not in the singular: "die Entwickler" for *the developer* is a plural all the
    # same, and contradicts nothing.
    if phrase.number == "pl":
        allowed = [a for a in allowed if _fits(a.number, phrase.number)] or allowed
    # fr "toutes les secrétaires": the article is silent, the word before it is not.
    for n in known[1:]:
        allowed = meet(allowed, language.determiners[words[n].form]) or allowed
    # de "Die Köchin" of one person is feminine by its article too; without the English number "die"
    # could be a plural.
    counted = [a for a in allowed if _fits(a.number, phrase.number)] or allowed
    if noun_gender is not None and any(
        GENDER_OF_LETTER.get(a.gender, noun_gender) == noun_gender for a in counted
    ):
        gender, how = (noun_gender if only_gender(counted) else None), ""
    else:
        # de "die Mover" beside a masculine noun can only be a plural, and contradicts nothing. In
        # "der junge Coach" and "der jungen Coach" the adjective shows the case, and so the
        # article's gender. Where there is no case (fr "notre nouvelle comptable") it shows its own
        # alone (`adjectives`).
        allowed = meet(allowed, phrase.agreements) or allowed
        for n in phrase.left if language.prepositions else ():
            if n not in known and words[n].form not in language.names and words[n].facts.adjective:
                allowed = meet(allowed, words[n].facts.adjective) or allowed
        gender, how = resolve(allowed, phrase, [*known, phrase.head])
    kind = "contraction" if any("ADP" in words[n].tags for n in known) else "determiner"
    return [
        Evidence(
            kind,
            " ".join(words[n].text for n in sorted(known)),
            gender,
            "form",
            listed(allowed) + how,
        )
    ]


def against_grammar(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of a determiner or predicate of the other gender than that of a noun whose gender is
    fixed: it agrees with the person (es *las miembros*, it *il guardia*, ru *член комиссии
    сказала*). Empty where there is none, an article agrees with the noun, or the table does not
    tell the noun's gender.
    """
    head = phrase.words[phrase.head]
    genders = {a.gender for reading in head.readings for a in reading.agreements}
    own = GENDER_OF_LETTER.get(genders.pop()) if len(genders) == 1 else None
    if own not in PERSONAL:
        return []
    # Where nouns show case a word that agrees otherwise is mostly another's (ru об этом жертве "to
    # the victim, of it").
    articles = [] if phrase.language.prepositions else determiners(phrase, own)
    told: list[Evidence | None] = [e for e in articles if e.gender in PERSONAL]
    return [e for e in told or [predicate_gender(phrase)] if e and e.gender is not own]


def shared_determiner(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the article before the first of several nouns that name the same person (es *un
    actor y cantante*).

    In Romance a singular noun without an article stands in a row with the one before it, behind
    "and", farther off behind commas. Empty where the noun has a determiner of its own, the one
    before it is not known to name a person, or a preposition stands before that: es *entre la
    abogada y cliente* are two.
    """
    words, n = phrase.words, phrase.first - 1
    if n < 1 or not (words[n + 1].joined and words[n].joined) or words[n].tags != {"CCONJ"}:
        return []
    return _before_in_row(phrase, n - 1)


def _before_in_row(phrase: NounPhrase, n: int) -> list[Evidence]:
    """The article of the noun whose phrase ends at `n`, or of the first noun of the row in which it
    stands.
    """
    words, language = phrase.words, phrase.language
    own = any(words[k].form in language.determiners or "DET" in words[k].tags for k in phrase.left)
    if not language.either_side or own or phrase.number != "sg":
        return []
    while n > 0 and words[n].joined and words[n].is_adjective and not words[n].is_personal:
        n -= 1
    if not words[n].is_personal:
        return []
    before = NounPhrase.around(words, n, language, phrase.number)
    governed = before.before()
    if any("ADP" in word.tags for word in (governed, words[before.first]) if word is not None):
        return []
    # A mark and a blank, and no capital behind them: a comma.
    comma = before.first > 0 and words[before.first].span.start - words[
        before.first - 1
    ].span.end == len(", ")
    further = comma and words[before.first].text[0].islower()
    return determiners(before) or (_before_in_row(before, before.first - 1) if further else [])


def fitting_readings(phrase: NounPhrase) -> tuple[NounReading, ...]:
    """The readings of the head that fit its determiner, then those in the number of the English
    source (it
    *infermiere*: a man in *l'infermiere*, women in *le infermiere*); all of them where none would
    be left.
    """
    readings = phrase.words[phrase.head].readings
    articles: list[Agreement] = []
    for n in (*phrase.left, *phrase.right):
        allowed = phrase.language.determiners.get(phrase.words[n].form)
        if allowed:
            articles = meet(articles, allowed) if articles else list(allowed)
    # The article first, for it stands in the translation; the English number is only probable. ru
    # "с сопровождающим" is one man, or women and men in the plural: the number leaves the man.
    number = [Agreement("*", "*", phrase.number)] if phrase.number else []
    for context in (articles, number):
        fitting = tuple(r for r in readings if not context or meet(reading_agreements(r), context))
        readings = fitting or readings
    return readings


def noun_ending(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the head's own ending in its case and number (cs *průvodčímu*: m.dat.sg), where
    it tells.
    """
    allowed = phrase.agreements
    if all(a.gender == "*" for a in allowed):
        return []
    gender, how = resolve(allowed, phrase, [phrase.head])
    if gender is None:
        return []
    return [Evidence("noun", phrase.words[phrase.head].text, gender, "form", listed(allowed) + how)]


def resolve(
    allowed: Sequence[Agreement], phrase: NounPhrase, read: Sequence[int]
) -> tuple[Gender | None, str]:
    """The one gender that is left, and how: by the forms alone, then with the number of the English
    source, then with the cases that the words before allow, then as a nominative where the phrase
    opens the sentence, then with the case and number that the tagger reads on the words `read`.
    """
    how = ""
    gender = only_gender(allowed)
    if gender is not None:
        return gender, how
    cases, why = phrase.cases()
    # de "half der Angestellten" is one woman or several people, cs "svým podřízeným" one man or
    # several people: the English number leaves one. (Case before number would give the same calls,
    # with other evidence.)
    numbers = {phrase.number, "*"} if phrase.number else {"sg", "pl", "*"}
    for position, values, reason in (
        (2, numbers, f", {phrase.number} in the source"),
        (1, {*cases, "*"}, why),
    ):
        kept = [a for a in allowed if a[position] in values]
        if kept and len(kept) < len(allowed):
            allowed, how = kept, how + reason
            gender = only_gender(allowed)
            if gender is not None:
                return gender, how
    # Before the tagger, which reads ru ночной in "Ночной портье помог…" as an instrumental and so
    # as feminine.
    if phrase.first == 0 and phrase.language.prepositions:
        gender = only_gender([a for a in allowed if a.case in ("nom", "*")])
        if gender is not None:
            return gender, f"{how}, first in the sentence"
    # de "…, bis der CEO dies sagte": only the tagger's nominative excludes a feminine dative.
    for tagged in (tagged for n in read for tagged in phrase.words[n].tagged):
        features = dict(tagged.feats)
        case, number = _CASE.get(features.get("Case", "")), NUMBER.get(features.get("Number", ""))
        if case or number:
            gender = only_gender(
                [a for a in allowed if _fits(a.case, case) and _fits(a.number, number)]
            )
            if gender is not None:
                return gender, f"{how}, read as {case or '*'}.{number or '*'}"
    return None, how


def _fits(allowed: str, read: str | None) -> bool:
    return read is None or allowed in ("*", read)


def adjectives(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the attributive adjectives: their endings by the plugin's table, else the
    tagger's gender. What is doubted as an attribute of the head is silent.
    """
    found: list[tuple[int, Evidence]] = []
    language = phrase.language
    for n in (*phrase.left, *phrase.right):
        word = phrase.words[n]
        # es "cada paciente", "dos peatones": the adjective endings -a and -os would fit these too.
        numeral = all(tagged.upos == "NUM" for tagged in word.content)
        named = word.form in language.names or word.form in language.sex_adjectives
        if word.form in language.determiners or named or numeral:
            continue
        ending = word.facts.adjective
        if ending:
            agreeing = meet(ending, phrase.agreements)
            if not agreeing and n == phrase.head - 1:
                agreeing = _of_woman(ending, phrase)
            # Another case, number or gender: it belongs to something else (es "enseña al asistente
            # nuevas técnicas", uk "гостя була задоволена кухарем" "the guest was pleased with the
            # cook").
            if not agreeing:
                continue
            gender, how = resolve(agreeing, phrase, [n, phrase.head])
            if gender is not None:
                found.append(
                    (n, Evidence("adjective", word.text, gender, "form", listed(ending) + how))
                )
            # An ending that leaves it open is silent: the tagger reads cs hlavní, postarší, the
            # same for women and men, as one or the other.
            continue
        gender, feature = tagged_gender(word.content)
        # An adjective in another number is another noun's: he הזמרות החזיקה "the singers, (each)
        # held".
        number = {NUMBER.get(value) for value in word.numbers} - {None}
        if gender is not None and (not number or phrase.number in (None, *number)):
            found.append((n, Evidence("adjective", word.text, gender, "tagger", feature)))
    return [
        replace(e, gender=None, detail=f"{e.detail}, {_DOUBTED}") if n in phrase.doubted else e
        for n, e in found
    ]


def sex_adjectives(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the words that mean a woman or a man, whatever their own ending agrees with: de
    *die weibliche Lehrkraft*, es *la víctima masculina*, *los pilotos mujeres*.
    """
    words, known = phrase.words, phrase.language.sex_adjectives
    found = [
        words[n]
        for n in (*phrase.left, *phrase.right)
        if words[n].form in known and n not in phrase.doubted
    ]
    return [
        Evidence("adjective", w.text, GENDER_OF_LETTER[known[w.form]], "form", "by its meaning")
        for w in found
    ]


def _of_woman(ending: Sequence[Agreement], phrase: NounPhrase) -> list[Agreement]:
    """What a feminine adjective right before a masculine noun that is also used of women agrees
    with in the instrumental, the case of what somebody becomes or is (ru *стала новой директором*),
    if the tagger reads it on both.
    """
    # In the other cases nobody says so: uk "ввів в оману керівника" would make women of ten
    # supervisors and accountants in WinoMT's translations of 2019.
    head, adjective = phrase.words[phrase.head], phrase.words[phrase.head - 1]
    if not (adjective.joined and adjective.is_adjective and adjective.has_case_of(head)):
        return []
    generic = [
        a
        for r in head.readings
        if r.kind is NounKind.GENERIC
        for a in r.agreements
        if a.case == "ins"
    ]
    return meet(ending, [Agreement("f", a.case, a.number) for a in generic])


def names_person(phrase: NounPhrase, *, named: bool) -> bool:
    """Whether anything says that the head names a person: the table, an ending of nouns for people,
    animacy, a title before it (*Frau …*) or, where the alignment is sure and the entity is `named`
    in the source, a name behind it (it
    *la dinastia Qajar* has one, too).
    Things have a grammatical gender too, which is nobody's.

    What the table knows only as a thing (es *motor* for *mover*), or that is one by its article or
    number (ru *эта техника* "this equipment" for *technician*), names nobody.
    """
    # Without the question 10 calls of ``tests`` are lost and 7 won (natural −4 +6, challenge −2,
    # independent −4 +1), and 15 things in WinoMT's translations of 2019 have a gender (de "den
    # Wagen" for *mover*). With half of the tables' nouns left out the ending saves 47 calls of
    # ``tests``, animacy 14; a title and a name none, for want of such sentences.
    word = phrase.words[phrase.head]
    if word.readings:
        return any(r.kind is not NounKind.THING for r in fitting_readings(phrase))
    if word.facts.ending is not None:
        return word.facts.ending[1] is not NounKind.THING
    # A name is no noun that renders somebody: ru "лесничей Сноудона" for *Forester of Snowdon*.
    if word.tags != {"PROPN"} and "Anim" in feature_values(word.content, "Animacy"):
        return True
    if _inflects_person(word, phrase.language):
        return True
    # Behind a name a second one is no sign: "Radomiak Radom" is a club. In ru "глава региона Иван
    # Петров" the name is not the region's.
    name = _name_behind(phrase)
    apart = (
        name is not None and word.is_declined and name.is_declined and not word.has_case_of(name)
    )
    by_name = named and "NOUN" in word.tags and name is not None and not apart
    return by_name or any(phrase.words[n].form in phrase.language.names for n in phrase.left)


def _inflects_person(word: SentenceWord, language: Language) -> bool:
    """A noun of the table with an ending that it does not take, in its own gender (uk *з пекаром*
    for *пекарем*).
    """
    # One or two letters, and the gender: ru малярией "malaria" is no маляр "painter". Where forms
    # show case: elsewhere an ending makes another word.
    if not language.prepositions or "NOUN" not in word.tags:
        return False
    gender, _ = tagged_gender(word.content)
    return gender is not None and any(
        reading.kind.gender is gender
        for ending in language.align_endings
        if len(ending) <= 2
        and word.form.endswith(ending)
        and len(word.form) - len(ending) >= language.min_stem
        for reading in language.nouns.get(word.form.removesuffix(ending), ())
    )


def _name_behind(phrase: NounPhrase) -> SentenceWord | None:
    """The word right behind the phrase if the tagger calls it a name."""
    word = word_behind(phrase.words, phrase.last)
    return word if word and "PROPN" in word.tags else None


def _surname(phrase: NounPhrase, name: SentenceWord) -> SentenceWord:
    """The last of the names that stand in a row behind the phrase in one case (cs *Účetní Marie
    Králová*).
    """
    for word in phrase.words[phrase.last + 2 :]:
        # "Trenér Jany Novákové": a genitive is another person, and so is whoever follows a mark.
        if not (word.joined and "PROPN" in word.tags and word.has_case_of(name)):
            break
        name = word
    return name


def woman_by_title(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of a feminine form of address before a masculine noun, and of the articles before
    it: *Frau Doktor*,
    *die Frau Direktor*, cs *paní ředitel*, fr *Madame le professeur* are women. Empty where there
    is none or an article before it contradicts it.

    The other way round nobody can say what is meant: *Herr Ärztin* stays contradictory.
    """
    titles = [e for e in names(phrase) if e.kind == "title"]
    if not titles or any(e.gender is not Gender.FEMALE for e in titles):
        return []
    # Articles before it agree with it: "der Frau Direktor" is a dative.
    first = min(n for n in phrase.left if phrase.words[n].form in phrase.language.names)
    before = [n for n in phrase.left if n < first]
    articles = determiners(
        replace(phrase, left=before, agreements=(Agreement("f", "*", "*"),)), Gender.FEMALE
    )
    if any(e.gender not in (None, Gender.FEMALE) for e in articles):
        return []
    return [*titles, *articles]


def names(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of a title before the head (*Frau*, *señora*) and of a surname behind it whose
    ending tells (cs
    *-ová*).
    """
    words, titles = phrase.words, phrase.language.names
    found = [
        Evidence(
            "title", words[n].text, GENDER_OF_LETTER[titles[words[n].form]], "form", words[n].form
        )
        for n in phrase.left
        if words[n].form in titles
    ]
    # cs Mluvčí Horáková. Only what the tagger calls a name: in cs zástupkyně ředitele "the
    # headmaster's deputy" and ar المعلمون للممرضة "the teachers to the nurse" the next word ends
    # like a person because it is another one.
    name = _name_behind(phrase)
    if name is not None:
        name = _surname(phrase, name)
        ending, kind = name.facts.ending or ("", None)
        gender = kind.gender if kind in (NounKind.MASCULINE, NounKind.FEMININE) else None
        if gender:
            found.append(Evidence("name", name.text, gender, "form", f"-{ending}"))
    return found
