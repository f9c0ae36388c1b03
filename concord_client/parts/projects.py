"""Projects, who is in them, and their keys of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

from concord_client import types
from concord_client.transport import Transport


class Projects(Transport):
    """Projects, who is in them, and their keys of models."""

    def projects(self, **query: Any) -> Iterator[types.Project]:
        """The projects that one researches in."""
        return self.rows("projects", **query)

    def project(self, slug: str) -> types.Project:
        return cast(types.Project, self.get(f"projects/{slug}"))

    def make_project(self, name: str) -> types.Project:
        """A project, as the site's administration."""
        return cast(types.Project, self.post("projects", {"name": name}))

    def choose_project(self, slug: str) -> types.Project:
        """From now on new things go there, unless a write names another `project`."""
        return cast(types.Project, self.post(f"projects/{slug}/choose"))

    def members(self, slug: str, **query: Any) -> Iterator[types.Member]:
        """Who is in a project."""
        return self.rows(f"projects/{slug}/members", **query)

    def member(self, slug: str, user: str) -> types.Member:
        return cast(types.Member, self.get(f"projects/{slug}/members/{quote(user, safe='')}"))

    def add_member(self, slug: str, user: str, role: str) -> types.Member:
        """Give an account a role: owner, researcher or adjudicator. For owners, with a token of the scope admin."""
        return cast(types.Member, self.post(f"projects/{slug}/members", {"user": user, "role": role}))

    def change_member(self, slug: str, user: str, role: str) -> types.Member:
        """Give a member another role."""
        at = f"projects/{slug}/members/{quote(user, safe='')}"
        return cast(types.Member, self.send("PATCH", at, {"role": role}))

    def remove_member(self, slug: str, user: str) -> None:
        """Take a member out of a project."""
        self.send("DELETE", f"projects/{slug}/members/{quote(user, safe='')}")

    def keys(self, slug: str, **query: Any) -> Iterator[types.ModelKey]:
        """For which addresses a project has keys of models. A key itself is never told."""
        return self.rows(f"projects/{slug}/keys", **query)

    def keep_key(self, slug: str, address: str, key: str, *, note: str = "") -> types.ModelKey:
        """Keep a key for an address, in place of one that is there. For owners, with a token of the scope admin."""
        return cast(types.ModelKey, self.post(f"projects/{slug}/keys", {"address": address, "key": key, "note": note}))

    def forget_key(self, slug: str, number: int) -> None:
        """Forget a key."""
        self.send("DELETE", f"projects/{slug}/keys/{number}")
