"""What helps to add a language: a draft of its plugin, and what is left to do (``mtbias
languages``).
"""
