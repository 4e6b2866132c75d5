"""What the words of the noun phrase show of the entity's gender: articles, contractions,
adjectives, titles, the noun's own ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from mtbias.language.grammar import Agreement, NounKind, NounReading, meet
from mtbias.reading.agreement import (
    GENDER_OF_LETTER,
    PERSONAL,
    fits,
    listed,
    only_gender,
    reading_agreements,
)
from mtbias.reading.rules import rule
from mtbias.reading.syntax import NounPhrase
from mtbias.reading.syntax.predicate import find_predicate
from mtbias.reading.words import (
    NUMBER,
    SentenceWord,
    evidence,
    feature_values,
    tagged_gender,
    word_behind,
)
from mtbias.types import Evidence, Gender

_CASE = {case: case.lower() for case in ("Nom", "Gen", "Dat", "Acc", "Ins", "Loc", "Voc")}
"""The tagger's cases as the plugins write them."""


# Determiners


def determiners(phrase: NounPhrase, noun_gender: Gender | None = None) -> list[Evidence]:
    """Evidence of the articles, contractions, possessives and demonstratives before the head.

    What their forms allow is intersected with what the noun's ending allows and resolved
    (`resolve`). A form that allows the gender that the noun itself shows agrees with it, whatever
    else it allows (de *der Köchin*).
    """
    words = phrase.words
    known = _own_determiners(phrase, noun_gender)
    if not known:
        return []
    allowed: Sequence[Agreement] = _allowed_by_determiners(phrase, known)
    # de "Die Köchin" of one person is feminine by its article too; without the English number
    # "die" could be a plural.
    counted = [a for a in allowed if fits(a.number, phrase.number)] or allowed
    # An agreement that shows no personal gender (*) allows every one.
    agrees = any(GENDER_OF_LETTER.get(a.gender, noun_gender) == noun_gender for a in counted)
    if noun_gender is not None and agrees:
        gender, how = (noun_gender if only_gender(counted) else None), ""
    else:
        allowed = _with_noun_and_adjectives(phrase, allowed, known)
        gender, how = resolve(allowed, phrase, [*known, phrase.head])
    own = [words[n] for n in sorted(known)]
    kind = "contraction" if any("ADP" in word.tags for word in own) else "determiner"
    return [evidence("article", kind, own, gender, "form", listed(allowed) + how)]


def _own_determiners(phrase: NounPhrase, noun_gender: Gender | None) -> list[int]:
    """The determiners that can belong to the noun, nearest first.

    One of another case or number is another noun's: ru *в своей речи фельдшера*, *об этом учителю*.
    Where the noun tells its gender, only case and number count: a conflict (de *dem Sekretärin*)
    must show, not vanish.
    """
    words, table = phrase.words, phrase.language.determiners
    known = [n for n in (*phrase.left, *phrase.right) if words[n].form in table]
    if known and article_of_sound(phrase, known[0]):
        known = known[1:]
    allowed = phrase.agreements
    if noun_gender is not None:
        allowed = [Agreement("*", a.case, a.number) for a in allowed]
    return [n for n in known if meet(table[words[n].form], allowed)]


@rule()
def article_of_sound(phrase: NounPhrase, n: int) -> bool:
    """The masculine article before a stressed a- is a matter of sound: es *el ama* is a woman."""
    silent = phrase.language.silent_determiners.get(phrase.words[phrase.head].form, ())
    return n == phrase.head - 1 and phrase.words[n].form in silent


def _allowed_by_determiners(phrase: NounPhrase, known: Sequence[int]) -> list[Agreement]:
    """The agreements of the nearest determiner, narrowed by those of the others where they share
    any (fr *toutes les secrétaires*).

    Where the source has a plural, only plural agreements count (de *einer der Entwickler* for *one
    of the developers*). In the singular they all do: *die Entwickler* for *the developer* is still
    a plural, and contradicts nothing.
    """
    words, table = phrase.words, phrase.language.determiners
    before_consonant = determiner_before_consonant(phrase, known[0])
    allowed = list(before_consonant or table[words[known[0]].form])
    if phrase.number == "pl":
        allowed = [a for a in allowed if fits(a.number, phrase.number)] or allowed
    for n in known[1:]:
        allowed = meet(allowed, table[words[n].form]) or allowed
    return allowed


@rule(otherwise=())
def determiner_before_consonant(phrase: NounPhrase, n: int) -> Sequence[Agreement]:
    """Before a vowel the masculine form serves for both: fr *mon collègue* is a man, *mon élève*
    may be a girl. Behind its noun a determiner may end the sentence: then no sound follows that
    tells.
    """
    words, language = phrase.words, phrase.language
    following = words[n + 1].form[:1] if n + 1 < len(words) else ""
    consonant = following.isalpha() and following not in language.vowels
    return language.determiners_before_consonant.get(words[n].form, ()) if consonant else ()


