"""The form of a criterion's guideline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.studies.models.guidelines import GuidelineVersion
from annotation.studies.models.studies import Criterion
from annotation.studies.options import Edit
from annotation.studies.services import guidelines
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm


class GuidelineForm(OptionsForm):
    """A new text of a criterion. The scale itself is not here: it stays."""

    places = {"categories": "guideline"}

    def __init__(self, data: Mapping[str, Any] | None = None, *, criterion: Criterion) -> None:
        super().__init__(data, initial={"question": criterion.question, "guideline": criterion.guideline})
        self.add(Edit, "question", "guideline", "reason")
        self.criterion = criterion
        for place, category in enumerate(criterion.categories):
            self.fields[f"category_{place}"] = forms.CharField(
                required=False,
                label=f"When it is {category['label']}",
                initial=category.get("guideline", ""),
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        self.order_fields(["question", "guideline", *self.of_categories, "reason"])

    @property
    def of_categories(self) -> list[str]:
        return [f"category_{place}" for place, _ in enumerate(self.criterion.categories)]

    def save(self, by: User) -> GuidelineVersion | None:
        """The new version, or None if it was refused, with the reason at its field."""
        given = {name: text.replace("\r\n", "\n") for name, text in self.cleaned_data.items()}
        categories = [
            {**category, "guideline": given[name]}
            for name, category in zip(self.of_categories, self.criterion.categories, strict=True)
        ]
        texts = {name: given[name] for name in ("question", "guideline", "reason")}
        try:
            return guidelines.edit(by=by, criterion=self.criterion, categories=categories, **texts)
        except InputError as error:
            self.refuse(error)
            return None
