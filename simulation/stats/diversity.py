"""How varied the words of simulated utterances are: Dist-1, Dist-2 and Ent-4.

Dist-n is the number of different n-grams over the number of n-grams (Li et al. 2016, NAACL, "A
diversity-promoting objective function for neural conversation models"; they divide by the number of words,
which differs by n - 1 per utterance). Ent-n is the entropy of the n-grams' shares in nats (Zhang et al. 2018,
NeurIPS, "Generating informative and diverse conversational responses via adversarial information
maximization"). Both are of all utterances together, and both depend on how much text there is: Dist falls
and Ent rises with it. Compare like amounts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.estimate import Estimate
from judging.stats.words import words

NO_INTERVAL = "no interval: resampling utterances repeats their words, which is what is being measured"


@dataclass(frozen=True)
class Diversity:
    """The variety of some utterances. The ``n_ratings`` of a figure are n-grams, its ``n_items`` utterances."""

    dist_1: Estimate
    dist_2: Estimate
    ent_4: Estimate
    n_utterances: int
    n_tokens: int

    def as_json(self) -> dict[str, Any]:
        """The figures as JSON types."""
        return {
            "dist_1": self.dist_1.as_json(),
            "dist_2": self.dist_2.as_json(),
            "ent_4": self.ent_4.as_json(),
            "n_utterances": self.n_utterances,
            "n_tokens": self.n_tokens,
        }


def diversity(utterances: Iterable[str], *, tokenize: Callable[[str], Sequence[str]] = words) -> Diversity:
    """Dist-1, Dist-2 and Ent-4 of utterances; n-grams do not cross from one utterance to the next."""
    tokens = [tokenize(utterance) for utterance in utterances]
    unigrams, bigrams, fourgrams = (_ngrams(tokens, n) for n in (1, 2, 4))
    n = len(tokens)
    return Diversity(
        dist_1=_figure(_distinct(unigrams), unigrams, n, "no words"),
        dist_2=_figure(_distinct(bigrams), bigrams, n, "no utterance of two words"),
        ent_4=_figure(_entropy(fourgrams), fourgrams, n, "no utterance of four words"),
        n_utterances=n,
        n_tokens=unigrams.total(),
    )


def _ngrams(tokens: Sequence[Sequence[str]], n: int) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(utterance[start : start + n]) for utterance in tokens for start in range(len(utterance) - n + 1)
    )


def _distinct(ngrams: Counter[tuple[str, ...]]) -> float:
    return len(ngrams) / ngrams.total() if ngrams else float("nan")


def _entropy(ngrams: Counter[tuple[str, ...]]) -> float:
    if not ngrams:
        return float("nan")
    shares = np.array(list(ngrams.values())) / ngrams.total()
    return float(max(0.0, -(shares * np.log(shares)).sum()))


def _figure(value: float, ngrams: Counter[tuple[str, ...]], n_utterances: int, why_not: str) -> Estimate:
    return Estimate(
        value=value,
        low=float("nan"),
        high=float("nan"),
        reason=NO_INTERVAL if ngrams else why_not,
        n_items=n_utterances,
        n_raters=0,
        n_ratings=ngrams.total(),
        confidence=0.95,
        method="none",
        seed=None,
    )
