"""The numbers of papers, from their public data. A package, so that file names may be those of
tests elsewhere."""
