"""People's labels from a table, into a study that is there or made for them."""

from __future__ import annotations

import pytest

from annotation.studies.imports import ratings
from annotation.studies.imports.ratings import match_scale
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.factories import CriterionFactory, DialogueFactory, ItemFactory, ResponsePairFactory, StudyFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def load(tmp_path):
    def write_and_load(text: str, study: str = "Pilot", **options) -> dict:
        path = tmp_path / "r.csv"
        path.write_text(text, encoding="utf-8")
        file = InputFile.from_path(path, "r.csv")
        return ratings.load(by=None, file=file, study=study, **options).to_document()

    return write_and_load


def labels(study: str = "Pilot") -> set[tuple[str, str, str, str]]:
    rows = Annotation.objects.filter(assignment__study__name=study).select_related("assignment", "criterion")
    return {
        (row.assignment.item.external_id, str(row.assignment.annotator), row.criterion.key, row.value) for row in rows
    }


TWO = "item,rater,criterion,value\na,ann,personalization,3\na,bea,personalization,4\nb,ann,personalization,1\n"


def test_a_new_study_is_made_of_what_the_table_names(load):
    DialogueFactory(external_id="b")
    DialogueFactory(external_id="a")
    document = load(TWO + "a,ann,task_completion,Yes\n")
    assert document["study"] == "Pilot"
    assert document["created"] == {"annotators": 2, "annotations": 4}
    study = Study.objects.get(name="Pilot")
    assert (study.kind, study.state, study.overlap) == ("dialogue", "closed", 2)
    assert [item.external_id for item in study.items.all()] == ["a", "b"]
    assert [criterion.key for criterion in study.criteria.all()] == ["personalization", "task_completion"]
    assert study.samples.get().method == "all"
    assert {item.inclusion_probability for item in study.items.all()} == {1.0}
    assert labels() == {
        ("a", "ann", "personalization", "3"),
        ("a", "bea", "personalization", "4"),
        ("b", "ann", "personalization", "1"),
        ("a", "ann", "task_completion", "yes"),
    }


def test_raters_are_accounts_that_cannot_sign_in(load):
    DialogueFactory(external_id="a")
    DialogueFactory(external_id="b")
    load(TWO)
    ann = User.objects.get(username="ann@pilot")
    assert (ann.kind, ann.display_name, ann.has_usable_password()) == ("imported", "ann", False)
    assert Study.objects.get().annotators.count() == 2


def test_a_second_import_changes_nothing_and_a_changed_label_is_updated(load):
    DialogueFactory(external_id="a")
    DialogueFactory(external_id="b")
    load(TWO)
    again = load(TWO)
    assert again["unchanged"] == {"annotators": 2, "annotations": 3}
    assert not any(again["created"].values())
    assert load(TWO.replace("bea,personalization,4", "bea,personalization,2"))["updated"]["annotations"] == 1
    assert ("a", "bea", "personalization", "2") in labels()
    assert Assignment.objects.count() == 3


class TestAStudyThatIsThere:
    @pytest.fixture
    def study(self, db) -> Study:
        study = StudyFactory(name="Pilot", slug="pilot", overlap=1)
        CriterionFactory(study=study, key="quality")
        ItemFactory(study=study, dialogue=DialogueFactory(external_id="a", source="x"))
        return study

    def test_an_open_slot_is_filled_and_further_ones_are_added(self, load, study):
        Assignment.objects.create(study=study, item=study.items.get(), slot=1, rank=1)
        load("item,rater,value\na,ann,2\na,bea,3\n")
        slots = Assignment.objects.order_by("slot").values_list("slot", "annotator__display_name", "state")
        assert list(slots) == [(1, "ann", "submitted"), (2, "bea", "submitted")]
        study.refresh_from_db()
        assert study.overlap == 2

    def test_the_only_criterion_need_not_be_named(self, load, study):
        load("item,rater,value\nx:a,ann,2\n")
        assert labels() == {("a", "ann", "quality", "2")}

    def test_several_criteria_must_be(self, load, study):
        CriterionFactory(study=study, key="warmth")
        with pytest.raises(InputError, match="field criterion: name the criterion; there are: quality, warmth"):
            load("item,rater,value\na,ann,2\n")

    def test_a_missing_value_is_no_label_and_a_reason_is_one(self, load, study):
        load("item,rater,value,reason\na,ann,,\na,bea,,cannot judge\n")
        annotation = Annotation.objects.get()
        assert (annotation.value, annotation.unscored_reason) == ("", "cannot judge")

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("a,ann,quality,7", "r.csv, line 2, field value: '7' is not on the scale of"),
            ("z,ann,quality,1", "r.csv, line 2, field item: there is no item 'z' in Pilot"),
            ("a,ann,warmth,1", "r.csv, line 2, field criterion: Pilot has no criterion 'warmth'"),
        ],
    )
    def test_what_does_not_fit_is_named_and_nothing_kept(self, load, study, row, message):
        with pytest.raises(InputError) as caught:
            load(f"item,rater,criterion,value\n{row}\na,bea,quality,1\n")
        assert str(caught.value).startswith(message)
        assert not Annotation.objects.exists()
        assert not User.objects.filter(kind="imported").exists()

    def test_skip_keeps_the_rest(self, load, study):
        document = load("item,rater,value\na,ann,9\na,bea,1\n", on_error="skip")
        assert document["created"]["annotations"] == 1
        assert document["skipped"][0]["line"] == 2

    def test_an_id_of_two_sources_must_name_its_source(self, load, study):
        ItemFactory(study=study, dialogue=DialogueFactory(external_id="a", source="y"))
        with pytest.raises(InputError, match="several items of Pilot have this id; write source:id"):
            load("item,rater,value\na,ann,2\n")
        load("item,rater,value\ny:a,ann,2\n")

    def test_a_person_of_that_name_is_never_spoken_for(self, load, study):
        User.objects.create(username="ann@pilot")
        with pytest.raises(InputError, match="is not one of an imported annotator"):
            load("item,rater,value\na,ann,2\n")

    def test_a_name_that_is_too_long_for_an_account(self, load, study):
        study.slug = "s" * 100
        study.save()
        with pytest.raises(InputError, match="field rater: the name"):
            load(f"item,rater,value\na,{'x' * 60},2\n")


