"""Plural or not: nouns whose number a dictionary gives, chosen before the rules were written."""

from __future__ import annotations

import pytest

from mtbias.english.words import is_plural

PLURAL = """
businessmen congresswomen firemen women salespeople grandchildren townsfolk alumni alumnae geese mice oxen teeth
nuclei larvae formulae criteria phenomena nurses ladies bosses witnesses actresses viruses buses heroes cameras divas
grandmas taxis rabbis Israelis menus gurus critics mechanics paramedics academics canvases analyses wives police
mothers-in-law passers-by co-workers colonels-in-chief grooms-to-be
"""
SINGULAR = """
boss actress witness princess bus virus campus genius analysis tennis chassis news canvas Texas atlas gas bias
species series physics politics mathematics lens chaos specimen omen regimen sundae taxi rabbi ski criterion goose
child person man sheep baby nurse brother-in-law jack-of-all-trades NEWS diabetes Thomas
"""


@pytest.mark.parametrize("noun", PLURAL.split())
def test_plural(noun: str) -> None:
    assert is_plural(noun)
    assert is_plural(noun.upper())


@pytest.mark.parametrize("noun", SINGULAR.split())
def test_not_plural(noun: str) -> None:
    assert not is_plural(noun)
