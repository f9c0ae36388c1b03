"""Measures of many groups of texts at once are those of each group alone."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from simulation.stats.diversity import compute_diversity
from simulation.stats.variety import Texts, bleu_among, mean_by_group, variety

RNG = np.random.default_rng(5)
WORDS = ["a", "b", "c", "d", "e", "f", "g"]
DRAWN = [" ".join(RNG.choice(WORDS, size=RNG.integers(0, 12))) for _ in range(60)]
TEXTS = [*DRAWN, DRAWN[3], "a a a a a", "a a a a a", "z", "", "z"]
GROUP = np.array([*RNG.integers(-1, 4, size=len(TEXTS) - 2), 5, 6])


def of_group(which: int) -> list[str]:
    return [text for text, group in zip(TEXTS, GROUP, strict=True) if group == which]


@pytest.fixture(scope="module")
def texts() -> Texts:
    return Texts.from_words(text.split() for text in TEXTS)


def test_variety_by_group(texts):
    found = variety(texts, GROUP, 7)
    for which in range(7):
        alone = compute_diversity(Texts.from_words(text.split() for text in of_group(which)))
        for name in ("dist_1", "dist_2", "ent_4"):
            expected = getattr(alone, name).value
            assert getattr(found, name)[which] == pytest.approx(expected, nan_ok=True), (which, name)


def test_bleu_against_the_others_of_the_group_as_sacrebleu_reckons_it(texts):
    found, bleu = bleu_among(texts, GROUP), BLEU(tokenize="none", effective_order=True)
    for place, text in enumerate(TEXTS):
        others = [TEXTS[i] for i in np.flatnonzero(GROUP[place] == GROUP) if i != place and TEXTS[i]]
        if GROUP[place] < 0 or not text or not others:
            assert np.isnan(found[place])
        else:
            assert found[place] == pytest.approx(bleu.sentence_score(text, others).score / 100, abs=1e-12)


def test_means_leave_out_what_is_undefined():
    values, group = np.array([1.0, np.nan, 3.0, 9.0]), np.array([0, 0, 0, -1])
    assert mean_by_group(values, group, 2).tolist() == pytest.approx([2.0, np.nan], nan_ok=True)


def test_nothing_at_all():
    nothing = Texts.from_words([])
    assert len(bleu_among(nothing, np.zeros(0, dtype=np.int64))) == 0
    assert np.isnan(variety(nothing, np.zeros(0, dtype=np.int64), 2).dist_1).all()
