"""Tests of the results page; a package, so that they can share a helper."""
