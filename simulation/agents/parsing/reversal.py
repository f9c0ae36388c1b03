"""Whether a model fell out of its part: a user that serves, a refusal to play, instructions said back (pure).

The bar is high, since people say "I work as a personal assistant" and "Is there anything else I can do to get a lower
price?": a sentence counts only if all of it is one that nobody but an assistant says, and not in quotation marks.
"""

from __future__ import annotations

import re

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
