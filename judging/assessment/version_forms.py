"""The form that makes the next version of a judge from a study: examples, and the words of the prompt."""

from __future__ import annotations

from typing import Any

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.options.fields import OptionsForm
from judging.assessment.options import NewVersion
from judging.assessment.services import improvement
from judging.judges.models.judges import Judge
from judging.judges.prompts import templates


class VersionForm(OptionsForm):
    """Examples drawn from the development part, and a prompt."""

    verb, asks = NewVersion, ("examples", "criteria", "seed", "template")

    def __init__(self, *args: Any, study: Study, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        keys = [(criterion.key, criterion.name) for criterion in study.criteria.filter(unit=Criterion.Unit.ITEM)]
        self.set("criteria", choices=keys, initial=[key for key, _ in keys], help_text="")
        self.set("template", initial=judge.parameters.get("template", ""))
        self.set("examples", initial=self._shown(), required=True)

    def _shown(self) -> int:
        """How many examples of a criterion the judge shows now."""
        there = [one["criterion"] for one in self.judge.parameters.get("examples", ())]
        return max((there.count(key) for key in set(there)), default=0)

    @property
    def own_template(self) -> str:
        """Concord's own words for a criterion without a prompt of its own, to begin from."""
        return templates.template(self.study.kind, templates.FALLBACK)

    def save(self, by: User) -> Judge | None:
        """The new version; the judge itself where nothing changes; None if something is wrong, said at its field."""
        given = self.arguments("criteria", "seed", n="examples")
        template = self.cleaned_data["template"].replace("\r\n", "\n")
        return self.done(
            lambda: improvement.new_version(by=by, judge=self.judge, study=self.study, template=template, **given)
        )
