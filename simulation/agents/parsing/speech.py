"""What a side said, out of what its model replied, and whether the model fell out of its part (pure).

The bar for falling out of a part is high, since people say "I work as a personal assistant" and "Is there anything else
I can do to get a lower price?": a sentence counts only if all of it is one that nobody but an assistant says, and not
in quotation marks.

A reply may hold thoughts, the mark that ends the dialogue, a label in front, and a transcript that goes on for the
other side (`transcripts`). Only the side's own words are kept; what is taken away stays in the reply as it came.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from core.errors import gettext_noop
from simulation.agents.parsing.transcripts import split_turn
from simulation.agents.prompts import MARK, Side

QUOTED = re.compile(r"[\"“„«「][^\"“”«»「」\n]*[\"”“»」]")
SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟]*")
GREETS = r"(?:hi|hello|hey|good \w+|sure|certainly|of course|absolutely|great|welcome|thank you|thanks)"
LEAD = rf"(?:{GREETS}\b[^,!.]{{0,30}}[,!.]? *)?"
SERVES = re.compile(
    rf"{LEAD}(?:and |so )?how (?:can|may|could) I (?:help|assist|be of assistance to) you"
    r"(?: (?:today|now|further|this \w+|with (?:that|this|it)|with (?:your|the) \w+(?: \w+)?))*"
    rf"|{LEAD}(?:and )?(?:is there )?anything else (?:that )?I can "
    r"(?:(?:help|assist) you(?: with)?|do for you)(?: (?:today|now|that))*"
    rf"|{LEAD}what can I do for you(?: today)?"
    r"|(?:kann ich sonst noch etwas für (?:sie|dich) tun|(?:wie|womit) kann ich (?:ihnen|dir) (?:heute )?(?:weiter)?"
    r"(?:helfen|behilflich sein))"
    r"|comment puis-je vous aider(?: aujourd['’]hui)?|¿?en qué puedo ayudar(?:le|te)(?: hoy)?"
    r"|(?:您好|你好)?[，,]?(?:请问)?(?:还)?有什么(?:其他)?(?:我)?(?:可以|能)?(?:帮|帮助|为)(?:您|你)(?:的|做的|服务的)?(?:吗|呢)?"
    r"|(?:何か|他に)お手伝いできることは(?:ございますか|ありますか)|كيف يمكنني مساعدتك(?: اليوم)?",
    re.IGNORECASE,
)
IS_MODEL = re.compile(
    r"(?:(?:i['’]m|i am) sorry, but )?as an? (?:AI(?: (?:language )?model| assistant)?|artificial intelligence|"
    r"(?:large )?language model),? I\b.*",
    re.IGNORECASE | re.DOTALL,
)
OFFERS = re.compile(
    r"(?:I['’]m|I am) (?:here|happy|glad) to (?:help|assist)(?: you)?|what do you need(?: help with)?"
    r"|(?:please )?let me know (?:how I can|if you (?:need|have) (?:any|more|further|help|assistance)).*"
    r"|(?:please )?feel free to ask.*|you['’]re welcome"
    r"|what would you like (?:help|assistance) with.*",
    re.IGNORECASE,
)
POLITE = re.compile(rf"(?:{GREETS}|have a (?:great|nice) \w+)", re.IGNORECASE)
NO_HELP = re.compile(
    r"(?:(?:I['’]m|I am) )?sorry, (?:but )?I (?:can(?:['’]|no)t|am unable to|won['’]t) (?:assist|help|comply) with "
    r"(?:that|this)(?: request)?",
    re.IGNORECASE,
)
NO_PART = re.compile(
    r"(?:(?:(?:I['’]m|I am) )?sorry, (?:but )?)?I(?:['’]m| am)? (?:can(?:['’]|no)t|won['’]t|unable to|not able to) "
    r"(?:role-?play|pretend to be|(?:play|take on) (?:the|this) (?:role|part|character|user|persona)|"
    r"continue (?:with )?this (?:conversation|role-?play)).*",
    re.IGNORECASE,
)
RUN = 6  # words that are compared at a time
LEAST = 8  # such runs in common, which are 13 words in a row
WORD = re.compile(r"[a-z0-9]+|[^\W\d_]", re.IGNORECASE)


def split_sentences(words: str) -> list[str]:
    """The sentences outside of quotation marks, without what ends them."""
    return [found for part in SENTENCE.findall(QUOTED.sub("", words)) if (found := part.strip(" \t.!?。！？؟*_"))]


def speaks_as_assistant(words: str) -> bool:
    """Whether a user's turn offers service as an assistant does, or says that it is a model."""
    found = split_sentences(words)
    if any(SERVES.fullmatch(one) or IS_MODEL.fullmatch(one) for one in found):
        return True
    offers = [one for one in found if OFFERS.fullmatch(one)]
    return len(offers) >= 2 and all(one in offers or POLITE.fullmatch(one) for one in found)


def is_refusal(words: str) -> bool:
    """Whether a user agent's turn is nothing but a refusal to go on in its part."""
    found = split_sentences(words)
    return any(NO_PART.fullmatch(one) for one in found[:1]) or (len(found) == 1 and bool(NO_HELP.fullmatch(found[0])))


