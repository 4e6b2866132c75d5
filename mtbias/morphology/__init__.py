"""Morphological analysis of translations: Stanza behind a small interface, every distinct sentence
analysed once.
"""

from mtbias.morphology.analyser import Analyser, StanzaAnalyser
from mtbias.morphology.analysis_cache import AnalysisCache
from mtbias.morphology.stanza_models import StanzaPackage, find_package, stanza_folder

__all__ = [
    "Analyser",
    "AnalysisCache",
    "StanzaAnalyser",
    "StanzaPackage",
    "find_package",
    "stanza_folder",
]