class TestPairs:
    def test_the_tie_is_on_the_scale_where_it_was_used(self, load):
        ResponsePairFactory(external_id="a")
        load("item,rater,criterion,value,order\na,ann,preference,tie,BA\na,bea,preference,1,\n")
        assert Study.objects.get().criteria.get().values == ["1", "2", "tie"]
        assert dict(Assignment.objects.values_list("annotator__display_name", "order")) == {"ann": "BA", "bea": ""}

    def test_and_not_where_it_was_not(self, load):
        ResponsePairFactory(external_id="a")
        load("item,rater,criterion,value\na,ann,preference,2\n")
        assert Study.objects.get().criteria.get().values == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,rater,value\na,ann,1", "field criterion: a new study needs this column; templates are: task_completion"),
        ("item,rater,criterion,value\na,ann,warmth,1", "field criterion: there is no template 'warmth'"),
        ("item,rater,criterion,value\na,ann,preference,1", "there is no template 'preference' for items of this kind"),
        ("item,rater,criterion,value\nz,ann,personalization,1", "neither a dialogue nor a pair has the id 'z'"),
        (TWO, "line 4, field item: there is no dialogue 'b'"),
        ("item,rater,criterion,value\na,ann,personalization,9", "field value: '9' is not on the scale"),
    ],
)
def test_a_study_that_cannot_be_made_says_why(load, text, message):
    DialogueFactory(external_id="a")
    with pytest.raises(InputError) as caught:
        load(text)
    assert message in str(caught.value)
    assert not Study.objects.exists()


def test_columns_that_are_not_read_are_told(load):
    DialogueFactory(external_id="a")
    document = load("item,rater,criterion,value,mood\na,ann,personalization,1,good\n")
    assert document["warnings"] == ["columns that were not read: mood"]


class TestOnScale:
    def test_value_label_and_equal_number(self):
        criterion = Criterion(
            categories=[
                {"value": "1", "label": "Poor", "guideline": ""},
                {"value": "2", "label": "Good", "guideline": ""},
            ]
        )
        assert [match_scale(criterion, given) for given in ("1", "good", "2.0")] == ["1", "2", "2"]
        with pytest.raises(InputError):
            match_scale(criterion, "1.5")

    def test_without_categories_any_finite_number(self):
        criterion = Criterion(categories=[], level="ratio")
        assert match_scale(criterion, "3.25") == "3.25"
        for given in ("nan", "inf", "much"):
            with pytest.raises(InputError, match="any number"):
                match_scale(criterion, given)


@pytest.mark.any_database
def test_many_labels_take_few_queries(load, django_assert_max_num_queries):
    for name in range(100):
        DialogueFactory(external_id=f"d{name}")
    rows = [f"d{item},rater{rater},personalization,{rater % 4 + 1}" for item in range(100) for rater in range(10)]
    with django_assert_max_num_queries(68):
        document = load("item,rater,criterion,value\n" + "\n".join(rows))
    assert document["created"] == {"annotators": 10, "annotations": 1000}
