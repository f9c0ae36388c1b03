"""Libraries that are loaded when something of them is first asked for.

Every command, worker and web process imports all pages; those that draw no chart need not wait for what draws charts.
"""

from __future__ import annotations

from importlib import import_module


class Later:
    """Stands for a module. Threads may meet here: the import system has locks, LazyLoader of 3.11 has none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        return getattr(import_module(self._name), attribute)
