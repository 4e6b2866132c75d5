"""What a package offers: `__all__` is there, sorted, and names what can be imported."""

from __future__ import annotations

from importlib import import_module

import pytest

PUBLIC = (
    "mtbias.align",
    "mtbias.api",
    "mtbias.corpora",
    "mtbias.morphology",
    "mtbias.plugin",
    "mtbias.reading",
    "mtbias.testing",
)


@pytest.mark.parametrize("name", PUBLIC)
def test_all_is_sorted_and_importable(name: str) -> None:
    module = import_module(name)
    exported = list(module.__all__)
    # As ruff has it: constants, then classes, then functions.
    assert exported == sorted(
        set(exported), key=lambda item: (not item.isupper(), item[0].islower(), item)
    )
    assert [item for item in exported if not hasattr(module, item)] == []
    assert [item for item in exported if item.startswith("_")] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_exported_says_what_it_is(name: str) -> None:
    module = import_module(name)
    callables = [item for item in module.__all__ if callable(getattr(module, item))]
    assert [item for item in callables if not getattr(module, item).__doc__] == []