def repeats_instructions(words: str, instructions: str) -> bool:
    """Whether at least half of a turn is taken from the instructions word by word, 13 words or more."""
    if not instructions:
        return False
    known = list_runs(instructions)
    said = list_runs(words)
    common = sum(one in known for one in said)
    return common >= LEAST and common * 2 >= len(said)


def list_runs(text: str) -> set[tuple[str, ...]]:
    """All runs of words in a row; a letter of a script without spaces counts as a word."""
    found = [word.casefold() for word in WORD.findall(text)]
    return {tuple(found[at : at + RUN]) for at in range(len(found) - RUN + 1)}


THOUGHT = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]*`)"
    r"|^[ \t]*<(?P<tag>think|thinking|thought|reasoning|state)>(?P<inside>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
UNOPENED = re.compile(r"\A(?P<inside>[^`<]*)</think(?:ing)?>", re.IGNORECASE)
"""Some servers send the opening tag with the prompt, so that the reply holds the closing one alone."""

EMPTY, OTHER_SIDE, REFUSAL, TOO_LONG, CALL_FAILED = "empty", "other_side", "refusal", "too_long", "failed"
OVERSIZED, CUT_OFF, ECHO = "oversized", "cut_off", "echo"
PROBLEMS = {
    EMPTY: gettext_noop("said nothing"),
    OTHER_SIDE: gettext_noop("spoke as the other side"),
    REFUSAL: gettext_noop("refused"),
    ECHO: gettext_noop("repeated its instructions"),
    CUT_OFF: gettext_noop("was cut off at the limit of tokens"),
    TOO_LONG: gettext_noop("the conversation no longer fits the model"),
    OVERSIZED: gettext_noop("said more than this site reads"),
    CALL_FAILED: gettext_noop("the call failed"),
}


@dataclass(frozen=True, slots=True)
class Speech:
    """A side's turn.

    Attributes
    ----------
    text
        Its own words, perhaps none.
    thought
        What it thought aloud before.
    ended
        Whether it gave the mark that it has what it wants (user only).
    cut
        Whether the reply went on for the other side, which is not kept.
    problem
        Why this is no turn to go on from: a key of `PROBLEMS`, empty if it is one.
    """

    text: str
    thought: str = ""
    ended: bool = False
    cut: bool = False
    problem: str = ""


def parse_turn(
    reply: str,
    *,
    side: Side,
    refused: bool = False,
    cut_off: bool = False,
    mark: str = MARK,
    heard: str | None = None,
    instructions: str = "",
) -> Speech:
    """The turn in a reply.

    Parameters
    ----------
    refused, cut_off
        Whether the provider says that the model refused, or that the reply met the limit of tokens.
    mark
        What the user agent was told to end the dialogue with.
    heard
        What the other side said last, None where that is not known.
    instructions
        What the side was told, without facts about this user and task.
    """
    words, thought = drop_thoughts(reply, side)
    words, rest = split_turn(words.strip(), side, heard)
    ended = False
    if side == "user":
        words, ended = drop_mark(words, mark)
    if refused or (side == "user" and is_refusal(words)):
        problem = REFUSAL
    elif cut_off and not rest:
        problem = CUT_OFF
    elif not words:
        problem = OTHER_SIDE if rest else "" if ended else EMPTY
    elif repeats_instructions(words, instructions):
        problem = ECHO
    else:
        problem = OTHER_SIDE if side == "user" and speaks_as_assistant(words) else ""
    return Speech(words, thought, ended, bool(rest), problem)


def drop_thoughts(reply: str, side: Side) -> tuple[str, str]:
    """The reply without what was thought aloud outside of code, and the thoughts. Only the user agent keeps a state."""
    thoughts: list[str] = []

    def taken(match: re.Match[str]) -> str:
        if match["code"] or (match["tag"].lower() == "state" and side == "assistant"):
            return match[0]
        thoughts.append(match["inside"].strip())
        return ""

    if unopened := UNOPENED.match(reply):
        thoughts.append(unopened["inside"].strip())
        reply = reply[unopened.end() :]
    return THOUGHT.sub(taken, reply), "\n".join(thoughts)


def drop_mark(words: str, mark: str) -> tuple[str, bool]:
    """The words without the mark wherever it stands, and whether it was there."""
    rest, n = mark_pattern(mark).subn(" ", words)
    if not n:
        return words, False
    rest = re.sub(r"[ \t]{2,}", " ", rest).replace("\n ", "\n").strip()
    return ("" if not re.search(r"\w", rest) else rest), True


@cache
def mark_pattern(mark: str) -> re.Pattern[str]:
    """The mark with the emphasis or quotes around it. One in brackets is known in any case, other marks as they are."""
    if mark.startswith("[") and mark.endswith("]"):
        inner = rf"(?i:\\?[\[［【]\s*{re.escape(mark[1:-1])}\s*\\?[\]］】])"
    else:
        inner = rf"\[?{re.escape(mark)}\]?"
    return re.compile(rf"[*_`~\"“]{{0,3}}{inner}[*_`~\"”]{{0,3}}(?:[.!。]+(?=\s|\Z))?")
