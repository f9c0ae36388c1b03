"""The secrets of authenticator apps and recovery codes (rows of allauth), sealed like keys of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from judging.judges import sealing

BELONGS = "second factor"


def seal(text: str) -> str:
    return sealing.seal(text, of=BELONGS)


def unseal(sealed: str) -> str:
    """The secret. sealing.UnreadableError where the site's secrets do not open it."""
    return sealing.unseal(sealed, of=BELONGS)


def change_secrets(data: dict[str, Any], change: Callable[[str], str]) -> dict[str, object]:
    """The `data` of an authenticator with each of its secrets changed: of an app, the seed of recovery codes, codes."""
    changed: dict[str, object] = {name: change(data[name]) for name in ("secret", "seed") if name in data}
    if "migrated_codes" in data:
        changed["migrated_codes"] = [change(code) for code in data["migrated_codes"]]
    return data | changed


def reseal(data: dict[str, object]) -> dict[str, object]:
    """The same, sealed with the site's first secret."""
    return change_secrets(data, lambda sealed: seal(unseal(sealed)))
