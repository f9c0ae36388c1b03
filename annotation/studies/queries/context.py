"""What of the user is shown beside an item: only the parts that the study allows, the relevant first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.corpus.models import Profile, Scenario, Task
from annotation.stats.relevance import rank
from annotation.studies.models.studies import Criterion, Item, Study

PARTS: dict[str, dict[str, str]] = {
    "dialogue": {
        "goal": gettext_noop("Goal"),
        "situation": gettext_noop("Situation"),
        "preferences": gettext_noop("Preferences"),
        "persona": gettext_noop("Persona"),
        "demographics": gettext_noop("Demographics"),
        "interactions": gettext_noop("Past interactions"),
        "memories": gettext_noop("Memories"),
    },
    "pair": {
        "persona": gettext_noop("Persona"),
        "demographics": gettext_noop("Demographics"),
        "preferences": gettext_noop("Preferences"),
        "interactions": gettext_noop("Past interactions"),
        "memories": gettext_noop("Memories"),
    },
}
Row = tuple[str, str]
MOST_RELEVANT = 6
"""Facts that are said to be relevant to a question at most."""


@dataclass(frozen=True)
class Panel:
    """One part of the context: a text, facts as (term, value), or a list; `rest` is what matters less here."""

    key: str
    title: str
    text: str = ""
    rows: tuple[Row, ...] = ()
    rest: tuple[Row, ...] = ()
    entries: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.rows or self.rest or self.entries)

    @property
    def note(self) -> str:
        """How much there is, beside the title of a closed fold."""
        first, rest = len(self.rows) + len(self.entries), len(self.rest)
        if first and rest:
            return gettext("%(n)d of %(total)d") % {"n": first, "total": first + rest}
        n = first + rest
        return ngettext("%(n)d fact", "%(n)d facts", n) % {"n": n} if n else ""


@dataclass(frozen=True)
class Subject:
    """Who and what an item is about; either part may be unknown. `provenance` is how the situation was made."""

    profile: Profile | None
    task: Task | None
    situation: dict[str, object]
    provenance: dict[str, object] = field(default_factory=dict)


def panels(item: Item, shown: list[str]) -> list[Panel]:
    """The parts named in `shown`, in the order of PARTS, without those that hold nothing.

    Before those of a pair comes what of their facts is relevant to its question.
    """
    found = build_panels(find_subject(item), kind="dialogue" if item.dialogue else "pair", shown=shown)
    return [*relevant_facts(item.pair.question, found), *found] if item.pair else found


def relevant_facts(question: str, found: Sequence[Panel]) -> list[Panel]:
    """A panel of the facts of other panels that share words with a question, best first; none where none does."""
    rows = [row for panel in found for row in (*panel.rows, *panel.rest)]
    rows += [(panel.title, entry) for panel in found for entry in panel.entries]
    best = rank(question, [f"{term} {value}" for term, value in rows])[:MOST_RELEVANT]
    title = gettext_noop("Relevant to the question")
    return [Panel("relevant", title, rows=tuple(rows[place] for place in best), is_open=True)] if best else []


def build_panels(subject: Subject, *, kind: str = "dialogue", shown: Collection[str] | None = None) -> list[Panel]:
    """The parts of what is known of a subject; all of them unless `shown` names some."""
    parts = PARTS[kind]
    built = (BUILDERS[key](subject, key, title) for key, title in parts.items() if shown is None or key in shown)
    return [panel for panel in built if not panel.is_empty]


def find_subject(item: Item) -> Subject:
    """What annotators may be shown; how a situation was made is not among it."""
    if item.pair:
        return Subject(item.pair.profile, None, {})
    return replace(subject_of_scenario(item.dialogue.scenario if item.dialogue else None), provenance={})


def subject_of_scenario(scenario: Scenario | None) -> Subject:
    """All that is known, for researchers."""
    if scenario is None:
        return Subject(None, None, {})
    return Subject(scenario.profile, scenario.task, scenario.variables, scenario.provenance)


def goal(subject: Subject, key: str, title: str) -> Panel:
    task = subject.task
    text = (task.goal or task.intent or task.description) if task else ""
    return Panel(key, title, text=text, is_open=True)


def situation(subject: Subject, key: str, title: str) -> Panel:
    """What it says; behind it why each variable fits and who made it."""
    return Panel(key, title, rows=tuple(facts(subject.situation)), rest=tuple(facts(subject.provenance)), is_open=True)


def persona(subject: Subject, key: str, title: str) -> Panel:
    return Panel(key, title, text=subject.profile.persona if subject.profile else "", is_open=True)


def demographics(subject: Subject, key: str, title: str) -> Panel:
    return Panel(key, title, rows=tuple(facts(subject.profile.demographics)) if subject.profile else ())


def preferences(subject: Subject, key: str, title: str) -> Panel:
    """For a task: what its domains and preference types name, and the rest behind it. Otherwise all."""
    if subject.profile is None:
        return Panel(key, title)
    if subject.task is None:
        return Panel(key, title, rows=tuple(facts(subject.profile.preferences)), is_open=True)
    here, rest = split(subject.profile.preferences, subject.task.domains)
    types = set(subject.task.preference_types)
    first = {domain: select_named_types(found, types) for domain, found in here.items()}
    later = {domain: select_other_types(found, types) for domain, found in here.items()}
    rows, less = tuple(facts(first)), (*facts(later), *facts(rest))
    return Panel(key, title, rows=rows, rest=less, is_open=bool(rows))


def interactions(subject: Subject, key: str, title: str) -> Panel:
    if subject.profile is None:
        return Panel(key, title)
    domains = subject.task.domains if subject.task else []
    here, rest = split(subject.profile.interactions, domains)
    return Panel(key, title, rows=tuple(facts(here)), rest=tuple(facts(rest)))


def memories(subject: Subject, key: str, title: str) -> Panel:
    found = subject.profile.memories if subject.profile else []
    return Panel(key, title, entries=tuple(one if isinstance(one, str) else inline(one) for one in found))


BUILDERS: dict[str, Callable[[Subject, str, str], Panel]] = {
    "goal": goal,
    "situation": situation,
    "persona": persona,
    "demographics": demographics,
    "preferences": preferences,
    "interactions": interactions,
    "memories": memories,
}


def split(by_domain: dict[str, object], domains: list[str]) -> tuple[dict[str, object], dict[str, object]]:
    """The entries of these domains, and the others."""
    here = {domain: by_domain[domain] for domain in domains if domain in by_domain}
    return here, {domain: found for domain, found in by_domain.items() if domain not in here}


def select_named_types(found: object, types: set[str]) -> object:
    """The preference types that the task names; all of them if it names none of these."""
    named = {name: value for name, value in found.items() if name in types} if isinstance(found, dict) else {}
    return named or found


def select_other_types(found: object, types: set[str]) -> dict[str, object]:
    if not isinstance(found, dict) or not types & found.keys():
        return {}
    return {name: value for name, value in found.items() if name not in types}


def facts(value: object, path: tuple[str, ...] = ()) -> Iterator[Row]:
    """Nested data as (term, value): `Hotels · Room type`, `double, quiet`. What is empty is left out."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from facts(part, (*path, readable(str(key))))
    elif (text := inline(value)) != "":
        yield " · ".join(path), text


