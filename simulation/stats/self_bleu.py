"""How much utterances repeat each other: Self-BLEU.

Zhu et al. (2018), "Texygen: a benchmarking platform for text generation models", SIGIR: each utterance is held to
all others as references, and the BLEU scores are averaged. High means that they say the same in the same words. BLEU
itself is sacrebleu's (Post 2018, WMT), up to four words, with its exponential smoothing and effective order, which
short utterances need.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from judging.stats.words import words

NO_INTERVAL = "no interval: every utterance is also a reference of the others, so they are not independent"
TOO_FEW = "fewer than two utterances with words"
MOST = 200
"""Utterances compared: each is held to all others, so that the work grows with the square."""


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

    bleu = BLEU(tokenize="none", effective_order=True)
    scores = [
        bleu.sentence_score(text, [*texts[:place], *texts[place + 1 :]]).score for place, text in enumerate(texts)
    ]
    return float(np.mean(scores)) / 100
