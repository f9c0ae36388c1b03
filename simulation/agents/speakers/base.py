"""A cue as the providers of judges take it: a request whose prompt is a conversation.

A speaker is a provider of judges that sends a conversation and takes back plain text. What it shares with the
judges' side is reached through the same class: keys, addresses, patience, prices, token counts, the local model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.jobs.backoff import PermanentError
from judging.judges.providers.requests import CriterionSpec, DialogueContent, JudgeRequest, Prompt
from simulation.agents.prompts import Cue, Message

TURN = CriterionSpec("turn", "Turn", "What is said next?", "", "nominal", ())
USUAL_REPLY = 400
"""Tokens that a turn may have where the parameters do not say it: thoughts count too."""

LONGEST_REPLY = 16_000
"""Tokens up to which a reply that met its limit gets more room: the SDKs want longer ones as a stream."""

WITHOUT_USE = frozenset({"template", "examples", "structured", "logprobs", "effort", "explanation"})
"""Parameters of judges that do nothing for a speaker, whose prompt is a conversation."""


@dataclass(frozen=True, slots=True)
class SpeakerConversation(Prompt):
    """A prompt of several messages. `user` is all of them together, for counting.

    The reply may have `room` times the tokens that the speaker's parameters allow.
    """

    messages: tuple[Message, ...] = ()
    room: int = 1


def build_request(
    cue: Cue, *, item: str, number: int, seed: int, room: int = 1, schema: Mapping[str, object] | None = None
) -> JudgeRequest:
    """What a provider is asked for a turn: `item` names the dialogue, `number` the turn, from 1.

    A `schema` is of JSON that is to come back; the model on this machine can write nothing else then.
    """
    prompt = SpeakerConversation(
        system=cue.system,
        user=cue.text,
        schema=schema or {},
        version=cue.version,
        messages=tuple(cue.messages),
        room=room,
    )
    return JudgeRequest(
        item=item, criterion=TURN, content=DialogueContent(turns=()), repeat=number, seed=seed, prompt=prompt
    )


def parse_messages(prompt: Prompt | None) -> Sequence[Message]:
    if not isinstance(prompt, SpeakerConversation):
        raise PermanentError("A speaker needs a conversation.")
    return prompt.messages


def reply_limit(prompt: Prompt, max_tokens: int) -> int:
    """How many tokens the reply to a prompt may have."""
    room = prompt.room if isinstance(prompt, SpeakerConversation) else 1
    return max(max_tokens, min(max_tokens * room, LONGEST_REPLY))


def system_text(prompt: Prompt, own: str | None) -> str:
    """The prompt's instruction, after the speaker's own where its parameters have one."""
    return "\n\n".join(filter(None, [(own or "").strip(), prompt.system]))


def chat_messages(prompt: Prompt, own: str | None) -> list[dict[str, str]]:
    """The conversation as chat completions take it."""
    text = system_text(prompt, own)
    system = [{"role": "system", "content": text}] if text else []
    return [*system, *({"role": message.role, "content": message.content} for message in parse_messages(prompt))]
