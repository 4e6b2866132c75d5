"""Languages: their data files, the look-ups that plugins offer, and how they are found."""
