"""What the corpus holds, for the pages that show it; and mappings by name."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, Model, Q, QuerySet
from django.utils.translation import gettext as _, gettext_noop

from annotation.corpus.models import Dialogue, Profile, ResponsePair, SavedMapping, Scenario, Task
from annotation.corpus.parsing.mappings import ColumnMapping, parse_mapping, read_mapping
from core import row_counts
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.errors import InputError

PAGE = 50


@dataclass(frozen=True)
class DatasetKind:
    """One kind of record: how it is called, and the fields that a search looks at."""

    key: str
    name: str
    model: type[Model]
    source: str
    searched: tuple[str, ...]
    related: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name in the language of the page."""
        return _(self.name)


KINDS: dict[str, DatasetKind] = {
    kind.key: kind
    for kind in (
        DatasetKind("profiles", gettext_noop("Profiles"), Profile, "source", ("external_id", "name")),
        DatasetKind("tasks", gettext_noop("Tasks"), Task, "source", ("external_id", "description")),
        DatasetKind(
            "scenarios",
            gettext_noop("Scenarios"),
            Scenario,
            "profile__source",
            ("profile__external_id", "task__external_id"),
            ("profile", "task"),
        ),
        DatasetKind(
            "dialogues",
            gettext_noop("Dialogues"),
            Dialogue,
            "source",
            ("external_id", "assistant_model", "scenario__profile__external_id", "scenario__task__external_id"),
            ("scenario__profile", "scenario__task"),
        ),
        DatasetKind(
            "pairs", gettext_noop("Response pairs"), ResponsePair, "source", ("external_id", "question"), ("profile",)
        ),
    )
}


@dataclass(frozen=True)
class Stock:
    """How many records of one kind there are, by source."""

    kind: DatasetKind
    by_source: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.by_source.values())


def stocks() -> list[Stock]:
    """Counts of every kind by source: one query a kind."""
    return [Stock(kind, count_by_source(kind)) for kind in KINDS.values()]


def count_by_source(kind: DatasetKind) -> dict[str, int]:
    return row_counts.count_cached(("stock", kind.key), lambda: count_records(kind), lambda found: sum(found.values()))


def count_records(kind: DatasetKind) -> dict[str, int]:
    rows = kind.model._default_manager.values_list(kind.source).annotate(n=Count("pk")).order_by(kind.source)
    return {source or "": n for source, n in rows}


def list_records(kind: DatasetKind, *, search: str, source: str, page: str) -> Page[object]:
    """One page of the records of a kind, newest last; `search` is a part of an id or name."""
    found = filter_records(kind, search, source).order_by("pk")
    shown = Paginator(found.values_list("pk", flat=True), PAGE).get_page(page)  # no texts of what comes before
    rows = kind.model._default_manager.filter(pk__in=list(shown)).select_related(*kind.related).order_by("pk")
    shown.object_list = list(rows)
    return shown


def filter_records(kind: DatasetKind, search: str, source: str) -> QuerySet[Model]:
    found = kind.model._default_manager.all()
    if source:
        found = found.filter(**{kind.source: source})
    if search:
        anywhere = Q()
        for field in kind.searched:
            anywhere |= Q(**{f"{field}__icontains": search})
        found = found.filter(anywhere)
    return found


def list_mappings(by: User | None) -> QuerySet[SavedMapping]:
    """The mappings of the projects that an account works in; of a command all."""
    rows = SavedMapping.objects.order_by("name", "pk")
    return rows if by is None else filter_visible(by, rows)


def find_mapping(by: User | None, name: str, project: Project | None = None) -> SavedMapping:
    """The mapping saved under that name (in the project). InputError, naming those that there are, without one."""
    there = list_mappings(by) if project is None else list_mappings(by).filter(project=project)
    found = there.filter(name=name).first()
    if found is None:
        known = ", ".join(there.values_list("name", flat=True)[:20]) or "none"
        raise InputError(
            "there is no saved mapping {name!r}; there are: {known}", field="mapping", name=name, known=known
        )
    return found


def load_mapping(by: User | None, given: str, project: Project | None = None) -> ColumnMapping:
    """The mapping in a text of JSON or TOML, or saved under that name."""
    if "\n" in given or given.lstrip().startswith("{") or "=" in given:
        return read_mapping(given)
    return parse_mapping(find_mapping(by, given.strip(), project).document)
