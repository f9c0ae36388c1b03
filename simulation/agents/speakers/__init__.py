"""Who speaks in a simulated dialogue. A speaker is one small module and one line in the registry.

Speakers are providers of `judging` whose requests hold a conversation (see `base`). The module is imported when a
speaker of that kind is first used.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from core.jobs.backoff import PermanentError
from judging.judges.providers import ProviderEntry, describe_errors
from judging.judges.providers.base import Provider
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from simulation.agents.speakers.base import USUAL_REPLY, WITHOUT_USE, build_request

REGISTRY = {
    "local": ProviderEntry(
        "simulation.agents.speakers.local:Local", label="Local: a small model on this machine, no key and no network"
    ),
    "anthropic": ProviderEntry(
        "simulation.agents.speakers.anthropic:Anthropic", label="Anthropic: a Claude model, needs a key"
    ),
    "openai_compatible": ProviderEntry(
        "simulation.agents.speakers.openai_compatible:OpenAICompatible",
        label="OpenAI-compatible: vLLM, Ollama, llama.cpp and others, needs an address",
    ),
    "callable": ProviderEntry(
        "simulation.agents.speakers.callables:CallableSpeaker",
        label="Your own: a Python callable that CONCORD_ASSISTANTS names",
    ),
    "scripted": ProviderEntry("simulation.agents.speakers.scripted:Scripted"),
}


def find_class(provider: str) -> type[Provider]:
    """The class of a speaker. PermanentError names an unknown one."""
    if provider not in REGISTRY:
        raise PermanentError(f"There is no speaker {provider!r}; there are {', '.join(REGISTRY)}.")
    return REGISTRY[provider].load()


def create(
    provider: str, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
) -> Provider:
    """The speaker ready for use, with a project's keys. PermanentError names an unknown one or a wrong parameter."""
    try:
        return find_class(provider)(model=model, parameters=parameters, keys=keys)
    except ValidationError as error:
        raise PermanentError(f"Parameters: {describe_errors(error)}.") from error


def list_parameters(provider: str) -> dict[str, object]:
    """The parameters that a speaker takes, with their defaults."""
    return {name: field.default for name, field in find_class(provider).Parameters.model_fields.items()}


__all__ = [
    "REGISTRY",
    "USUAL_REPLY",
    "WITHOUT_USE",
    "build_request",
    "create",
    "find_class",
    "list_parameters",
]
