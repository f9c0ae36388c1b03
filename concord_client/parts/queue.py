"""The queue of a study, and how people come into it and leave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from concord_client import types
from concord_client.transport import Json, Transport


class ComingIn(Transport):
    """The queue of a study, and how people come into it and leave it."""

    def queue(self, slug: str) -> types.Rules:
        """The rules by which checks and repeats are mixed in, how much one person rates, and the pass mark."""
        return cast(types.Rules, self.get(f"studies/{slug}/queue"))

    def set_queue(self, slug: str, **rules: float | None) -> types.Rules:
        """Set check_every, repeat_every, repeat_after, item_limit or pass_mark; what is not named stays."""
        return cast(types.Rules, self.send("PATCH", f"studies/{slug}/queue", rules))

    def known_items(self, slug: str, **query: Any) -> Iterator[types.KnownItem]:
        """Items with known answers; `purpose` narrows them down, `retired=True` adds those that are."""
        return self.rows(f"studies/{slug}/known", **query)

    def name_known(self, slug: str, purpose: str, items: Sequence[Mapping[str, Any]], *, round: int = 1) -> int:
        """Name items with their right answers: {"item": id, "answers": {criterion: {"value": …}}}. How many are."""
        body = {"purpose": purpose, "round": round, "items": [dict(one) for one in items]}
        return int(self.post(f"studies/{slug}/known", body)["n"])

    def name_decided(self, slug: str, purpose: str, decided_in: str, *, round: int = 1) -> int:
        """Name what was decided in a study. How many are."""
        body = {"purpose": purpose, "round": round, "decided_in": decided_in}
        return int(self.post(f"studies/{slug}/known/decided", body)["n"])

    def retire_known(self, slug: str, number: int) -> None:
        """Hand a known item out no more."""
        self.send("DELETE", f"studies/{slug}/known/{number}")

    def admissions(self, slug: str, **query: Any) -> Iterator[types.Admission]:
        """Results of the qualification and decisions on them, oldest first: the newest of somebody holds."""
        return self.rows(f"studies/{slug}/admissions", **query)

    def admit(self, slug: str, annotator: str, *, reason: str, again: bool = False) -> types.Admission:
        """Let somebody through to the work; with `again` let them try once more."""
        body = {"annotator": annotator, "decision": "again" if again else "admit", "reason": reason}
        return cast(types.Admission, self.post(f"studies/{slug}/admissions", body))

    def invitations(self, slug: str, **query: Any) -> Iterator[types.Invitation]:
        """Links into a study, without the links."""
        return self.rows(f"studies/{slug}/invitations", **query)

    def invite(self, slug: str, **options: Any) -> types.MadeInvitation:
        """A link into a study: max_uses, expires_at, platform, note. `token` and `path` are told this once."""
        return cast(types.MadeInvitation, self.post(f"studies/{slug}/invitations", options))

    def revoke_invitation(self, slug: str, number: int) -> None:
        """Let nobody join by a link any more."""
        self.send("DELETE", f"studies/{slug}/invitations/{number}")

    def intake(self, slug: str) -> types.Intake:
        """How people come in, what they agree to, and what they get at the end."""
        return cast(types.Intake, self.get(f"studies/{slug}/intake"))

    def set_intake(self, slug: str, **settings: Any) -> types.Intake:
        """Set is_public, completion_code, completion_url or consent_text; what is not named stays."""
        return cast(types.Intake, self.send("PATCH", f"studies/{slug}/intake", settings))

    def participants(self, slug: str) -> list[types.Participant]:
        """Who is or was in a study, by which way, and what they decided."""
        return cast("list[types.Participant]", self.get(f"studies/{slug}/participants"))

    def withdraw(self, slug: str, annotator: str) -> Json:
        """Erase all that somebody gave in a study, because they asked for it."""
        return cast(Json, self.post(f"studies/{slug}/participants/{quote(annotator, safe='')}/withdraw"))

    def questions(self, slug: str) -> list[types.Question]:
        """What people are asked about themselves."""
        return cast("list[types.Question]", self.get(f"studies/{slug}/questions"))

    def add_question(self, slug: str, text: str, options: Sequence[str], *, key: str = "") -> types.Question:
        body = {"text": text, "options": list(options), "key": key}
        return cast(types.Question, self.post(f"studies/{slug}/questions", body))

    def remove_question(self, slug: str, key: str) -> int:
        """Ask it no more. Returns how many answers were erased."""
        return int(self.send("DELETE", f"studies/{slug}/questions/{key}")["erased"])
