"""mtbias's version: below every other module, since nearly all results name it."""

from __future__ import annotations

__version__ = "0.1.0"
