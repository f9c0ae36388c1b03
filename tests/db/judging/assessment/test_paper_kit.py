"""The archive for a paper: all files are in it, and LaTeX compiles them in four layouts."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import zipfile

import pytest
from django.urls import reverse

from core.accounts.models.users import User
from core.charts import FIGURES
from tests.db.judging.assessment.views.test_verdict import alice, pairs, suits  # noqa: F401  a study with two judges

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

GEOMETRY = r"\usepackage{times}\usepackage[%s]{geometry}\setlength{\columnsep}{0.6cm}"
LAYOUTS = {
    "article": r"\documentclass{article}",
    "two columns": r"\documentclass[twocolumn]{article}",
    "as ACL": r"\documentclass[11pt,twocolumn]{article}" + GEOMETRY % "a4paper,textwidth=16cm,textheight=24.7cm",
    "as NeurIPS": r"\documentclass{article}" + GEOMETRY % "letterpaper,textwidth=5.5in,textheight=9in",
}
"""Text widths of the two styles, which no package of a distribution holds; other parts of them do not touch tables."""

USE = r"\usepackage[T1]{fontenc}\usepackage{booktabs,array}\begin{document}Text.\input{tables}\end{document}"


@pytest.fixture
def archive(pairs, alice):  # noqa: F811
    answer = alice.get(reverse("report_download", args=["suits", "zip"]))
    assert answer["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(answer.content))


@pytest.mark.long
def test_it_holds_the_report_its_figures_and_tables(archive):
    names = set(archive.namelist())
    assert {"README.txt", "report.pdf", "report.html", "report.json", "report.tex", "tables.tex"} <= names
    assert archive.read("report.pdf").startswith(b"%PDF")
    figures = {name.rpartition(".")[0] for name in names if name.startswith("figures/")}
    assert {f"{one}.{ending}" for one in figures for ending in FIGURES} <= names
    assert archive.read("figures/agreement.pdf").startswith(b"%PDF")
    assert b"<svg" in archive.read("figures/agreement.svg")
    head, *rows = archive.read("figures/agreement.csv").decode().splitlines()
    assert "value" in head.split(",")
    assert {"annotators", "good", "first (baseline)"} <= {cell for row in rows for cell in row.split(",")}
    assert {f"tables/{name}.csv" for name in ("people", "judges")} <= names


def read_table(archive, name: str) -> list[list[str]]:
    (path,) = [one for one in archive.namelist() if re.fullmatch(rf"tables/{name}-.*-good\.csv", one)]
    return list(csv.reader(io.StringIO(archive.read(path).decode("utf-8-sig"))))[1:]


@pytest.mark.long
def test_tables_have_words_and_names_and_no_codes(pairs, alice):  # noqa: F811
    for user in User.objects.filter(is_researcher=False):
        user.display_name = f"{user.username.title()} Miller"
        user.save()
    archive = zipfile.ZipFile(io.BytesIO(alice.get(reverse("report_download", args=["suits", "zip"])).content))
    assert {row[0] for row in read_table(archive, "noise")} <= {"Bob Miller", "Dana Miller", "Erin Miller"}
    probes = [row[0] for row in read_table(archive, "probes")]
    assert "Position" in probes
    assert [one for one in probes if "_" in one or not one[0].isupper()] == []
    page = alice.get(reverse("report", args=["suits"])).content.decode()
    assert re.search(r"Dawid and Skene:\s+Bob Miller \d", page)


@pytest.mark.long
def test_the_methods_say_what_was_done_and_every_citation_has_an_entry(archive):
    methods = json.loads(archive.read("report.json"))["methods"]
    for said in ("response pairs", "labels", "(nominal)", "The judge good", "computed by Concord"):
        assert said in methods["text"], said
    entries = set(re.findall(r"@misc\{([^,]+),", archive.read("references.bib").decode()))
    citations = re.findall(r"\\cite\{([^}]+)\}", archive.read("tables.tex").decode())
    cited = {key for keys in citations for key in keys.split(",")}
    assert cited == entries == set(methods["keys"])


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no TeX on this machine")
def test_it_compiles_without_an_error_and_without_a_box_that_is_too_wide(archive, tmp_path):
    archive.extractall(tmp_path)
    for name, head in LAYOUTS.items():
        (tmp_path / "paper.tex").write_text(head + USE)
        assert find_faults(tmp_path, "paper") == [], name
    find_faults(tmp_path, "report")
    subprocess.run(["bibtex", "report"], cwd=tmp_path, check=True, capture_output=True)
    find_faults(tmp_path, "report")
    assert find_faults(tmp_path, "report") == []
    assert "undefined" not in (tmp_path / "report.log").read_text(errors="replace")


def find_faults(folder, name: str) -> list[str]:
    """Compile, and return errors, boxes more than 10 pt too wide, and tables too large for a page."""
    subprocess.run(["pdflatex", "-interaction=nonstopmode", name], cwd=folder, check=False, capture_output=True)
    log = (folder / f"{name}.log").read_text(errors="replace")
    wide = [line for line in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(line) > 10]
    return [line for line in log.splitlines() if line.startswith("!") or "Float too large" in line] + wide


@pytest.mark.long
def test_letters_of_any_script_and_commands_in_a_name_are_printed(pairs, alice):  # noqa: F811
    pairs.study.name = r"陳 & \input{x} 50 % _"
    pairs.study.save()
    answer = alice.get(reverse("report_download", args=["suits", "pdf"]))
    assert answer.content.startswith(b"%PDF")
