"""What the tagger itself says of a form over the whole corpus, against which one reading can be checked."""

from __future__ import annotations

from collections import Counter

from mtbias.decide.sentence_words import NOMINAL, tagged_gender
from mtbias.language.definition import Language
from mtbias.types import Analysis, Gender

# The votes are for words that no table has, such as es *atendiente*, which a system invented: the tagger gives it a
# gender in most places and none in some. One or two places prove nothing (it "la disponente" is male in 1 of 1), and a
# share of 0.65 is too little: uk протесту "protest" for *protester* is feminine in 4 of its 6 readings.
MIN_VOTES = 5
MIN_SHARE = 0.8


class FormVotes:
    """Genders that the tagger reads on noun forms, counted over distinct texts. Additive."""

    def __init__(self) -> None:
        """Empty."""
        self._counts: dict[str, Counter[Gender]] = {}

    def add(self, analysis: Analysis, language: Language) -> None:
        """Count the nouns of one text."""
        for token in analysis.tokens:
            nouns = [w for w in token.words if w.upos in NOMINAL]
            if nouns:
                gender, _ = tagged_gender(nouns)
                if gender is not None:
                    self._counts.setdefault(language.fold(token.text), Counter())[gender] += 1

    def majority(self, form: str) -> tuple[Gender, int, int] | None:
        """(gender, its votes, all votes) of a folded form with at least `MIN_VOTES` of which `MIN_SHARE` agree."""
        votes = self._counts.get(form)
        if not votes:
            return None
        gender, most = min(votes.items(), key=lambda item: (-item[1], item[0]))
        total = votes.total()
        return (gender, most, total) if total >= MIN_VOTES and most >= MIN_SHARE * total else None
