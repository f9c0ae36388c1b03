"""Any table in the browser: a file is looked at, its columns are mapped, and only then is it imported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST

from annotation.corpus import services
from annotation.corpus.exchange.registry import recognise_exchange
from annotation.corpus.formats.registry import CHAT_FORMATS
from annotation.corpus.imports.surveys import FirstLook, Survey, look
from annotation.corpus.models import SavedMapping
from annotation.corpus.parsing.mappings import ColumnMapping, Reading, parse_mapping
from annotation.corpus.queries import list_mappings
from core.accounts.access import get_account, researcher_required
from core.downloads import attach_file
from core.errors import InputError
from core.files.input_files import InputFile
from core.files.outcome import Outcome
from core.files.staging import find_staged, remove_staged, stage, unpack_staged
from core.files.tables.layout import XLSX, Layout
from core.files.tables.reading import list_sheets
from core.files.tables.rows import find_value
from judging.runs.imports.mapped import load_mapped, survey
from judging.runs.mapping_forms import READING, TARGETS, FileForm, MappingForm, choose_mapping, shorten, spell
from judging.runs.views.imports import build_context

NOT_CHECKED = gettext_noop("Choose what each column holds. Nothing is imported until you confirm.")
PREVIEW_ROWS, PREVIEW_COLUMNS, LONGEST_CELL = 6, 24, 80


@researcher_required
def import_table(request: HttpRequest) -> HttpResponse:
    """Choose a file to look at."""
    form = FileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        upload = form.cleaned_data["file"]
        key = stage(upload.chunks(), name=upload.name or "the file", owner=get_account(request).pk)
        return redirect("import_mapping", key)
    context = {"form": form, "saved": list_mappings(get_account(request)), "formats": CHAT_FORMATS.values()}
    return render(request, "judging/import_table.html", context)


@researcher_required
def import_mapping(request: HttpRequest, key: str) -> HttpResponse:
    """The first rows, which column is what, and what an import would refuse; then the import itself."""
    file = find_staged(key, owner=get_account(request).pk)
    if file is None:
        messages.warning(request, _("That file is no longer here: files are kept for a day. Choose it again."))
        return redirect("import_table")
    try:
        with unpack_staged(file) as found:
            return answer(request, key, found)
    except InputError as error:
        form = FileForm({}, {})
        form.errors.clear()
        form.add_error("file", str(error))
        context = {"form": form, "saved": list_mappings(get_account(request)), "formats": CHAT_FORMATS.values()}
        return render(request, "judging/import_table.html", context)


def answer(request: HttpRequest, key: str, file: InputFile) -> HttpResponse:
    """Do what was asked for with the mapping as it was entered."""
    page = MappingPage.build(request, file)
    mapping, act = page.mapping, request.POST.get("act", "")
    if mapping is not None and act == "download":
        return download(mapping, request.POST.get("name") or "mapping")
    if mapping is not None and act == "save":
        page.save(request, mapping)
    if mapping is not None and act == "import" and (outcome := page.load(request, mapping)) is not None:
        remove_staged(key)
        result = build_context(outcome, page.form.cleaned_data.get("source", ""))
        context = {"result": result, "chosen": {"key": "table"}, "mapping": mapping, "name": file.name}
        return render(request, "judging/import_mapped.html", context)
    return render(request, "judging/import_mapping.html", page.build_context(key))


def download(mapping: ColumnMapping, name: str) -> HttpResponse:
    """The mapping as a file."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:80] or "mapping"
    return attach_file(mapping.to_text(), name=f"{safe}.json")


