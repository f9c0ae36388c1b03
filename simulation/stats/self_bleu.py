"""How much utterances repeat each other: Self-BLEU.

Zhu et al. (2018), "Texygen: a benchmarking platform for text generation models", SIGIR: each utterance is held to
all others as references, and the BLEU scores are averaged. High means that they say the same in the same words. BLEU
itself is sacrebleu's (Post 2018, WMT), up to four words, with its exponential smoothing and effective order, which
short utterances need.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from judging.stats.words import words

NO_INTERVAL = "no interval: every utterance is also a reference of the others, so they are not independent"
TOO_FEW = "fewer than two utterances with words"
MOST = 200
"""Utterances compared. The more there are, the more alike each is to one of the others: figures of as many compare."""

ORDERS = 4


def self_bleu(
    utterances: Iterable[str],
    *,
    most: int = MOST,
    seed: int = 0,
    tokenize: Callable[[str], Sequence[str]] = words,
) -> Estimate:
    """Mean BLEU, 0 to 1, of each utterance against the others as references.

    Parameters
    ----------
    utterances
        The texts. Those without words are left out.
    most
        At most this many are compared; of more a sample is drawn.
    seed
        Of that sample; kept in the figure where one was drawn.
    tokenize
        Text to words, as in `simulation.stats.diversity.diversity`.

    Returns
    -------
    Estimate
        ``n_items`` utterances were compared. NaN with a reason for fewer than two; never an interval.
    """
    texts = [text for text in (" ".join(tokenize(utterance)) for utterance in utterances) if text]
    drawn = len(texts) > most
    if drawn:
        chosen = np.sort(np.random.default_rng(seed).choice(len(texts), size=most, replace=False))
        texts = [texts[i] for i in chosen.tolist()]
    return Estimate(
        value=_mean_bleu(texts),
        low=float("nan"),
        high=float("nan"),
        reason=NO_INTERVAL if len(texts) > 1 else TOO_FEW,
        n_items=len(texts),
        n_raters=0,
        n_ratings=len(texts),
        confidence=0.95,
        method="none",
        seed=seed if drawn else None,
    )


def _mean_bleu(texts: Sequence[str]) -> float:
    if len(texts) < 2:
        return float("nan")
    from sacrebleu.metrics.bleu import BLEU  # with it comes a client of Redis, for locks of files

    heard = [_ngrams(text.split()) for text in texts]
    lengths = [len(text.split()) for text in texts]
    most = _most_and_next(heard)
    scores = []
    for place, mine in enumerate(heard):
        others = [*lengths[:place], *lengths[place + 1 :]]
        correct, total = [0] * ORDERS, [0] * ORDERS
        for ngram, count in mine.items():
            total[len(ngram) - 1] += count
            correct[len(ngram) - 1] += min(count, _among_others(most[ngram], count))
        closest = min(others, key=lambda length: (abs(length - lengths[place]), length))  # used at once
        score = BLEU.compute_bleu(correct, total, lengths[place], closest, smooth_method="exp", effective_order=True)
        scores.append(score.score)
    return float(np.mean(scores)) / 100


def _ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """How often each run of one to four words occurs."""
    runs = (tokens[i : i + n] for n in range(1, ORDERS + 1) for i in range(len(tokens) - n + 1))
    return Counter(map(tuple, runs))


def _most_and_next(heard: Iterable[Counter[tuple[str, ...]]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Each run's largest number in one utterance, and the largest in any other: what all but one have, for every one.

    So each utterance is read once, where a list of references for each would be read once for every other.
    """
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for counts in heard:
        for ngram, count in counts.items():
            first, second = found.get(ngram, (0, 0))
            found[ngram] = (count, first) if count > first else (first, max(second, count))
    return found


def _among_others(most: tuple[int, int], mine: int) -> int:
    """The largest number in any other utterance than one with `mine`."""
    first, second = most
    return second if mine == first else first
