"""Turns of many dialogues at once: asked for, with the passages that fit; and saved, before anything more is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from annotation.corpus.models import Dialogue
from annotation.stats.table import FloatArray
from core.jobs.request_pool import GAP, PoolAnswer, RequestPool
from judging.judges import pricing
from judging.judges.pricing import Rate
from judging.judges.providers.base import Provider, Reply, Usage
from judging.judges.providers.embeddings import Embeddings
from judging.judges.providers.requests import JudgeRequest
from judging.runs.services.cache import storable
from judging.stats.retrieval import nearest
from simulation.agents.parsing.endings import REGULAR
from simulation.agents.parsing.speech import CUT_OFF
from simulation.experiments.models import SimulatedDialogue, Turn
from simulation.experiments.services.dialogue_state import MOST_ROOM, DialogueState


@dataclass(frozen=True, slots=True)
class Ask:
    """The next turn of a dialogue. `agent` speaks; it starts no earlier than `starts` (seconds since 1970).

    `prepare` gives the request in its final form where that takes waiting, too.
    """

    dialogue: int
    agent: int
    request: JudgeRequest
    tokens: int = 0
    reserved: Decimal = Decimal(0)
    starts: float = 0.0
    prepare: Callable[[], Awaitable[JudgeRequest]] | None = None


Answer = PoolAnswer[Ask, Reply]


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """A model, which some agents share, and how many calls it takes at once."""

    agents: frozenset[int]
    limit: int


class DialogueScheduler(RequestPool[Ask, Reply]):
    """Keeps as many turns in flight as the models take."""

    def __init__(
        self, speakers: Mapping[int, Provider], limits: Sequence[ModelLimit], *, others: Sequence[Provider] = ()
    ) -> None:
        """`others` are used by what prepares requests, and let go of at the end like the speakers."""
        self.speakers = speakers
        self.model_by_agent = {agent: one for one in limits for agent in one.agents}
        for agent, speaker in speakers.items():
            speaker.on_wait = partial(self.pause, self.model_by_agent[agent])
        gap = GAP if any(speaker.is_asked for speaker in speakers.values()) else 0.0
        super().__init__("dialogues", {one: one.limit for one in limits}, [*speakers.values(), *others], gap=gap)

    def model_of(self, ask: Ask) -> ModelLimit:
        return self.model_by_agent[ask.agent]

    async def prepare(self, ask: Ask) -> Ask:
        return replace(ask, request=await ask.prepare()) if ask.prepare else ask

    async def call(self, ask: Ask) -> Reply:
        return await self.speakers[ask.agent].judge(ask.request)


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


N = TypeVar("N", int, Decimal)


@dataclass
class SavedTurn:
    """What came of a reply: its turn, why the dialogue is over, if it is, and what the reply cost.

    `turn` is None where the reply met the limit of tokens, and is asked for again with more room.
    """

    playing: DialogueState
    turn: Turn | None
    ending: str
    cost: Decimal | None


def build_turn(
    playing: DialogueState, answer: Answer, rate: Rate | None, of_embeddings: Rate | None = None
) -> SavedTurn:
    """The reply as a turn of the dialogue, to be saved. What was embedded for it is part of its cost."""
    reply = answer.reply
    if reply is None:
        raise ValueError("an answer without a reply is not a turn")
    turn = playing.turn_of(reply, answer.ask.request)
    for field in ("text", "thought", "raw_reply"):
        setattr(turn, field, str(storable(getattr(turn, field))))
    turn.latency_ms = answer.latency_ms
    turn.cost_usd = pricing.cost(reply.usage, rate)
    if playing.embedded:
        extra = pricing.cost(Usage(input_tokens=playing.embedded), of_embeddings)
        turn.cost_usd = total([turn.cost_usd, extra])
        playing.embedded = 0
    if reply.usage:
        turn.input_tokens, turn.output_tokens = reply.usage.input_tokens, reply.usage.output_tokens
    cost = turn.cost_usd
    if turn.problem == CUT_OFF and reply.stop == "length" and playing.room < MOST_ROOM:
        playing.cut_off.append(turn)
        return SavedTurn(playing, None, "", cost)
    add_attempts(turn, playing.cut_off)
    playing.cut_off = []
    playing.turns.append(turn)
    return SavedTurn(playing, turn, playing.find_ending(), cost)


def add_attempts(turn: Turn, attempts: Sequence[Turn]) -> None:
    """Add to a turn what was paid for replies that met the limit of tokens, and the replies."""
    turn.cut_off = [one.raw_reply for one in attempts]
    every = [*attempts, turn]
    turn.cost_usd = total([one.cost_usd for one in every])
    turn.latency_ms = total([one.latency_ms for one in every])
    turn.input_tokens = total([one.input_tokens for one in every])
    turn.output_tokens = total([one.output_tokens for one in every])


def total(amounts: Sequence[N | None]) -> N | None:
    """The sum; None where an amount is not known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known[1:], known[0]) if len(known) == len(amounts) else None


def save(found: Sequence[SavedTurn], failed: Sequence[tuple[DialogueState, str]] = ()) -> None:
    """Write turns and endings. `failed` are dialogues whose next turn cannot be asked for, with the reason.

    IntegrityError where another process has written one of these turns.
    """
    with transaction.atomic():
        Turn.objects.bulk_create([one.turn for one in found if one.turn])
        for one in found:
            if one.ending:
                end(one.playing, one.ending)
        for playing, why in failed:
            end(playing, f"{playing.side}_failed", error=str(storable(why)))


def end(playing: DialogueState, ending: str, *, error: str = "") -> None:
    """Close the dialogue. One in which both sides kept to their part becomes material."""
    there: Dialogue | None = None
    if ending in REGULAR:
        there = playing.record(ending)
        there.save()
    SimulatedDialogue.objects.filter(pk=playing.row.pk, ending="").update(
        ending=ending, ended_at=timezone.now(), error=error, dialogue=there
    )


def costs(found: Sequence[SavedTurn]) -> list[Decimal | None]:
    return [one.cost for one in found]
