"""Links of a pronoun, and a number where the stereotype fits against one where it does not."""

from __future__ import annotations

from mtbias.coref.pro_anti import Link, link_to, pro_against_anti


def test_links() -> None:
    found = [link_to(right=right, wrong=wrong) for right in (True, False) for wrong in (True, False)]
    assert found == [Link.BOTH, Link.RIGHT, Link.WRONG, Link.NONE]


def test_pro_against_anti() -> None:
    gap = pro_against_anti(40.0, 70.0, (-50.0, -10.0), 0.02)
    assert (gap.difference, gap.absolute, gap.average) == (-30.0, 30.0, 55.0)
    assert gap.to_json() == {
        "pro": 40.0, "anti": 70.0, "average": 55.0, "absolute_difference": 30.0, "difference": -30.0, "p": 0.02,
        "interval": (-50.0, -10.0),
    }  # fmt: skip


def test_without_one_of_the_two_nothing_is_compared() -> None:
    gap = pro_against_anti(40.0, None, (1.0, 2.0), 0.5)
    assert gap.to_json() == {
        "pro": 40.0, "anti": None, "average": None, "absolute_difference": None, "difference": None, "p": None,
        "interval": None,
    }  # fmt: skip
