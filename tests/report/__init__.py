"""Tests of the reports; a package, so that they can share a helper."""
