"""What alice sees of agreement in detail, a tab of the results."""

import json
import re

import pytest
from django.urls import reverse

from annotation.studies.models.labels import AgreementRun
from core.accounts.models.users import User
from judging.judges.models import Judge
from tests.support.factories import CriterionFactory, ResearcherFactory, StudyFactory, UserFactory
from tests.support.labelled import judge_says, pandalm_study, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

RIGHT_FOR_ALL = ["1", "2", "tie", "1", "2", "tie"]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def criterion():
    study = with_items(6, kind="pair", name="Suits", slug="suits")
    criterion = CriterionFactory(study=study, key="preference", name="Preference", preference=True)
    people_say(criterion, {"bob": RIGHT_FOR_ALL, "dana": RIGHT_FOR_ALL, "erin": [*RIGHT_FOR_ALL[:5], "1"]})
    judge_says(criterion, "gpt", ["1", "1", "tie", "1", "2", ""], order="AB")
    judge_says(criterion, "longer", ["1"] * 6, provider="baseline", order="AB")
    return criterion


def page(client, slug="suits"):
    return client.get(reverse("agreement", args=[slug]))


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_the_page_begins_in_words_and_says_how_it_was_computed(criterion, alice):
    response = page(alice)
    text = text_of(response)
    assert "Three people agree almost perfectly on Preference" in text
    assert text.index("Inter-annotator agreement of three people is") < text.index("Groups of items")
    assert "the baseline judge longer" in text
    run = AgreementRun.objects.get()
    assert run.created_by.username == "alice"
    assert (run.code_version in text, "2,000" in text) == (True, True)


def test_the_second_look_computes_nothing(criterion, alice, monkeypatch):
    page(alice)
    monkeypatch.setattr("judging.assessment.services.agreement._computed", lambda *_: pytest.fail("computed again"))
    assert page(alice).status_code == 200


@pytest.mark.long
def test_every_count_of_the_confusion_matrix_opens_those_items(criterion, alice):
    html = page(alice).content.decode()
    cells = re.findall(r'<td class="numeric heat[^"]*">\s*<a href="([^"]+)">(\d+)</a>', html)
    assert len(cells) == 2 * (3 * 4 + 3)  # per judge: three values by three majorities and no majority, then unscored
    for address, n in cells:
        listed = alice.get(address.replace("&amp;", "&")).context["page"].paginator.count
        assert listed == int(n), address
    assert {int(n) for _, n in cells} >= {0, 1, 2}


@pytest.mark.long
def test_the_counts_of_the_majority_open_those_items(criterion, alice):
    found = page(alice).context["sections"][0]["majority"]
    assert [(value["label"], value["n"]) for value in found][:3] == [("Response 1", 2), ("Response 2", 2), ("Tie", 2)]
    for value in found:
        assert alice.get(value["href"]).context["page"].paginator.count == value["n"]


@pytest.mark.long
def test_simulated_annotators_and_baseline_judges_carry_their_badges(criterion, alice):
    User.objects.filter(username="dana").update(kind="simulated")
    html = alice.get(reverse("results", args=["suits"])).content.decode()
    assert re.search(r'badge--simulated"[^>]*>\s*dana · simulated annotator', html)
    assert re.search(r'badge--baseline"[^>]*>\s*baseline judge', html)
    assert "Simulated, not people: dana." in html


@pytest.mark.each_database
def test_names_from_outside_are_escaped_everywhere(criterion, alice):
    User.objects.filter(username="bob").update(display_name="<script>alert(1)</script>")
    criterion.name = "<img src=x onerror=alert(1)>"
    criterion.save()
    judge_says(criterion, "<script>alert(2)</script>", RIGHT_FOR_ALL)
    html = page(alice).content.decode()
    assert "<script>alert" not in html
    assert "<img src=x" not in html


