"""A report in LaTeX: tables for a paper of any class, with booktabs and array, a document and its BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.utils.translation import override

from judging.assessment import wording
from judging.assessment.report_tables import Table, list_tables
from judging.assessment.report_types import MethodsDocument, ReportDocument

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "’": "'",
    "−": "$-$",
    "λ": r"$\lambda$",
    "ω": r"$\omega$",
    "ε": r"$\varepsilon$",
}

PRINTED = re.compile("[\x20-\x7e\xa1-\u017f‘’“”–—…•]")
"""What every LaTeX prints. Other letters need XeLaTeX or LuaLaTeX and a font; pdfLaTeX prints their code."""

JOINTS = re.compile(r"(?<=[:/,_-])(?=\w)")
"""Where a long word of a table may be broken."""

MARK = re.compile(r" \[(\d+(?:, \d+)*)\]")
"""A reference in the methods paragraph."""

FEWEST, MOST = 6, 44
"""Letters by which a column is at least, and at most, taken to be wide."""

LINE = 70
"""Letters on a line of the narrowest text, that of the class article."""

FLOATS = 8
"""Tables that LaTeX is given to place before it has to."""


def escape(text: object) -> str:
    """Text as LaTeX prints it, on one line."""
    return "".join(_escape_letter(letter) for letter in " ".join(str(text).split()))


def _escape_letter(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    return letter if PRINTED.match(letter) else rf"\concordchar{{{letter}}}{{U+{ord(letter):04X}}}"


def format_cell(text: str) -> str:
    """A cell, whose long words may be broken where they are joined."""
    return r"\allowbreak{}".join(escape(part) for part in JOINTS.split(text))


def render_table(table: Table) -> str:
    """A table over the width of the text, in one column or two, whose columns are as wide as their cells ask for."""
    lines = [
        r"\begin{table*}[tp]",
        rf"\caption{{{escape(table.caption)}}}\label{{tab:{re.sub('[^a-zA-Z0-9:-]', '-', table.label)}}}",
        r"\footnotesize\setlength{\tabcolsep}{3pt}\centering",
        rf"\begin{{tabular}}{{@{{}}{''.join(_columns(table))}@{{}}}}",
        r"\toprule",
        " & ".join(format_cell(name) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(map(format_cell, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def _columns(table: Table) -> list[str]:
    """By column its share of the width: of its longest unbroken part first, then of its longest cell."""
    columns = list(zip(table.header, *table.rows, strict=True))
    need = [max(FEWEST, *(len(part) for cell in column for part in _split_words(cell))) for column in columns]
    want = [max(least, min(MOST, *[max(map(len, column))])) for least, column in zip(need, columns, strict=True)]
    spare = max(0, LINE - sum(need)) / max(1, sum(want) - sum(need))
    wide = [least + min(1.0, spare) * (most - least) for least, most in zip(need, want, strict=True)]
    total = sum(wide)
    gaps = 2 * (len(columns) - 1) / len(columns)
    return [
        rf">{{\raggedright\arraybackslash}}p{{\dimexpr {width / total:.4f}\textwidth-{gaps:.2f}\tabcolsep}}"
        for width in wide
    ]


def _split_words(cell: str) -> list[str]:
    return " ".join(JOINTS.split(cell)).split() or [""]


def render_methods(methods: MethodsDocument) -> str:
    """The methods paragraph, whose marks cite the entries of references.bib."""
    keys = dict(enumerate(methods["keys"], start=1))
    parts = MARK.split(methods["text"])
    return "".join(_cite(part, keys) if place % 2 else _escape_part(part) for place, part in enumerate(parts))


def _escape_part(text: str) -> str:
    return (" " if text.startswith(" ") else "") + escape(text)


def _cite(numbers: str, keys: Mapping[int, str]) -> str:
    """A citation; what refers to nothing stays as it is, as in the name of a judge."""
    used = [keys.get(int(number)) for number in numbers.split(", ")]
    return rf"~\cite{{{','.join(map(str, used))}}}" if all(used) else f" [{numbers}]"


SIMULATED = "Simulated annotators, not people: {names}."
SAME_MODELS = "One model has several parts: {lines} A model may favour what it wrote itself."


def list_notices(document: ReportDocument) -> Iterator[str]:
    """What a reader has to know before the figures: who is simulated, what is held out, which rules changed."""
    if document["simulated"]:
        yield SIMULATED.format(names=", ".join(document["simulated"]))
    if document["same_models"]:
        yield SAME_MODELS.format(lines=" ".join(document["same_models"]))
    if document["held_out"]:
        with override("en"):
            yield wording.describe_hold_out(document["held_out"])
    yield from (change["sentence"] for change in document["rules_on_record"]["changes"])


HEAD = r"""% {about}
% For \input into a document of any class. Needs \usepackage{{booktabs,array}}, and references.bib for what it cites.
% Computed {at} by Concord {version}.
\providecommand{{\concordchar}}[2]{{\ifdefined\Umathchar #1\else #2\fi}}"""


def report(document: ReportDocument) -> str:
    """The methods paragraph and all tables of a report, for a paper."""
    listed = list_tables(document)
    head = [
        HEAD.format(
            about=f"Tables of the study {escape(document['study']['name'])}",
            at=document["generated_at"],
            version=document["code_version"],
        ),
        *(escape(notice) + r"\par" for notice in list_notices(document)),
        render_methods(document["methods"]),
    ]
    body = [render_table(table) + ("\n\\clearpage" if k % FLOATS == 0 else "") for k, table in enumerate(listed, 1)]
    return "\n".join([*head, "", *body]) + "\n"


DOCUMENT = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{booktabs,array,graphicx}}
\title{{{title}}}
\date{{{date}}}
\begin{{document}}
\maketitle
\input{{tables}}
{figures}
\bibliographystyle{{plain}}
\bibliography{{references}}
\end{{document}}
"""

FIGURE = r"""\begin{{figure*}}[tp]
\centering
\includegraphics[width=0.8\textwidth,height=0.8\textheight,keepaspectratio]{{figures/{name}.pdf}}
\caption{{{caption}}}
\end{{figure*}}"""


def write_document(document: ReportDocument, figures: Sequence[tuple[str, str]]) -> str:
    """A document of the tables and of the figures, each with its file's name and its caption."""
    drawn = [
        FIGURE.format(name=name, caption=escape(caption)) + ("\n\\clearpage" if k % FLOATS == 0 else "")
        for k, (name, caption) in enumerate(figures, 1)
    ]
    return DOCUMENT.format(
        title=escape(document["study"]["name"]), date=document["generated_at"][:10], figures="\n".join(drawn)
    )


ENTRY = re.compile(r"(?P<author>.+?) \((?P<year>\d{4})\)\. (?P<title>.+?[.?]) (?P<place>.+)")
NEXT_AUTHOR = re.compile(r"(?<=\.), (?:& )?(?!et al)|, & ")
ARXIV = re.compile(r"arXiv:(\S+?)\.?$")


def write_bibtex(references: Iterable[tuple[str, str]]) -> str:
    """Entries of references with their keys, each written as "Authors (year). Title. Where it was published."."""
    return "\n".join(_write_entry(key, text) for key, text in references)


def _write_entry(key: str, text: str) -> str:
    found = ENTRY.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not written as Authors (year). Title. Place.")
    authors = " and ".join(NEXT_AUTHOR.split(found["author"])).replace(", et al.", " and others")
    arxiv = ARXIV.fullmatch(found["place"])
    where = f"  eprint = {{{arxiv[1]}}},\n  archiveprefix = {{arXiv}},\n" if arxiv else ""
    return (
        f"@misc{{{key},\n  author = {{{escape(authors)}}},\n  title = {{{{{escape(found['title'].rstrip('.'))}}}}},\n"
        f"{where}  howpublished = {{{escape(found['place'].rstrip('.'))}}},\n  year = {{{found['year']}}},\n}}\n"
    )
