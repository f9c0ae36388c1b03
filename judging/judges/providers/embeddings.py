"""Texts as vectors, from any server that speaks OpenAI's embeddings. Keys and addresses as for judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from pydantic import Field

from annotation.stats.table import FloatArray
from core.batches import iterate_batches
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base, openai_compatible
from judging.judges.providers.base import Reply
from judging.judges.providers.calls import NO_ANSWER, patiently, translate_errors
from judging.judges.providers.requests import JudgeRequest

AT_ONCE = 256
"""Texts in one call."""


class EmbeddingParameters(base.Parameters):
    base_url: str = ""
    max_retries: int = Field(default=2, ge=0, le=10)
    timeout: float = Field(default=120, gt=0, description="Seconds for one call.")


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """(n, d) vectors in the order of the texts, and how many tokens were read."""

    vectors: FloatArray
    tokens: int


class Embeddings(openai_compatible.OpenAICompatible):
    Parameters = EmbeddingParameters  # type: ignore[assignment]

    async def embed(self, texts: Sequence[str]) -> EmbeddingResult:
        """The vectors of one or more texts. TransientError or PermanentError as for every call."""
        retries = self.parameters.max_retries
        parts = iterate_batches(texts, AT_ONCE)
        found = [await patiently(partial(self.request_vectors, part), retries=retries) for part in parts]
        return EmbeddingResult(np.concatenate([one.vectors for one in found]), sum(one.tokens for one in found))

    async def request_vectors(self, texts: Sequence[str]) -> EmbeddingResult:
        """One call."""
        import openai

        client = await self.client()
        with translate_errors(openai, timeout=self.parameters.timeout, key=self.key):
            response = await client.embeddings.create(model=self.model, input=list(texts), encoding_format="float")
        rows = sorted(response.data or [], key=lambda one: one.index)
        if len(rows) != len(texts):
            raise TransientError(f"{NO_ANSWER}: {len(rows)} vectors for {len(texts)} texts.")
        tokens = response.usage.total_tokens if response.usage else 0
        return EmbeddingResult(np.array([one.embedding for one in rows], dtype=float), tokens)

    async def judge(self, request: JudgeRequest) -> Reply:  # noqa: ARG002
        raise PermanentError(f"{self.model} makes vectors and does not speak.")
