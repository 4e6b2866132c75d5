"""English plurals: whether a noun is one, and of what it may be one."""

from __future__ import annotations

from mtbias.english.words import hyphenated_parts


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Closed classes, without those that the rules of `is_plural` cover. Where a form is both (series, species) or depends
# on the sentence (mechanics), it is taken as it is usual of people: species one, mechanics several.
_PLURALS = _words(
    """
    police mice lice geese teeth feet oxen cattle brethren dice criteria phenomena bacteria strata
    errata alumni emeriti literati illuminati paparazzi magi virtuosi castrati cacti fungi foci loci nuclei radii
    stimuli syllabi bacilli moduli
    """
)
_PLURAL_ENDINGS = ("men", "ae", "people", "children", "folk")
_SINGULARS_IN_MEN_AE = _words(
    """
    abdomen acumen albumen amen bitumen cyclamen dolmen foramen hymen lumen omen ramen regimen semen specimen stamen
    yemen brae reggae sundae
    """
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
_PLURALS_IN_US_IS = _words(
    """
    beaus bureaus plateaus tableaus chateaus milieus bayous caribous emus gnus gurus haikus hindus menus thous tutus
    zulus alibis bengalis bikinis corgis emojis iraqis israelis khakis kiwis nazis pakistanis rabbis safaris skis
    somalis taxis tsunamis wikis yetis yogis azeris
    """
)
# A field in -ics is one thing (physics, politics); these are several people, or things that one can count.
_PLURALS_IN_ICS = _words(
    """
    academics alcoholics antibiotics asthmatics catholics characteristics classics clerics clinics comics cosmetics
    critics cynics diabetics eccentrics epileptics fabrics fanatics heretics hispanics lunatics lyrics mechanics medics
    metrics mimics mosaics mystics neurotics paramedics picnics psychics psychotics relics romantics rustics sceptics
    schizophrenics skeptics stoics tonics topics tunics
    """
)
_SINGULARS_IN_S = _words(
    """
    news species series lens chaos cosmos ethos pathos asbestos kudos rhinoceros diabetes measles mumps rabies corps
    biceps forceps gallows crossroads headquarters mars wales mrs
    alias arkansas atlas bias canvas christmas dallas gas judas kansas lucas nicholas pancreas texas thomas vegas
    """
)
_AFTER_HEAD = ("-by", "-up")
"""What may stand behind the noun of a compound, which alone shows the number: passers-by, like mothers-in-law."""
_IRREGULAR = {"children": ("child",), "people": ("person",), "alumni": ("alumnus",), "alumnae": ("alumna",)}


def is_plural(noun: str) -> bool:
    """Whether a noun is plural by its form, in any case: businessmen, alumni, geese, nurses, but not news or boss.

    Plural are words in *-men*, *-ae* and *-s*, and irregular ones (`_PLURALS`); not plural are words in *-ss*, *-us*,
    *-is* and *-ics*, and those of the closed classes above. A word that is alike in both numbers (sheep) is none.

    Source: our own rules after Quirk et al., *A Comprehensive Grammar of the English Language* (1985), 5.73 to 5.103.
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


def singulars(word: str) -> tuple[str, ...]:
    """`word` and what it may be the English plural of: ``ladies`` → ladies, ladie, ladi, lady."""
    found = [word]
    if word.endswith("s") and not word.endswith("ss"):
        found.append(word[:-1])
        if word.endswith("es"):
            found.append(word[:-2])
        if word.endswith("ies"):
            found.append(word[:-3] + "y")
        if word.endswith("ves"):  # wives, thieves
            found += [word[:-3] + "fe", word[:-3] + "f"]
    if word.endswith("men"):
        found.append(word[:-2] + "an")
    return (*found, *_IRREGULAR.get(word, ()))
