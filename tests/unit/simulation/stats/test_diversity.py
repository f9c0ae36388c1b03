import json
import math
from collections import Counter

import numpy as np
import pytest
import scipy

from annotation.stats.words import words
from simulation.stats.diversity import NO_INTERVAL, Diversity, compute_diversity, mean_diversity
from simulation.stats.variety import Texts


def diversity(utterances: list[str]) -> Diversity:
    return compute_diversity(Texts.from_words(map(words, utterances)))


def test_by_hand():
    # "a b a b c" has 5 words of which 3 differ; bigrams ab ba ab bc: 3 of 4; 4-grams abab and babc
    found = diversity(["a b a b c"])
    assert found.dist_1.value == pytest.approx(3 / 5)
    assert found.dist_2.value == pytest.approx(3 / 4)
    assert found.ent_4.value == pytest.approx(math.log(2))
    assert (found.n_utterances, found.n_tokens, found.dist_2.n_ratings) == (1, 5, 4)


def test_ngrams_do_not_cross_utterances():
    assert diversity(["a b", "c d"]).dist_2.n_ratings == 2


def test_saying_the_same_again_adds_nothing_new():
    once, twice = diversity(["good morning to you all"]), diversity(["good morning to you all"] * 2)
    assert once.dist_1.value == 1
    assert twice.dist_1.value == 1 / 2
    assert twice.ent_4.value == pytest.approx(once.ent_4.value)


def test_short_utterances_have_reasons():
    found = diversity(["yes", "no"])
    assert found.dist_1.value == 1
    assert found.dist_2.reason == "no utterance of two words"
    assert found.ent_4.reason == "no utterance of four words"
    assert math.isnan(found.ent_4.value)
    assert diversity([]).dist_1.reason == "no words"


def test_there_is_no_interval_and_it_says_why():
    figure = diversity(["a b c d e"]).dist_1
    assert math.isnan(figure.low)
    assert figure.reason == NO_INTERVAL


def test_words():
    assert words("Don’t STOP, 2nd try!") == ["don’t", "stop", ",", "2nd", "try", "!"]
    assert words("我喜欢 jazz") == ["我", "喜", "欢", "jazz"]
    assert words("naïve façade") == ["naïve", "façade"]


def test_other_words():
    assert compute_diversity(Texts.from_words([["a-b", "a"]])).n_tokens == 2


def test_is_json():
    assert json.dumps(diversity(["one two three four"]).to_json(), allow_nan=False)


def spread(texts, n):
    """The number of runs of n words, how often each occurs."""
    found = [tuple(said[i : i + n]) for said in map(words, texts) for i in range(len(said) - n + 1)]
    return Counter(found)


def test_each_dialogue_and_all_together_equal_a_count_by_hand():
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcdefg"), size=rng.integers(0, 30))) for _ in range(60)]
    dialogue = np.repeat(np.arange(10), 6)
    kept = np.arange(60) % 3 > 0
    said = Texts.from_words(map(words, texts))

    means = mean_diversity(said, np.where(kept, dialogue, -1), [str(i) for i in range(10)], bootstrap=0)
    pooled = compute_diversity(said, kept)

    def figures(chosen):
        one, two, four = (spread(chosen, n) for n in (1, 2, 4))
        return [len(one) / one.total(), len(two) / two.total(), scipy.stats.entropy(list(four.values()))]

    by_hand = [figures([texts[i] for i in np.flatnonzero(kept & (dialogue == d))]) for d in range(10)]
    assert [one.value for one in means.values()] == pytest.approx(np.mean(by_hand, axis=0))
    assert [pooled.dist_1.value, pooled.dist_2.value, pooled.ent_4.value] == pytest.approx(
        figures([texts[i] for i in np.flatnonzero(kept)])
    )
    assert (pooled.n_utterances, means["dist_1"].n_items) == (40, 10)


def test_the_mean_over_dialogues_has_an_interval_over_profiles():
    texts = [f"one two {i % 3} four five {i % 5}" for i in range(40)]
    profiles = [str(i % 10) for i in range(20)]
    found = mean_diversity(Texts.from_words(map(words, texts)), np.arange(40) // 2, profiles, bootstrap=100)["dist_1"]
    assert found.low < found.value < found.high
    assert (found.n_items, found.n_raters) == (20, 10)


def test_a_dialogue_without_words_takes_no_part():
    found = mean_diversity(Texts.from_words([["a", "b"], []]), np.arange(2), ["p", "q"], bootstrap=0)
    assert (found["dist_1"].value, found["dist_1"].n_items) == (1, 1)
    assert found["ent_4"].reason == "no dialogue is long enough"
