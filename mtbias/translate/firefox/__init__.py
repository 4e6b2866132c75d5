"""Models of Firefox's translations, computed by Firefox's own engine."""
