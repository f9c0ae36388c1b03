import json
import math

import pytest

from judging.stats.words import words
from simulation.stats.diversity import NO_INTERVAL, diversity


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
    assert diversity(["a-b a"], tokenize=str.split).n_tokens == 2


def test_is_json():
    assert json.dumps(diversity(["one two three four"]).as_json(), allow_nan=False)
