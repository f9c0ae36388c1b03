"""Where judges come from. A provider is one small module and one line in the registry.

The module is imported when a judge of that kind is first used, so that no SDK is loaded for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from pydantic import ValidationError

from core.jobs.backoff import PermanentError
from judging.judges.providers.base import Provider
from judging.judges.providers.keys import ENVIRONMENT, Keyring


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """Where the class of a provider is, and what is said of it before that is loaded.

    `label` is its name and what it is, for the page of a new judge; empty where that does not offer it. `no_model` says
    where its verdicts come from instead; empty where that is a model.
    """

    place: str
    label: str = ""
    no_model: str = ""

    def load(self) -> type[Provider]:
        """Import the class."""
        module, _, name = self.place.partition(":")
        kind: type[Provider] = getattr(import_module(module), name)
        return kind


REGISTRY = {
    "baseline": ProviderEntry(
        "judging.judges.providers.baseline:Baseline",
        label="Baseline: counts of words, no model",
        no_model="Counts of words, no model",
    ),
    "local": ProviderEntry(
        "judging.judges.providers.local:Local", label="Local: a model on this machine, no key and no network"
    ),
    "anthropic": ProviderEntry(
        "judging.judges.providers.anthropic:Anthropic", label="Anthropic: a Claude model, key in ANTHROPIC_API_KEY"
    ),
    "openai_compatible": ProviderEntry(
        "judging.judges.providers.openai_compatible:OpenAICompatible",
        label="OpenAI-compatible: OpenAI, vLLM, Ollama, llama.cpp and others",
    ),
    "scorer": ProviderEntry(
        "judging.judges.providers.scorer:ScorerJudge",
        label="Scorer: a reward model or a similarity that scores each response of a pair",
    ),
    "simulated": ProviderEntry(
        "judging.judges.providers.simulated:Simulated", no_model="Verdicts drawn by a program, no model"
    ),
    "scripted": ProviderEntry(
        "judging.judges.providers.scripted:Scripted", no_model="Says what it was told to say, no model"
    ),
}


def create(
    provider: str, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
) -> Provider:
    """The provider ready for use, with a project's keys. PermanentError names an unknown one or a wrong parameter."""
    kind = load(provider)
    try:
        return kind(model=model, parameters=parameters, keys=keys)
    except ValidationError as error:
        raise PermanentError(f"Parameters: {describe_errors(error)}.") from error


def load(provider: str) -> type[Provider]:
    """The class of a provider. PermanentError names an unknown one."""
    if provider not in REGISTRY:
        raise PermanentError(f"There is no provider {provider!r}; there are {', '.join(sorted(REGISTRY))}.")
    return REGISTRY[provider].load()


def describe_errors(error: ValidationError) -> str:
    """Say which parameters are wrong, and how."""
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in error.errors(include_url=False)
    )


__all__ = ["REGISTRY", "ProviderEntry", "create", "describe_errors", "load"]
