"""The metrics of machine translation: what numbers there are, and how they follow from counts of records."""
