"""mtbias measures gender bias in machine translation.

``mtbias.evaluate``, ``mtbias.score``, ``mtbias.compare`` and ``mtbias.read_run`` do what the
commands do and give objects instead of text; they are imported when they are first asked for, so
that ``import mtbias`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mtbias.version import __version__

if TYPE_CHECKING:
    from mtbias.api import (
        EvalSettings,
        Run,
        ScoreSettings,
        compare,
        estimate_requests,
        evaluate,
        read_run,
        reward,
        rewards,
        score,
        score_systems,
        translate_shard,
    )

__all__ = [
    "EvalSettings",
    "Run",
    "ScoreSettings",
    "__version__",
    "compare",
    "estimate_requests",
    "evaluate",
    "read_run",
    "reward",
    "rewards",
    "score",
    "score_systems",
    "translate_shard",
]

if not TYPE_CHECKING:  # a checker would take any name for one of the package's

    def __getattr__(name: str) -> object:
        if name in __all__:
            from importlib import import_module

            return getattr(import_module("mtbias.api"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
