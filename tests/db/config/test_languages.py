"""Every text of a page goes through gettext; German has those of the annotators' pages, and speaks on these alone."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse
from django.utils import timezone, translation

from annotation.benchmarks.services import building, versions
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Study
from annotation.workbench.views import rating_api, work
from config.annotators_pages import TRANSLATED
from config.catalogues import compile_catalogues
from config.templatetags.concord import count, percent, stat
from core.accounts.models.users import User
from core.errors import InputError
from core.sentences import CONTEXT, translate
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from scripts.messages import LOCALE, list_messages, list_sentences
from tests.db.annotation.benchmarks.services.voting import pairs, study_of, vote
from tests.db.config.test_permissions import routes
from tests.db.judging.assessment.services.judged import compute_results
from tests.db.judging.assessment.views.test_verdict import two_judges
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.factories import ResearcherFactory
from tests.support.judging import scripted
from tests.support.paths import ROOT
from tests.support.people import OpenStudy

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9,en;q=0.5"}
CATALOGUES = sorted(LOCALE.rglob("*.po"))
PLACEHOLDER = re.compile(r"%\((\w+)\)[sdr]")

CHECKED = [path for path in sorted((ROOT / "templates").rglob("*.html")) if not path.name.startswith("gallery")]
"""All templates but those that show who develops them what the parts of a page look like."""

NAMES = {"Concord", "Enter", "Esc", "model,score"}


def sign_in(person: User, **more: str) -> Client:
    client = Client(**{**GERMAN, **more})
    client.force_login(person)
    return client


def text_of(response) -> str:
    return unescape(response.content.decode())


def read_attributes(response) -> list[str]:
    """What of a page is read by scripts and sent back, but for what is signed for each answer."""
    page = re.sub(r'name="(seen|csrfmiddlewaretoken|language)"\s+value="[^"]*"', "", response.content.decode())
    page = re.sub(r"(?s)<datalist.*?</datalist>", "", page)
    return re.findall(r'\b(?:data-[\w-]+|value|min|max|step|id|name|action)="[^"]*"', page)


def messages(path: Path) -> Iterator[Message]:
    with path.open("rb") as file:
        yield from (one for one in read_po(file) if one.id)


def texts(message: Message) -> Iterator[tuple[str, str]]:
    """A text and its translation; of a plural both."""
    if isinstance(message.id, str):
        yield message.id, str(message.string)
    else:
        yield from zip(message.id, message.string, strict=True)


def placeholders(text: str) -> set[str | None]:
    braced = {name for _, name, _, _ in Formatter().parse(text) if name} if "%(" not in text else set()
    return {*PLACEHOLDER.findall(text), *braced}


def find_unmarked(path: Path) -> set[str]:
    """What a template says and does not mark: between tags, read aloud, and given to components."""
    source = re.sub(r"(?s)\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}", "", path.read_text())
    source = re.sub(r"\{% block main_class %\}.*?\{% endblock %\}", "", source)  # names of styles
    source = re.sub(r"(?s)<(style|code|pre|kbd)\b.*?</\1>", "", source)
    source = re.sub(r"\{% choice .*?%\}", lambda tag: re.sub(r' text="\S*"', "", tag[0]), source)
    source = re.sub(r"(?s)\{% blocktranslate\b.*?\{% endblocktranslate %\}", "", source)
    given = re.findall(r'(?s)\{%[^%]*?\b(?:label|title|text|action|safe|todo|caption)="([^"]*)"', source)
    source = re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}", "", source)
    read_aloud = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', source)
    lines = [line.strip(" \n·:") for line in re.sub(r"(?s)<[^>]*>", "\n", source).splitlines()]
    said = {one for one in [*given, *read_aloud, *lines] if re.search(r"[^\W\d]{2}", re.sub(r"&\w+;", "", one))}
    return said - NAMES


class TestCatalogue:
    @pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.name)
    def test_every_marked_text_is_translated(self, path):
        there = {one.id if isinstance(one.id, str) else one.id[0] for one in messages(path)}
        whole = path.parts[-3] in settings.WHOLE_LANGUAGES
        marked = {one if isinstance(one, str) else one[0] for one, _ in list_messages(path.stem, whole=whole)}
        assert marked - there == set(), "run `make messages`, then translate"
        assert there - marked == set(), "run `make messages`"
        assert [one.id for one in messages(path) if one.fuzzy or not all(said for _, said in texts(one))] == []

    @pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.name)
    def test_a_translation_has_the_placeholders_of_its_text(self, path):
        pairs = [pair for one in messages(path) for pair in texts(one)]
        assert [pair for pair in pairs if placeholders(pair[0]) != placeholders(pair[1])] == []
        spaces = [pair for pair in pairs if (pair[0][:1] == " ") != (pair[1][:1] == " ")]
        assert spaces == [], "what is joined to other texts keeps its spaces"

    @pytest.mark.parametrize("path", CHECKED, ids=lambda path: path.name)
    def test_a_template_marks_every_text(self, path):
        assert find_unmarked(path) == set()
        assert re.findall(r'_\("[^"]*%[^"]*"\)', path.read_text()) == [], "Django doubles the sign: translate … as …"

    def test_it_is_compiled_once_for_each_content(self, tmp_path):
        (source := tmp_path / "locale").mkdir()
        (source / "a.po").write_text('msgid "one"\nmsgstr "eins"\n', encoding="utf-8")
        first = compile_catalogues(source, tmp_path / "made")
        made = (first / "a.mo").stat()
        assert compile_catalogues(source, tmp_path / "made") == first
        assert (first / "a.mo").stat() == made
        (source / "a.po").write_text('msgid "one"\nmsgstr "uno"\n', encoding="utf-8")
        second = compile_catalogues(source, tmp_path / "made")
        assert {path.name for path in (tmp_path / "made").iterdir()} == {first.name, second.name}, "it may be in use"
        os.utime(first, (0, 0))
        (source / "a.po").write_text('msgid "one"\nmsgstr "un"\n', encoding="utf-8")
        third = compile_catalogues(source, tmp_path / "made")
        assert {path.name for path in (tmp_path / "made").iterdir()} == {second.name, third.name}

    def test_processes_that_start_together_compile_it_once(self, tmp_path):
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(lambda _: compile_catalogues(LOCALE, tmp_path), range(8)))
        assert [path.name for path in tmp_path.iterdir()] == [path.name for path in found]
        assert (found.pop() / "de" / "LC_MESSAGES" / "djangojs.mo").stat().st_size > 1000

    def test_names_of_translated_pages_are_names(self):
        names = {name for name, _, _ in routes(get_resolver().url_patterns)}
        assert names >= TRANSLATED


class TestPages:
    def test_an_annotator_gets_what_the_browser_asks_for(self, bob):
        found = sign_in(bob).get("/work/")
        assert '<html lang="de">' in text_of(found)
        assert "Keine offene Studie" in text_of(found)
        assert {"Accept-Language", "Cookie"} <= set(found["Vary"].split(", "))
        for languages in ("en-GB", "fr"):
            assert '<html lang="en">' in text_of(sign_in(bob, HTTP_ACCEPT_LANGUAGE=languages).get("/work/"))

    def test_signing_in_and_what_is_wrong_there(self, bob):
        found = Client(**GERMAN).get("/login/")
        assert "Anmelden" in text_of(found)
        assert "Sign in" not in text_of(found)
        refused = Client(**GERMAN).post("/login/", {"login": "bob", "password": "wrong"})
        assert "Passwort" in text_of(refused)
        assert "password you" not in text_of(refused)

    def test_the_choice_is_kept_with_the_account(self, bob):
        client = sign_in(bob)
        chosen = client.post("/language/", {"language": "en"}, HTTP_REFERER="http://testserver/work/")
        assert (chosen.status_code, chosen.url) == (302, "http://testserver/work/")
        assert '<html lang="en">' in text_of(client.get("/work/"))
        assert '<html lang="en">' in text_of(sign_in(bob).get("/work/")), "in another browser too"
        client.post("/language/", {"language": "xx"})
        assert User.objects.get(pk=bob.pk).language == "en"

    def test_a_visitor_keeps_the_choice_in_a_cookie(self, db):
        client = Client(**GERMAN)
        chosen = client.post("/language/", {"language": "en"}, HTTP_REFERER="http://elsewhere.example/login/")
        assert chosen.url == "/", "not to another site"
        assert "Sign in" in text_of(client.get("/login/"))

    def test_it_costs_no_query(self, bob, open_study: OpenStudy):
        open_study([bob])
        counted = []
        for languages in ("en", "de"):
            client = sign_in(bob, HTTP_ACCEPT_LANGUAGE=languages)
            client.get("/work/")
            with CaptureQueriesContext(connection) as queries:
                client.get("/work/")
            counted.append(len(queries))
        assert counted[0] == counted[1]

    def test_what_scripts_and_inputs_read_is_not_localised(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        address = sign_in(bob).post(reverse("next_item", args=[study.slug])).url
        kept = {"content": {}, "active_seconds": 1234.5, "saved_at": timezone.now()}
        Draft.objects.create(assignment=Assignment.objects.get(state="leased"), annotator=bob, **kept)
        english, german = (
            read_attributes(sign_in(bob, HTTP_ACCEPT_LANGUAGE=language).get(address)) for language in ("en", "de")
        )
        assert 'data-active="1234.5"' in german
        assert [one for one in german if one not in english] == []

    def test_a_message_and_an_error(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        client = sign_in(bob)
        address = client.post(reverse("next_item", args=[study.slug])).url
        wrong = client.post(address, {"task_completion": "maybe"})
        assert "'maybe' steht nicht auf der Skala von Task completion." in text_of(wrong)
        assert "Personalization ist noch nicht beantwortet." in text_of(wrong)
        told = client.post(f"{address}flag/", HTTP_X_QUICK="1")
        assert told.content.decode() == "Dem Forschungsteam gemeldet."
        saved = client.post(f"{address}save/", {"task_completion": "maybe", "personalization": "1"})
        assert "steht nicht auf der Skala" in str(saved.json()["errors"])

    def test_what_is_kept_for_the_researcher_is_english(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        client = sign_in(bob)
        address = client.post(reverse("next_item", args=[study.slug])).url
        type(study).objects.filter(pk=study.pk).update(state="closed")
        late = client.post(f"{address}save/", {"task_completion": "yes", "personalization": "1"})
        assert late.json()["late"] == "Diese Studie ist geschlossen und nimmt keine Bewertungen mehr an."
        assert Draft.objects.get(decided_at=None).late_reason == "This study is closed and takes no more labels."

    @pytest.mark.parametrize("save", ["", "save/"])
    def test_so_is_what_a_service_says_of_it(self, bob, open_study: OpenStudy, monkeypatch, save):
        for view in (work, rating_api):
            monkeypatch.setattr(view, "not_now", lambda *_: "")  # it is closed while the labels are on their way
        study = open_study([bob])
        client = sign_in(bob)
        address = client.post(reverse("next_item", args=[study.slug])).url
        type(study).objects.filter(pk=study.pk).update(state="closed")
        late = client.post(f"{address}{save}", {"task_completion": "yes", "personalization": "1"})
        assert "Diese Studie ist geschlossen und nimmt keine Bewertungen mehr an." in late.content.decode()
        assert Draft.objects.get(decided_at=None).late_reason == "This study is closed and takes no more labels."

    def test_every_template_of_these_pages_marks_its_texts(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        client = sign_in(bob)
        item = client.post(reverse("next_item", args=[study.slug])).url
        below = [f"/work/{study.slug}/{page}/" for page in ("items", "consent", "about-me", "withdraw")]
        found = [client.get(address) for address in ("/work/", item, *below, "/account/", "/account/2fa/")]
        found += [Client(**GERMAN).get("/login/"), Client(**GERMAN).get("/join/unknown/")]
        used = {Path(template.origin.name) for page in found for template in page.templates if template.origin}
        own = {path for path in used if path.is_relative_to(ROOT / "templates")}
        assert ROOT / "templates/annotation/_rate.html" in own
        assert {path.name: unmarked for path in own if (unmarked := find_unmarked(path))} == {}


class TestTheRest:
    def test_researchers_read_english_until_they_choose(self, db):
        alice = ResearcherFactory()
        client = sign_in(alice)
        for address in ("/", "/studies/", "/material/", "/work/", "/account/"):
            assert '<html lang="en">' in text_of(client.get(address)), address
        client.post("/language/", {"language": "de"})
        assert '<html lang="de">' in text_of(client.get("/work/"))
        assert '<html lang="en">' in text_of(client.get("/studies/"))

    @pytest.mark.any_database
    @pytest.mark.long
    def test_a_researchers_page_is_the_same_in_every_browser(self, db, bob, open_study: OpenStudy):
        study = open_study([bob])
        alice = ResearcherFactory()
        for address in ("/", "/studies/", f"/studies/{study.slug}/", f"/studies/{study.slug}/quality/", "/gallery/"):
            english, german = (
                re.sub(r'csrfmiddlewaretoken" value="\w+"|x-csrftoken": "\w+"', "", text_of(client.get(address)))
                for client in (sign_in(alice, HTTP_ACCEPT_LANGUAGE="en"), sign_in(alice))
            )
            assert german == english, address

    def test_numbers_are_written_as_the_page_writes_them(self):
        assert (count(1234.4), stat(-1234.56), percent(0.5, 1)) == ("1,234", "\N{MINUS SIGN}1234.56", "50.0 %")
        with translation.override("de"):
            assert (count(1234.4), stat(-1234.56), percent(0.5, 1)) == ("1.234", "\N{MINUS SIGN}1234,56", "50,0 %")

    def test_pages_that_are_not_translated_stay_english(self, bob):
        client = sign_in(bob)
        for address in ("/tokens/", "/nowhere/", "/studies/"):
            assert '<html lang="en">' in text_of(client.get(address)), address

    def test_the_api_stays_english(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        client = sign_in(bob)
        client.get("/work/")
        found = client.post(f"/api/v1/work/{study.slug}/next", content_type="application/json")
        assert "Dialoge" not in text_of(found)
        assert translation.get_language() == settings.LANGUAGE_CODE, "nothing is left behind in the thread"

    def test_texts_of_scripts_are_kept_by_the_browser(self, db):
        page = text_of(Client(**GERMAN).get("/login/"))
        address = re.search(r'src="(/language/texts\.js[^"]+)"', page).group(1)
        found = Client().get(address)
        assert '"Saved": "Gespeichert"' in found.content.decode()
        assert "immutable" in found["Cache-Control"]
        assert "Cookie" not in found.get("Vary", "")
        assert Client().get("/language/texts.js?language=xx").status_code == 404
        assert "texts.js" not in text_of(Client(HTTP_ACCEPT_LANGUAGE="en").get("/login/"))


@pytest.fixture(scope="module")
def catalogues(tmp_path_factory):
    """The catalogue of a language that has every text, each in brackets."""
    folder = tmp_path_factory.mktemp("locale")
    path = folder / "eo" / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(parents=True)
    catalogue = Catalog(locale="eo")
    for message, _ in list_messages("django"):
        said = (message,) if isinstance(message, str) else message[:2]
        marked = tuple(f"#⟦{one[1:]}⟧" if one.startswith("#") else f"⟦{one}⟧" for one in said)
        catalogue.add(message, marked[0] if isinstance(message, str) else marked)
    for sentence, _ in list_sentences():
        catalogue.add(sentence, f"⟦{sentence}⟧", context=CONTEXT)
    with path.open("wb") as file:
        write_mo(file, catalogue)
    return folder


@pytest.fixture
def whole_language(settings, catalogues):
    settings.LOCALE_PATHS = [catalogues]
    settings.LANGUAGES = [*settings.LANGUAGES, ("eo", "Esperanto")]
    settings.WHOLE_LANGUAGES = frozenset({"en", "eo"})


def without_brackets(text: str) -> str:
    """What of a text stands outside of all brackets."""
    inner = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    return inner if inner == text else without_brackets(inner)


@pytest.mark.long
@pytest.mark.any_database
@pytest.mark.usefixtures("whole_language")
class TestWholeLanguage:
    def test_researchers_pages_speak_it(self, bob, open_study: OpenStudy):
        study = open_study([bob])
        client = sign_in(ResearcherFactory(language="eo"))
        parts = ("", "queue/", "quality/", "progress/", "rubric/", "coming-in/", "judges/", "results/", "files/")
        names = User.objects.values_list("username", flat=True)
        data = {study.name, *study.criteria.values_list("name", flat=True), *names, ""}
        for address in ("/", "/studies/", "/material/", "/judges/", *(f"/studies/{study.slug}/{one}" for one in parts)):
            page = client.get(address).content.decode()
            assert '<html lang="eo">' in page, address
            heads = re.findall(r'(?s)<(?:h1|h2|th [^>]*scope="col"|legend|summary|button|label)[^>]*>(.*?)</', page)
            outside = {without_brackets(unescape(re.sub(r"<[^<>]*>", "", one))).strip() for one in heads} - data
            assert {one for one in outside if re.search(r"[a-z]{3}", one)} == set(), address

    @pytest.mark.parametrize(
        ("composed", "said"),
        [
            ("only one rater", "⟦only one rater⟧"),
            ("1,200 labelled items that the judge scored; a plan needs 20", "⟦{}⟧"),
            (
                "judge–human kappa unknown (no interval: one cluster) (lower limit above 0)",
                "⟦judge–human kappa ⟦unknown (⟦no interval: one cluster⟧)⟧ (lower limit above 0)⟧",
            ),
            (
                "5.0 % of replies unscored (at most 20 %); the judge gave every item the same verdict",
                "⟦⟦5.0 % of replies unscored⟧ (at most 20 %)⟧⟦; the judge gave every item the same verdict⟧",
            ),
            ("Hotels / (none) / several domains", "Hotels / ⟦(none)⟧ / ⟦several domains⟧"),
            ("what a researcher wrote", "what a researcher wrote"),
            ("", ""),
        ],
    )
    def test_a_sentence_about_a_result_is_told_by_its_template(self, composed, said):
        assert translate(composed) == composed
        with translation.override("de"):
            assert translate(composed) == composed, "German has no such sentences"
        with translation.override("eo"):
            assert translate(composed) == said.format(composed)

    def test_results_with_their_reasons_and_plots_speak_it(self, db):
        criterion = two_judges()
        compute_results(criterion.study)
        client = sign_in(ResearcherFactory(language="eo"))
        study = f"/studies/{criterion.study.slug}"
        judges = Judge.objects.values_list("pk", flat=True)
        pages = [
            "results/",
            "results/agreement/",
            *(f"results/{pk}/preference/" for pk in judges),
            "tiers/",
            "progress/",
        ]
        names = r"bob|dana|erin|good|first|fern|moss|Suits|Preference|Concord|Brennan–Prediger"
        data = rf"{names}|Response [12]|[Tt]ie|\(none\)"
        for address in pages:
            page = client.get(f"{study}/{address}").content.decode()
            said = re.findall(r'(?s)<(?:th scope="row"|li|td class="small[^"]*"|text [^>]*)>([^<]*)', page)
            outside = {re.sub(data, "", without_brackets(unescape(one))).strip() for one in said}
            assert {one for one in outside if re.search(r"[a-z]{3}", one)} == set(), address
        assert "⟦" in client.get(f"{study}/report/").content.decode()
        assert "⟦" not in client.get(f"{study}/report.html").content.decode(), "a file is English"

    def test_benchmarks_and_their_evaluations_speak_it(self, db):
        vote(study_of(pairs(4), name="Trips", slug="trips"), [(9, 0), (1, 8), (5, 4), (4, 4)])
        benchmark = building.build(by=None, study=Study.objects.get(), name="Trips")
        versions.audit(by=None, benchmark=benchmark)
        versions.clean(by=None, benchmark=benchmark, rules=["circular", "without_persona"], version="2")
        evaluation = evaluated(benchmark_with("1212"), scripted(otherwise="1"), Setting(), Setting("memories", k=1))
        client = sign_in(ResearcherFactory(language="eo"))
        for address in (
            "/benchmarks/trips-1/audit/",
            "/benchmarks/trips-1/datasheet/",
            "/benchmarks/trips-2/datasheet/",
            reverse("evaluation_results", args=[evaluation.pk]),
        ):
            page = client.get(address).content.decode()
            said = re.findall(r'(?s)<(?:th scope="row"[^>]*|li|td|dt|dd|label[^>]*)>([^<]*)', page)
            data = r"judge\d|bm25|general|specific|Latin"
            outside = {re.sub(data, "", without_brackets(unescape(one))).strip() for one in said}
            assert {one for one in outside if re.search(r"[a-z]{3}", one)} == set(), address

    def test_an_error_says_it_with_its_values(self):
        error = InputError("no criterion is called {key!r}", key="tone")
        assert error.message == "no criterion is called 'tone'"
        with translation.override("eo"):
            assert error.message == "⟦no criterion is called 'tone'⟧"
        assert str(pickle.loads(pickle.dumps(error))) == "no criterion is called 'tone'"
