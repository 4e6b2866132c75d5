"""The script of the curve of coverage against error: what it counts."""

from __future__ import annotations

from mtbias.align import Pair
from mtbias.types import Alignment, Gender, GenderCall, Reason, Span
from scripts import threshold

HEAD, OTHER = Span(4, 10), Span(15, 20)
PAIR = Pair("x", "The doctor slept.", "Der Doktor sah Maria.", HEAD, "doctor")


def judged(
    head: Span | None, called: Gender | None, at: Span | None, score: float, *, margin: float = 0.0, tells: bool = True
) -> threshold.Judged:
    """A row whose right call is male where something renders the entity, else none."""
    right = Gender.MALE if head else None
    reason = None if called else Reason.UNALIGNED
    call = GenderCall("x", called, reason, (at,) if at else ())
    alignment = Alignment("x", (at,) if at else (), "links", score=score, margin=margin)
    return threshold.Judged(threshold.Labelled(PAIR, head, right, tells), alignment, call)


ROWS = [
    judged(HEAD, Gender.MALE, HEAD, 1.0),
    judged(HEAD, Gender.FEMALE, OTHER, 0.4),
    judged(None, Gender.MALE, OTHER, 0.2),  # the translation leaves the entity out
    judged(HEAD, None, None, 0.0),
    judged(HEAD, Gender.FEMALE, HEAD, 0.9, margin=0.5, tells=False),  # a predicate alone shows the gender
]


def test_without_a_threshold_everything_found_counts() -> None:
    # Four rows are rendered, three of them found, and one head more where there is none; four rows tell, three are
    # called, of them two wrong.
    assert threshold.line("all", ROWS) == (
        "| all | 75.0 % (3/4) | 50.0 % (2/4) | 75.0 % (3/4) | 66.7 % (2/3) |"
    )  # fmt: skip


def test_what_is_below_a_threshold_counts_as_unaligned() -> None:
    assert threshold.line("s", ROWS, score=0.3) == "| s | 75.0 % (3/4) | 33.3 % (1/3) | 50.0 % (2/4) | 50.0 % (1/2) |"
    assert threshold.line("m", ROWS, margin=0.1) == "| m | 25.0 % (1/4) | 0.0 % (0/1) | 0.0 % (0/4) | 0.0 % (0/0) |"
