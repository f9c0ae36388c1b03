"""Saved mappings, and a mapping by what was given in its place: its file's text or its name."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.corpus.models import SavedMapping
from annotation.corpus.parsing.mappings import ColumnMapping, parse_mapping, read_mapping
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.errors import InputError


def list_mappings(by: User | None) -> QuerySet[SavedMapping]:
    """The mappings of the projects that an account works in; of a command all."""
    rows = SavedMapping.objects.order_by("name", "pk")
    return rows if by is None else filter_visible(by, rows)


def find_mapping(by: User | None, name: str) -> SavedMapping:
    """The mapping saved under that name. InputError, naming those that there are, without one."""
    found = list_mappings(by).filter(name=name).first()
    if found is None:
        known = ", ".join(list_mappings(by).values_list("name", flat=True)[:20]) or "none"
        raise InputError(f"there is no saved mapping {name!r}; there are: {known}", field="mapping")
    return found


def load_mapping(by: User | None, given: str) -> ColumnMapping:
    """The mapping in a text of JSON or TOML, or saved under that name."""
    if "\n" in given or given.lstrip().startswith("{") or "=" in given:
        return read_mapping(given)
    return parse_mapping(find_mapping(by, given.strip()).document)
