"""A cue as the providers of judges take it: a request whose prompt is a conversation.

A speaker is one of `judging.providers` that sends a conversation and takes back plain text. What it shares with the
judges' side is reached through the same class: keys, addresses, patience, prices, token counts, the local model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judging.providers.base import CriterionSpec, DialogueContent, JudgeRequest, PermanentError, Prompt
from simulation.prompts import Cue, Message

TURN = CriterionSpec("turn", "Turn", "What is said next?", "", "nominal", ())
USUAL_REPLY = 400
"""Tokens that a turn may have unless the parameters say otherwise: thoughts count too."""


@dataclass(frozen=True, slots=True)
class Conversation(Prompt):
    """A prompt of several messages. `user` is all of them together, for counting."""

    messages: tuple[Message, ...] = ()


def request_of(cue: Cue, *, item: str, number: int, seed: int, schema: Mapping[str, Any] | None = None) -> JudgeRequest:
    """What a provider is asked for a turn: `item` names the dialogue, `number` the turn, from 1.

    A `schema` is of JSON that is to come back; the model on this machine can write nothing else then.
    """
    prompt = Conversation(
        system=cue.system, user=cue.text, schema=schema or {}, version=cue.version, messages=tuple(cue.messages)
    )
    return JudgeRequest(
        item=item, criterion=TURN, content=DialogueContent(turns=()), repeat=number, seed=seed, prompt=prompt
    )


def messages_in(prompt: Prompt | None) -> Sequence[Message]:
    if not isinstance(prompt, Conversation):
        raise PermanentError("A speaker needs a conversation.")
    return prompt.messages


def chat_messages(prompt: Prompt) -> list[dict[str, str]]:
    """The conversation as chat completions take it."""
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, *({"role": message.role, "content": message.content} for message in messages_in(prompt))]
