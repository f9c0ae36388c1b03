"""`restore_study`: a study's archive into a site that may have other studies."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from config.archives import reading
from config.archives.reading import RestoredManifest
from config.erasure import again
from core.accounts.models.projects import Project


class RestoreStudyDocument(RestoredManifest):
    path: str


class Command(ConcordCommand[RestoreStudyDocument]):
    makes_roots = True
    help = "Add the study of an archive to this site. Accounts, material and judges that are here already are used."
    example = "restore_study my-study.zip"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def run(self, *, file: Path, project: Project | None, **_: object) -> RestoreStudyDocument:
        return {"path": str(file), **reading.restore(by=None, path=file, project=project)}

    def write_text(self, document: RestoreStudyDocument) -> None:
        created, known = (sum(one[name] for one in document["rows"].values()) for name in ("created", "unchanged"))
        self.stdout.write(f"{document['study']}: {created:,} rows are new, {known:,} were here already")
        if any((attached := document["attachments"]).values()):
            lost = f"; {attached['lost']:,} missing from the archive" if attached["lost"] else ""
            self.stdout.write(f"{attached['stored']:,} attachment{'' if attached['stored'] == 1 else 's'}{lost}")
        self.stdout.write(again.sentence(document["withdrawn_again"]))
