"""`manage.py intake`: whether anybody may join a study, and what people get at its end."""

from __future__ import annotations

from argparse import BooleanOptionalAction

from django.core.management.base import CommandParser
from django.urls import reverse

from annotation.management.base import ConcordCommand
from annotation.recruitment.services import completions
from annotation.studies.queries.studies import study_called


class Command(ConcordCommand[dict[str, object]]):
    help = "Set whether anybody may join a study by its public address, and its completion code and address."
    example = "intake --study pilot --public --completion-code C1A2B3"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--public", action=BooleanOptionalAction, help="whether anybody may join")
        parser.add_argument("--completion-code", help="shown to who is done; empty for none")
        parser.add_argument("--completion-url", help="where it takes them; empty for nowhere")

    def run(
        self, *, study: str, public: bool | None, completion_code: str | None, completion_url: str | None, **_: object
    ) -> dict[str, object]:
        named = study_called(study)
        texts = {"completion_code": completion_code, "completion_url": completion_url}
        found = completions.set_intake(by=None, study=named, is_public=public, **texts)
        address = reverse("register", args=[named.slug]) if found.is_public else None
        new = {name: getattr(found, name) for name in ("is_public", *texts)}
        return {"study": named.name, **new, "public_address": address}
