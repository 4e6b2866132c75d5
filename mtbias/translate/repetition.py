"""Noticing translations that fell into repetition."""

from __future__ import annotations

import re

TIMES = 4
"""Repetitions in a row from which on a translation counts as stuck."""
_LONGEST = 8


def is_repetitive(text: str) -> bool:
    """Whether a run of 1 to 8 words stands at least 4 times in a row ("hard hard hard hard", "the cat, the cat, …").

    Case and punctuation are passed over. Source: our own definition; a description of output, not of its quality.
    """
    words = re.findall(r"\w+", text.casefold())
    for size in range(1, min(_LONGEST, len(words) // TIMES) + 1):
        run = 0
        for here in range(size, len(words)):
            run = run + 1 if words[here] == words[here - size] else 0
            if run >= size * (TIMES - 1):
                return True
    return False
