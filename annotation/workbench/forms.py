"""The form of the rating page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.answer_formats import build_format
from annotation.studies.queries.asks import (
    SUFFIXES,
    Ask,
    AskCondition,
    asks,
    build_shown_criterion,
    group_by_kind,
    is_preference,
    to_condition,
)
from annotation.studies.queries.given_answers import check_each
from annotation.workbench.controls import Controls, build_controls, fill_from_controls
from annotation.workbench.services import annotations, highlights
from core.errors import InputError


@dataclass(frozen=True)
class RatingRow:
    """One thing that the rating page asks, with the answer so far. `turn` is 0 but for turns of a dialogue.

    `condition` is what it waits for: the name of another input, and its values.
    """

    criterion: Mapping[str, object]
    field: str
    turn: int
    response: str
    controls: Controls
    condition: AskCondition | None
    value: str
    reason: str
    note: str
    evidence: str
    error: str

    @property
    def side(self) -> str:
        """Return the side chosen of a pair, without the strength."""
        return self.value.partition(":")[0]


class RatingForm(forms.Form):
    """The answers to all that is asked of an item: a value, or the reason why there is none, and a note for each.

    `draft` is what of it was kept before, if it was filled from there.
    """

    draft: Draft | None = None

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        slot: Assignment,
        criteria: Sequence[Criterion],
        entered: Mapping[str, str],
    ) -> None:
        self.slot, self.asks = slot, asks(slot, criteria)
        self.formats = {ask.name: build_format(slot, ask) for ask in self.asks}
        super().__init__(fill_from_controls(data, self.formats) if data else data, initial=dict(entered))
        for ask in self.asks:
            self.fields[ask.name] = forms.CharField(required=False, strip=False)
            for suffix in filter(None, SUFFIXES.values()):
                self.fields[f"{ask.name}{suffix}"] = forms.CharField(required=False)
        self.fields["active"] = forms.FloatField(required=False, min_value=0)

    def clean(self) -> dict[str, object]:
        """Let the service check each answer, so that all that is wrong is said at once. A reason replaces a value."""
        for ask in self.asks:
            if self.cleaned_data.get(f"{ask.name}-unscored"):
                self.cleaned_data[ask.name] = ""
        given = self.given = group_by_kind(self.asks, self.cleaned_data)
        answers, wrong = check_each(self.slot, self.asks, given["values"], given["unscored"], given["notes"])
        for ask in self.asks:
            if ask.name in answers:
                try:
                    annotations.check_version(ask, given["versions"].get(ask.name, ""))
                    highlights.check_marks(self.slot, given["evidence"].get(ask.name, ""), ask.name)
                except InputError as error:
                    wrong.append(error)
        for refused in wrong:
            self.add_error(refused.field, refused.message)
        return self.cleaned_data

    def build_entered(self) -> dict[str, str]:
        """What is in the inputs, right or wrong, to be kept as it is."""
        names = [name for name in self.fields if name != "active"]
        return {name: text for name in names if (text := self.data.get(name, ""))}

    def rows(self) -> list[RatingRow]:
        shown = {ask.criterion.pk: build_shown_criterion(self.slot, ask.criterion) for ask in self.asks}
        return [
            RatingRow(
                criterion=shown[ask.criterion.pk],
                field=ask.name,
                turn=0 if ask.side else ask.turn,
                response=ask.side,
                controls=self.build_controls(ask),
                condition=to_condition(self.slot, ask),
                value=self[ask.name].value() or "",
                reason=self[f"{ask.name}-unscored"].value() or "",
                note=self[f"{ask.name}-note"].value() or "",
                evidence=self[f"{ask.name}-evidence"].value() or "",
                error=self.errors_of(ask),
            )
            for ask in self.asks
        ]

    def build_controls(self, ask: Ask) -> Controls:
        """What stands in place of keys where the criterion is not a choice."""
        if is_preference(self.slot.study, ask.criterion):
            return {}
        return build_controls(self.formats[ask.name], self[ask.name].value() or "", self.data, ask.title, ask.name)

    def errors_of(self, ask: Ask) -> str:
        names = [f"{ask.name}{suffix}" for suffix in SUFFIXES.values()]
        return " ".join(str(error) for name in names for error in self[name].errors)
