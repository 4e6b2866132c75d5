"""mtbias measures gender bias in machine translation."""

__version__ = "0.1.0"
