"""A bias corpus from anybody's text: sentences in which a syntactic pattern holds a profession and
a gendered pronoun.

BUG (Levy, Lazar and Stanovsky, Findings of EMNLP 2021) was mined so: texts are parsed, fourteen
patterns over the dependencies are matched, and what they find is filtered by a list of professions
and marked by labour statistics.
"""
