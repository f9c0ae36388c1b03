"""Where a reply stops being one turn and goes on as a transcript of both sides (pure).

Models that were trained on conversations may write the other side's next turn as well. A line such as `Customer: Maria
Lopez` or `User: …` is no proof of that: confirmations, drafts, examples and glossaries have such lines too. A reply is
cut at a line only if all of this holds:

- it begins with the name of a side, as chat models label turns (`User`, `Human`, `Assistant`, `AI`, and the same words
  of other languages), outside of code, lists and quotations. `Customer`, `Agent` and the like count only beside such a
  name, or where the reply begins with one for its own side and three of them take turns;
- nothing introduces it: no colon, title or announcement before it, and the user asked the assistant for no dialogue;
- it is no field of a form: no `Key: value` line with another key stands next to it;
- somebody speaks: at least one of the labelled lines is a sentence, or three of them take turns. An assistant's reply
  that goes on after its only labelled line is no transcript.

Within a line a turn ends only where names of both sides take turns, the other side's first, each after a sentence and
before one, and nothing introduces them; one label there may be anything.

The control words of chat templates (`<|im_start|>`, `[INST]`) end a turn wherever they stand outside of code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from simulation.agents.prompts import Side

NAMES: dict[Side, str] = {
    "user": "user|human|benutzer|nutzer|utilisateur|usuario|usuário|utente|пользователь|用户|用戶|ユーザー|"
    "사용자|المستخدم",
    "assistant": "assistant|ai|ai assistant|virtual assistant|chatbot|assistent|asistente|assistente|ассистент|"
    "助手|助理|アシスタント|어시스턴트|المساعد",
}
"""What chat models call the sides."""

LOOSE_NAMES: dict[Side, str] = {
    "user": "customer|client|guest|person|me|kunde|cliente|客户|顾客|お客様|العميل",
    "assistant": "agent|bot|support|operator|mitarbeiter|agente|客服|オペレーター|الموظف",
}
"""What they are called in confirmations and drafts as well."""

SIDES = {name: side for side, names in NAMES.items() for name in names.split("|")}
LOOSE_SIDES = {name: side for side, names in LOOSE_NAMES.items() for name in names.split("|")}
OWN_IN_PROMPT = {"person": "user"}
"""The user agent's prompt calls its part so."""

LINE = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*|__)?(?P<key>[^\W\d_][^:：\n]{0,39}?)(?:\*\*|__)?[ \t]*(?::(?=\s|\*|_|$)|：)"
    r"(?:\*\*|__)?[ \t]*(?P<rest>.*)$"
)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
WORD = re.compile(r"\w")
CODE = re.compile(r"`[^`]+`")
NOT_PROSE = re.compile(r"^[ \t]*(?:[-*+•>|]|\d+[.)])[ \t]")
"""A list, a quotation or a table."""

INLINE = re.compile(
    r"(?<=[.!?…。！？؟])[\"'”’»)\]*_]*\s*(?P<label>(?:\*\*|__)?(?P<key>[^\W\d_a-z][^\W\d_]*(?: [^\W\d_]+)?)(?:\*\*|__)?"
    r"[ \t]*(?::(?=\s|\*|_)|：))"
)
"""A name and a colon after a sentence in the same line."""

