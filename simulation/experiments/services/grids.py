"""The scenarios of an experiment: users and tasks that are named or drawn, without what the interest masks forbid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import InputError
from simulation.experiments.queries import EligibleScenario, candidates
from simulation.stats.drawing import TASKS, USERS, draw_names

ALL = "all"
SINGLE, MULTI = "single", "multi"


@dataclass(frozen=True)
class Grid:
    """Scenarios in order, who and what was chosen, and how many pairs of user and task are not among them.

    `masked` are scenarios about a domain that the user does not care for, `absent` pairs that no scenario is about.
    """

    scenarios: tuple[EligibleScenario, ...]
    users: tuple[str, ...]
    tasks: tuple[str, ...]
    masked: int
    absent: int
    asked: Mapping[str, object]

    def to_json(self) -> dict[str, object]:
        return {**self.asked, "users": list(self.users), "tasks": list(self.tasks), **self.left_out}

    @property
    def left_out(self) -> dict[str, int]:
        return {"masked": self.masked, "absent": self.absent}


def grid(*, users: str, tasks: str, seed: int = 0, source: str = "", domains: Sequence[str] = ()) -> Grid:
    """Users and tasks as they are asked for.

    `users` and `tasks` are a number (so many are drawn), ids with commas between, or `all`; tasks also `single` or
    `multi`, and those with a number, as `single 4, multi 1`. `domains` leaves tasks of these alone.
    """
    asked = {"asked_users": users, "asked_tasks": tasks, "source": source, "domains": list(domains)}
    known = filter_domains(candidates(source=source), domains)
    if not known:
        raise InputError("There are no scenarios yet: import profiles and tasks with their situations.", field="users")
    check_source(known)
    chosen_users = choose_ids(users, [one.user for one in known], "users", seed, USERS)
    of_users = [one for one in known if one.user in chosen_users]
    chosen_tasks = choose_tasks(tasks, of_users, seed)
    pairs = [one for one in of_users if one.task in chosen_tasks]
    allowed = tuple(one for one in pairs if not one.masked)
    check_masks(tasks, chosen_tasks, pairs, allowed)
    return Grid(
        scenarios=allowed,
        users=tuple(sorted(chosen_users)),
        tasks=tuple(sorted(chosen_tasks)),
        masked=len(pairs) - len(allowed),
        absent=len(chosen_users) * len(chosen_tasks) - len({(one.user, one.task) for one in pairs}),
        asked=asked,
    )


def filter_domains(known: Sequence[EligibleScenario], domains: Sequence[str]) -> list[EligibleScenario]:
    if unknown := set(domains) - {domain for one in known for domain in one.domains}:
        raise InputError("No task has the domain {unknown!r}.", field="domains", unknown=sorted(unknown)[0])
    return [one for one in known if not domains or set(one.domains) <= set(domains)]


def check_source(known: Sequence[EligibleScenario]) -> None:
    """Ids are those of one source."""
    sources = sorted({one.source for one in known})
    if len(sources) > 1:
        raise InputError(
            "There are profiles of several sources: name one of {sources}.", field="source", sources=", ".join(sources)
        )


def choose_tasks(wanted: str, of_users: Sequence[EligibleScenario], seed: int) -> set[str]:
    """The tasks asked for; what is drawn is drawn from those that at least one of the users may do."""
    allowed = [one for one in of_users if not one.masked]
    if wanted.strip().isdigit() or wanted.strip() == ALL:
        return choose_ids(wanted, [one.task for one in allowed], "tasks", seed, TASKS)
    parts = [part.strip() for part in wanted.split(",") if part.strip()]
    found: set[str] = set()
    named = []
    for part in parts:
        kind, _, n = part.partition(" ")
        if kind not in (SINGLE, MULTI):
            named.append(part)
            continue
        of_kind = [one.task for one in allowed if one.is_multi_domain == (kind == MULTI)]
        found |= choose_ids(n.strip() or ALL, of_kind, "tasks", seed, TASKS)
    return found | (
        choose_ids(",".join(named), [one.task for one in of_users], "tasks", seed, TASKS) if named else set()
    )


def choose_ids(wanted: str, known: Sequence[str], field: str, seed: int, stream: int) -> set[str]:
    """Ids by name, by number, or all."""
    there, wanted = sorted(set(known)), wanted.strip()
    if wanted == ALL:
        return set(there)
    if wanted.isdigit():
        try:
            return set(draw_names(there, int(wanted), seed=seed, stream=stream))
        except ValueError as error:
            raise InputError(
                "There are {n_there} to choose from: {error}.", field=field, n_there=len(there), error=error
            ) from error
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names:
        raise InputError("Say which: ids, a number, or all.", field=field)
    if unknown := [name for name in names if name not in there]:
        raise InputError(
            "{unknown!r} is not there, for example {there} are.",
            field=field,
            unknown=unknown[0],
            there=", ".join(there[:3]),
        )
    return set(names)


def check_masks(
    wanted: str, tasks: set[str], pairs: Sequence[EligibleScenario], allowed: Sequence[EligibleScenario]
) -> None:
    """A task that was named and that none of the users may do is said; so is an empty grid."""
    named = {part.strip() for part in wanted.split(",")}
    for task in sorted(tasks & named - {one.task for one in allowed}):
        forbidden = sorted({domain for one in pairs if one.task == task for domain in one.masked})
        if forbidden:
            raise InputError(
                "{task} is about {forbidden}, which none of these users cares for.",
                field="tasks",
                task=task,
                forbidden=", ".join(forbidden),
            )
    if not allowed:
        raise InputError("None of these users has one of these tasks that is not masked.", field="tasks")
