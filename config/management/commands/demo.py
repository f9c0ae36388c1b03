"""The demo, ready to look at."""

from __future__ import annotations

import os

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from annotation.management.base import PlainCommand
from config import demo, supervision
from config.turns import take_turn
from core.audit.log import audit_through
from core.audit.models import Act


class Command(PlainCommand):
    help = "Load the demo data, accounts and studies; with --start, run web server and worker in the background."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--start", action="store_true", help="start web server and worker, and print the address")
        parser.add_argument("--no-model", action="store_true", help="start without the local model's judge")
        parser.add_argument("--host", default=os.environ.get("CONCORD_HOST", "127.0.0.1"))
        parser.add_argument("--port", type=int, default=int(os.environ.get("CONCORD_PORT", "8000")))

    def handle(self, *_: object, start: bool, no_model: bool, host: str, port: int, **__: object) -> None:
        with take_turn("demo", self.stderr):
            self.load_and_start(host, port, start=start, no_model=no_model)

    def load_and_start(self, host: str, port: int, *, start: bool, no_model: bool) -> None:
        call_command("migrate", verbosity=0)
        with audit_through(Act.Through.COMMAND):
            demo.load()
        if not start:
            self.stdout.write("The demo data is loaded.")
            return
        call_command("collectstatic", interactive=False, verbosity=0)
        try:
            bind = self.start(host, port)
        except supervision.SupervisionError as error:
            raise CommandError(str(error)) from error
        self.welcome(bind, "" if no_model else self.model_at_work(bind))

    def start(self, host: str, port: int) -> str:
        running = supervision.find_running_address()
        if running:
            return running
        supervision.check_free(host, port)
        supervision.start_in_background(f"{host}:{port}")
        return f"{host}:{port}"

    def model_at_work(self, bind: str) -> str:
        """What the local model does, once the site is up; or why it does nothing."""
        with audit_through(Act.Through.COMMAND):
            missing = demo.ask_local_model()
        if missing:
            return f"  Without the local model, all else works: {missing}\n\n"
        return (
            f"  {demo.LOCAL_JUDGE}, a small model on this machine and a poor judge, rates both studies meanwhile,\n"
            f"  with what the machine has to spare. Its progress: http://{bind}{reverse('judge_list')}\n\n"
        )

    def welcome(self, bind: str, model: str) -> None:
        logins = "\n".join(f"    {login.name:<6} {login.role}" for login in demo.LOGINS)
        self.stdout.write(
            f"\n  Concord answers at  http://{bind}/\n\n"
            f"  Sign in as (password {demo.PASSWORD}):\n{logins}\n\n{model}"
            f"  It runs in the background. End it: make stop. Logs: {supervision.logs()}\n"
        )
