"""Questions: a corpus, and the measure that it brings."""
