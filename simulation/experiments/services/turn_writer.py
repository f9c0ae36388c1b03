"""Replies become turns, and finished dialogues material: in one transaction, before anything more is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from annotation.corpus.models import Dialogue
from judging.judges import pricing
from judging.judges.pricing import Rate
from judging.judges.providers.base import Usage
from judging.runs.services.cache import storable
from simulation.agents.parsing.endings import REGULAR
from simulation.agents.parsing.speech import CUT_OFF
from simulation.experiments.models.experiments import SimulatedDialogue, Turn
from simulation.experiments.services.dialogue_scheduler import Answer
from simulation.experiments.services.dialogue_state import MOST_ROOM, DialogueState

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
        raise ValueError("an answer without a reply is no turn")
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