def inline(value: object) -> str:
    """One value as text on a line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(filter(None, map(inline, value)))
    if isinstance(value, dict):
        return "; ".join(f"{term}: {text}" for term, text in facts(value))
    return str(value)


def readable(key: str) -> str:
    """`time_of_day` as `Time of day`."""
    text = key.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


OF_A_PERSON = ("persona", "demographics", "preferences", "interactions", "memories")
"""Parts of the context that say who the person is."""

ASKS = re.compile(r"\b(?:this|the) (?:person|persona)\b|\bfor (?:them|the user)\b|\bprofile\b", re.IGNORECASE)


def find_missing_context(study: Study) -> list[str]:
    """What is missing, in sentences; empty where nothing is. At most three queries."""
    names = [criterion.name for criterion in study.asked if asks_of_person(criterion)]
    if not names:
        return []
    asked = ", ".join(names)
    if not set(study.shown) & set(OF_A_PERSON):
        says = ngettext(
            "{criteria} asks about a person, and annotators are shown nothing of one: "
            "no part of the persona is chosen.",
            "{criteria} ask about a person, and annotators are shown nothing of one: no part of the persona is chosen.",
            len(names),
        )
        return [says.format(criteria=asked)]
    n, without = study.items.count(), study.items.filter(**{PROFILE[Study.Kind(study.kind)]: None}).count()
    says = ngettext(
        "{criteria} asks about a person, and {without:,} of {n:,} items have none.",
        "{criteria} ask about a person, and {without:,} of {n:,} items have none.",
        len(names),
    )
    return [says.format(criteria=asked, without=without, n=n)] if without else []


PROFILE = {Study.Kind.DIALOGUE: "dialogue__scenario__profile", Study.Kind.PAIR: "pair__profile"}


def asks_of_person(criterion: Criterion) -> bool:
    """Whether the question or its guideline speaks of a person whom the item is for."""
    return bool(ASKS.search(f"{criterion.question}\n{criterion.guideline}"))
