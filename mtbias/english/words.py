"""The words of an English sentence: gendered pronouns, the words that alignment counts, plurals."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mtbias.types import Gender, Span

# The gendered third-person pronouns of English: their roles and genders, and how many a text has.

PRONOUN_ROLES = {
    "subject": ("he", "she"),
    "object": ("him", "her"),
    "determiner": ("his", "her"),
    "possessive": ("his", "hers"),
    "reflexive": ("himself", "herself"),
}
"""Role in the sentence → the masculine and the feminine pronoun, singular. *His* and *her* have two
roles each."""

GENDER_OF_PRONOUN = {
    **{masculine: Gender.MALE for masculine, _ in PRONOUN_ROLES.values()},
    **{feminine: Gender.FEMALE for _, feminine in PRONOUN_ROLES.values()},
}

PRONOUNS = tuple(GENDER_OF_PRONOUN)

# A combining mark after the last letter belongs to the word ("hé" in two characters is not "he").
_PRONOUN = re.compile(rf"(?<!\w)(?:{'|'.join(PRONOUNS)})(?![\w\u0300-\u036f])", re.IGNORECASE)


def count_pronouns(text: str) -> int:
    """Number of gendered third-person pronouns in `text`.

    Counted are *he, him, his, himself, she, her, hers, herself* as whole words in any case. An
    apostrophe ends a word ("he's", "she’ll" count one each), and so do a hyphen and a slash
    ("his/her" counts two). Range: from 0 upwards.

    Source: our own definition. BUG's ``num_of_pronouns`` mostly leaves out *him* (it is 0 in nine
    rows of the paper's gold file, all of which have a pronoun); that number stays in
    `Instance.corpus_pronouns`.
    """
    return sum(1 for _ in _PRONOUN.finditer(text))


def pronouns_gender(text: str) -> Gender | None:
    """The gender of the gendered third-person pronouns in `text`; None where it has none, or has
    both.
    """
    genders = {GENDER_OF_PRONOUN[match[0].lower()] for match in _PRONOUN.finditer(text)}
    return genders.pop() if len(genders) == 1 else None


_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:[-'’][A-Za-z0-9\u00c0-\u024f]+)*")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)


_DETERMINERS = """
    the a an this that these those my your his her its our their 's some any no every each another
    which
    """
DETERMINERS = frozenset(_DETERMINERS.split())
"""Words that may begin a noun phrase and qualify nothing."""

_QUANTIFIERS = """
    one ones two three four five six seven eight nine ten eleven twelve both few many most several
    some all other others another latter former first second third last same rest
    """
QUANTIFIERS = frozenset(_QUANTIFIERS.split())
"""Words that may stand for people without a noun ("the two", "others")."""


CACHED_TEXTS = 4096
"""Texts whose words are cached: those of WinoMT, which every system and stage needs again."""


class SourceWord(NamedTuple):
    """A word of a source sentence."""

    span: Span
    text: str
    form: str
    """`text` in lower case, with straight apostrophes."""


PREPOSITIONS = frozenset(("at", "by", "de", "for", "from", "in", "of", "on", "to", "with"))
CONJUNCTIONS = frozenset(("and", "or"))


def hyphenated_parts(word: str) -> tuple[str, str, str]:
    """(before, head, behind) of a hyphenated word: the last part is its head (*flight-attendant*),
    the first one where a preposition is inside (*colonel-in-chief*, *groom-to-be*). Without a
    hyphen all of it is the head.
    """
    parts = word.split("-")
    if len(parts) > 2 and not PREPOSITIONS.isdisjoint(parts[1:-1]):
        return "", parts[0], "-".join(parts[1:])
    return "-".join(parts[:-1]), parts[-1], ""


@lru_cache(maxsize=CACHED_TEXTS)
def english_words(text: str) -> tuple[SourceWord, ...]:
    """Words of `text` in order, clitics (``'s``, ``n't``) split off, punctuation dropped."""
    words = []
    for match in _WORD.finditer(text):
        start, end, word = match.start(), match.end(), match.group()
        clitic = _CLITIC.search(word)
        cut = start + clitic.start() if clitic and clitic.start() > 0 else end
        for left, right in ((start, cut), (cut, end)):
            if right > left:
                piece = text[left:right]
                words.append(SourceWord(Span(left, right), piece, piece.lower().replace("’", "'")))
    return tuple(words)


# English plurals: whether a noun is one, and of what it may be one.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Closed classes, without those that the rules of `is_plural` cover. Where a form is both (series,
# species) or depends on the sentence (mechanics), it is taken as it is usual of people: species
# one, mechanics several.
_PLURALS = _words(
    """
    police mice lice geese teeth feet oxen cattle brethren dice criteria phenomena bacteria strata
    errata alumni emeriti literati illuminati paparazzi magi virtuosi castrati cacti fungi foci loci
    nuclei radii stimuli syllabi bacilli moduli
    """
)
_PLURAL_ENDINGS = ("men", "ae", "people", "children", "folk")
_SINGULARS_IN_MEN_AE = _words(
    """
    abdomen acumen albumen amen bitumen cyclamen dolmen foramen hymen lumen omen ramen regimen semen
    specimen stamen yemen brae reggae sundae
    """
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
_PLURALS_IN_US_IS = _words(
    """
    beaus bureaus plateaus tableaus chateaus milieus bayous caribous emus gnus gurus haikus hindus
    menus thous tutus zulus alibis bengalis bikinis corgis emojis iraqis israelis khakis kiwis nazis
    pakistanis rabbis safaris skis somalis taxis tsunamis wikis yetis yogis azeris
    """
)
# A field in -ics is one thing (physics, politics); these are several people, or things that one can
# count.
_PLURALS_IN_ICS = _words(
    """
    academics alcoholics antibiotics asthmatics catholics characteristics classics clerics clinics
    comics cosmetics critics cynics diabetics eccentrics epileptics fabrics fanatics heretics
    hispanics lunatics lyrics mechanics medics metrics mimics mosaics mystics neurotics paramedics
    picnics psychics psychotics relics romantics rustics sceptics schizophrenics skeptics stoics
    tonics topics tunics
    """
)
_SINGULARS_IN_S = _words(
    """
    news species series lens chaos cosmos ethos pathos asbestos kudos rhinoceros diabetes measles
    mumps rabies corps biceps forceps gallows crossroads headquarters mars wales mrs alias arkansas
    atlas bias canvas christmas dallas gas judas kansas lucas nicholas pancreas texas thomas vegas
    """
)
_AFTER_HEAD = ("-by", "-up")
"""Endings behind the noun of a compound, which alone shows the number: passers-by, like
mothers-in-law."""
_IRREGULAR = {
    "children": ("child",),
    "people": ("person",),
    "alumni": ("alumnus",),
    "alumnae": ("alumna",),
}


def is_plural(noun: str) -> bool:
    """Whether a noun is plural by its form, in any case: businessmen, alumni, geese, nurses, but
    not news or boss.

    Plural are words in *-men*, *-ae* and *-s*, and irregular ones (`_PLURALS`); not plural are
    words in *-ss*, *-us*, *-is* and *-ics*, and those of the closed classes above. A word that is
    the same in both numbers (sheep) is not plural.

    Source: our own rules after Quirk et al., *A Comprehensive Grammar of the English Language*
    (1985), 5.73 to 5.103.
    """
    noun = noun.lower()
    if noun.endswith(_AFTER_HEAD) or hyphenated_parts(noun)[2]:
        noun = noun.partition("-")[0]
    if noun in _PLURALS:
        return True
    if noun.endswith(_PLURAL_ENDINGS):
        return noun not in _SINGULARS_IN_MEN_AE
    if not noun.endswith("s") or noun in _SINGULARS_IN_S:
        return False
    return not noun.endswith(_SINGULAR_ENDINGS) or noun in _PLURALS_IN_US_IS | _PLURALS_IN_ICS


@lru_cache(maxsize=1 << 14)
def singulars(word: str) -> tuple[str, ...]:
    """`word` and what it may be the English plural of: ``ladies`` → ladies, ladie, ladi, lady."""
    forms = [word]
    if word.endswith("s") and not word.endswith("ss"):
        forms.append(word[:-1])
        if word.endswith("es"):
            forms.append(word[:-2])
        if word.endswith("ies"):
            forms.append(word[:-3] + "y")
        if word.endswith("ves"):  # wives, thieves
            forms += [word[:-3] + "fe", word[:-3] + "f"]
    if word.endswith("men"):
        forms.append(word[:-2] + "an")
    return (*forms, *_IRREGULAR.get(word, ()))
