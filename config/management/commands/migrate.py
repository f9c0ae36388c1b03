"""Django's `migrate`, one process at a time. All that migrates goes through it: `demo`, `serve`, units, containers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db.migrations.exceptions import NodeNotFoundError

from annotation.queries import schema
from config.turns import take_turn


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["plan"] or options["check_unapplied"]:  # these change nothing
                super().handle(*args, **options)
                return
            with take_turn("migrate", self.stderr):
                super().handle(*args, **options)
        except NodeNotFoundError as error:
            if not schema.is_too_old():
                raise
            raise CommandError(schema.TOO_OLD) from error
