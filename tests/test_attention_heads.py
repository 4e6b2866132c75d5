"""The script that measures heads by cross-attention: where pieces stand, and a whole run with the demo."""

from __future__ import annotations

import pytest

from mtbias.demo import demo_file, model_folder_of_demo
from mtbias.types import Span
from scripts import attention_heads


def test_where_pieces_stand() -> None:
    #       0123456789012
    text = "Die Köchin sah"
    found = attention_heads.spans_of(["__de__", "▁Die", "▁", "▁Kö", "chin", "▁sah", "</s>"], text)
    assert found.spans == [Span(0, 0), Span(0, 3), Span(3, 3), Span(4, 6), Span(6, 10), Span(11, 14), Span(14, 14)]


def test_attention_is_a_share_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    from mtbias.align import Pair
    from mtbias.corpora import load_corpus
    from mtbias.language.installed import get_language
    from mtbias.language.split_texts import SplitTexts
    from mtbias.translate.given_translations import given_file

    corpus = load_corpus("demo", None)
    given = given_file(demo_file().parent / "references" / "de.tsv").read(corpus).translations
    pairs = [Pair.of(i, t.text or "") for i, t in zip(corpus.instances[:4], given[:4], strict=True)]
    texts = SplitTexts(get_language("de"))
    found = attention_heads.read_attention(model_folder_of_demo(), "de", pairs, texts)
    monkeypatch.setattr(attention_heads, "BATCH", 1)
    alone = attention_heads.read_attention(model_folder_of_demo(), "de", pairs, texts)
    for pair in pairs:
        _, _, width = found[pair.id].shape
        assert width == len(texts.words(pair.text))
        assert (found[pair.id].sum(1) <= 1 + 1e-5).all()
        assert found[pair.id] == pytest.approx(alone[pair.id], abs=1e-5)
