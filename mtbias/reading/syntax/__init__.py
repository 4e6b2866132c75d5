"""The syntax of noun phrases and predicates, a class for each family of languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mtbias.entry_points import installed, load, refuse
from mtbias.errors import PluginError, choices
from mtbias.language.definition import Language
from mtbias.reading.syntax.base import Syntax
from mtbias.reading.syntax.german import German, Germanic
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.syntax.romance import Romance
from mtbias.reading.syntax.semitic import Semitic
from mtbias.reading.syntax.slavic import Slavic

__all__ = ["FAMILIES", "GROUP", "NounPhrase", "Syntax", "syntax_of"]

GROUP = "mtbias.families"
"""The entry points of other families: a subclass of `Syntax` each."""

FAMILIES: Mapping[tuple[str, bool], Callable[[Language], Syntax]] = {
    ("romance", False): Romance,
    ("slavic", True): Slavic,
    ("germanic", True): German,
    ("germanic", False): Germanic,
    ("semitic", False): Semitic,
}
"""Family, and whether its nouns show case → its syntax."""


def syntax_of(language: Language) -> Syntax:
    """The syntax of a language, by the family that it names.

    Raises:
        PluginError: it names none, or one that nobody has.
    """
    known = FAMILIES.get((language.family, language.case))
    if known is not None:
        return known(language)
    if language.family in installed(GROUP):
        family = load(GROUP, language.family, "family")
        if isinstance(family, type) and issubclass(family, Syntax):
            return family(language)
        raise refuse(GROUP, language.family, "family", "expected a subclass of mtbias's Syntax")
    names = sorted({*(name for name, _ in FAMILIES), *installed(GROUP)})
    if language.family in names:
        other = "without" if language.case else "with"
        step = f"the family {language.family!r} is one {other} case; set case, or name another"
    else:
        step = choices(language.family, names)
    raise PluginError(
        f"language {language.code!r}: expected a family, got {language.family!r}; {step}"
    )
