"""Passages found by embeddings: those of a user's summaries are embedded once, each turn's words when they are said."""

from __future__ import annotations

import asyncio

from annotation.stats.table import FloatArray
from judging.judges.providers.embeddings import Embeddings
from judging.judges.providers.requests import JudgeRequest
from judging.stats.retrieval import nearest
from simulation.experiments.services.dialogue_state import DialogueState


class Retriever:
    """Finds passages for turns, from the stage's loop. What it has embedded of a profile it keeps."""

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings
        self.vectors: dict[int, FloatArray] = {}
        self.locks: dict[int, asyncio.Lock] = {}

    async def request(self, playing: DialogueState) -> JudgeRequest:
        """The assistant's next request, with the passages that fit what the user said last."""
        texts = [passage for _, passage in playing.pieces]
        if not texts or not playing.query:
            return playing.request()
        vectors, tokens = await self.embed_profile(playing, texts)
        asked = await self.embeddings.embed([playing.query])
        playing.embedded = tokens + asked.tokens
        return playing.request(nearest(asked.vectors[0], vectors, texts, playing.experiment.passages))

    async def embed_profile(self, playing: DialogueState, texts: list[str]) -> tuple[FloatArray, int]:
        """The vectors of the user's passages, and how many tokens that took: none where they are known."""
        key = playing.row.scenario.profile_id or 0
        async with self.locks.setdefault(key, asyncio.Lock()):
            if key in self.vectors:
                return self.vectors[key], 0
            found = await self.embeddings.embed(texts)
            self.vectors[key] = found.vectors
            return found.vectors, found.tokens
