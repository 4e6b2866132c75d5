"""Languages by ISO code, found through the entry-point group ``mtbias.languages``.

Nothing is imported until a language is asked for. Two plugins for one code, or one that fails to load, is an error that
names the distribution, raised only when that language is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from mtbias.errors import PluginError
from mtbias.language.definition import Language

GROUP = "mtbias.languages"


@dataclass(frozen=True, slots=True)
class InstalledLanguage:
    """A registered language, not yet loaded."""

    code: str
    distributions: tuple[str, ...]
    """``name version`` of every distribution that registers the code; more than one is a conflict."""


def _registered() -> Mapping[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        known = found.setdefault(point.name, [])
        if not any(p.value == point.value and _origin(p) == _origin(point) for p in known):
            known.append(point)
    return found


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


def installed_languages() -> tuple[InstalledLanguage, ...]:
    """All registered languages, by code; loads none of them."""
    return tuple(
        InstalledLanguage(code, tuple(_origin(p) for p in points)) for code, points in sorted(_registered().items())
    )


def get_language(code: str) -> Language:
    """The language registered under `code`.

    Raises:
        PluginError: nobody registers it (the message lists what is installed), several do, or it fails to load.
    """
    points = _registered().get(code)
    if not points:
        known = ", ".join(sorted(_registered())) or "none"
        raise PluginError(f"no language {code!r} is installed; installed: {known}. `mtbias languages` shows them")
    if len(points) > 1:
        origins = " and ".join(f"{p.value} of {_origin(p)}" for p in points)
        raise PluginError(f"language {code!r} is registered twice: {origins}; uninstall one of them")
    return _load(points[0])


@cache
def _load(point: EntryPoint) -> Language:
    try:
        language = point.load()
    except PluginError as error:
        raise PluginError(f"language {point.name!r} of {_origin(point)}: {error}") from error
    except Exception as error:  # a plugin may fail in any way; its distribution must be named
        raise PluginError(
            f"language {point.name!r} of {_origin(point)} fails to load ({point.value}): "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(language, Language):
        raise PluginError(
            f"language {point.name!r} of {_origin(point)}: expected {point.value} to be a "
            f"Language, got {type(language).__name__}"
        )
    if language.code != point.name:
        raise PluginError(f"language {point.name!r} of {_origin(point)} says that its code is {language.code!r}")
    return language
