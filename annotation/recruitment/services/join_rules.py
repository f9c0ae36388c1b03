"""What people come into a study by, set in one go: one act, and all of it or nothing."""

from __future__ import annotations

from annotation.recruitment.queries.participation import find_intake
from annotation.recruitment.services import completions, consents
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited


@audited("intake.set", on="study", says=("is_public",))
def change(
    *,
    by: User | None,
    study: Study,
    is_public: bool | None = None,
    completion_code: str | None = None,
    completion_url: str | None = None,
    consent_text: str | None = None,
) -> None:
    """Set what is given; what is not stays as it is. Who agreed to another text is asked again."""
    if (is_public, completion_code, completion_url) != (None, None, None):
        now = find_intake(study)
        completions.set_intake(
            by=by,
            study=study,
            is_public=now.is_public if is_public is None else is_public,
            completion_code=now.completion_code if completion_code is None else completion_code,
            completion_url=now.completion_url if completion_url is None else completion_url,
        )
    if consent_text is not None:
        consents.set_text(by=by, study=study, text=consent_text)
