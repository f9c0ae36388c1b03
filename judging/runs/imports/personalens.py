"""PersonaLens with what its generator and its judges wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from annotation.corpus.imports import personalens
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome, explain_refusal


@audited("material.import", says=("folder", "output", "on_error"))
def load(
    *,
    by: User | None,
    folder: Path,
    users: set[int] | None = None,
    output: Path | None = None,
    on_error: OnError = "stop",
    progress: Callable[[int, int], None] | None = None,
    project: Project | None = None,
) -> Outcome:
    """Import profiles, tasks and scenarios; with `output`, dialogues and judges' replies too.

    All or nothing, unless bad records are skipped. InputError names file, line and field.
    """
    problems, root = Problems(on_error), InputFile.from_path(folder)
    with explain_refusal(root), transaction.atomic():
        outcome = personalens.load(root=root, users=users, problems=problems, progress=progress)
        if output is not None:
            # Imported here: studies bring numpy with them, which would take as long as a good part of the import.
            from judging.runs.imports import personalens_output

            personalens_output.load(
                by=by, folder=output, users=users, problems=problems, outcome=outcome, project=project
            )
    outcome.set_aside(problems, beside=folder)
    return outcome
