"""Languages by ISO code, found through the entry-point group ``mtbias.languages``."""

from __future__ import annotations

from mtbias.entry_points import load, refuse
from mtbias.language.definition import Language

GROUP = "mtbias.languages"


def get_language(code: str) -> Language:
    """The language registered under `code`.

    Raises:
        UsageError: nobody registers it; the message lists what is installed.
        PluginError: several distributions do, it fails to load, or it is not the language of that code.
    """
    language = load(GROUP, code, "language")
    if not isinstance(language, Language):
        raise refuse(GROUP, code, "language", f"expected a mtbias.plugin.Language, got {type(language).__name__}")
    if language.code != code:
        raise refuse(GROUP, code, "language", f"it says that its code is {language.code!r}")
    return language
