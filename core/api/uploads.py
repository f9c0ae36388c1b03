"""Files that come over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from rest_framework.response import Response

from core.api.problems import problem
from core.files.input_files import MEGABYTE, InputFile


def refuse_too_large(upload: UploadedFile) -> Response | None:
    """The refusal of a file that is larger than this site takes over HTTP."""
    if (upload.size or 0) <= settings.MAX_UPLOAD_BYTES:
        return None
    megabytes = settings.MAX_UPLOAD_BYTES // MEGABYTE
    return problem(413, f"At most {megabytes} MB; the command of the same name takes more.", field="file")


@contextmanager
def save_upload(upload: UploadedFile) -> Iterator[InputFile]:
    """The upload as a file under its own name, gone afterwards."""
    with TemporaryDirectory(prefix="concord-upload-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as stream:
            stream.writelines(upload.chunks())
        yield InputFile(path, upload.name or "the file")
