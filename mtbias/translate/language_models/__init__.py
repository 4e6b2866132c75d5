"""Language models as translation systems: prompts, answers and what is wrong with them, endpoints,
decoders.
"""
