"""Where judges come from. A provider is one small module and one line in the registry.

The module is imported when a judge of that kind is first used, so that no SDK is loaded for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from core.jobs.backoff import PermanentError
from judging.judges.providers.base import Provider
from judging.judges.providers.keys import ENVIRONMENT, Keyring

REGISTRY = {
    "baseline": "judging.judges.providers.baseline:Baseline",
    "anthropic": "judging.judges.providers.anthropic:Anthropic",
    "openai_compatible": "judging.judges.providers.openai_compatible:OpenAICompatible",
    "local": "judging.judges.providers.local:Local",
    "scorer": "judging.judges.providers.scorer:ScorerJudge",
    "simulated": "judging.judges.providers.simulated:Simulated",
    "scripted": "judging.judges.providers.scripted:Scripted",
}


def create(
    provider: str, *, model: str = "", parameters: Mapping[str, Any] | None = None, keys: Keyring = ENVIRONMENT
) -> Provider:
    """The provider ready for use, with a project's keys. PermanentError names an unknown one or a wrong parameter."""
    kind = load(provider)
    try:
        return kind(model=model, parameters=parameters, keys=keys)
    except ValidationError as error:
        raise PermanentError(_in_words(error)) from error


def load(provider: str) -> type[Provider]:
    """The class of a provider. PermanentError names an unknown one."""
    if provider not in REGISTRY:
        raise PermanentError(f"There is no provider {provider!r}; there are {', '.join(sorted(REGISTRY))}.")
    module, _, name = REGISTRY[provider].partition(":")
    kind: type[Provider] = getattr(import_module(module), name)
    return kind


def _in_words(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in error.errors(include_url=False)
    )
    return f"Parameters: {'; '.join(problems)}."


__all__ = ["REGISTRY", "create", "load"]
