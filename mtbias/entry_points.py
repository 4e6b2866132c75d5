"""What other distributions add to mtbias: languages, kinds of systems, corpora and measures, by
entry points.

Nothing is imported until it is asked for by name. Two distributions that register one name, or an
object that fails to load, is an error that names the distribution, raised only when that name is
asked for. Built-in ones go the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from mtbias.errors import PluginError, UsageError, choices


def installed(group: str) -> dict[str, tuple[str, ...]]:
    """The names that are registered in a group, sorted, each with the ``name version`` of its
    distributions.

    More than one distribution is a conflict, which `load` refuses.
    """
    origins = {}
    for name, points in sorted(_registered(group).items()):
        origins[name] = tuple(origin for _, origin in points)
    return origins


def called(group: str) -> dict[str, str]:
    """What the objects of a group are called in their modules, in lower case, and the names that
    they have there.
    """
    names = {}
    for name, points in _registered(group).items():
        for point, _ in points:
            names[point.attr.lower()] = name
    return names


def package_of(group: str, name: str) -> str | None:
    """The package, by its name at the top level, that has what is registered in a group under a
    name; None where nobody registers it.
    """
    points = _registered(group).get(name)
    return points[0][0].module.partition(".")[0] if points else None


def load(group: str, name: str, what: str) -> object:
    """The object that is registered in a group under a name, such as ``de`` in
    ``mtbias.languages``.

    `what` names its kind in messages (``language``).

    Raises:
        UsageError: nobody registers it; the message lists what is installed.
        PluginError: several do, or it fails to load; the message names the distributions.
    """
    points = _registered(group).get(name)
    if not points:
        raise UsageError(
            f"no {what} {name!r} is installed; {choices(name, sorted(_registered(group)))}"
        )
    if len(points) > 1:
        origins = " and ".join(f"{point.value} of {origin}" for point, origin in points)
        raise PluginError(f"{what} {name!r} is registered twice: {origins}; uninstall one of them")
    return _load(points[0][0], what)


def refuse(group: str, name: str, what: str, problem: str) -> PluginError:
    """The error of an object that loads and is not what it should be; names its distribution."""
    return PluginError(
        f"{what} {name!r} of {' and '.join(installed(group).get(name, ('nobody',)))}: {problem}"
    )


def _registered(group: str) -> Mapping[str, list[tuple[EntryPoint, str]]]:
    """The entry points of a group by name, each with its distribution."""
    places = [Path(place) for place in sys.path]
    return _read(
        group, tuple((place, place.stat().st_mtime_ns if place.exists() else 0) for place in places)
    )


@cache  # reading what all distributions say takes 40 ms, and every call of `get_language` asks
def _read(
    group: str, _: tuple[tuple[Path, int], ...]
) -> Mapping[str, list[tuple[EntryPoint, str]]]:
    try:
        points = entry_points(group=group)
    except Exception as error:
        what = (
            f"{type(error).__name__}: {error}; install the distributions again, or uninstall them"
        )
        raise PluginError(
            f"an entry_points.txt of what is installed cannot be read: {what}"
        ) from error
    points_of: dict[str, list[tuple[EntryPoint, str]]] = {}
    for point in points:
        known, origin = points_of.setdefault(point.name, []), _origin(point)
        # A distribution that is found on two paths (an editable installation, its build folder) is
        # one.
        if not any(
            other.value == point.value and known_origin == origin for other, known_origin in known
        ):
            known.append((point, origin))
    return points_of


def _origin(point: EntryPoint) -> str:
    return (
        "an unknown distribution"
        if point.dist is None
        else f"{point.dist.name} {point.dist.version}"
    )


@cache
def _load(point: EntryPoint, what: str) -> object:
    try:
        with redirect_stdout(sys.stderr):  # standard output is the command's
            return point.load()
    except PluginError as error:
        raise PluginError(f"{what} {point.name!r} of {_origin(point)}: {error}") from error
    except KeyboardInterrupt:  # the user's, not the plugin's
        raise
    # It may fail in any way, sys.exit included; its distribution must be named.
    except BaseException as error:
        raise PluginError(
            f"{what} {point.name!r} of {_origin(point)} fails to load ({point.value}): "
            f"{type(error).__name__}: {error}"
        ) from error
