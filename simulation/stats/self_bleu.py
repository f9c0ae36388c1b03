"""How much utterances repeat each other: Self-BLEU.

Zhu et al. (2018), "Texygen: a benchmarking platform for text generation models", SIGIR: each utterance is held to
all others as references, and the BLEU scores are averaged. High means that they say the same in the same words. BLEU
goes up to four words, with the exponential smoothing and effective order of sacrebleu (Post 2018, WMT), which short
utterances need.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray
from annotation.stats.words import words
from simulation.stats.variety import Texts, bleu_among

TOO_FEW = "fewer than two utterances with words"
MOST = 500_000
"""Utterances compared, above which a sample is. The more there are, the more alike each is to one of the others."""


def self_bleu(
    utterances: Iterable[str], *, tokenize: Callable[[str], Sequence[str]] = words, most: int = MOST, seed: int = 0
) -> Estimate:
    """Compute the Self-BLEU of utterances, with an interval that resamples them; see `compute_self_bleu`."""
    texts = Texts.from_words(map(tokenize, utterances))
    return compute_self_bleu(texts, [str(place) for place in range(texts.n)], most=most, seed=seed)


def compute_self_bleu(
    texts: Texts,
    clusters: Sequence[str],
    kept: BoolArray | None = None,
    *,
    most: int = MOST,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Compute the mean BLEU, 0 to 1, of each utterance against all others as references.

    Parameters
    ----------
    texts, kept
        The utterances, and which of them (n,) are compared. Those without words are left out.
    clusters
        (n,) what the interval resamples: the profile of each utterance. The references stay what they are.
    most
        At most this many are compared; of more a sample is drawn.
    bootstrap, confidence, seed
        How the interval is made; the seed is also that of the sample.

    Returns
    -------
    Estimate
        ``n_items`` utterances were compared. NaN with a reason for fewer than two.
    """
    chosen = np.flatnonzero((texts.lengths > 0) & (True if kept is None else kept))
    if len(chosen) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(chosen, size=most, replace=False))
    group = np.full(texts.n, -1)
    group[chosen] = 0
    return estimate_clustered_means(
        bleu_among(texts, group)[chosen, None],
        [clusters[place] for place in chosen.tolist()],
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
        reason=TOO_FEW,
    )[0]
