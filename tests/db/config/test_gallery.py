"""The components: that they are drawn, that they write numbers as they should, and what they do without a value."""

from __future__ import annotations

import re

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import reverse

from config.pages import gallery
from config.templatetags import concord
from tests.support.factories import ResearcherFactory, UserFactory


def drawn(source: str, **context) -> str:
    request = context.pop("request", RequestFactory().get("/"))
    html = Template("" + source).render(Context({"request": request, **context}))
    return " ".join(html.split())


@pytest.fixture
def alice(db, client: Client) -> Client:
    client.force_login(ResearcherFactory(username="alice", display_name="Alice"))
    return client


class TestPages:
    def test_gallery_shows_every_component(self, alice):
        html = alice.get(reverse("gallery")).content.decode()
        for part, title in gallery.context()["parts"]:
            assert f'id="{part}"' in html
            assert title in html
        assert " style=" not in html
        assert "<style" not in html

    def test_annotate_layout_has_its_three_parts(self, alice):
        html = alice.get(reverse("gallery"), {"layout": "annotate"}).content.decode()
        for part in ("context", "dialogue", "rate"):
            assert f"annotate__{part}" in html

    def test_gallery_is_for_people_who_signed_in(self, client, db):
        assert client.get(reverse("gallery")).status_code == 302

    def test_sign_in_says_what_is_wrong(self, client, db):
        reply = client.post(reverse("login"), {"login": "charlie", "password": "no"})
        assert 'role="alert"' in reply.content.decode()

    def test_sign_in_returns_to_the_page_one_came_from(self, client, db):
        UserFactory(username="bob", password="pw")
        reply = client.post(reverse("login"), {"login": "bob", "password": "pw", "next": "/gallery/"})
        assert reply.headers["Location"] == "/gallery/"

    def test_a_wrong_address_gets_a_page_of_the_site(self, alice):
        reply = alice.get("/nothing/here/")
        assert reply.status_code == 404
        assert "What is safe" in reply.content.decode()

    def test_an_oversized_upload_is_told_the_limit(self, client, settings):
        settings.MAX_UPLOAD_BYTES = 2 * 1024 * 1024
        reply = client.post("/login/", b"x", content_type="text/plain", CONTENT_LENGTH="3000000")
        assert reply.status_code == 413
        assert re.search(r"It has 3 MB\.\s+The limit is 2 MB\.", reply.content.decode())

    def test_texts_of_a_form_that_are_too_long_are_named(self, client, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
        reply = client.post("/login/", {"login": "x" * 1_500_000, "password": "pw"})
        assert reply.status_code == 413
        assert re.search(r"texts in the form are too long.*It has 2 MB", reply.content.decode(), re.DOTALL)

    def test_the_page_for_a_crash_needs_no_context(self):
        assert "What is safe" in render_to_string("500.html")


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "digits", "text"),
        [(0.6149, 2, "0.61"), (1, 3, "1.000"), (-0.25, 2, "−0.25"), (-0.001, 2, "0.00"), ("0.5", 1, "0.5")],
    )
    def test_statistics_have_fixed_decimals_and_a_true_minus(self, value, digits, text):
        assert concord.stat(value, digits) == text

    @pytest.mark.parametrize("missing", [None, float("nan"), float("inf"), "", "n/a"])
    def test_what_is_missing_or_undefined_is_a_dash(self, missing):
        assert concord.stat(missing) == concord.percent(missing) == concord.count(missing) == "–"

    def test_shares_and_counts(self):
        assert concord.percent(0.8666) == "87 %"
        assert concord.count(3962) == "3,962"


class TestEstimate:
    def test_value_interval_and_n_stand_together(self):
        html = drawn("{% estimate e n=300 %}", e={"value": 0.612, "low": 0.52, "high": 0.69, "reason": None})
        assert "0.61" in html
        assert "[0.52, 0.69]" in html
        assert "n 300" in html
        assert "<svg" not in html

    def test_undefined_gives_its_reason_and_no_number(self):
        html = drawn("{% estimate e n=3 mark='judge' %}", e={"value": float("nan"), "reason": "one category used"})
        assert "one category used" in html
        assert "nan" not in html
        assert 'tabindex="0"' in html

    def test_objects_serve_as_well_as_mappings(self):
        class Estimate:
            value, low, high, reason = 0.5, 0.25, 0.75, None

        assert "[0.25, 0.75]" in drawn("{% estimate e %}", e=Estimate())

    def test_marks_lie_on_the_scale(self):
        # 120 wide with 6 of margin: 108 for the scale from 0 to 1, so 0.5 lies at 60 and 1.4 on the end, 114.
        assert concord.position(0.5, (0.0, 1.0)) == "60.0"
        assert concord.position(1.4, (0.0, 1.0)) == "114.0"
        assert "mark--judge" in drawn("{% estimate e mark='judge' %}", e={"value": 0.5})


