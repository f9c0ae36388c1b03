"""What all commands do when the machine fails them: a sentence and an exit code, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import connection

from annotation.corpus.models import Profile
from annotation.management.base import ConcordCommand
from annotation.studies.models.studies import Study
from core.files.writing import output_path
from tests.support.full_disk import full_database

only_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="locks and sizes of a database in a file")
HOLDS = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def locked() -> Iterator[None]:
    """While another process holds the lock of the database. Nobody waits 30 seconds for it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, connection.settings_dict["NAME"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout=50")
        yield
    finally:
        holder.communicate()
        connection.close()  # the next one waits as long as it should


def refused(*line: str, **options: object) -> CommandError:
    with pytest.raises(CommandError) as caught:
        call_command(*line, stdout=StringIO(), **options)
    return caught.value


@only_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_locked_database():
    with locked():
        error = refused("study", "Pilot", "--kind", "pair")
    assert str(error).startswith("The database is locked: another program is writing to it and has not finished.")
    assert error.returncode == 1
    call_command("study", "Pilot", "--kind", "pair", stdout=StringIO())
    assert Study.objects.count() == 1


@only_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_full_disk_ends_an_import_and_keeps_nothing_of_it(tmp_path):
    path = tmp_path / "profiles.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"p{n}", "memories": ["x" * 5000]}) for n in range(40)))
    with full_database():
        error = refused("import_profiles", str(path))
    assert str(error).startswith("The disk is full.")
    assert error.returncode == 1
    assert not Profile.objects.exists()


@pytest.mark.django_db
def test_a_full_disk_under_the_output():
    with open("/dev/full", "w") as output:
        with pytest.raises(CommandError, match="The disk is full"):
            call_command("acts", json=True, stdout=output)
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())  # where closing it writes what is left


@pytest.mark.django_db
@pytest.mark.parametrize("as_json", [True, False])
def test_a_reader_that_went_away_ends_it_quietly(as_json):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as output, pytest.raises(SystemExit) as ended:
        call_command("acts", json=as_json, stdout=output)
    assert ended.value.code == 141


def test_a_dash_is_standard_output_for_every_command():
    commands = [load_command_class(app, name) for name, app in get_commands().items()]
    parsers = [one.create_parser("manage.py", "x") for one in commands if isinstance(one, ConcordCommand)]
    outputs = [action for parser in parsers for action in list_actions(parser) if "-o" in action.option_strings]
    assert len(outputs) >= 9
    assert {action.type for action in outputs} == {output_path}


def list_actions(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, _SubParsersAction):
            for verb in action.choices.values():
                yield from list_actions(verb)


@pytest.mark.django_db
def test_a_mistake_in_the_code_is_not_hidden(monkeypatch):
    def broken(self: object, **options: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("annotation.management.commands.acts.Command.run", broken)
    with pytest.raises(KeyError):
        call_command("acts")


@pytest.mark.parametrize(("bootstrap", "said"), [("200", "0.000 (no interval: leaving out any"), ("0", "0.000\n")])
def test_a_figure_without_an_interval_says_why_unless_none_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bootstrap: str, said: str
) -> None:
    """The defect: of a judge that always says the same stood `0.000` alone; the reason was in the JSON only."""
    file = tmp_path / "labels.csv"
    people = (
        f"{item},{rater},{'yn'[(item + (rater == 'b' and item % 5 == 0)) % 2]}" for item in range(40) for rater in "ab"
    )
    file.write_text("\n".join(["item,rater,value", *people, *(f"{item},J,y" for item in range(40))]))
    call_command("agreement", str(file), judge=["J"], bootstrap=int(bootstrap))
    assert f"mean cohen kappa  {said}" in capsys.readouterr().out
