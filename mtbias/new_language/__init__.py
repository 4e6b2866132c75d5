"""Help with a new language: a draft of its plugin, and the work that is left (``mtbias
languages``).
"""