CONTROL = re.compile(
    r"<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|user|assistant|end)\|>|\[/?INST\]"
)
LEADING_CONTROL = re.compile(
    r"\s*(?:<\|(?:im_start|start_header_id)\|>\s*(?P<in>user|assistant)\s*(?:<\|end_header_id\|>)?|"
    r"<\|(?P<as>user|assistant)\|>)\s*"
)
TITLE = re.compile(r"^\s*(?:#{1,6}\s.*|(?:\*\*|__).*[^.!?…。！？:：](?:\*\*|__))\s*$")
SENTENCE = re.compile(r"[.!?…。！？؟][^\w.!?…。！？؟]*$")
QUESTION = re.compile(r"[?？؟][\"'”’»」』)*_\s]*$")
DIALOGUE = re.compile(
    r"\b(?:dialog(?:ue)?s?|conversations?|transcripts?|scripts?|role[- ]?play\w*|chats?|chatbots?|skit|scene|"
    r"gespräch\w*|unterhaltung|rollenspiel|conversación|diálogo|conversazione|диалог\w*|разговор\w*)\b"
    r"|对话|對話|聊天|会话|剧本|会話|台本|チャット|대화|محادثة|حوار",
    re.IGNORECASE,
)
HERE = re.compile(
    r"\b(?:here(?:['’]s| is| are)|below|following|as follows|like this|for example|an example|a sample|"
    r"you (?:could|can|might) (?:say|write|send|post|use)|hier ist|zum beispiel|so könnte|voici|par exemple|"
    r"aquí tienes|por ejemplo|ecco)\b|以下|下面|示例|例如|次の|例えば|예시|إليك|مثال",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with words outside of code. `key` and `rest` stand before and after its colon, `side` is whose name it is.

    `is_loose` marks names that other things than sides are called by.
    """

    number: int
    start: int
    text: str
    key: str = ""
    rest: str = ""
    side: Side | None = None
    is_loose: bool = False

    @property
    def is_field(self) -> bool:
        return bool(self.key) and self.side is None and len(self.key.split()) <= 3

    @property
    def rest_start(self) -> int:
        return self.start + len(self.text) - len(self.rest)


def split_turn(reply: str, side: Side, heard: str | None = None) -> tuple[str, str]:
    """The side's own turn, without its label, and what follows it for another turn.

    `heard` is what the other side said last, None where that is not known.
    """
    control = LEADING_CONTROL.match(reply)
    if control and side in (control["in"], control["as"]):
        reply = reply[control.end() :]
    lines = list_lines(reply)
    end, start = find_control(reply, lines), 0
    if not (side == "assistant" and heard and DIALOGUE.search(heard)):
        place = second_speaker(lines, side, is_known=heard is not None)
        end = min(end, len(reply) if place is None else lines[place].start)
        end = min(end, second_speaker_in_line(lines, side) or len(reply))
        if lines and lines[0].start < end and is_own_label(lines, side, was_cut=end < len(reply)):
            start = lines[0].rest_start
    return reply[start:end].strip(), reply[end:].strip()


def list_lines(reply: str) -> list[Line]:
    """The lines that hold words and are not code."""
    found, start, in_code = [], 0, False
    for number, text in enumerate(reply.splitlines(keepends=True)):
        bare = text.rstrip("\r\n")
        if FENCE.match(bare):
            in_code = not in_code
        elif WORD.search(bare) and not in_code:
            found.append(build_line(number, start, bare))
        start += len(text)
    return found


def build_line(number: int, start: int, text: str) -> Line:
    match = LINE.match(text)
    if match is None:
        return Line(number, start, text)
    key = match["key"].strip(" *_").casefold()
    side = SIDES.get(key) or LOOSE_SIDES.get(key)
    return Line(number, start, text, key, match["rest"], side, is_loose=key not in SIDES)


def find_control(reply: str, lines: Sequence[Line]) -> int:
    """Where the first control word stands outside of code; the reply's length where there is none."""
    for line in lines:
        if found := CONTROL.search(strip_code(line.text)):
            return line.start + found.start()
    return len(reply)


def strip_code(text: str) -> str:
    """A line in which code is blotted out, as long as it was."""
    return CODE.sub(lambda code: "`" * len(code[0]), text)


def second_speaker_in_line(lines: Sequence[Line], side: Side) -> int | None:
    """Where a transcript of both sides goes on within a line; None where none does."""
    for place, line in enumerate(lines):
        if NOT_PROSE.match(line.text) or not SENTENCE.search(line.text):
            continue
        labels = list(INLINE.finditer(strip_code(line.text)))
        speakers = [SIDES.get(label["key"].casefold()) for label in labels]
        alternate = all(speakers) and all(one != other for one, other in pairwise(speakers))
        if len(labels) >= 2 and alternate and speakers[0] != side:
            before = line.text[: labels[0].start("label")]
            said = "\n".join([*(one.text for one in lines[:place]), before])
            is_quoted = before.count('"') % 2 or before.count("“") > before.count("”")
            if not (is_quoted or DIALOGUE.search(said) or HERE.search(before) or is_introduced(lines, place)):
                return line.start + labels[0].start("label")
    return None


def second_speaker(lines: Sequence[Line], side: Side, *, is_known: bool) -> int | None:
    """The line with which a transcript of both sides begins; None where none does.

    `is_known` is whether the turn before is known, which asked for no dialogue.
    """
    opens = bool(lines) and lines[0].side == side
    place, announced = (1 if opens else 0), False
    while place < len(lines):
        line = lines[place]
        if line.side is None:
            announced = announced or (side == "assistant" and DIALOGUE.search(line.text) is not None)
            place += 1
            continue
        if is_introduced(lines, place, announced=announced) or not somebody_speaks(lines, 0 if opens else place):
            return None
        if side == "assistant" and goes_on_alone(lines, place):
            return None
        block = find_block(lines, place)
        if not is_form(lines, place, block):
            own = opens and is_known and takes_turns(lines)
            return place if is_conversation(lines, place) or own else None
        place += len(block)
    return None


def is_introduced(lines: Sequence[Line], place: int, *, announced: bool = False) -> bool:
    """Whether the words before a labelled line say that a dialogue (`announced`), a quotation or a form follows."""
    if not place:
        return False
    last = lines[place - 1].text.strip()
    if last.rstrip("*_ ").endswith((":", "：")) or TITLE.match(last):
        return True
    return not QUESTION.search(last) and (announced or HERE.search(paragraph_until(lines, place)) is not None)


def paragraph_until(lines: Sequence[Line], place: int) -> str:
    """The lines before, back to an empty one."""
    first = place - 1
    while first > 0 and lines[first - 1].number == lines[first].number - 1:
        first -= 1
    return "\n".join(line.text for line in lines[first:place])


def find_block(lines: Sequence[Line], place: int) -> Sequence[Line]:
    """The labelled line and those with a key that follow it without an empty line."""
    end = place + 1
    while end < len(lines) and lines[end].key and lines[end].number == lines[end - 1].number + 1:
        end += 1
    return lines[place:end]


def is_form(lines: Sequence[Line], place: int, block: Sequence[Line]) -> bool:
    """Whether the labelled line is one of several `Key: value` lines."""
    after = block[1:] or lines[place + 1 : place + 2]
    if any(line.is_field for line in after):
        return True
    are_sentences = len(block) > 1 and all(SENTENCE.search(line.rest) for line in block)
    return place > 0 and lines[place - 1].is_field and not are_sentences


def somebody_speaks(lines: Sequence[Line], place: int) -> bool:
    """Whether the lines from a labelled one on are talk: one is a sentence, or three take turns."""
    if any(lines[at].side and SENTENCE.search(words_after(lines, at)) for at in range(place, len(lines))):
        return True
    return takes_turns(lines[place:])


def goes_on_alone(lines: Sequence[Line], place: int) -> bool:
    """Whether unlabelled lines follow the only labelled one. What a user says is short, so they are no part of it."""
    said = place if lines[place].rest else place + 1
    return place > 0 and said + 1 < len(lines) and not any(line.side for line in lines if line is not lines[place])


def takes_turns(lines: Sequence[Line]) -> bool:
    """Whether the sides alternate in three labels or more, or in two that stand alone on their lines."""
    labels = [line for line in lines if line.side]
    enough = len(labels) >= 3 or (len(labels) == 2 and not any(line.rest for line in labels))
    return enough and all(one.side != other.side for one, other in pairwise(labels))


def words_after(lines: Sequence[Line], at: int) -> str:
    """What follows a label; it may begin on the next line."""
    return lines[at].rest or (lines[at + 1].text if at + 1 < len(lines) else "")


def is_conversation(lines: Sequence[Line], place: int) -> bool:
    """Whether the labels are those of a conversation with a model: the first, or the one that answers it."""
    first = lines[place]
    answers = next((lines[at] for at in range(place + 1, len(lines)) if lines[at].side), None)
    return not first.is_loose or bool(
        answers and not answers.is_loose and answers.side != first.side and SENTENCE.search(answers.rest)
    )


def is_own_label(lines: Sequence[Line], side: Side, *, was_cut: bool) -> bool:
    """Whether the reply begins with a label of its own side, and not with a field that is called alike."""
    if was_cut:
        return lines[0].side == side
    named = SIDES.get(lines[0].key, OWN_IN_PROMPT.get(lines[0].key))
    return named == side and len(find_block(lines, 0)) == 1 and not is_form(lines, 0, lines[:1])
