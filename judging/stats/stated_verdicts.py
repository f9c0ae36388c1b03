"""Which verdict an explanation states in its own words, so that it can be held against the verdict that was given.

The rules are lexical: only a verdict that is named counts, and only if all that are named are the same; nothing is read
into the tone. What names none, or several, is unknown. They know two languages, English and German; how often they read
what is not said is measured on the cases in tests/unit/judging/stats/stated_verdicts.csv (`scripts/bench_stated.py`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

LANGUAGES = ("English", "German")

NOUN = r"(?:(?i:response|answer|reply|assistant|option|output|candidate|antwort|assistent|ausgabe)\s+)"
SIDE = rf"(?:{NOUN}?[\"'“„(*]{{0,4}}\b(?P<side>[AB])\b[\"'”“)*]{{0,4}})"
IS = (
    r"(?i:is|was|seems|feels|looks|remains|reads|does|performs|fares|works|fits|suits|serves|"
    r"ist|war|wirkt|scheint|passt)"
)
HOW = (
    r"(?:\s+(?i:clearly|much|far|slightly|somewhat|marginally|overall|therefore|thus|also|still|significantly|"
    r"considerably|noticeably|a bit|a little|the|as the|user|person|them|her|him|deutlich|klar|viel|etwas|insgesamt|"
    r"daher|also|eindeutig|spürbar|die|zum nutzer|zur nutzerin|zu ihr|zu ihm))*"
)
QUALITY = (
    r"(?:personal|helpful|useful|relevant|specific|tailored|suitable|appropriate|complete|fitting|convincing|"
    r"persönlich|hilfreich|nützlich|passend|genau|konkret|überzeugend)\w*"
)
BETTER = (
    rf"(?:better|best|stronger|superior|preferable|preferred|more {QUALITY}|the winner|winner|"
    rf"besser|beste|stärker|überlegen|vorzuziehen|{QUALITY.replace('w*', 'w*er')}(?!\w))"
)
WORSE = rf"(?:worse|weaker|inferior|less {QUALITY}|schlechter|schwächer|unterlegen|weniger {QUALITY})"
OF_ONE_ASPECT = (
    r"(?!\s+(?:at|in|on|regarding|with respect|when|bei|beim|im|hinsichtlich)\b(?! (?:my|every|all|the whole)))"
)
PREFERS = (
    r"(?<!not )(?<!n't )(?<!nicht )\b(?i:prefer(?:red|s)?|choose|chose|pick|picked|select|selected|favou?r(?:ed|s)?|"
    r"go with|went with|vote for|wähle|bevorzuge|ziehe|entscheide mich für|nehme)"
)
NAMED = (
    r"(?i:verdict|winner|choice|preference|decision|judge?ment|urteil|wahl|entscheidung|sieger|"
    r"(?:better|best|stronger|preferred|bessere|beste|stärkere) (?:one|response|answer|reply|option|antwort|ausgabe))"
)

CONCLUSIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{NAMED}\W{{0,3}}(?i:is|was|=|:|goes to|would be|ist|lautet|fällt auf)\W{{0,3}}{SIDE}",
        rf"{NAMED}\s*:\W{{0,3}}{SIDE}",
        rf"{PREFERS}\s+{SIDE}",
        rf"{SIDE}{HOW}\s+(?i:wins|gewinnt|siegt)\b",
    )
)
WINS = re.compile(rf"{SIDE}\s+{IS}{HOW}\s+(?i:{BETTER})\b(?i:{OF_ONE_ASPECT})")
LOSES = re.compile(rf"{SIDE}\s+{IS}{HOW}\s+(?i:{WORSE})\b(?i:{OF_ONE_ASPECT})")
TIED = re.compile(
    r"(?i)\b(?:it is|it's|this is|call it|verdict is|verdict:|judge it) an? (?:tie|draw)\b|"
    r"\bverdict: tie\b|\bequally (?:good|bad|well|helpful|personal\w*)|\bno (?:real|clear) difference|"
    r"\bneither (?:response |answer |one )?(?:is|stands out as|seems) (?:clearly )?(?:better|stronger)|"
    r"\bgleich (?:gut|schlecht)|\bgleichwertig|\bunentschieden|\bkeinen? (?:echten|klaren) unterschied|"
    r"\bkeine (?:der beiden |antwort )?(?:antworten )?ist besser"
)
GRANTED = re.compile(
    r"(?i)\b(?:although|though|even if|while|whereas|obwohl|auch wenn|wenngleich)\b[^,.;]*(?P<end>[,.;]|\Z)"
)
BUT = re.compile(r"(?i)\b(?:but|however|aber|jedoch)\b")
SUPPOSED = re.compile(r"(?i)\b(?:neither|nor|weder|noch|if|falls|wenn)\b[^,.;]*(?:[,.;]|\Z)")
SENTENCE = re.compile(r"[^.;!?]+|[.;!?]+")

OTHER = {"A": "B", "B": "A"}
TIE = "tie"


def find_stated_preference(explanation: str) -> str | None:
    """The side that the explanation says is better, A or B as they were shown, or "tie"; None where it says neither.

    What is named as the verdict goes before what is compared; a comparison in one respect ("better at tone") or one
    that is granted ("although A is better") does not count.

    Examples
    --------
    >>> find_stated_preference("Although A is more helpful, response B is better overall.")
    'B'
    >>> find_stated_preference("A is better at tone, B at facts.") is None
    True
    """
    concluded = _sides(CONCLUSIONS, explanation)
    if concluded:
        return _only(concluded)
    rest = drop_conceded(explanation)
    compared = _sides([WINS], rest) | {OTHER[side] for side in _sides([LOSES], rest)}
    return _only(compared | ({TIE} if TIED.search(explanation) else set()))


def drop_conceded(text: str) -> str:
    """The text without what is granted before the point is made, or only supposed."""
    left = GRANTED.sub(r" \g<end>", text)
    return SUPPOSED.sub(" ", "".join(_after_but(part) for part in SENTENCE.findall(left)))


def _after_but(sentence: str) -> str:
    last = max((match.end() for match in BUT.finditer(sentence)), default=0)
    return f" {sentence[last:]}" if last else sentence


def _sides(patterns: Iterable[re.Pattern[str]], text: str) -> set[str]:
    return {match["side"] for pattern in patterns for match in pattern.finditer(text)}


def _only(found: set[str]) -> str | None:
    return found.pop() if len(found) == 1 else None


def find_stated_category(explanation: str, names: Mapping[str, Iterable[str]]) -> str | None:
    """The value whose score, value or label is named as the verdict; None where none is, or more than one.

    ``names`` are by value what it may be called.

    Examples
    --------
    >>> find_stated_category("The goal was met, so my answer is yes.", {"yes": ["yes"], "no": ["no"]})
    'yes'
    """
    called = {name.lower(): value for value, each in names.items() for name in each if name.strip()}
    found = {called[name.lower()] for name in _named(explanation, tuple(called))}
    if score := find_stated_score(explanation, set(names)):
        found.add(score)
    return _only(found)


def _named(explanation: str, names: tuple[str, ...]) -> Iterator[str]:
    for match in _build_pattern(names).finditer(explanation):
        yield match["name"]


@lru_cache(maxsize=64)
def _build_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """A verdict that is one of the names, the longest that fits."""
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    verdict = (
        r"\b(?:verdict|answer|label|category|rating|choice|decision|classification|score|"
        r"urteil|antwort|kategorie|bewertung|entscheidung|note)\W{0,3}"
        r"(?:is|are|would be|should be|ist|lautet|wäre|[:=])"
    )
    says = (
        r"\b(?:i|we|ich|wir) (?:would |'d |würde )?(?:answer|choose|pick|say|"
        r"(?:label|classify|rate|call|judge) (?:it|this)(?: as)?|antworte|wähle|sage|"
        r"(?:bewerte|nenne|werte) (?:es|das|dies)(?: als| mit)?)"
    )
    return re.compile(rf"(?:{verdict}|{says})\W{{0,3}}(?P<name>{longest_first})(?!\w|[.,]\d)", re.IGNORECASE)


NUMBER = r"(?P<value>\d+(?:\.\d+)?)"
STATED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:score|rating|verdict)s?\b\W{{0,20}}(?:of|is|as|would be|should be|[:=])\W{{0,20}}{NUMBER}",
        rf"\b(?:rate|rated|score|scored|give|deserves|merits|warrants)\b(?: it| this| them)?(?: an?| as)?\W+{NUMBER}\b",
        rf"\b{NUMBER}\s*(?:out of|/)\s*\d",
    )
)


def find_stated_score(explanation: str, scale: Collection[str]) -> str | None:
    """The value of the scale that the explanation names; None where it names none of the scale, or more than one.

    Examples
    --------
    >>> find_stated_score("It knows the user well, so I rate it 4 out of 5.", ["1", "2", "3", "4", "5"])
    '4'
    >>> find_stated_score("Between a score of 3 and a score of 4.", ["1", "2", "3", "4", "5"]) is None
    True
    """
    found = {_plain(match["value"]) for pattern in STATED for match in pattern.finditer(explanation)} & set(scale)
    return found.pop() if len(found) == 1 else None


def _plain(number: str) -> str:
    """``4.0`` as the scale writes it."""
    return number.rstrip("0").rstrip(".") if "." in number else number
