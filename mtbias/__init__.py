"""mtbias measures gender bias in machine translation.

``mtbias.evaluate``, ``mtbias.score``, ``mtbias.compare`` and ``mtbias.read_run`` do what the commands do and give
objects instead of text; all names of `mtbias.api` are imported when they are first asked for, so that ``import mtbias``
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mtbias.api import *  # noqa: F403 - its `__all__`
else:  # a checker would take any name for one of the package's

    def __getattr__(name: str) -> object:
        if name == "__all__" or not name.startswith("_"):
            from mtbias import api

            if name == "__all__":
                return ["__version__", *api.__all__]
            if name in api.__all__:
                return getattr(api, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