@pytest.mark.long
def test_the_same_number_of_queries_for_any_number_of_criteria(criterion, alice, django_assert_num_queries):
    page(alice)
    with django_assert_num_queries(32):
        page(alice)
    for key in ("a", "b"):
        more = CriterionFactory(study=criterion.study, key=key)
        people_say(more, {"bob": list("123412"), "dana": list("123412")})
        judge_says(more, f"judge-{key}", list("123412"))
    page(alice)
    with django_assert_num_queries(32):
        page(alice)


@pytest.mark.long
def test_several_criteria_have_a_sentence_each_and_one_over_all(criterion, alice):
    more = CriterionFactory(study=criterion.study, key="depth", name="Depth")
    people_say(more, {"bob": list("123412"), "dana": list("123421")})
    assert "agreement of three people" in text_of(alice.get(reverse("results", args=["suits"])))
    text = text_of(page(alice))
    assert "Three people agree" in text
    assert "Two people agree" in text


def test_a_study_without_labels_says_what_to_do(alice):
    StudyFactory(slug="empty")
    text = text_of(page(alice, "empty"))
    assert "No labels yet" in text
    assert "import existing ratings" in text
    assert not AgreementRun.objects.exists()


def test_downloads(criterion, alice):
    found = json.loads(alice.get(reverse("agreement_download", args=["suits", "json"])).content)
    assert found["criterion"] == "preference"
    table = alice.get(reverse("agreement_download", args=["suits", "csv"])).content.decode().splitlines()
    assert table[0].startswith("criterion,group,a,b,figure,value,low,high,reason,n_items")
    assert any(line.startswith("preference,judge and person,gpt,bob,per_annotator,") for line in table)
    svg = alice.get(reverse("agreement_download", args=["suits", "svg"]))
    assert svg["Content-Type"].startswith("image/svg+xml")
    assert svg["Content-Disposition"] == 'attachment; filename="suits-agreement.svg"'
    assert alice.get(reverse("agreement_download", args=["suits", "xlsx"])).status_code == 404


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("agreement", []),
        ("agreement_download", ["csv"]),
        ("tiers", []),
        ("tiers_download", ["csv"]),
        ("item_list", []),
        ("item_detail", [1]),
        ("export", ["csv"]),
    ],
)
def test_charlie_sees_nothing(criterion, client, name, more):
    address = reverse(name, args=["suits", *more])
    assert client.get(address).status_code == 302
    client.force_login(UserFactory(username="charlie"))
    assert client.get(address).status_code == 403


@pytest.mark.long
def test_pandalm_on_the_page(shared_data, alice):
    pandalm_study(shared_data / "pandalm")
    text = text_of(page(alice, "pandalm"))
    assert "Three people agree almost perfectly" in text
    assert "974 items scored, 25 replies without a usable verdict" in text
    for figure in ("0.852", "0.879", "0.862", "0.864", "Response 1 422", "Response 2 472", "Tie 105"):
        assert figure in text


@pytest.mark.long
def test_the_page_says_whether_the_judge_may_stand_in(criterion, alice):
    pk = Judge.objects.get(name="gpt").pk
    text = text_of(alice.get(reverse("criterion_verdict", args=["suits", pk, "preference"])))
    assert "Can it replace an annotator?" in text
    assert "The judge does not pass the alternative-annotator test at ε = 0.15" in text
    assert "Winning rate by ε: 0.0: 0.00" in text


def test_one_annotator_leaves_nobody_to_compare_with(alice):
    study = with_items(6, kind="pair", name="Alone", slug="alone")
    alone = CriterionFactory(study=study, key="preference", name="Preference", preference=True)
    people_say(alone, {"bob": RIGHT_FOR_ALL})
    judge_says(alone, "gpt", RIGHT_FOR_ALL, order="AB")
    pk = Judge.objects.get(name="gpt").pk
    text = text_of(alice.get(reverse("criterion_verdict", args=["alone", pk, "preference"])))
    assert "it needs two annotators on the same items" in text