class TestParts:
    def test_tiers_have_one_to_four_bars_and_a_word(self):
        for level, name in enumerate(concord.TIERS, start=1):
            html = drawn("{% tier name %}", name=name)
            assert html.count('class="on"') == level
            assert name in html
        assert "no value" in drawn("{% tier '' %}")

    def test_a_simulated_rater_says_so(self):
        html = drawn("{% badge 'simulated annotator' kind='simulated' %}")
        assert "badge--simulated" in html
        assert "simulated annotator" in html

    def test_text_from_data_is_escaped(self):
        turn = {"number": 1, "role": "user", "content": "<script>alert(1)</script>"}
        html = drawn("{% include 'components/dialogue.html' %}{% badge x %}", turns=[turn], x="<b>")
        assert "<script>" not in html
        assert "<b>" not in html
        html = drawn("{% table caption=x %}{{ x }}{% closetable %}{% fold x %}{{ x }}{% closefold %}", x="<b>")
        assert "<b>" not in html
        assert html.count("&lt;b&gt;") >= 4

    def test_an_answer_is_checked_whatever_its_type(self):
        criterion = {"key": "c", "name": "C", "question": "?", "categories": [{"value": 2, "label": "two"}]}
        html = drawn("{% include 'components/rating.html' with value='2' number=1 %}", criterion=criterion)
        assert "checked" in html
        assert 'data-key="2"' in html

    def test_progress_without_a_plan_has_no_share(self):
        assert "nothing planned yet" in drawn("{% progress 0 0 %}")
        assert "87 %" in drawn("{% progress 261 300 %}")

    def test_a_field_ties_its_help_and_errors_to_the_control(self):
        html = drawn("{% field form.overlap %}", form=gallery.bad_form())
        assert 'aria-describedby="id_bad-overlap_helptext id_bad-overlap_error"' in html
        assert 'id="id_bad-overlap_helptext"' in html
        assert 'id="id_bad-overlap_error"' in html

    def test_a_control_is_described_by_its_help(self):
        html = drawn("{% control 'sha256' 'SHA-256' id='sha' help='64 digits' %}{% control 'name' 'Name' id='name' %}")
        assert 'id="sha_helptext">64 digits' in html
        assert html.count("aria-describedby") == html.count('aria-describedby="sha_helptext"') == 1

    def test_the_summary_of_errors_links_to_the_fields(self):
        html = drawn("{% include 'components/form_errors.html' %}", form=gallery.bad_form())
        assert 'href="#id_bad-overlap"' in html
        assert "Nothing was saved" in html

    def test_sorting_twice_turns_the_order_and_leaves_the_page(self):
        request = RequestFactory().get("/?sort=name&page=3&q=x")
        html = drawn("{% sort_header 'name' 'Name' %}", request=request)
        assert 'aria-sort="ascending"' in html
        assert 'href="?sort=-name&amp;q=x"' in html

    def test_a_link_to_a_page_that_does_not_exist_is_left_out(self):
        assert drawn("{% nav_link 'no_such_page' 'Nowhere' %}") == ""
        request = RequestFactory().get("/gallery/")
        assert 'aria-current="page"' in drawn("{% nav_link 'gallery' 'Gallery' %}", request=request)
        assert 'aria-current="page"' not in drawn("{% nav_link 'login' 'Sign in' %}", request=request)
        assert 'aria-current="page"' in drawn("{% nav_link 'login' 'Sign in' also='gallery' %}", request=request)


def test_cells_of_a_stacked_table_name_their_column():
    page = drawn(
        "{% table caption='Dogs' stacked=True %}{% columns 'Name' '#Legs' note %}"
        "<tr><th scope='row'>Rex</th>{% numbers 4 %}<td class='small'>old</td></tr>{% closetable %}",
        note='A "note"',
    )
    assert '<td data-column="Legs" class="numeric">4</td>' in page
    assert "<td data-column=\"A &quot;note&quot;\" class='small'>old</td>" in page
    assert "<th scope='row'>Rex</th>" in page
