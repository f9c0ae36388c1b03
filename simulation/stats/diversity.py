"""How varied the words of simulated utterances are, and how much these repeat each other.

Dist-n is the number of different n-grams over the number of n-grams (Li et al. 2016, NAACL, "A
diversity-promoting objective function for neural conversation models"; they divide by the number of words,
which differs by n - 1 per utterance). Ent-n is the entropy of the n-grams' shares in nats (Zhang et al. 2018,
NeurIPS, "Generating informative and diverse conversational responses via adversarial information
maximization"). Both depend on how much text there is: Dist falls and Ent rises with it. So they are computed both of
all utterances together and dialogue by dialogue; only the mean over dialogues has an interval.

Zhu et al. (2018), "Texygen: a benchmarking platform for text generation models", SIGIR: each utterance is held to
all others as references, and the BLEU scores are averaged. High means that they say the same in the same words. BLEU
goes up to four words, with the exponential smoothing and effective order of sacrebleu (Post 2018, WMT), which short
utterances need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, IntArray
from simulation.stats.result_types import DiversityDocument
from simulation.stats.variety import Texts, bleu_among, variety

NO_INTERVAL = "no interval: resampling utterances repeats their words, which is what is being measured"
FIGURES = {
    "dist_1": (1, "no words"),
    "dist_2": (2, "no utterance of two words"),
    "ent_4": (4, "no utterance of four words"),
}
"""The figures, the length of the runs that they count, and why one is undefined."""


@dataclass(frozen=True)
class Diversity:
    """The variety of some utterances. The ``n_ratings`` of a figure are n-grams, its ``n_items`` utterances."""

    dist_1: Estimate
    dist_2: Estimate
    ent_4: Estimate
    n_utterances: int
    n_tokens: int

    def to_json(self) -> DiversityDocument:
        """The figures as JSON types."""
        return {
            "dist_1": self.dist_1.to_json(),
            "dist_2": self.dist_2.to_json(),
            "ent_4": self.ent_4.to_json(),
            "n_utterances": self.n_utterances,
            "n_tokens": self.n_tokens,
        }


def compute_diversity(texts: Texts, kept: BoolArray | None = None) -> Diversity:
    """Compute Dist-1, Dist-2 and Ent-4 of texts together, or of those that are kept, (n,).

    n-grams do not cross from one text to the next.
    """
    chosen = np.ones(texts.n, dtype=bool) if kept is None else kept
    found, lengths = variety(texts, np.where(chosen, 0, -1), 1), texts.lengths[chosen]
    n_ngrams = {name: int(np.maximum(lengths - order + 1, 0).sum()) for name, (order, _) in FIGURES.items()}
    figures = {
        name: Estimate(
            value=float(getattr(found, name)[0]),
            low=float("nan"),
            high=float("nan"),
            reason=NO_INTERVAL if n_ngrams[name] else why_not,
            n_items=len(lengths),
            n_raters=0,
            n_ratings=n_ngrams[name],
            confidence=0.95,
            method="none",
            seed=None,
        )
        for name, (_, why_not) in FIGURES.items()
    }
    return Diversity(**figures, n_utterances=len(lengths), n_tokens=n_ngrams["dist_1"])


def mean_diversity(
    texts: Texts,
    dialogue: IntArray,
    profiles: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Compute the means over dialogues of each one's Dist-1, Dist-2 and Ent-4, with intervals over profiles.

    Parameters
    ----------
    texts
        The utterances.
    dialogue
        (n,) the dialogue of each utterance, 0 … k - 1; -1 for one that does not count.
    profiles
        (k,) whose dialogue each is.
    """
    found = variety(texts, dialogue, len(profiles))
    means = estimate_clustered_means(
        np.column_stack([found.dist_1, found.dist_2, found.ent_4]),
        profiles,
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
        reason="no dialogue is long enough",
    )
    return dict(zip(FIGURES, means, strict=True))


TOO_FEW = "fewer than two utterances with words"
MOST = 500_000
"""Utterances compared, above which a sample is. The more there are, the more alike each is to one of the others."""


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