def _with_noun_and_adjectives(
    phrase: NounPhrase, allowed: Sequence[Agreement], known: Sequence[int]
) -> Sequence[Agreement]:
    """What the noun's ending leaves of the determiners' agreements and, where nouns show case, the
    endings of adjectives.

    de *die Mover* beside a masculine noun can only be a plural, and contradicts nothing. In *der
    junge Coach* and *der jungen Coach* the adjective shows the case, and so the article's gender.
    """
    words, names = phrase.words, phrase.language.names
    allowed = meet(allowed, phrase.agreements) or allowed
    for n in phrase.left if phrase.syntax.case else ():
        ending = words[n].facts.adjective
        if n not in known and words[n].form not in names and ending:
            allowed = meet(allowed, ending) or allowed
    return allowed


def shared_determiner(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the article before the first of several nouns that name the same person."""
    for first_phrase in phrase.syntax.shared_determiners(phrase):
        articles = determiners(first_phrase)
        if articles:
            return [replace(article, rule="shared_article") for article in articles]
    return []


def against_grammar(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of a determiner or predicate of the other gender than that of a noun whose gender is
    fixed: it agrees with the person (es *las miembros*, it *il guardia*, ru *член комиссии
    сказала*). Empty if there is none, an article agrees with the noun, or the table does not
    tell the noun's gender.

    Where nouns show case an article that agrees otherwise is mostly another's (ru *об этом
    жертве*).
    """
    genders = {agreement.gender for agreement in phrase.words[phrase.head].agreements}
    own = GENDER_OF_LETTER.get(genders.pop()) if len(genders) == 1 else None
    if own not in PERSONAL:
        return []
    articles = [] if phrase.syntax.case else determiners(phrase, own)
    agreeing = [article for article in articles if article.gender in PERSONAL]
    if not agreeing:
        predicate = find_predicate(phrase)
        agreeing = [predicate] if predicate is not None else []
    return [piece for piece in agreeing if piece.gender is not own]


# The noun


def fitting_readings(phrase: NounPhrase) -> tuple[NounReading, ...]:
    """The readings of the head that fit its determiner, then those in the number of the source (it
    *infermiere*: a man in *l'infermiere*, women in *le infermiere*); all of them where none would
    be left.

    The article first, since it is in the translation; the source's number is only probable: ru *с
    сопровождающим* is one man, or women and men in the plural.
    """
    readings = phrase.words[phrase.head].readings
    articles: list[Agreement] = []
    for n in (*phrase.left, *phrase.right):
        allowed = phrase.language.determiners.get(phrase.words[n].form)
        if allowed:
            articles = meet(articles, allowed) if articles else list(allowed)
    number = [Agreement("*", "*", phrase.number)] if phrase.number else []
    for context in (articles, number):
        if context:
            fitting = [r for r in readings if meet(reading_agreements(r), context)]
            readings = tuple(fitting) or readings
    return readings


@rule(otherwise=[])
def noun_ending(phrase: NounPhrase) -> list[Evidence]:
    """The head's own ending in its case and number tells: cs *průvodčímu* (m.dat.sg) is a man."""
    allowed = phrase.agreements
    if all(a.gender == "*" for a in allowed):
        return []
    gender, how = resolve(allowed, phrase, [phrase.head])
    if gender is None:
        return []
    head = [phrase.words[phrase.head]]
    return [evidence("noun_in_its_case", "noun", head, gender, "form", listed(allowed) + how)]


def resolve(
    allowed: Sequence[Agreement], phrase: NounPhrase, read: Sequence[int]
) -> tuple[Gender | None, str]:
    """The one gender that `allowed` leaves, and what narrowed it down: nothing, the number of the
    source, the cases that the words before allow, a nominative where the phrase opens the sentence,
    or the case and number that the tagger reads on the words at `read`; asked in this order.
    """
    gender = only_gender(allowed)
    if gender is not None:
        return gender, ""
    cases, case_reason = phrase.syntax.cases(phrase)
    # de *half der Angestellten* is one woman or several people: the source's number leaves one.
    in_number = [a for a in allowed if fits(a.number, phrase.number)]
    in_cases = [a for a in allowed if a.case == "*" or a.case in cases]

    how = ""
    number_reason = f", {phrase.number} in the source"
    for narrower, reason in ((in_number, number_reason), (in_cases, case_reason)):
        left = [a for a in allowed if a in narrower]
        if not left or len(left) == len(allowed):
            continue
        allowed, how = left, how + reason
        gender = only_gender(allowed)
        if gender is not None:
            return gender, how

    gender = first_in_sentence(allowed, phrase)
    if gender is not None:
        return gender, f"{how}, first in the sentence"
    gender, reason = as_tagged(allowed, phrase, read)
    return gender, how + reason


@rule("case", otherwise=None)
def first_in_sentence(allowed: Sequence[Agreement], phrase: NounPhrase) -> Gender | None:
    """A phrase that opens the sentence is a nominative: ru *Ночной портье помог…*, where the tagger
    reads *ночной* as an instrumental and so as feminine.
    """
    if phrase.first != 0 or not phrase.syntax.case:
        return None
    return only_gender([a for a in allowed if a.case in ("nom", "*")])


@rule(otherwise=(None, ""))
def as_tagged(
    allowed: Sequence[Agreement], phrase: NounPhrase, read: Sequence[int]
) -> tuple[Gender | None, str]:
    """The case and number that the tagger reads leave one gender: de *…, bis der CEO dies sagte*,
    where only its nominative excludes a feminine dative.
    """
    for word in chain.from_iterable(phrase.words[n].tagged for n in read):
        case, number = _CASE.get(word.feat("Case") or ""), NUMBER.get(word.feat("Number") or "")
        if not (case or number):
            continue
        left = [a for a in allowed if fits(a.case, case) and fits(a.number, number)]
        gender = only_gender(left)
        if gender is not None:
            return gender, f", read as {case or '*'}.{number or '*'}"
    return None, ""


# Adjectives


def adjectives(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of the attributive adjectives: their endings by the plugin's table, else the
    tagger's gender. What may be no attribute of the head is silent.
    """
    pieces = []
    for n in (*phrase.left, *phrase.right):
        piece = _adjective(phrase, n)
        if piece is not None and n in phrase.doubtful:
            piece = replace(piece, rule="doubtful_attribute", gender=None)
        if piece is not None:
            pieces.append(piece)
    return pieces


def _adjective(phrase: NounPhrase, n: int) -> Evidence | None:
    """The evidence of one adjective of the phrase. A numeral's ending is not read (es *dos
    peatones*). An ending that leaves the gender open is silent: the tagger reads cs *hlavní*, the
    same for women and men, as one or the other.
    """
    language, word = phrase.language, phrase.words[n]
    numeral = all(tagged.upos == "NUM" for tagged in word.content)
    named = word.form in language.names or word.form in language.sex_adjectives
    if word.form in language.determiners or named or numeral:
        return None
    if word.facts.adjective:
        return attribute_by_ending(phrase, n)
    return attribute_by_tagger(phrase, n)


@rule(otherwise=None)
def attribute_by_ending(phrase: NounPhrase, n: int) -> Evidence | None:
    """An adjective shows the gender by its ending, where that can stand with the noun. Another
    case, number or gender belongs to something else: es *enseña al asistente nuevas técnicas*, uk
    *гостя була задоволена кухарем* "the guest was pleased with the cook".
    """
    word = phrase.words[n]
    ending = word.facts.adjective
    agreeing = meet(ending, phrase.agreements)
    if not agreeing and n == phrase.head - 1:
        agreeing = phrase.syntax.agrees_as_woman(ending, phrase)
    if not agreeing:
        return None
    gender, how = resolve(agreeing, phrase, [n, phrase.head])
    if gender is None:
        return None
    shows = listed(ending) + how
    return evidence("attribute_by_ending", "adjective", [word], gender, "form", shows)


@rule(otherwise=None)
def attribute_by_tagger(phrase: NounPhrase, n: int) -> Evidence | None:
    """An adjective whose ending no table has shows the gender that the tagger reads. In another
    number it is another noun: he *הזמרות החזיקה* "the singers, (each) held".
    """
    word = phrase.words[n]
    gender, feature = tagged_gender(word.content)
    number = {NUMBER.get(value) for value in word.numbers} - {None}
    if gender is None or (number and phrase.number not in (None, *number)):
        return None
    return evidence("attribute_by_tagger", "adjective", [word], gender, "tagger", feature)


@rule(otherwise=[])
def sex_adjectives(phrase: NounPhrase) -> list[Evidence]:
    """Words that mean a woman or a man tell, whatever their own ending agrees with: de *die
    weibliche Lehrkraft*, es *la víctima masculina*, *los pilotos mujeres*.
    """
    words, known = phrase.words, phrase.language.sex_adjectives
    places = [n for n in (*phrase.left, *phrase.right) if n not in phrase.doubtful]
    pieces = []
    for word in [words[n] for n in places if words[n].form in known]:
        gender = GENDER_OF_LETTER[known[word.form]]
        pieces.append(evidence("word_for_sex", "adjective", [word], gender, "form"))
    return pieces


# Whether it names a person at all


def names_person(phrase: NounPhrase, *, named: bool) -> bool:
    """Whether anything says that the head names a person: the table, an ending of nouns for people,
    animacy, a title before it (*Frau …*) or, where the alignment is sure and the entity is `named`
    in the source, a name behind it (it *la dinastia Qajar* has one, too). Things have a grammatical
    gender too, which is nobody's.

    What the table knows only as a thing (es *motor* for *mover*), or that is one by its article or
    number (ru *эта техника* "this equipment" for *technician*), names nobody.
    """
    word = phrase.words[phrase.head]
    if word.readings:
        return any(reading.kind is not NounKind.THING for reading in fitting_readings(phrase))
    if word.facts.ending is not None:
        return word.facts.ending[1] is not NounKind.THING
    if is_animate(word) or phrase.syntax.is_inflected_person(word):
        return True
    titled = any(phrase.words[n].form in phrase.language.names for n in phrase.left)
    return titled or (named and name_behind_noun(phrase))


@rule()
def is_animate(word: SentenceWord) -> bool:
    """What the tagger reads as animate names somebody; but a name is no noun that renders somebody
    (ru *лесничей Сноудона* for *Forester of Snowdon*).
    """
    return word.tags != {"PROPN"} and "Anim" in feature_values(word.content, "Animacy")


@rule()
def name_behind_noun(phrase: NounPhrase) -> bool:
    """A noun with a name behind it names somebody. A second name is no sign (*Radomiak Radom* is a
    club); in another case it is somebody else's (ru *глава региона Иван Петров*).
    """
    word, name = phrase.words[phrase.head], _name_behind(phrase)
    if name is None or "NOUN" not in word.tags:
        return False
    return not (word.is_declined and name.is_declined and not word.has_case_of(name))


def _name_behind(phrase: NounPhrase) -> SentenceWord | None:
    """The word right behind the phrase if the tagger calls it a name."""
    word = word_behind(phrase.words, phrase.last)
    return word if word and "PROPN" in word.tags else None


# Titles and names


@rule(otherwise=[])
def woman_by_title(phrase: NounPhrase) -> list[Evidence]:
    """A feminine form of address before a masculine noun, and the articles before it, tell of a
    woman: *Frau Doktor*, *die Frau Direktor*, cs *paní ředitel*, fr *Madame le professeur*. Not
    where an article before it contradicts it.

    The other way round nobody can say what is meant: *Herr Ärztin* stays contradictory.
    """
    titles = [piece for piece in names(phrase) if piece.kind == "title"]
    if not titles or any(piece.gender is not Gender.FEMALE for piece in titles):
        return []
    # Articles before it agree with it: "der Frau Direktor" is a dative.
    known = phrase.language.names
    first = min(n for n in phrase.left if phrase.words[n].form in known)
    before = [n for n in phrase.left if n < first]
    feminine = replace(phrase, left=before, agreements=(Agreement("f", "*", "*"),))
    articles = determiners(feminine, Gender.FEMALE)
    if any(piece.gender not in (None, Gender.FEMALE) for piece in articles):
        return []
    return [*titles, *articles]


def names(phrase: NounPhrase) -> list[Evidence]:
    """Evidence of a title before the head (*Frau*, *señora*) and of a surname behind it whose
    ending tells (cs *-ová*).
    """
    words, titles = phrase.words, phrase.language.names
    pieces = []
    for n in phrase.left:
        letter = titles.get(words[n].form)
        if letter is not None:
            gender, form = GENDER_OF_LETTER[letter], words[n].form
            pieces.append(evidence("title", "title", [words[n]], gender, "form", form))
    return [*pieces, *surname(phrase)]


@rule(otherwise=[])
def surname(phrase: NounPhrase) -> list[Evidence]:
    """A surname behind the head tells by its ending: cs *Mluvčí Horáková*.

    Only what the tagger calls a name: in cs *zástupkyně ředitele* "the headmaster's deputy" the
    next word ends like a person because it is another one.
    """
    name = _name_behind(phrase)
    if name is None:
        return []
    name = _last_name(phrase, name)
    ending, kind = name.facts.ending or ("", None)
    gender = kind.gender if kind in (NounKind.MASCULINE, NounKind.FEMININE) else None
    return [evidence("surname", "name", [name], gender, "form", f"-{ending}")] if gender else []


def _last_name(phrase: NounPhrase, name: SentenceWord) -> SentenceWord:
    """The last of the names that are in a row behind the phrase in one case (cs *Účetní Marie
    Králová*). A genitive is another person (*Trenér Jany Novákové*), and so is whoever follows a
    mark.
    """
    for word in phrase.words[phrase.last + 2 :]:
        if not (word.joined and "PROPN" in word.tags and word.has_case_of(name)):
            break
        name = word
    return name