@dataclass
class MappingPage:
    """What stands on the page of one file."""

    file: InputFile
    shown: FirstLook
    form: MappingForm
    mapping: ColumnMapping | None = None
    checked: Survey | None = None
    saved: Iterable[object] = ()
    problem: str = ""

    @classmethod
    def build(cls, request: HttpRequest, file: InputFile) -> MappingPage:
        """Read the file as asked and check the mapping. InputError where the file cannot be read."""
        by, given = get_account(request), request.POST
        saved = list_mappings(by)
        used = saved.filter(pk=given.get("use") or 0).first() if given.get("act") == "use" else None
        base = parse_mapping(used.document) if used else None
        read = base.read if base else read_layout(given)
        shown, wrong = look_again(file, read)
        start = base or choose_mapping(shown, given.get("what", ""), read)
        sheets = list_sheets(file) if shown.layout.form == XLSX else []
        is_new = not given or base is not None or given.get("shown") != build_state(start)
        targets = {name: given[name] for name in (*TARGETS, "name") if given.get(name)}
        more: dict[str, object] = {"initial": targets} if is_new else {"data": given}
        page = cls(file, shown, MappingForm(shown=shown, mapping=start, sheets=sheets, **more), saved=saved)
        page.check(start if is_new else None, wrong)
        if is_new and given.get("act") == "import":
            messages.info(request, _("The columns were guessed again. Check them before you import."))
        return page

    def check(self, start: ColumnMapping | None, wrong: InputError | None) -> None:
        """Check the mapping: `start`, or what was entered; `wrong` is why the file cannot be read as asked."""
        if wrong is not None:
            self.problem = wrong.message
            return
        if start is not None:
            self.mapping = self.accept(start)
        elif self.form.is_valid():
            self.mapping = self.form.read_mapping()
        if self.mapping is None:
            return
        try:
            self.checked = survey(self.file, self.mapping)
        except InputError as error:
            self.mapping = None
            if start is None:
                self.form.refuse_mapping(error)
            else:
                self.problem = error.message

    def accept(self, start: ColumnMapping) -> ColumnMapping | None:
        """A guess, if it is complete; what it lacks is said otherwise."""
        try:
            return start.check()
        except InputError as error:
            self.problem = error.message
            return None

    def save(self, request: HttpRequest, mapping: ColumnMapping) -> None:
        name = request.POST.get("name", "").strip()
        if not name:
            self.form.add_error("name", _("Give the mapping a name."))
            return
        try:
            services.save_mapping(by=get_account(request), name=name, mapping=mapping)
        except InputError as error:
            self.form.refuse(error)
        else:
            messages.success(request, _("The mapping is saved as {name}.").format(name=name))

    def load(self, request: HttpRequest, mapping: ColumnMapping) -> Outcome | None:
        """What the import did; None where it was refused, with the reason on the page."""
        if not self.form.is_bound:
            return None
        try:
            return load_mapped(
                by=get_account(request), file=self.file, mapping=mapping, **self.form.arguments(*TARGETS)
            )
        except InputError as error:
            place = error.field if error.field in self.form.fields else None
            self.form.add_error(place, error.message if place else str(error))
            return None

    @property
    def draws(self) -> bool:
        """Whether only a share of the rows is kept, or a rule of the draw is wrong."""
        drawn = (self.mapping or self.form.mapping).draw is not None
        return drawn or any(name.startswith("rule") for name in self.form.errors)

    def build_context(self, key: str) -> dict[str, object]:
        return {
            "token": key,
            "file": self.file,
            "shown": self.shown,
            "form": self.form,
            "state": build_state(self.form.mapping),
            "format": CHAT_FORMATS.get(self.form.mapping.format),
            "mapping": self.mapping,
            "text": self.mapping.to_text() if self.mapping else "",
            "checked": self.checked,
            "draws": self.draws,
            "problem": self.problem,
            "summary": self.checked.to_sentence() if self.checked else _(NOT_CHECKED),
            "tool": recognise_exchange(self.shown.rows[0].values),
            "saved": self.saved,
            "preview": build_preview(self.shown, self.form.chosen_columns),
        }


def look_again(file: InputFile, read: Reading) -> tuple[FirstLook, InputError | None]:
    """The first rows, read as asked; where that cannot be, as found, with the reason."""
    try:
        return look(file, read.to_layout()), None
    except InputError as error:
        if read == Reading():
            raise
        return look(file, Layout()), error


def read_layout(given: QueryDict) -> Reading:
    """How the page says that the file is read; what is not a choice counts as left open."""
    try:
        return Reading.model_validate({name: given[name] for name in READING if given.get(name)})
    except ValueError:
        return Reading()


def build_state(mapping: ColumnMapping) -> str:
    """What the columns on the page belong to: where this changes, they are guessed anew."""
    return json.dumps([spell(mapping), *(getattr(mapping.read, name) for name in READING)])


def build_preview(shown: FirstLook, fields: Mapping[str, str]) -> dict[str, object]:
    """The first rows, with the field that each column is mapped to, by column."""
    names = [column.path for column in shown.columns if "." not in column.path or column.path in fields]
    used = names[:PREVIEW_COLUMNS]
    rows = [
        (
            row.line,
            [shorten("" if (value := find_value(row.values, name)) is None else value, LONGEST_CELL) for name in used],
        )
        for row in shown.rows[:PREVIEW_ROWS]
    ]
    return {"columns": [(name, fields.get(name, "")) for name in used], "rows": rows, "n_left": len(names) - len(used)}


@researcher_required
def mapping_download(request: HttpRequest, pk: int) -> HttpResponse:
    """A saved mapping as a file for the command line."""
    saved = get_object_or_404(list_mappings(get_account(request)), pk=pk)
    return download(parse_mapping(saved.document), saved.name)


@researcher_required
@require_POST
def mapping_delete(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Delete a saved mapping."""
    saved = get_object_or_404(SavedMapping, pk=pk)
    services.delete_mapping(by=get_account(request), mapping=saved)
    messages.success(request, _("The mapping {name} is deleted.").format(name=saved.name))
    return redirect("import_table")
