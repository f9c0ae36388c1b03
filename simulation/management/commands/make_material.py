"""`make_material`: let a model make profiles, tasks and situations, or look for conflicts in profiles."""

from __future__ import annotations

from typing import Any, TypedDict

from django.core.management.base import CommandParser

from annotation.corpus.models import Profile, Task
from annotation.management.base import ConcordCommand
from annotation.management.imports import read_named_texts
from core.accounts.models.projects import Project
from core.errors import InputError
from core.files.json_text import parse_json
from core.options.fields import add_arguments, read_arguments
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services
from simulation.agents.prompts.generation import GENERATORS
from simulation.generation.models import Making
from simulation.generation.options import NewMaking
from simulation.generation.queries import find_record
from simulation.generation.services import candidates, generation, worker_sessions

ELSEWHERE = ("kind", "agent", "demographics", "profile", "task", "prompts")
"""Options of an order that this command takes in words of its own."""


class MadeDocument(TypedDict):
    """The orders, the kind and id of each record that was made, and how many replies that took."""

    makings: list[int]
    made: list[dict[str, str | int]]
    replies: int


class Command(ConcordCommand[MadeDocument]):
    makes_roots = True
    help = (
        "Let a model make a profile from demographics, a mask of domains, preferences or summaries for a profile, "
        "tasks, or a situation; a profile without --domains gets those of its mask, tasks without are of several; "
        "or check profiles for conflicts, which people then review. Every reply is checked against the preference "
        "types (import_schema); one that does not fit is asked for twice more and then refused, with the field."
    )
    example = "make_material tasks --agent claude-haiku-4-5 --domains Hotels,Flights --n 3"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=[kind for kind in Making.Kind.values if kind not in Making.OF_CANDIDATES])
        parser.add_argument("--agent", required=True, metavar="MODEL", help="who makes it, as in `simulate`")
        add_arguments(parser, NewMaking, but=ELSEWHERE)
        parser.add_argument("--demographics", default="{}", metavar="JSON", help="of a profile")
        parser.add_argument("--profiles", default="", metavar="ID,…", help="ids of profiles, or all for a check")
        parser.add_argument("--task", default="", metavar="ID", help="of a situation")
        parser.add_argument(
            "--prompt",
            nargs="+",
            default=[],
            metavar="NAME=FILE",
            help=f"a text in place of Concord's own: {', '.join(GENERATORS)}",
        )

    def run(self, *, project: Project | None, **options: Any) -> MadeDocument:
        keys = load_keyring_for(None, project)
        agent = agents_services.parse_agent(options["agent"], side="assistant", keys=keys)
        replaced = read_named_texts(options["prompt"], field="prompt")
        agents_services.probe(agent, keys)
        made = [
            generation.order(
                by=None,
                kind=options["kind"],
                agent=agent,
                demographics=demographics(options["demographics"]),
                profile=profile,
                task=find_record(Task, options["task"], field="task"),
                **read_arguments(NewMaking, options, but=ELSEWHERE),
                replaced=replaced,
                queue=False,
                project=project,
            )
            for profile in profiles(options["profiles"])
        ]
        for _ in worker_sessions.work_through(made):
            pass
        for one in made:
            one.refresh_from_db()
        if failed := [one for one in made if one.problem]:
            raise InputError(failed[0].problem, field=options["kind"])
        return {
            "makings": [one.pk for one in made],
            "made": [{"kind": kind, "id": pk} for one in made for kind, pk in one.made],
            "replies": sum(len(one.replies) for one in made),
        }

    def write_text(self, document: MadeDocument) -> None:
        for one in document["made"]:
            self.stdout.write(f"{one['kind']} {one['id']}")
        self.stdout.write(f"{len(document['made'])} made from {document['replies']} replies.")


def profiles(names: str) -> list[Profile | None]:
    """The profiles named; one None where none is."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        return [None]
    if wanted == ["all"]:
        return list(Profile.objects.exclude(preferences={}).order_by("source", "external_id"))
    return list(candidates.people(names))


def demographics(text: str) -> dict[str, object]:
    found = parse_json(text, field="demographics")
    if not isinstance(found, dict):
        raise InputError("Demographics are a JSON object.", field="demographics")
    return found
