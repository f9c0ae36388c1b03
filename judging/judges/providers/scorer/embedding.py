"""The built-in scorer: how near the response is to the question and what is known of the person."""

from __future__ import annotations

import math

from core import vectors
from judging.judges.providers.scorer.protocol import Score, Scorer


class Similarity(Scorer):
    """The cosine of two mean word vectors: of the response, and of question and person together."""

    def problems(self) -> list[str]:
        return [problem] if (problem := vectors.explain_missing()) else []

    async def score(self, persona: str, question: str, response: str, *, seed: int = 0) -> Score:  # noqa: ARG002
        asked, said = vectors.embed(["\n\n".join(filter(None, (persona, question))), response])
        near = vectors.cosine(asked, said)
        return Score(near, "there is no word to compare." if math.isnan(near) else "")
