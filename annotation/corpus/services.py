"""Pictures and sounds of material, stored once under their hash and noted with what shows them; and mappings.

The bytes lie in `settings.ATTACHMENTS`, so that they are neither in the database nor where the web server finds files
by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import Field

from annotation.corpus.models import Attachment, AttachmentUse, Dialogue, ResponsePair, SavedMapping, SourcedModel
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.parsing.media import HEAD, check_type
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.input_files import MEGABYTE
from core.files.writing import write_whole
from core.names import check_line
from core.options.model import Options, check_options

LONGEST_MAPPING = 80


class NewMapping(Options):
    """A mapping under a name, to be used again for files of the same kind."""

    name: str = Field(
        min_length=1,
        max_length=LONGEST_MAPPING,
        title="Name of the mapping",
        description="One of this name in your project is replaced.",
    )


def locate(sha256: str) -> Path:
    """Where the bytes of an attachment lie."""
    return Path(settings.ATTACHMENTS) / sha256[:2] / sha256


def store_attachment(data: bytes, *, kind: str = "", name: str = "", declared: str = "") -> Attachment:
    """The attachment of these bytes; the same bytes are stored once.

    InputError where they are too many, or not what their `name` or the `declared` type says.
    """
    check_attachment_size(len(data))
    try:
        found = check_type(data[:HEAD], name=name, declared=declared, kind=kind)
    except ValueError as error:
        raise InputError("{name} {error}", field="parts", name=name or _("an attachment"), error=error) from error
    sha256 = hashlib.sha256(data).hexdigest()
    write_bytes(data, locate(sha256))
    return Attachment.objects.get_or_create(sha256=sha256, defaults={"type": found, "size": len(data)})[0]


def store_attached_file(path: Path, *, kind: str = "", name: str = "") -> Attachment:
    """The attachment of a file. Its size is looked at before it is read."""
    try:
        check_attachment_size(path.stat().st_size, name)
        with path.open("rb") as file:
            data = file.read(settings.MAX_ATTACHMENT_BYTES + 1)
    except OSError as error:
        raise InputError(
            "{name} cannot be read: {strerror}", field="parts", name=name or path.name, strerror=error.strerror
        ) from error
    return store_attachment(data, kind=kind, name=name or path.name)


def check_attachment_size(size: int, name: str = "") -> None:
    if size > settings.MAX_ATTACHMENT_BYTES:
        most = settings.MAX_ATTACHMENT_BYTES / MEGABYTE
        raise InputError(
            "{name} has {size:,.1f} MB, and an attachment may have {most:,.6g} MB (CONCORD_MAX_ATTACHMENT_MB)",
            field="parts",
            name=name or _("an attachment"),
            size=size / MEGABYTE,
            most=most,
        )


def write_bytes(data: bytes, path: Path) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path) as file:
        file.write(data)


def note_uses(model: type[SourcedModel], source: str, shown: Mapping[str, Iterable[str]]) -> None:
    """Note which attachments, by hash, each record now shows; `shown` is by the records' ids in their source."""
    if not shown or model not in (Dialogue, ResponsePair):
        return
    name = "dialogue" if model is Dialogue else "pair"
    rows = dict(model._default_manager.filter(source=source, external_id__in=shown).values_list("external_id", "pk"))
    AttachmentUse.objects.filter(**{f"{name}__in": rows.values()}).delete()
    wanted = {(rows[record], sha256) for record, all_of in shown.items() for sha256 in all_of}
    keys = dict(Attachment.objects.filter(sha256__in={sha for _, sha in wanted}).values_list("sha256", "pk"))
    AttachmentUse.objects.bulk_create(
        AttachmentUse(attachment_id=keys[sha256], **{f"{name}_id": row}) for row, sha256 in sorted(wanted)
    )


@check_options(NewMapping)
@audited("mapping.save", says=("name",))
def save_mapping(*, by: User | None, name: str, mapping: ColumnMapping, project: Project | None = None) -> SavedMapping:
    """Keep a mapping under a name; one of that name in the project is replaced."""
    check_line(name, field="name")
    saved, _ = SavedMapping.objects.update_or_create(
        project=choose_project(by, project), name=name, defaults={"document": mapping.to_document(), "created_by": by}
    )
    return saved


@audited("mapping.delete", on="mapping", says=("mapping.name",))
def delete_mapping(*, by: User | None, mapping: SavedMapping) -> None:  # noqa: ARG001
    """Delete a saved mapping. What was imported with it stays."""
    SavedMapping.objects.filter(pk=mapping.pk).delete()