@pytest.mark.long
def test_groups_of_items_are_asked_by_address_and_kept_in_the_downloads(criterion, alice):
    url = reverse("agreement", args=["suits"])
    text = text_of(alice.get(url, {"by": "tier", "cluster": "none"}))
    assert "Groups of items on Preference" in text
    assert "Intervals treat items as independent." in text
    assert "gpt − longer" in text
    html = alice.get(url, {"by": "tier"}).content.decode()
    assert "agreement.csv?by=tier" in html
    rows = alice.get(reverse("agreement_download", args=["suits", "csv"]), {"by": "tier"}).content.decode()
    assert "preference,items of a group,easy,gpt,mean_cohen_kappa" in rows
    assert "preference,difference,gpt,longer,mean_cohen_kappa" in rows


def test_an_unknown_grouping_says_which_there_are(criterion, alice):
    response = alice.get(reverse("agreement", args=["suits"]), {"by": "colour"})
    assert response.status_code == 400
    assert "choose one of tier, stratum, domain" in text_of(response)
    assert alice.get(reverse("agreement", args=["suits"]), {"strata": "colour"}).status_code == 400
    assert alice.get(reverse("agreement_download", args=["suits", "csv"]), {"by": "colour"}).status_code == 404


@pytest.mark.long
def test_on_a_scale_with_an_order_the_score_can_be_read_instead_of_the_verdict(alice):
    study = with_items(4, name="Warm", slug="warm")
    criterion = CriterionFactory(study=study, key="warm", name="Warmth")
    people_say(criterion, {"bob": ["1", "2", "4", "3"], "dana": ["1", "2", "4", "3"]})
    judge_says(criterion, "gpt", ["1", "2", "4", "4"])
    address = reverse("agreement", args=["warm"])

    verdicts, scores = (text_of(alice.get(address, query)) for query in ({}, {"read": "score"}))

    assert "Correlations and errors use" in verdicts
    assert "4 by verdict alone" not in verdicts
    assert "4 by verdict alone" in scores
    assert alice.get(address, {"read": "mood"}).status_code == 400
    assert (
        f"{reverse('agreement_download', args=['warm', 'json'])}?read=score"
        in alice.get(address, {"read": "score"}).content.decode()
    )
    document = alice.get(reverse("agreement_download", args=["warm", "json"]), {"read": "score"}).json()
    assert document["judges"]["gpt"]["reads"] == "score"


def test_where_nothing_has_an_order_there_is_nothing_to_choose(criterion, alice):
    assert 'name="read"' not in page(alice).content.decode()


def test_a_kind_of_warning_stands_once_with_all_of_its_criteria(alice):
    study = with_items(6, kind="pair", name="Suits", slug="suits")
    for key, name, last in (("preference", "Preference", "1"), ("style", "Style", "2")):
        one = CriterionFactory(study=study, key=key, name=name, preference=True)
        people_say(one, {"bob": RIGHT_FOR_ALL, "dana": [*RIGHT_FOR_ALL[:4], last, last]})
    warnings = page(alice).context["warnings"]
    assert len({kind.name for kind in warnings}) == len(warnings)
    few = next(kind for kind in warnings if kind.name == "Few items")
    assert [(one.criteria, one.message[:12]) for one in few.said] == [("All criteria", "Only 6 items")]
    rare = next(kind for kind in warnings if kind.name == "Few disagreements")
    assert rare.criteria == "All criteria"
    assert [one.criteria for one in rare.said] == ["Preference", "Style"]
    assert "Few disagreements: All criteria On each criterion Preference: Raters disagree on" in text_of(page(alice))


def test_many_pairs_of_annotators_are_folded(criterion, alice):
    assert [section["few_pairs"] for section in page(alice).context["sections"]] == [True]
    many = CriterionFactory(study=with_items(6, name="Many", slug="many"), key="tone", name="Tone")
    people_say(many, {f"p{k}": ["1"] * 6 for k in range(6)})
    assert [section["few_pairs"] for section in page(alice, "many").context["sections"]] == [False]
