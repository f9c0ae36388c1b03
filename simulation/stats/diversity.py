"""How varied the words of simulated utterances are: Dist-1, Dist-2 and Ent-4.

Dist-n is the number of different n-grams over the number of n-grams (Li et al. 2016, NAACL, "A
diversity-promoting objective function for neural conversation models"; they divide by the number of words,
which differs by n - 1 per utterance). Ent-n is the entropy of the n-grams' shares in nats (Zhang et al. 2018,
NeurIPS, "Generating informative and diverse conversational responses via adversarial information
maximization"). Both depend on how much text there is: Dist falls and Ent rises with it. So they are computed both of
all utterances together and dialogue by dialogue; only the mean over dialogues has an interval.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, IntArray
from annotation.stats.words import words
from simulation.stats.variety import Texts, variety

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

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON types."""
        return {
            "dist_1": self.dist_1.to_json(),
            "dist_2": self.dist_2.to_json(),
            "ent_4": self.ent_4.to_json(),
            "n_utterances": self.n_utterances,
            "n_tokens": self.n_tokens,
        }


def diversity(utterances: Iterable[str], *, tokenize: Callable[[str], Sequence[str]] = words) -> Diversity:
    """Compute Dist-1, Dist-2 and Ent-4 of all utterances together; n-grams do not cross from one to the next."""
    return compute_diversity(Texts.from_words(map(tokenize, utterances)))


def compute_diversity(texts: Texts, kept: BoolArray | None = None) -> Diversity:
    """Compute the diversity of texts together, or of those that are kept, (n,)."""
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
