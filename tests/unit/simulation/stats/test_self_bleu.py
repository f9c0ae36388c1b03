import math

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from annotation.stats.estimate import Estimate
from annotation.stats.words import words
from simulation.stats.diversity import TOO_FEW, compute_self_bleu
from simulation.stats.variety import Texts


def self_bleu(utterances: list[str], **given: int) -> Estimate:
    texts = Texts.from_words(map(words, utterances))
    return compute_self_bleu(texts, [str(place) for place in range(texts.n)], **given)


def test_the_same_again_is_one_and_nothing_in_common_is_little():
    assert self_bleu(["book me a quiet table"] * 3).value == pytest.approx(1)
    assert self_bleu(["book me a quiet table", "where does rain come from", "seven green socks, please"]).value < 0.1


def test_by_hand():
    # "a b c d" against "a b c e": precisions 3/4, 2/3, 1/2 and, none of one 4-gram, 1/2 by exponential smoothing;
    # equal length, so no brevity penalty. The other way round is the same.
    expected = (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)
    assert self_bleu(["a b c d", "a b c e"]).value == pytest.approx(expected)


def test_case_and_order_of_the_utterances_play_no_part():
    texts = ["Find a table.", "find a cheap table", "Play some jazz, please", "some jazz for tonight"]
    assert self_bleu(texts).value == pytest.approx(self_bleu([text.upper() for text in reversed(texts)]).value)


def test_each_against_all_others_as_sacrebleu_reckons_it():
    rng = np.random.default_rng(5)
    vocabulary = ["a", "b", "c", "d", "e", "f", "g"]
    texts = [" ".join(rng.choice(vocabulary, size=rng.integers(1, 12))) for _ in range(25)]
    texts += [texts[3], "a a a a a", "a a a a a", "z"]
    bleu = BLEU(tokenize="none", effective_order=True)
    scores = [bleu.sentence_score(text, texts[:i] + texts[i + 1 :]).score for i, text in enumerate(texts)]
    assert self_bleu(texts).value == pytest.approx(np.mean(scores) / 100, abs=1e-12)


def test_too_few_have_a_reason():
    for texts in ([], ["alone"], ["alone", "   "]):
        found = self_bleu(texts)
        assert math.isnan(found.value)
        assert found.reason == TOO_FEW


def test_a_seeded_sample_of_many():
    texts = [f"number {i} of {i * 7} things" for i in range(60)]
    first, again, other = (self_bleu(texts, most=20, seed=seed) for seed in (1, 1, 2))
    assert first.value == again.value
    assert first.value != other.value
    assert first.n_items == 20
    assert self_bleu(texts).n_items == 60


def test_only_what_is_kept_is_compared_and_the_interval_resamples_clusters():
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(list("abcdef"), size=8)) for _ in range(60)]
    kept = np.arange(60) % 3 > 0
    clusters = [str(i % 10) for i in range(60)]

    found = compute_self_bleu(Texts.from_words(map(words, texts)), clusters, kept, bootstrap=200)
    alone = self_bleu([text for text, one in zip(texts, kept, strict=True) if one])

    assert found.value == pytest.approx(alone.value)
    assert found.low < found.value < found.high
    assert (found.n_items, found.n_raters, alone.n_raters) == (40, 10, 40)
