"""Mappings that are kept under a name."""

from __future__ import annotations

from annotation.corpus.models import SavedMapping
from annotation.corpus.options import NewMapping
from annotation.corpus.parsing.mappings import ColumnMapping
from core.accounts.models.projects import choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.names import check_line
from core.options.model import check_options


@check_options(NewMapping)
@audited("mapping.save", says=("name",))
def save_mapping(*, by: User | None, name: str, mapping: ColumnMapping) -> SavedMapping:
    """Keep a mapping under a name; one of that name in the project is replaced."""
    check_line(name, field="name")
    saved, _ = SavedMapping.objects.update_or_create(
        project=choose_project(by), name=name, defaults={"document": mapping.to_document(), "created_by": by}
    )
    return saved


@audited("mapping.delete", on="mapping", says=("mapping.name",))
def delete_mapping(*, by: User | None, mapping: SavedMapping) -> None:  # noqa: ARG001
    """Delete a saved mapping. What was imported with it stays."""
    SavedMapping.objects.filter(pk=mapping.pk).delete()
