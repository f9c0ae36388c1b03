"""Keys of models, by the address that they are for.

A key that a project keeps goes before one of the environment, and to its own address only. Providers know no database:
whoever makes one hands it the ring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

USUAL_PORTS = {"http": 80, "https": 443}
HIDDEN = "[key]"


def origin(address: str) -> str:
    """Scheme, host and port of an address, as keys are kept by: `https://api.openai.com`. ValueError if it has none."""
    parts = urlsplit(address.strip())
    scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address names nobody before its host: a key stands by itself")
    if scheme not in USUAL_PORTS or not host:
        raise ValueError("an address begins with https:// (or http://) and names a host")
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}" if port in (None, USUAL_PORTS[scheme]) else f"{scheme}://{name}:{port}"


@dataclass(frozen=True)
class Keyring:
    """The keys of one project, and those of the environment behind them.

    Attributes
    ----------
    kept
        Origin -> key. Never shown: neither repr nor an error holds one.
    unreadable
        Origins whose keys were sealed with another secret of the site.
    """

    kept: Mapping[str, str] = field(default_factory=dict, repr=False)
    unreadable: frozenset[str] = frozenset()

    def find_key(self, address: str, variable: str) -> str:
        """The project's key for an address, else that of the variable, if one is named; empty where there is none."""
        where = _origin(address)
        if where in self.unreadable:
            return ""
        return self.kept.get(where) or (os.environ.get(variable, "") if variable else "")

    def problem(self, address: str) -> str:
        """Why the project's key for an address cannot be used; empty where nothing is wrong."""
        where = _origin(address)
        if where not in self.unreadable:
            return ""
        return f"the project's key for {where} cannot be read with this site's secret: enter it again"


def _origin(address: str) -> str:
    try:
        return origin(address)
    except ValueError:
        return ""


def redact_key(key: str, text: str) -> str:
    """What the other side said, without the key in case it repeated it."""
    return text.replace(key, HIDDEN) if len(key) >= 8 else text


ENVIRONMENT = Keyring()
"""Only what the environment has."""
