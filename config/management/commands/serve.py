"""Web server and worker together."""

from __future__ import annotations

import os

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from annotation.management.base import PlainCommand
from config import supervision
from core.accounts.services import first_account


class Command(PlainCommand):
    help = "Run the web server and a Celery worker in the foreground until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=os.environ.get("CONCORD_HOST", "127.0.0.1"))
        parser.add_argument("--port", type=int, default=int(os.environ.get("CONCORD_PORT", "8000")))
        parser.add_argument("--stop", action="store_true", help="end the one that runs on this data folder")

    def handle(self, *_: object, stop: bool, host: str, port: int, **__: object) -> None:
        try:
            self.stop() if stop else self.serve(host, port)
        except supervision.SupervisionError as error:
            raise CommandError(str(error)) from error

    def stop(self) -> None:
        self.stdout.write("Stopped." if supervision.stop() else "Nothing was running.")

    def serve(self, host: str, port: int) -> None:
        if supervision.find_running_pid() is not None:
            raise supervision.SupervisionError("it is already running on this data folder; `make stop` ends it")
        supervision.check_free(host, port)
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        self.stdout.write(f"Concord: http://{host}:{port}   logs: {supervision.logs()}   Ctrl-C ends it.")
        if first_account.is_needed():
            there = reverse("first_account", args=[first_account.sign_key()])
            self.stdout.write(f"Nobody has an account yet. Create the first one: http://{host}:{port}{there}")
        self.stdout.flush()
        arguments = supervision.command(foreground=True)
        os.execve(arguments[0], arguments, supervision.environment(f"{host}:{port}"))  # noqa: S606
