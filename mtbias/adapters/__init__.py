"""mtbias inside other people's harnesses: lm-evaluation-harness, Inspect, Hugging Face's
`evaluate`.

Each module is imported by its harness, which it needs, and by nothing else.
"""
