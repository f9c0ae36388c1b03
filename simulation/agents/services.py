"""Agents: speakers with their parameters, found again by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from core.accounts.models.users import User
from core.errors import InputError
from core.files.json_text import parse_json
from core.hashing import content_hash
from core.jobs.backoff import PermanentError
from core.options.model import Options
from judging.judges.providers import describe_errors
from judging.judges.providers.base import Provider
from judging.judges.providers.embeddings import Embeddings
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from judging.judges.services.judges import probe_provider
from simulation.agents import speakers
from simulation.agents.models import Agent

Prompt = Annotated[str, StringConstraints(strip_whitespace=False), Field(max_length=50_000)]
"""A text in place of Concord's own."""


class AgentOptions(Options):
    """Who speaks. Parameters are as the provider takes them; never a key."""

    provider: str = Field(min_length=1, max_length=40)
    model: str = Field("", max_length=120)
    parameters: dict[str, object] = {}


TEMPERATURES = {"user": 0.5, "assistant": 0.0}
REPLY_TOKENS = 800
"""As published (arXiv 2506.09902). Parameters of one's own, null included, go before."""

NO_USE = (
    "A speaker has no use for {name}: what it is told comes from the experiment and its condition. An instruction of "
    "its own goes into the parameter system."
)
PREFIXES = {"claude": "anthropic", "smollm2": "local", "gpt": "openai_compatible"}
"""Models whose names say where they are to be had."""


def build_agent(
    *,
    side: str,
    provider: str,
    model: str = "",
    parameters: Mapping[str, object] | None = None,
    keys: Keyring = ENVIRONMENT,
) -> Agent:
    """The agent with these settings, saved or not. `side` gives the temperature that is used where none is given."""
    given: dict[str, object] = dict(parameters or {})
    model = model.strip()
    if len(model) > 120:
        raise InputError("A model's name has at most 120 characters.", field=side)
    try:
        if useless := sorted(speakers.WITHOUT_USE & given.keys() & set(speakers.list_parameters(provider))):
            raise InputError(NO_USE.format(name=useless[0]), field=side)
        if "temperature" in speakers.list_parameters(provider):
            given.setdefault("temperature", TEMPERATURES[side])
        if speakers.list_parameters(provider).get("max_tokens") == speakers.USUAL_REPLY:
            given.setdefault("max_tokens", REPLY_TOKENS)
        speaker = speakers.create(provider, model=model, parameters=given, keys=keys)
    except PermanentError as error:
        raise InputError(str(error), field=side) from error
    if problems := speaker.check([]):
        raise InputError(
            "{model} cannot speak: {problems}.", field=side, model=model or provider, problems="; ".join(problems)
        )
    found = content_hash([provider, model, given])
    known = Agent.objects.filter(settings_hash=found).first()
    return known or Agent(provider=provider, model=model, parameters=given, settings_hash=found)


def embedder(text: str, keys: Keyring = ENVIRONMENT) -> Agent | None:
    """Who makes embeddings, by a short text as in `parse_agent`; None where none is named."""
    if not text.strip():
        return None
    words, brace, rest = text.strip().partition("{")
    provider, _, model = words.strip().partition(":")
    if provider != "openai_compatible" or not model:
        raise InputError("Embeddings come from a server: openai_compatible:MODEL.", field="embedder")
    found = Agent(provider=provider, model=model, parameters=parse_parameters(brace + rest, "embedder"))
    try:
        problems = build_embeddings(found, keys).check([])
    except PermanentError as error:
        raise InputError(str(error), field="embedder") from error
    if problems:
        raise InputError(
            "{model} cannot be asked: {problems}.", field="embedder", model=model, problems="; ".join(problems)
        )
    found.settings_hash = content_hash(["embeddings", provider, model, found.parameters])
    return Agent.objects.filter(settings_hash=found.settings_hash).first() or found


def build_embeddings(agent: Agent, keys: Keyring = ENVIRONMENT) -> Embeddings:
    """Ready for use. PermanentError if its settings do not fit."""
    try:
        return Embeddings(model=agent.model, parameters=agent.parameters, keys=keys)
    except ValidationError as error:
        raise PermanentError(f"Parameters: {describe_errors(error)}.") from error


def parse_parameters(text: str, field: str) -> dict[str, object]:
    """Parameters as JSON, none where there is no text."""
    found: dict[str, object] = parse_json(text, field=field) if text else {}
    return found


def find_or_create_agent(*, by: User | None, agent: Agent) -> Agent:
    """The agent as a row; the one that is there if somebody else made it meanwhile."""
    if not agent._state.adding:
        return agent
    defaults = {
        "provider": agent.provider,
        "model": agent.model,
        "parameters": agent.parameters,
        "created_by": by,
    }
    return Agent.objects.get_or_create(settings_hash=agent.settings_hash, defaults=defaults)[0]


def parse_agent(text: str, *, side: str, keys: Keyring = ENVIRONMENT) -> Agent:
    """The agent that a short text names: `local`, `claude-haiku-4-5`, `openai_compatible:llama3 {"base_url": "…"}`."""
    words, brace, rest = text.strip().partition("{")
    parameters = parse_parameters(brace + rest, side)
    provider, _, model = words.strip().partition(":")
    if provider not in speakers.REGISTRY:
        prefix = next((known for known in PREFIXES if words.strip().startswith(known)), None)
        if prefix is None:
            raise InputError(
                "{words!r}: say where it speaks, as PROVIDER or PROVIDER:MODEL; there are {registry}.",
                field=side,
                words=words.strip(),
                registry=", ".join(speakers.REGISTRY),
            )
        provider, model = PREFIXES[prefix], words.strip()
    return build_agent(side=side, provider=provider, model=model, parameters=parameters, keys=keys)


def build_speaker(agent: Agent, keys: Keyring = ENVIRONMENT) -> Provider:
    """Ready for use, with a project's keys. PermanentError if its settings do not fit this version of Concord."""
    return speakers.create(agent.provider, model=agent.model, parameters=agent.parameters, keys=keys)


def probe(agent: Agent, keys: Keyring = ENVIRONMENT) -> None:
    """Ask the other side whether it would answer, before anything is spent. InputError says what it objects to."""
    if problems := probe_provider(build_speaker(agent, keys)):
        raise InputError(
            "{agent} cannot speak: {problems}.", field="assistant", agent=agent, problems="; ".join(problems)
        )
